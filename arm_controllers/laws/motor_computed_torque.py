"""Computed torque for arms driven by DC motors: the torque, and the voltage that gives it."""

from dataclasses import dataclass

from arm_controllers.laws import Array, Law, Model, Reference
from arm_controllers.second_order_gains import Numbers, second_order_gains
from arm_dynamics.checks import per_joint
from arm_dynamics.motors import DCMotors


@dataclass(frozen=True)
class MotorComputedTorqueParameters(DCMotors):
    """Gains and motors; each is one number for all joints or one a joint.

    Attributes:
        kp: [1/s^2].
        kd: [1/s]; 2 sqrt(kp) is critically damped.
        torque_constant, back_emf_constant, armature_resistance, brush_drop, half_drop_voltage: of
            the motors, see arm_dynamics.motors.
    """

    kp: tuple[float, ...] = (400.0,)
    kd: tuple[float, ...] = (40.0,)


class MotorComputedTorque(Law):
    """V that makes tau = M(q) (a_r + kd (v_r - v) + kp (q_r - q)) + C(q, v) v + g(q) + effort_r.

    The error obeys e'' + kd e' + kp e = 0 at every pose, whatever gravity asks for there:
    V = Ra tau / Kt + Ke v, brush drop added, cancels back-EMF and load.
    """

    command_interface = 'voltage'
    gains = ('kp', 'kd')
    Parameters = MotorComputedTorqueParameters

    def __init__(self, model: Model, parameters: MotorComputedTorqueParameters):
        """Raises ArmError for gains or motor constants that are not allowed."""
        names = model.joint_names
        self._model = model
        self._kp = per_joint('kp', parameters.kp, names, minimum=0.0)
        self._kd = per_joint('kd', parameters.kd, names, minimum=0.0)
        per_joint('torque_constant', parameters.torque_constant, names, 0.0, exclusive=True)
        self._motors = parameters.constants(names)

    @classmethod
    def designed(
        cls, model: Model, q: Array, wn: Numbers, zeta: Numbers
    ) -> MotorComputedTorqueParameters:
        """Return kp = wn^2 and kd = 2 zeta wn, at every pose."""
        kp, kd = second_order_gains(wn, zeta)
        return MotorComputedTorqueParameters(kp=kp, kd=kd)

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the voltages (..., n) [V]."""
        e, de = self._model.difference(q, reference.q), reference.v - v
        a = reference.a + self._kd * de + self._kp * e
        tau = self._model.inverse_dynamics(q, v, a) + reference.effort
        return self._motors.voltage(tau, v)
