"""PD with gravity compensation."""

from dataclasses import dataclass

from arm_controllers.laws import Array, Law, Model, Reference
from arm_controllers.second_order_gains import Numbers, second_order_gains
from arm_dynamics.checks import per_joint


@dataclass(frozen=True)
class PDParameters:
    """Gains; each is one number for all joints or one a joint.

    Attributes:
        kp: position gain [N.m/rad | N/m].
        kd: velocity gain [N.m.s/rad | N.s/m].
        gravity_compensation: add g(q).
    """

    kp: tuple[float, ...] = (400.0,)
    kd: tuple[float, ...] = (40.0,)
    gravity_compensation: bool = True


class PD(Law):
    """tau = kp (q_r - q) + kd (v_r - v) + g(q) + effort_r.

    Globally asymptotically stable for a reference at rest (Siciliano et al., Robotics, section
    8.5.1). Without the gravity term the arm droops by g/kp.
    """

    gains = ('kp', 'kd')
    knows = 10
    compared_as = {  # noqa: RUF012
        'pd': {'gravity_compensation': False},
        'pd_gravity': {'gravity_compensation': True},
    }
    Parameters = PDParameters

    def __init__(self, model: Model, parameters: PDParameters):
        """Raises ArmError for a gain that is negative or not finite."""
        self._model = model
        self.kp = per_joint('kp', parameters.kp, model.joint_names, minimum=0.0)
        self.kd = per_joint('kd', parameters.kd, model.joint_names, minimum=0.0)
        self._gravity_compensation = parameters.gravity_compensation

    @classmethod
    def designed(cls, model: Model, q: Array, wn: Numbers, zeta: Numbers) -> PDParameters:
        """Return kp = M_jj(q) wn^2 and kd = 2 zeta wn M_jj(q), each joint as if it were alone."""
        return PDParameters(*second_order_gains(wn, zeta, model.mass_matrix(q).diagonal()))

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the torque (..., n) [N.m | N]."""
        tau = self.kp * self._model.difference(q, reference.q)
        tau += self.kd * (reference.v - v)
        tau += reference.effort
        if self._gravity_compensation:
            tau += self._model.gravity_torque(q)
        return tau
