"""Computed torque: cancel the arm's dynamics, impose second-order error dynamics."""

from dataclasses import dataclass

from arm_controllers.laws import Array, Law, Model, Reference
from arm_controllers.second_order_gains import Numbers, second_order_gains
from arm_dynamics.checks import per_joint


@dataclass(frozen=True)
class ComputedTorqueParameters:
    """Gains of the error dynamics, each one number for all joints or one per joint.

    Attributes:
        kp: position gain [1/s^2], the square of the natural frequency.
        kd: velocity gain [1/s], twice damping ratio times natural frequency.
    """

    kp: tuple[float, ...] = (400.0,)
    kd: tuple[float, ...] = (40.0,)


class ComputedTorque(Law):
    """tau = M (a_r + kd (v_r - v) + kp (q_r - q)) + C v + g + friction(v) + effort_r.

    With an exact model the error obeys e'' + kd e' + kp e = 0 at every joint
    (Siciliano et al., Robotics, section 8.5.2; Lynch and Park, Modern Robotics, eq. 11.35).
    """

    gains = ('kp', 'kd')
    knows = 60
    Parameters = ComputedTorqueParameters

    def __init__(self, model: Model, parameters: ComputedTorqueParameters):
        """Raises ArmError for a gain that is negative or not finite."""
        names = model.joint_names
        self._model = model
        self.kp = per_joint('kp', parameters.kp, names, minimum=0.0)
        self.kd = per_joint('kd', parameters.kd, names, minimum=0.0)

    @classmethod
    def designed(
        cls, model: Model, q: Array, wn: Numbers, zeta: Numbers
    ) -> ComputedTorqueParameters:
        """Return kp = wn^2 and kd = 2 zeta wn, at every pose."""
        return ComputedTorqueParameters(*second_order_gains(wn, zeta))

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the torque (..., n) [N.m | N]."""
        e, de = self._model.difference(q, reference.q), reference.v - v
        a = reference.a + self.kd * de + self.kp * e
        tau = self._model.inverse_dynamics(q, v, a)
        tau += reference.effort
        return tau
