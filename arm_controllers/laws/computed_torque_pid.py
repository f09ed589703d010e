"""Computed torque with an integral term that does not wind up."""

from dataclasses import dataclass

import numpy as np

from arm_controllers.laws import (
    Array,
    Law,
    LawEvaluation,
    Measurement,
    Reference,
    RobotModel,
    State,
)
from arm_controllers.second_order_gains import Numbers, numbers, second_order_gains
from arm_dynamics.checks import ArmError, entries
from arm_dynamics.parameters import Parameters, PerJoint, parameter


@dataclass(frozen=True)
class ComputedTorquePidParameters(Parameters):
    """Gains of the error dynamics, and the bound of the integral."""

    kp: PerJoint = parameter((400.0,), 'position gain [1/s^2]', min=0)
    ki: PerJoint = parameter((2000.0,), 'integral gain [1/s^3], less than kp kd', min=0)
    kd: PerJoint = parameter((40.0,), 'velocity gain [1/s]', min=0)
    integral_limit: float = parameter(
        200.0, 'largest acceleration of the integral term [rad/s^2 | m/s^2]', min=0
    )


class ComputedTorquePid(Law):
    """tau = M (a_r + kp e + ki E + kd de) + C v + g + friction(v) + effort_r.

    With an exact model e''' + kd e'' + kp e' + ki e = 0, stable for 0 < ki < kp kd (Lynch and
    Park, Modern Robotics, section 11.4.1.2). A constant torque that the model lacks leaves no
    error at rest.

    Anti-windup: |ki E| is at most `integral_limit`, and E is constant at a joint whose torque is
    beyond the model's effort limit, unless the error would bring it back.
    """

    gains = ('kp', 'kd')
    evaluation = LawEvaluation(model_use=70, tuned=('kp', 'ki', 'kd'))
    Parameters = ComputedTorquePidParameters

    def __init__(self, model: RobotModel, parameters: ComputedTorquePidParameters):
        super().__init__(model, parameters)
        p = self.parameters
        for (*_, i), (ki, bound) in entries(p.ki, p.kp * p.kd):
            if ki > 0.0 and ki >= bound:
                joint = model.joint_names[i]
                raise ArmError(f'ki of joint {joint!r} is {ki:g}; it must be < kp kd = {bound:g}')

    @classmethod
    def designed(
        cls, model: RobotModel, q: Array, wn: Numbers, zeta: Numbers
    ) -> ComputedTorquePidParameters:
        """Return kp = wn^2, kd = 2 zeta wn as without an integral, and ki = wn^3 / 4."""
        kp, kd = second_order_gains(wn, zeta)
        return ComputedTorquePidParameters(kp, numbers(np.asarray(wn) ** 3 / 4.0), kd)

    def start(self, measured: Measurement, reference: Reference) -> State:
        """Return (ki E,): the integral term (..., n) [rad/s^2 | m/s^2], at zero."""
        return (np.zeros_like(measured.q),)

    def resumed(self, state: State) -> State | None:
        """Go on with the integral term."""
        return state

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N], and the integral term of the next period."""
        model, p, (integral,), (q, v, *_) = self.model, self.parameters, state, measured
        e, de = model.difference(q, reference.q), reference.v - v
        a = reference.a + p.kd * de + p.kp * e + integral
        tau = model.inverse_dynamics(q, v, a)
        tau += reference.effort
        saturated = (np.abs(tau) > model.effort_limit) & (tau * e > 0.0)
        integral = integral + np.where(saturated, 0.0, p.ki * dt * e)
        limit = p.integral_limit
        return tau, (np.minimum(np.maximum(integral, -limit), limit),)
