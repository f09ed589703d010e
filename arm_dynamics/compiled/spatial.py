"""Spatial vectors [linear; angular] and rigid transforms of symbolic scalars.

All are NumPy arrays of objects: (6,) motions and forces, (6, 6) inertias.
"""

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.compiled.expressions import Scalar
from arm_dynamics.compiled.links import Link

Spatial = NDArray[np.object_]

_INDEX = np.arange(6)
_UPPER = np.minimum.outer(_INDEX, _INDEX), np.maximum.outer(_INDEX, _INDEX)


class Transform:
    """From a link's frame to its parent's: a rotation, then an offset [m] in parent axes."""

    def __init__(self, link: Link, position: Scalar, sine: Scalar, cosine: Scalar):
        """Place the link at a joint position, of which a revolute joint takes sine and cosine."""
        x, y, z = link.rotation.astype(object).T
        offset = link.translation.astype(object)
        if link.prismatic:
            offset = offset + z * position
        else:
            x, y = x * cosine + y * sine, y * cosine - x * sine
        self.placement: Spatial = np.eye(4, dtype=object)
        self.placement[:3] = np.column_stack([x, y, z, offset])
        self._turn = np.kron(np.eye(2), self.placement[:3, :3])
        self._shift = np.eye(6, dtype=object)
        self._shift[:3, 3:] = np.cross(np.eye(3), offset).T  # v + w x p

    def motion_to_child(self, motion: Spatial) -> Spatial:
        """Return the same motion seen at the link."""
        return self._turn.T @ (self._shift @ motion)

    def force_to_parent(self, force: Spatial) -> Spatial:
        """Return the same force seen at the parent."""
        return self._shift.T @ (self._turn @ force)

    def inertia_to_parent(self, inertia: Spatial) -> Spatial:
        """Turn into parent axes, then move to the parent's origin."""
        turned = symmetric(self._turn @ inertia @ self._turn.T)
        return symmetric(self._shift.T @ turned @ self._shift)

    def matrix_to_parent(self, matrix: Spatial) -> Spatial:
        """Do the same with an asymmetric matrix from motions to forces."""
        return self._shift.T @ (self._turn @ matrix @ self._turn.T) @ self._shift


def symmetric(matrix: Spatial) -> Spatial:
    """Return the upper triangle of a matrix, mirrored, so that equal entries are one object."""
    return matrix[_UPPER]


def motion_cross(a: Spatial, b: Spatial) -> Spatial:
    """Return the rate of the motion b when carried along by the motion a."""
    linear = np.cross(a[3:], b[:3]) + np.cross(a[:3], b[3:])
    return np.concatenate([linear, np.cross(a[3:], b[3:])])


def force_cross(a: Spatial, force: Spatial) -> Spatial:
    """Return the rate of a force or momentum when carried along by the motion a."""
    angular = np.cross(a[3:], force[3:]) + np.cross(a[:3], force[:3])
    return np.concatenate([np.cross(a[3:], force[:3]), angular])
