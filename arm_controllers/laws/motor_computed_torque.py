"""Computed torque for arms driven by DC motors: the torque, and the voltage that gives it."""

from dataclasses import dataclass

from arm_controllers.laws import Array, Law, Model, Reference
from arm_controllers.second_order_gains import acceleration_gains
from arm_dynamics.checks import per_joint
from arm_dynamics.motors import DCMotors
from arm_dynamics.parameters import PerJoint, parameter


@dataclass(frozen=True)
class MotorComputedTorqueParameters(DCMotors):
    """Gains and motors."""

    kp: PerJoint = parameter((400.0,), '[1/s^2]', min=0)
    kd: PerJoint = parameter((40.0,), '[1/s]; 2 sqrt(kp) is critically damped', min=0)


class MotorComputedTorque(Law):
    """V that makes tau = M(q) (a_r + kd (v_r - v) + kp (q_r - q)) + C(q, v) v + g(q) + effort_r.

    The error obeys e'' + kd e' + kp e = 0 at every pose, whatever gravity asks for there:
    V = Ra tau / Kt + Ke v, brush drop added, cancels back-EMF and load.
    """

    command_interface = 'voltage'
    gains = ('kp', 'kd')
    designed = acceleration_gains  # kp = wn^2, kd = 2 zeta wn
    Parameters = MotorComputedTorqueParameters

    def __init__(self, model: Model, parameters: MotorComputedTorqueParameters):
        super().__init__(model, parameters)
        per_joint('torque_constant', parameters.torque_constant, model.joint_names, 0.0, True)
        self._motors = parameters.constants(model.joint_names)

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the voltages (..., n) [V]."""
        model, p = self.model, self.parameters
        e, de = model.difference(q, reference.q), reference.v - v
        a = reference.a + p.kd * de + p.kp * e
        tau = model.inverse_dynamics(q, v, a) + reference.effort
        return self._motors.voltage(tau, v)
