"""PD with feedforward torque: the model works ahead, the gains only clean up."""

from dataclasses import dataclass

from arm_controllers.laws import Array, Law, Model, Reference
from arm_controllers.second_order_gains import Numbers, second_order_gains
from arm_dynamics.checks import one_of, per_joint

FEEDFORWARD_AT = ('reference', 'measured')


@dataclass(frozen=True)
class PDFeedforwardParameters:
    """Gains, and where the model is evaluated.

    Numbers per joint are one number for all joints or one per joint.

    Attributes:
        kp: position gain [N.m/rad | N/m].
        kd: velocity gain [N.m.s/rad | N.s/m].
        feedforward_at: 'reference' (the textbook's) or 'measured' state.
    """

    kp: tuple[float, ...] = (2000.0,)
    kd: tuple[float, ...] = (400.0,)
    feedforward_at: str = 'reference'

    def __post_init__(self):
        """Raises ArmError."""
        one_of('feedforward_at', self.feedforward_at, FEEDFORWARD_AT)


class PDFeedforward(Law):
    """tau = M(x) a_r + C(x, y) y + g(x) + friction(y) + kp (q_r - q) + kd (v_r - v) + effort_r.

    (x, y) is the reference (q_r, v_r) or the measured state (q, v). Source: Siciliano et al.,
    Robotics, section 8.5.1; with the measured state it is the law of its section 6.6 in the 2000
    edition, which the planar sinusoid benchmark uses.
    """

    gains = ('kp', 'kd')
    knows = 40
    Parameters = PDFeedforwardParameters

    def __init__(self, model: Model, parameters: PDFeedforwardParameters):
        """Raises ArmError for a gain that is negative or not finite."""
        names = model.joint_names
        self._model = model
        self.kp = per_joint('kp', parameters.kp, names, minimum=0.0)
        self.kd = per_joint('kd', parameters.kd, names, minimum=0.0)
        self._measured = parameters.feedforward_at == 'measured'

    @classmethod
    def designed(
        cls, model: Model, q: Array, wn: Numbers, zeta: Numbers
    ) -> PDFeedforwardParameters:
        """Return kp = M_jj(q) wn^2 and kd = 2 zeta wn M_jj(q), each joint as if it were alone."""
        return PDFeedforwardParameters(
            *second_order_gains(wn, zeta, model.mass_matrix(q).diagonal())
        )

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the torque (..., n) [N.m | N]."""
        x, y = (q, v) if self._measured else (reference.q, reference.v)
        tau = self._model.inverse_dynamics(x, y, reference.a)
        tau += self.kp * self._model.difference(q, reference.q)
        tau += self.kd * (reference.v - v)
        tau += reference.effort
        return tau
