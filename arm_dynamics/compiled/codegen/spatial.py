"""Rigid transforms and spatial inertias of symbolic scalars, in NumPy arrays of objects."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.compiled.codegen.expressions import Scalar
from arm_dynamics.compiled.codegen.links import Link, skew

Vector = NDArray[np.object_]  # (3,)
Matrix = NDArray[np.object_]  # (3, 3)

_INDEX = np.arange(3)
_UPPER = np.minimum.outer(_INDEX, _INDEX), np.maximum.outer(_INDEX, _INDEX)


class Transform:
    """From a link's frame to its parent's: a rotation and an offset [m] in parent axes."""

    def __init__(self, link: Link, position: Scalar, sine: Scalar, cosine: Scalar):
        """Place the link at a joint position, of which a revolute joint takes sine and cosine."""
        x, y, z = link.rotation.astype(object).T
        self.translation: Vector = link.translation.astype(object)
        if link.prismatic:
            self.translation = self.translation + z * position
        else:
            x, y = x * cosine + y * sine, y * cosine - x * sine
        self.rotation: Matrix = np.column_stack([x, y, z])

    def motion_to_child(self, angular: Vector, linear: Vector) -> tuple[Vector, Vector]:
        """Return the same motion seen at the link."""
        moved = linear + np.cross(angular, self.translation)
        return self.rotation.T @ angular, self.rotation.T @ moved

    def force_to_parent(self, moment: Vector, force: Vector) -> tuple[Vector, Vector]:
        """Return the same force seen at the parent."""
        force = self.rotation @ force
        return self.rotation @ moment + np.cross(self.translation, force), force

    def inertia_to_parent(self, inertia: 'SpatialInertia') -> 'SpatialInertia':
        """Turn into parent axes, then move to the parent's origin: v_child = v + w x p."""
        turned = (self.rotation @ part @ self.rotation.T for part in inertia)
        angular, mixed, linear = turned
        angular, linear, p = angular[_UPPER], linear[_UPPER], self.translation
        moved = mixed + np.cross(p, linear.T).T
        left, right = np.cross(p, moved).T, np.cross(p, mixed)  # [p]x mixed^T, -mixed [p]x
        return SpatialInertia((angular + left + right)[_UPPER], moved, linear)


class SpatialInertia(NamedTuple):
    """A 6 x 6 inertia [[angular, mixed], [mixed^T, linear]]: momentum = inertia (w, u)."""

    angular: Matrix
    mixed: Matrix
    linear: Matrix

    @classmethod
    def of(cls, link: Link) -> Self:
        """Return the inertia of one link."""
        parts = link.inertia, skew(link.first_moment), link.mass * np.eye(3)
        return cls(*(part.astype(object) for part in parts))

    def column(self, prismatic: bool) -> tuple[Vector, Vector]:
        """Return the inertia times the unit motion of the joint."""
        if prismatic:
            return self.mixed[:, 2], self.linear[:, 2]
        return self.angular[:, 2], self.mixed[2]

    def times(self, angular: Vector, linear: Vector) -> tuple[Vector, Vector]:
        """Return (moment, force) of a motion."""
        moment = self.angular @ angular + self.mixed @ linear
        return moment, self.mixed.T @ angular + self.linear @ linear

    def plus(self, other: 'SpatialInertia') -> 'SpatialInertia':
        """Return the sum of two inertias."""
        return SpatialInertia(*(a + b for a, b in zip(self, other, strict=True)))

    def without(self, column: tuple[Vector, Vector], inverse: Scalar) -> 'SpatialInertia':
        """Return the inertia felt across a joint: less U U^T / D, with U = (n, f) = `column`."""
        n, f = column
        return SpatialInertia(
            (self.angular - np.outer(n * inverse, n))[_UPPER],
            self.mixed - np.outer(n * inverse, f),
            (self.linear - np.outer(f * inverse, f))[_UPPER],
        )
