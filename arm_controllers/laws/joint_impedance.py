"""Joint impedance: a spring and a damper at every joint, around a moving reference."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dsygv

from arm_controllers.reference import Reference
from arm_dynamics.checks import in_range, per_joint
from arm_dynamics.model import Array, RobotModel


@dataclass(frozen=True)
class JointImpedanceParameters:
    """What somebody who pushes the arm is to feel.

    Numbers per joint are one number for all joints or one per joint.

    Attributes:
        stiffness: K [N.m/rad | N/m], above zero.
        damping_ratio: of every natural mode of M and K.
    """

    stiffness: tuple[float, ...] = (300.0,)
    damping_ratio: float = 0.7

    def __post_init__(self):
        """Raises ArmError."""
        in_range('damping_ratio', self.damping_ratio, 0.0, 10.0, exclusive=True)


class JointImpedance:
    """tau = K e + D(q) de + M a_r + C(q, v) v_r + g + friction(v) + effort_r.

    The arm keeps its own inertia: pushed by tau_ext, e = q_r - q obeys

        M(q) e'' + (C(q, v) + D) e' + K e = -tau_ext,

    which is passive from tau_ext to v - v_r (Paden and Panja, Int. J. Control 47, 1988). D gives
    every mode of (M, K) the same damping ratio: with K X = M X S^2 and X^T M X = 1,
    D = 2 zeta M X S X^T M (Albu-Schaeffer et al., ICRA 2003, double diagonalisation).
    """

    command_interface = 'effort'
    lookahead = 0
    Parameters = JointImpedanceParameters

    def __init__(self, model: RobotModel, parameters: JointImpedanceParameters):
        """Raises ArmError for a stiffness that is not positive."""
        names = model.joint_names
        self._model = model
        self.stiffness = per_joint('stiffness', parameters.stiffness, names, 0.0, exclusive=True)
        self._stiffness_matrix = np.diag(self.stiffness)
        self._ratio = parameters.damping_ratio

    def reset(self, q: Array, v: Array) -> None:
        """Forget the past: this law has none."""

    def damping_matrix(self, mass_matrix: Array) -> Array:
        """Return D (n x n) for the damping ratio at this mass matrix."""
        squares, modes, _ = dsygv(self._stiffness_matrix, mass_matrix)
        shape = mass_matrix @ modes
        return (shape * (2.0 * self._ratio * np.sqrt(squares))) @ shape.T

    def __call__(self, q: Array, v: Array, reference: Reference, dt: float) -> Array:
        """Return the torque (n,) [N.m | N]."""
        model = self._model
        mass = model.mass_matrix(q)
        tau = mass @ reference.a
        tau += model.coriolis_matrix(q, v) @ reference.v
        tau += model.gravity_torque(q)
        tau += self.stiffness * model.difference(q, reference.q)
        tau += self.damping_matrix(mass) @ (reference.v - v)
        tau += model.friction_torque(v)
        tau += reference.effort
        return tau
