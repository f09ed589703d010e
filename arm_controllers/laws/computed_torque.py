"""Computed torque: cancel the arm's dynamics, impose second-order error dynamics."""

from dataclasses import dataclass

from arm_controllers.laws import Array, Law, LawEvaluation, Measurement, Reference, State
from arm_controllers.second_order_gains import acceleration_gains
from arm_dynamics.parameters import Parameters, PerJoint, parameter


@dataclass(frozen=True)
class ComputedTorqueParameters(Parameters):
    """Gains of the error dynamics."""

    kp: PerJoint = parameter((400.0,), 'position gain wn^2 [1/s^2]', min=0)
    kd: PerJoint = parameter((40.0,), 'velocity gain 2 zeta wn [1/s]', min=0)


class ComputedTorque(Law):
    """tau = M (a_r + kd (v_r - v) + kp (q_r - q)) + C v + g + friction(v) + effort_r.

    With an exact model the error obeys e'' + kd e' + kp e = 0 at every joint
    (Siciliano et al., Robotics, section 8.5.2; Lynch and Park, Modern Robotics, eq. 11.35).
    """

    gains = ('kp', 'kd')
    designed = acceleration_gains  # kp = wn^2, kd = 2 zeta wn
    evaluation = LawEvaluation(model_use=60)
    Parameters = ComputedTorqueParameters

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N]."""
        q, v = measured.q, measured.v
        model, p = self.model, self.parameters
        a = reference.a + p.kd * (reference.v - v) + p.kp * model.difference(q, reference.q)
        tau = model.inverse_dynamics(q, v, a)
        tau += reference.effort
        return tau, state
