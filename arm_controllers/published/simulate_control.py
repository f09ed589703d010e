"""Computed torque with one set of parameters on an arm with another: the textbook's experiment."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arm_controllers.published.textbook_pid import textbook_pid
from arm_dynamics.errors import ArmError
from arm_dynamics.model import Array
from arm_dynamics.published.screw_dynamics import ScrewModel


class ControlRun(NamedTuple):
    """What `simulate_control` returns, one row a reference row."""

    torques: Array  # (N, n) torque applied from this row to the next [N.m]
    positions: Array  # (N, n) joint positions after this row's torque acted [rad]


def simulate_control(
    plant: ScrewModel,
    estimate: ScrewModel,
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

    One torque a row, held over `substeps` steps of explicit Euler (the position moves with the
    old velocity). After them E += timestep (q_ref - q) with the new q.

    Args:
        plant: the arm's true link frames, inertias, screw axes and gravity.
        estimate: what the controller believes them to be.
        q, v: (n,) initial state.
        tip_wrenches: (N, 6) moment and force of the tool on the environment, in the tool frame.
        q_ref, v_ref, a_ref: (N, n) reference.
        kp, ki, kd: scalar gains, see `textbook_pid`.
        timestep: time from row to row [s].
        substeps: Euler steps a row, at least 1.
        as_printed: the law's printed form, see `textbook_pid`.

    Raises:
        ArmError: shapes that do not fit, gains below zero, or no step.
    """
    q, v = np.array(q, dtype=float), np.array(v, dtype=float)
    q_ref, v_ref, a_ref = (np.atleast_2d(np.asarray(x, float)) for x in (q_ref, v_ref, a_ref))
    tip_wrenches = np.atleast_2d(np.asarray(tip_wrenches, dtype=float))
    rows, n = q_ref.shape
    if not (v_ref.shape == a_ref.shape == (rows, n) and n == plant.nv == estimate.nv):
        raise ArmError(
            f'references have shapes {q_ref.shape}, {v_ref.shape}, {a_ref.shape}; '
            f'all must be (N, {plant.nv})'
        )
    if tip_wrenches.shape != (rows, 6):
        raise ArmError(f'tip_wrenches has shape {tip_wrenches.shape}, it must be ({rows}, 6)')
    if min(kp, ki, kd) < 0.0:
        raise ArmError(f'gains must not be negative: kp {kp}, ki {ki}, kd {kd}')
    if timestep <= 0.0 or substeps < 1:
        raise ArmError(
            f'timestep {timestep} s must be positive and substeps {substeps} at least 1'
        )

    dt = timestep / substeps
    integral = np.zeros(n)
    torques, positions = np.empty((rows, n)), np.empty((rows, n))
    for i in range(rows):
        tau = textbook_pid(
            estimate, q, v, integral, q_ref[i], v_ref[i], a_ref[i], kp, ki, kd, as_printed
        )
        for _ in range(substeps):
            a = plant.forward_dynamics(q, v, tau, tip_wrenches[i])
            q = q + dt * v
            v = v + dt * a
        torques[i], positions[i] = tau, q
        integral = integral + timestep * (q_ref[i] - q)
    return ControlRun(torques, positions)
