"""PD with feedforward torque: the model gives the torque, the gains correct what is left."""

from dataclasses import dataclass

from arm_controllers.laws import Array, Law, LawEvaluation, Measurement, Reference, State
from arm_controllers.second_order_gains import torque_gains
from arm_dynamics.parameters import Parameters, PerJoint, parameter


@dataclass(frozen=True)
class PDFeedforwardParameters(Parameters):
    """Gains, and where the model is evaluated."""

    kp: PerJoint = parameter((2000.0,), 'position gain [N.m/rad | N/m]', min=0)
    kd: PerJoint = parameter((400.0,), 'velocity gain [N.m.s/rad | N.s/m]', min=0)
    feedforward_at: str = parameter(
        'reference',
        "state at which the model is evaluated: 'reference' (the textbook's) or 'measured'",
        one_of=('reference', 'measured'),
    )


class PDFeedforward(Law):
    """tau = M(x) a_r + C(x, y) y + g(x) + friction(y) + kp (q_r - q) + kd (v_r - v) + effort_r.

    (x, y) is the reference (q_r, v_r) or the measured state (q, v). Source: Siciliano et al.,
    Robotics, section 8.5.1; with the measured state it is the law of its section 6.6 in the 2000
    edition, which the planar sinusoid benchmark uses.
    """

    gains = ('kp', 'kd')
    designed = torque_gains  # kp = M_jj wn^2, kd = 2 zeta wn M_jj, each joint as if alone
    evaluation = LawEvaluation(model_use=40)
    Parameters = PDFeedforwardParameters

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N]."""
        q, v = measured.q, measured.v
        model, p = self.model, self.parameters
        measured = p.feedforward_at == 'measured'
        x, y = (q, v) if measured else (reference.q, reference.v)
        tau = model.inverse_dynamics(x, y, reference.a)
        tau += p.kp * model.difference(q, reference.q)
        tau += p.kd * (reference.v - v)
        tau += reference.effort
        return tau, state
