"""Joint impedance: a spring and a damper at every joint, around a moving reference."""

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
from arm_controllers.modal_damping import modal_damping
from arm_controllers.second_order_gains import second_order_gains
from arm_dynamics.parameters import Parameters, PerJoint, parameter
from arm_dynamics.small_matrices import times, transposed


@dataclass(frozen=True)
class JointImpedanceParameters(Parameters):
    """Stiffness and damping of the arm against an external force."""

    stiffness: PerJoint = parameter((300.0,), 'joint stiffness K [N.m/rad | N/m]', above=0)
    damping_ratio: float = parameter(
        0.7, 'damping ratio of each mode of M, K [1]', above=0, max=10
    )


class JointImpedance(Law):
    """tau = K e + D(q) de + M a_r + C(q, v) v_r + g + friction(v) + effort_r.

    The arm keeps its own inertia: pushed by tau_ext, e = q_r - q obeys

        M(q) e'' + (C(q, v) + D) e' + K e = -tau_ext,

    which is passive from tau_ext to v - v_r (Paden and Panja, Int. J. Control 47, 1988). D gives
    every mode of (M, K) the same damping ratio: with K X = M X S^2 and X^T M X = 1,
    D = 2 zeta M X S X^T M = 2 zeta K^1/2 (K^-1/2 M K^-1/2)^1/2 K^1/2
    (Albu-Schaeffer et al., ICRA 2003, double diagonalisation).
    """

    evaluation = LawEvaluation(model_use=20, tuned=('stiffness', 'damping_ratio'))
    Parameters = JointImpedanceParameters

    def __init__(self, model: RobotModel, parameters: JointImpedanceParameters):
        super().__init__(model, parameters)
        self._root = np.sqrt(self.parameters.stiffness)  # K^1/2, its diagonal
        self._roots = self._root[..., np.newaxis] * np.eye(model.nv)

    @classmethod
    def designed(
        cls, model: RobotModel, q: Array, wn: float, zeta: float
    ) -> JointImpedanceParameters:
        """Return K = M_jj(q) wn^2, each joint as if it were alone, and zeta for every mode."""
        stiffness, _ = second_order_gains(wn, zeta, model.mass_matrix(q).diagonal())
        return JointImpedanceParameters(stiffness, zeta)

    def __call__(
        self, state: State, measured: Measurement, reference: Reference, dt: float
    ) -> tuple[Array, State]:
        """Return the torque (..., n) [N.m | N]."""
        q, v = measured.q, measured.v
        model, p = self.model, self.parameters
        mass = model.mass_matrix(q)
        tau = times(mass, reference.a)
        tau += times(model.coriolis_matrix(q, v), reference.v)
        tau += model.gravity_torque(q)
        tau += p.stiffness * model.difference(q, reference.q)
        right = self._roots if mass.ndim == 2 else np.broadcast_to(self._roots, mass.shape)
        modes, weights = modal_damping(mass, right, self._root, p.damping_ratio)
        tau += times(modes, weights * times(transposed(modes), reference.v - v))
        tau += model.friction_torque(v)
        tau += reference.effort
        return tau, state
