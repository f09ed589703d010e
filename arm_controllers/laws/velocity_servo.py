"""Velocity command of a position loop with feedforward, for drives that follow a velocity."""

from dataclasses import dataclass

from arm_controllers.laws import (
    Array,
    Law,
    LawEvaluation,
    Measurement,
    Reference,
    RobotModel,
    State,
)
from arm_controllers.second_order_gains import Numbers, second_order_gains
from arm_dynamics.parameters import Parameters, PerJoint, parameter


@dataclass(frozen=True)
class VelocityServoParameters(Parameters):
    """Gain of the position loop, choice of feedforward, and the gain of the drive in the plant."""

    kp: PerJoint = parameter((20.0,), 'gain of the position loop [1/s]', min=0)
    feedforward: str = parameter(
        'inverse_dynamics',
        'model terms added to the command (see VelocityServo)',
        one_of=('none', 'gravity', 'inverse_dynamics'),
    )
    servo_kd: PerJoint = parameter((400.0,), 'velocity gain of the servo [N.m.s/rad]', above=0)


class VelocityServo(Law):
    """Velocity command u = v_r + kp (q_r - q) + tau/kd for drives with tau = kd (u - v).

    Feedforward torque:
        none: 0; the joint droops by g/(kp kd).
        gravity: b(q, v), gravity and velocity torques: no droop.
        inverse_dynamics: tau(q_r, v_r, a_r), the whole model.

    The reference's effort is added to that torque. With the whole model a joint of inertia m has
    the error dynamics m e'' + kd e' + kd kp e = 0.
    """

    command_interface = 'velocity'
    evaluation = LawEvaluation(model_use=35, tuned=('kp', 'servo_kd'))
    Parameters = VelocityServoParameters

    @classmethod
    def designed(
        cls, model: RobotModel, q: Array, wn: Numbers, zeta: Numbers
    ) -> VelocityServoParameters:
        """Return kp = wn/(2 zeta) for drives with 2 zeta wn M_jj(q)."""
        stiffness, kd = second_order_gains(wn, zeta, model.mass_matrix(q).diagonal())
        kp = tuple(k / d for k, d in zip(stiffness, kd, strict=True))
        return VelocityServoParameters(kp=kp, servo_kd=kd)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the velocity command (..., n) [rad/s | m/s]; no state."""
        model, p, q = self.model, self.parameters, measured.q
        torque = reference.effort
        if p.feedforward == 'gravity':
            torque = torque + model.bias_torque(q, measured.v)
        elif p.feedforward == 'inverse_dynamics':
            torque = torque + model.inverse_dynamics(reference.q, reference.v, reference.a)
        command = model.difference(q, reference.q)
        command *= p.kp
        command += reference.v
        command += torque / p.servo_kd
        return command, state
