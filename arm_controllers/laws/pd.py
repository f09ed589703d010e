"""PD with gravity compensation."""

from dataclasses import dataclass

from arm_controllers.laws import Array, Law, LawEvaluation, Measurement, Reference, State
from arm_controllers.second_order_gains import torque_gains
from arm_dynamics.parameters import Parameters, PerJoint, parameter


@dataclass(frozen=True)
class PDParameters(Parameters):
    """Gains."""

    kp: PerJoint = parameter((400.0,), 'position gain [N.m/rad | N/m]', min=0)
    kd: PerJoint = parameter((40.0,), 'velocity gain [N.m.s/rad | N.s/m]', min=0)
    gravity_compensation: bool = parameter(True, 'if true, the law adds g(q)')


class PD(Law):
    """tau = kp (q_r - q) + kd (v_r - v) + g(q) + effort_r.

    Globally asymptotically stable for a reference at rest (Siciliano et al., Robotics, section
    8.5.1). Without the gravity term the arm droops by g/kp.
    """

    gains = ('kp', 'kd')
    designed = torque_gains  # kp = M_jj wn^2, kd = 2 zeta wn M_jj, each joint as if alone
    evaluation = LawEvaluation(
        model_use=10,
        compared_as={
            'pd': {'gravity_compensation': False},
            'pd_gravity': {'gravity_compensation': True},
        },
    )
    Parameters = PDParameters

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N]."""
        q, v = measured.q, measured.v
        model, p = self.model, self.parameters
        tau = p.kp * model.difference(q, reference.q)
        tau += p.kd * (reference.v - v)
        tau += reference.effort
        if p.gravity_compensation:
            tau += model.gravity_torque(q)
        return tau, state
