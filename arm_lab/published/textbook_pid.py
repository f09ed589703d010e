"""The textbook's computed torque with PID, in its prose form and in the form it prints.

`simulate_control` is its experiment: the law knows one set of parameters, the arm has another.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_lab.published.screw_dynamics import ScrewModel


def textbook_pid(
    model: RobotModel | ScrewModel,
    q: ArrayLike,
    v: ArrayLike,
    error_integral: ArrayLike,
    q_ref: ArrayLike,
    v_ref: ArrayLike,
    a_ref: ArrayLike,
    kp: float,
    ki: float,
    kd: float,
    as_printed: bool = True,
) -> Array:
    """Return the joint torques (n,) of computed torque with PID.

    Prose form (equation 11.35 of Lynch and Park, Modern Robotics):

        tau = M(q) (a_ref + kp e + ki E + kd edot) + h(q, v),   e = q_ref - q

    Printed form, which gives the example's digits: the present error counts twice in the
    integral, and a_ref goes through inverse dynamics,

        tau = M(q) (kp e + ki (E + e) + kd edot) + inverse_dynamics(q, v, a_ref)

    The two differ by M(q) ki e alone. This is a compatibility form for checking published
    numbers; `ComputedTorquePid` is the law to use.

    Args:
        q, v: (n,) state.
        error_integral: (n,) E, the integral of e [rad s].
        q_ref, v_ref, a_ref: (n,) reference.
        kp, ki, kd: scalar gains [1/s^2, 1/s^3, 1/s].
        as_printed: False for the prose form.
    """
    error, error_rate = np.subtract(q_ref, q), np.subtract(v_ref, v)
    integral = np.add(error_integral, as_printed * error)
    feedback = kp * error + ki * integral + kd * error_rate
    return model.mass_matrix(q) @ feedback + model.inverse_dynamics(q, v, a_ref)


class ControlRun(NamedTuple):
    """What `simulate_control` returns, one row per reference row."""

    torques: Array  # (N, n) torque applied from this row to the next [N.m]
    positions: Array  # (N, n) joint positions after this row's torque acted [rad]


def simulate_control(
    plant: RobotModel | ScrewModel,
    estimate: RobotModel | ScrewModel,
    q: ArrayLike,
    v: ArrayLike,
    tip_wrenches: ArrayLike,
    q_ref: ArrayLike,
    v_ref: ArrayLike,
    a_ref: ArrayLike,
    kp: float,
    ki: float,
    kd: float,
    timestep: float,
    substeps: int,
    as_printed: bool = True,
) -> ControlRun:
    """Run computed torque with PID on `plant`; the law knows `estimate` only.

    One torque per row, held over `substeps` steps of explicit Euler (the position moves with the
    old velocity). After them E += timestep (q_ref - q) with the new q.

    Args:
        plant: the arm as it is; a RobotModel with its rotors and friction.
        estimate: the model of the arm that the controller uses.
        q, v: (n,) initial state.
        tip_wrenches: (N, 6) moment and force of the tool on the environment, in the tool frame.
        q_ref, v_ref, a_ref: (N, n) reference.
        kp, ki, kd: scalar gains, see `textbook_pid`.
        timestep: time from row to row [s].
        substeps: Euler steps per row, at least 1.
        as_printed: the law's printed form, see `textbook_pid`.

    Raises:
        ArmError: shapes that do not fit, gains below zero, or no step.
    """
    if min(kp, ki, kd) < 0.0:
        raise ArmError(f'gains must not be negative: kp {kp}, ki {ki}, kd {kd}')
    if timestep <= 0.0 or substeps < 1:
        raise ArmError(
            f'timestep {timestep} s must be positive and substeps {substeps} at least 1'
        )
    if estimate.nv != plant.nv:
        raise ArmError(f'the estimate has {estimate.nv} joints, the plant {plant.nv}')
    q, v, dt = np.array(q, dtype=float), np.array(v, dtype=float), timestep / substeps
    integral = np.zeros(plant.nv)
    torques, positions = [], []
    rows = _rows(plant.nv, tip_wrenches, q_ref, v_ref, a_ref)
    for wrench, q_r, v_r, a_r in zip(*rows, strict=True):
        tau = textbook_pid(estimate, q, v, integral, q_r, v_r, a_r, kp, ki, kd, as_printed)
        for _ in range(substeps):
            a = _acceleration(plant, q, v, tau, wrench)
            q = q + dt * v
            v = v + dt * a
        torques.append(tau)
        positions.append(q)
        integral = integral + timestep * (q_r - q)
    return ControlRun(np.array(torques), np.array(positions))


def _acceleration(
    plant: RobotModel | ScrewModel, q: Array, v: Array, tau: Array, tip_wrench: Array
) -> Array:
    """Return a (n,) under tau (n,) and a wrench (6,), moment on top, of the tool on the world."""
    if isinstance(plant, ScrewModel):
        return plant.forward_dynamics(q, v, tau, tip_wrench)
    rotation = plant.forward_kinematics(q).rotation
    on_tool = -np.concatenate([rotation @ tip_wrench[3:], rotation @ tip_wrench[:3]])
    return plant.forward_dynamics(q, v, tau, {plant.tip_frame: on_tool})


def _rows(n: int, tip_wrenches: ArrayLike, *references: ArrayLike) -> list[Array]:
    """Return wrenches (N, 6) and references (N, n), whose shapes must fit."""
    wrenches, *arrays = (np.atleast_2d(np.asarray(x, float)) for x in (tip_wrenches, *references))
    rows = len(arrays[0])
    if any(array.shape != (rows, n) for array in arrays):
        shapes = ', '.join(str(array.shape) for array in arrays)
        raise ArmError(f'references have shapes {shapes}; all must be (N, {n})')
    if wrenches.shape != (rows, 6):
        raise ArmError(f'tip_wrenches has shape {wrenches.shape}, it must be ({rows}, 6)')
    return [wrenches, *arrays]
