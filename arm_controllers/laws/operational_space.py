"""Operational-space control: the law controls the tip, and the posture in its null space."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from arm_controllers.laws import Array, Law, Measurement, Reference, RobotModel, State
from arm_controllers.second_order_gains import second_order_gains
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import Parameters, PerJoint, parameter
from arm_dynamics.small_matrices import (
    inverse_axes,
    product,
    rotation_vector,
    times,
    transposed,
)

_TASK_AXES = ('x', 'y', 'z', 'about x', 'about y', 'about z')  # of the base frame


@dataclass(frozen=True)
class OperationalSpaceParameters(Parameters):
    """Error dynamics of the tip and of the posture."""

    kp: PerJoint = parameter(
        (400.0,),
        'position and orientation gains of the tip, 6 numbers or one for all [1/s^2]',
        min=0,
        per=_TASK_AXES,
    )
    kd: PerJoint = parameter(
        (40.0,), 'velocity gains of the tip, 6 numbers or one for all [1/s]', min=0, per=_TASK_AXES
    )
    posture_kp: float = parameter(100.0, 'position gain of the null space [1/s^2]', min=0)
    posture_kd: float = parameter(20.0, 'velocity gain of the null space [1/s]', min=0)
    axes: tuple[float, ...] = parameter(
        (1.0,) * 6, f'mask [1] of {", ".join(_TASK_AXES)}: 1: task, 0: free', length=6
    )
    tip_frame: str = parameter('', "name of the controlled frame; empty: the model's tool frame")
    threshold: float = parameter(
        0.01, 'mobility [1/kg] below which a task direction is given up smoothly', above=0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if set(self.axes) - {0.0, 1.0} or not any(self.axes):
            raise ArmError(f'axes is {self.axes}; it must be six of 0 and 1, not all 0')


class OperationalSpace(Law):
    """tau = M (Jbar (x'' - Jdot v) + N a_0) + C v + g + friction(v) + effort_r.

    x'' = x_r'' + kd (x_r' - x') + kp (x_r - x) for the tip, whose reference is the joint
    reference's; a_0 = a_r + posture_kd (v_r - v) + posture_kp (q_r - q) for the joints;
    Jbar = M^-1 J^T (J M^-1 J^T)^-1 is the dynamically consistent inverse, N = I - Jbar J, so the
    posture does not disturb the tip (Khatib, IEEE J. Robotics and Automation 3(1), 1987). The
    orientation error is the rotation vector in base axes.

    At a singularity J M^-1 J^T loses rank. Its small eigenvalues are then inverted with damping
    (Nakamura), which gives the direction up without a jump; the posture holds it.
    """

    tuned = ('kp', 'kd', 'posture_kp', 'posture_kd')
    knows = 50
    Parameters = OperationalSpaceParameters

    def __init__(self, model: RobotModel, parameters: OperationalSpaceParameters):
        super().__init__(model, parameters)
        self._frame = self.parameters.tip_frame or model.tip_frame
        model.frame_id(self._frame)  # there is such a frame
        self._axes = np.flatnonzero(self.parameters.axes)
        self._at_rest = np.zeros(model.nv)

    @classmethod
    def designed(cls, model: RobotModel, q: Array, wn: float, zeta: float) -> Any:
        """Return kp = wn^2 and kd = 2 zeta wn of the tip, at every pose."""
        return OperationalSpaceParameters(*second_order_gains(wn, zeta))

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N]."""
        q, v = measured.q, measured.v
        model, p, axes = self.model, self.parameters, self._axes
        target = model.frame_motion(reference.q, reference.v, reference.a, self._frame)
        tip = model.frame_motion(q, v, self._at_rest, self._frame)
        turn = rotation_vector(product(target.rotation, transposed(tip.rotation)))
        error = np.concatenate([target.position - tip.position, turn], axis=-1)
        tip_a = target.acceleration - tip.acceleration  # the tip's is Jdot v
        tip_a += p.kd * (target.velocity - tip.velocity)
        tip_a += p.kp * error
        a_0 = reference.a + p.posture_kd * (reference.v - v)
        a_0 += p.posture_kp * model.difference(q, reference.q)

        jacobian = model.jacobian(q, self._frame)
        if len(axes) < 6:
            jacobian, tip_a = jacobian[..., axes, :], tip_a[..., axes]
        mobility = inverse_axes(model.mass_matrix(q), transposed(jacobian))
        force = damped(mobility, tip_a - times(jacobian, a_0), p.threshold)
        tau = model.inverse_dynamics(q, v, a_0)
        tau += times(transposed(jacobian), force)  # M Jbar x = J^T (J M^-1 J^T)^-1 x
        tau += reference.effort
        return tau, state


def damped(axes: Array, acceleration: Array, threshold: float) -> Array:
    """Return the force (..., m) that gives a task this acceleration (..., m), damped.

    The mobility axes axes^T, axes (..., m, n) orthogonal, has eigenvalues x >= 0; those below the
    threshold are inverted as x / (x^2 + (threshold - x)^2): continuous, and 0 for 0.
    """
    values = (axes**2).sum(-2)
    short = np.maximum(threshold - values, 0.0)
    along = times(transposed(axes), acceleration) / (values**2 + short**2)
    return times(axes, along)
