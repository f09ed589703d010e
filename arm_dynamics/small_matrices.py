"""Linear algebra of small matrices: one by LAPACK, without NumPy's overhead; stacks by NumPy."""

import numpy as np
import pinocchio as pin
from scipy.linalg.lapack import dposv, dsyev

from arm_dynamics.checks import Array


def times(matrix: Array, vector: Array) -> Array:
    """Return matrix (..., n, m) times vector (..., m): (..., n)."""
    if vector.ndim == 1:
        return matrix @ vector
    return (matrix @ vector[..., np.newaxis])[..., 0]


def inner(one: Array, other: Array) -> Array | np.floating:
    """Return the sum (...) of the products of all entries of two matrices (..., n, m)."""
    return np.vdot(one, other) if one.ndim == 2 else (one * other).sum((-2, -1))


def transposed(matrix: Array) -> Array:
    """Return the transpose (..., m, n) of a matrix (..., n, m)."""
    return matrix.swapaxes(-1, -2)


def solve_positive(matrix: Array, right: Array) -> Array:
    """Return matrix^-1 right (..., n, m) of a symmetric positive definite matrix (..., n, n)."""
    if matrix.ndim == 2:
        return dposv(matrix, right)[1]
    return np.linalg.solve(matrix, right)


def eigen(matrix: Array) -> tuple[Array, Array]:
    """Return eigenvalues (..., n), rising, and eigenvectors (..., n, n) of a symmetric matrix."""
    if matrix.ndim == 2:
        values, vectors, _ = dsyev(matrix)
        return values, vectors
    return np.linalg.eigh(matrix)


def rotation_vector(rotation: Array) -> Array:
    """Return the rotation vector (..., 3) [rad] of a rotation matrix (..., 3, 3)."""
    return pin.log3(rotation) if rotation.ndim == 2 else _rotation_vectors(rotation)


def rotation_angle(rotation: Array) -> Array:
    """Return |log R| (...) [rad] in [0, pi] of a rotation matrix (..., 3, 3).

    2 sin = |(R - R^T)^v|, 2 cos = tr R - 1; the two together are exact for small angles and large.
    """
    skew = rotation - transposed(rotation)
    sine = np.linalg.norm(skew[..., (2, 0, 1), (1, 2, 0)], axis=-1)
    return np.arctan2(sine, np.trace(rotation, axis1=-2, axis2=-1) - 1.0)


_rotation_vectors = np.vectorize(pin.log3, signature='(i,j)->(k)')
