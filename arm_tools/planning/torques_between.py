"""Torques of a motion of quintics, bounded at every instant between its points.

On an interval the torque of the rigid bodies is that of its polynomial of degree 4 through five
samples, within a proven remainder, as for certificates of goals; the polynomial is within its
Bernstein coefficients. Coulomb friction may fade below STANDSTILL, as the model's does, or not.
"""

from typing import NamedTuple, Self

import numpy as np

from arm_controllers.follower.trajectory import Trajectory
from arm_dynamics.checks import Array, JointLimitError
from arm_dynamics.model import STANDSTILL, RobotModel
from arm_dynamics.torque_bound import TorqueBound
from arm_lab.certificate.pieces import Pieces
from arm_lab.certificate.torque import BERNSTEIN, NODES, REMAINDER

_PARTS = 4  # of an interval, each within its own Bernstein coefficients
_SHARES = ((np.arange(_PARTS)[:, np.newaxis] + NODES) / _PARTS).ravel()
_LAGRANGE = np.vander(_SHARES, 5, increasing=True) @ np.linalg.inv(
    np.vander(NODES, 5, increasing=True)
)
# From samples (5,) to the coefficients (parts 5,).
_COEFFICIENTS = np.kron(np.eye(_PARTS), BERNSTEIN) @ _LAGRANGE
_ZERO = 1e-9  # speeds up to this may be standstill, rounded [rad/s | m/s]


class TorquesBetween(NamedTuple):
    """Bounds of the torque in both directions, (2, k, 5, n), on k parts of a motion.

    Attributes:
        still: of gravity and Coulomb friction, which stay when time is stretched.
        moving: of the rest, which falls with the square of that (viscous friction: linearly).
    """

    still: Array
    moving: Array

    @classmethod
    def of(cls, model: RobotModel, bound: TorqueBound, trajectory: Trajectory) -> Self:
        """Return the bounds of a motion; `bound`: that of the model."""
        pieces, n = Pieces.of(trajectory), model.nv
        segment = np.repeat(pieces.segment, 5)
        q, v, a = trajectory.states_in(segment, np.outer(pieces.length, NODES).ravel())
        smooth = model.torques_along(q, v, a) - model.friction_torque(v) + model.damping * v
        weight = np.array([model.gravity_torque(each) for each in q])
        smooth, weight, v = (
            (_COEFFICIENTS @ each.reshape(-1, 5, n)).reshape(-1, 5, n)
            for each in (smooth, weight, v)
        )
        error = bound(pieces.magnitudes(pieces.derivatives(trajectory))) * REMAINDER
        error = np.repeat(error * pieces.length[:, np.newaxis] ** 5, _PARTS, axis=0)[:, np.newaxis]
        signs = np.array([1.0, -1.0])[:, np.newaxis, np.newaxis, np.newaxis]
        fastest = (signs * v).max(axis=2, keepdims=True)
        friction = model.friction * np.where(
            fastest > _ZERO, 1.0, np.clip(fastest / STANDSTILL, -1.0, 0.0)
        )
        return cls(signs * weight + friction, signs * (smooth - weight) + error)

    def share(self, limit: Array) -> float:
        """Return the largest share of the limits (n,) [N.m | N] that any torque may use."""
        return float(((self.still + self.moving) / limit).max())

    def slower(self, model: RobotModel, limit: Array) -> float:
        """Return the factor by which to stretch time so that torques are within limits (n,).

        Raises:
            ArmError: gravity and friction alone need more; names the joint.
        """
        margin = limit - self.still
        if (margin <= 0.0).any():
            side, piece, _, joint = np.unravel_index(int(margin.argmin()), margin.shape)
            value = (1 - 2 * int(side)) * float(self.still[side, piece, :, joint].max())
            most, where = float(limit[joint]), f'{piece / margin.shape[1]:.0%} of the way'
            quantity, prismatic = 'torque against gravity and friction', model.prismatic[joint]
            name = model.joint_names[joint]
            raise JointLimitError(name, quantity, value, -most, most, bool(prismatic), where)
        return float(np.sqrt((self.moving / margin).max().clip(0.0)))
