"""Computed torque with an integral term that does not wind up."""

from dataclasses import dataclass

import numpy as np

from arm_controllers.reference import Reference
from arm_dynamics.checks import in_range, per_joint
from arm_dynamics.errors import ArmError
from arm_dynamics.model import Array, RobotModel


@dataclass(frozen=True)
class ComputedTorquePidParameters:
    """Gains of the error dynamics, and the bound of the integral.

    Numbers per joint are one number for all joints or one per joint.

    Attributes:
        kp: position gain [1/s^2].
        ki: integral gain [1/s^3], below kp kd (else the error dynamics are unstable).
        kd: velocity gain [1/s].
        integral_limit: largest acceleration that the integral may ask for [rad/s^2 | m/s^2].
    """

    kp: tuple[float, ...] = (400.0,)
    ki: tuple[float, ...] = (2000.0,)
    kd: tuple[float, ...] = (40.0,)
    integral_limit: float = 200.0

    def __post_init__(self):
        """Raises ArmError."""
        in_range('integral_limit', self.integral_limit, 0.0)


class ComputedTorquePid:
    """tau = M (a_r + kp e + ki E + kd de) + C v + g + friction(v) + effort_r.

    With an exact model e''' + kd e'' + kp e' + ki e = 0, stable for 0 < ki < kp kd (Lynch and
    Park, Modern Robotics, section 11.4.1.2). A constant torque that the model lacks leaves no
    error at rest.

    Anti-windup: |ki E| is at most `integral_limit`, and E stands still at a joint whose torque is
    beyond the model's effort limit, unless the error would bring it back.
    """

    command_interface = 'effort'
    lookahead = 0
    gains_act_on = 'acceleration'
    Parameters = ComputedTorquePidParameters

    def __init__(self, model: RobotModel, parameters: ComputedTorquePidParameters):
        """Raises ArmError for negative gains or an integral gain that is not below kp kd."""
        names = model.joint_names
        self._model = model
        self.kp = per_joint('kp', parameters.kp, names, minimum=0.0)
        self.ki = per_joint('ki', parameters.ki, names, minimum=0.0)
        self.kd = per_joint('kd', parameters.kd, names, minimum=0.0)
        for joint, ki, bound in zip(names, self.ki, self.kp * self.kd, strict=True):
            if ki > 0.0 and ki >= bound:
                raise ArmError(f'ki of joint {joint!r} is {ki:g}; it must be < kp kd = {bound:g}')
        self._limit = parameters.integral_limit
        self.integral = np.zeros(model.nv)  # ki E [rad/s^2 | m/s^2]

    def reset(self, q: Array, v: Array) -> None:
        """Forget the past: the integral starts at zero."""
        self.integral[:] = 0.0

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the torque (n,) [N.m | N]; the integral grows for the next period."""
        error = self._model.difference(q, reference.q)
        a = reference.a + self.kd * (reference.v - v) + self.kp * error + self.integral
        tau = self._model.inverse_dynamics(q, v, a)
        tau += reference.effort
        saturated = (np.abs(tau) > self._model.effort_limit) & (tau * error > 0.0)
        self.integral += np.where(saturated, 0.0, self.ki * error * dt)
        np.clip(self.integral, -self._limit, self._limit, out=self.integral)
        return tau
