"""3-vectors, 3 x 3 matrices, rigid transforms and spatial inertias of symbolic scalars."""

import numpy as np

from arm_dynamics.compiled.codegen.expressions import Scalar
from arm_dynamics.compiled.codegen.links import Link, skew

Vector = list[Scalar]  # three scalars
Matrix = list[Vector]  # three rows


class Transform:
    """From a link's frame to its parent's: a rotation and an offset [m] in parent axes."""

    def __init__(self, link: Link, position: Scalar, sine: Scalar, cosine: Scalar):
        """Place the link at a joint position, of which a revolute joint takes sine and cosine."""
        fixed = link.rotation.tolist()
        self.rotation: Matrix = fixed
        self.translation: Vector = link.translation.tolist()
        if link.prismatic:
            axis = [row[2] for row in fixed]
            self.translation = add(self.translation, scale(axis, position))
        else:
            self.rotation = [
                [r[0] * cosine + r[1] * sine, r[1] * cosine - r[0] * sine, r[2]] for r in fixed
            ]

    def motion_to_child(self, angular: Vector, linear: Vector) -> tuple[Vector, Vector]:
        """Return the same motion seen at the link."""
        moved = add(linear, cross(angular, self.translation))
        return apply_transposed(self.rotation, angular), apply_transposed(self.rotation, moved)

    def force_to_parent(self, moment: Vector, force: Vector) -> tuple[Vector, Vector]:
        """Return the same force seen at the parent."""
        force = apply(self.rotation, force)
        return add(apply(self.rotation, moment), cross(self.translation, force)), force

    def inertia_to_parent(self, inertia: 'SpatialInertia') -> 'SpatialInertia':
        """Turn into parent axes, then move to the parent's origin: v_child = v + w x p."""
        angular = symmetric(congruence(self.rotation, inertia.angular))
        mixed = congruence(self.rotation, inertia.mixed)
        linear = symmetric(congruence(self.rotation, inertia.linear))
        p = self.translation
        mixed_moved = matrix_add(mixed, cross_columns(p, linear))
        left = cross_columns(p, transposed(mixed_moved))
        right = transposed(cross_columns(p, transposed(mixed)))  # -mixed [p]x
        return SpatialInertia(
            symmetric(matrix_add(matrix_add(angular, left), right)), mixed_moved, linear
        )


class SpatialInertia:
    """A 6 x 6 inertia [[angular, mixed], [mixed^T, linear]]: momentum = inertia (w, u)."""

    def __init__(self, angular: Matrix, mixed: Matrix, linear: Matrix):
        self.angular, self.mixed, self.linear = angular, mixed, linear

    @classmethod
    def of(cls, link: Link) -> 'SpatialInertia':
        """Return the inertia of one link."""
        return cls(
            link.inertia.tolist(),
            skew(link.first_moment).tolist(),
            (link.mass * np.eye(3)).tolist(),
        )

    def column(self, prismatic: bool) -> tuple[Vector, Vector]:
        """Return the inertia times the unit motion of the joint."""
        if prismatic:
            return [row[2] for row in self.mixed], [row[2] for row in self.linear]
        return [row[2] for row in self.angular], [*self.mixed[2]]

    def times(self, angular: Vector, linear: Vector) -> tuple[Vector, Vector]:
        """Return (moment, force) of a motion."""
        return (
            add(apply(self.angular, angular), apply(self.mixed, linear)),
            add(apply_transposed(self.mixed, angular), apply(self.linear, linear)),
        )

    def plus(self, other: 'SpatialInertia') -> 'SpatialInertia':
        """Return the sum of two inertias."""
        return SpatialInertia(
            matrix_add(self.angular, other.angular),
            matrix_add(self.mixed, other.mixed),
            matrix_add(self.linear, other.linear),
        )

    def without(self, column: tuple[Vector, Vector], inverse: Scalar) -> 'SpatialInertia':
        """Return the inertia felt across a joint: less U U^T / D, with U = (n, f) = `column`."""
        n, f = column
        n_scaled, f_scaled = scale(n, inverse), scale(f, inverse)
        return SpatialInertia(
            symmetric(_less_outer(self.angular, n_scaled, n)),
            _less_outer(self.mixed, n_scaled, f),
            symmetric(_less_outer(self.linear, f_scaled, f)),
        )


def add(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return [x + y for x, y in zip(a, b, strict=True)]


def scale(a: Vector, factor: Scalar) -> Vector:
    """Return a times factor."""
    return [x * factor for x in a]


def dot(a: Vector, b: Vector) -> Scalar:
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Return a x b."""
    return [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]


def apply(matrix: Matrix, a: Vector) -> Vector:
    """Return matrix a."""
    return [dot(row, a) for row in matrix]


def apply_transposed(matrix: Matrix, a: Vector) -> Vector:
    """Return matrix^T a."""
    return apply(transposed(matrix), a)


def transposed(matrix: Matrix) -> Matrix:
    """Return matrix^T."""
    return [[matrix[r][k] for r in range(3)] for k in range(3)]


def matrix_add(a: Matrix, b: Matrix) -> Matrix:
    """Return a + b."""
    return [add(x, y) for x, y in zip(a, b, strict=True)]


def cross_columns(p: Vector, matrix: Matrix) -> Matrix:
    """Return [p]x matrix."""
    return transposed([cross(p, column) for column in transposed(matrix)])


def symmetric(matrix: Matrix) -> Matrix:
    """Return `matrix` with its lower triangle replaced by the upper one."""
    return [[matrix[min(r, k)][max(r, k)] for k in range(3)] for r in range(3)]


def congruence(rotation: Matrix, matrix: Matrix) -> Matrix:
    """Return rotation matrix rotation^T."""
    half = [apply(rotation, column) for column in transposed(matrix)]  # columns of R matrix
    return [[dot([half[k][r] for k in range(3)], rotation[c]) for c in range(3)] for r in range(3)]


def _less_outer(matrix: Matrix, a: Vector, b: Vector) -> Matrix:
    """Return matrix - a b^T."""
    return [[matrix[r][k] - a[r] * b[k] for k in range(3)] for r in range(3)]
