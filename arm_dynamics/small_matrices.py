"""Linear algebra of small matrices: a single one by Eigen, stacks by compiled code.

Both have equal bits with AVX2 and with AVX-512, LAPACK has not.
"""

from functools import cache
from importlib import import_module
from types import ModuleType

import numpy as np
import pinocchio as pin
from eigenpy import LLT, SelfAdjointEigenSolver

from arm_dynamics.checks import Array


def times(matrix: Array, vector: Array) -> Array:
    """Return matrix (..., n, m) times vector (..., m): (..., n); one matrix may serve all."""
    if vector.ndim == 1:
        # By rows: then BLAS has equal bits on all CPUs with AVX2.
        return np.ascontiguousarray(matrix) @ vector
    found = _stacks().times(stack(matrix, 2), stack(vector, 1))
    return found.reshape(*vector.shape[:-1], -1)


def product(one: Array, other: Array) -> Array:
    """Return the product (..., n, m) of matrices (..., n, l) and (..., l, m)."""
    if one.ndim == 2:
        return one @ other
    found = _stacks().product(stack(one, 2), stack(other, 2))
    return found.reshape(*one.shape[:-1], other.shape[-1])


def transposed(matrix: Array) -> Array:
    """Return the transpose (..., m, n) of a matrix (..., n, m)."""
    return matrix.swapaxes(-1, -2)


def solve_positive(matrix: Array, right: Array) -> Array:
    """Return matrix^-1 right (..., n, m) of a symmetric positive definite matrix (..., n, n)."""
    if matrix.ndim == 2:
        return LLT(matrix).solve(right).reshape(right.shape)  # a single column as a vector
    return _stacks().solved(stack(matrix, 2), stack(right, 2), True).reshape(right.shape)


def inverse_axes(matrix: Array, right: Array) -> Array:
    """Return F with orthogonal columns f and F F^T = P = right^T matrix^-1 right (..., m, m).

    The f are P's eigenvectors, their squared lengths its eigenvalues.

    Args:
        matrix: (..., n, n) symmetric positive definite.
        right: (..., n, m).

    Returns:
        (m, m) of one matrix, (..., m, n) of many.
    """
    if matrix.ndim == 2:
        found = SelfAdjointEigenSolver(right.T @ solve_positive(matrix, right))
        return found.eigenvectors() * np.sqrt(np.maximum(found.eigenvalues(), 0.0))
    stacks = _stacks()
    halves = stacks.solved(stack(matrix, 2), stack(right, 2), False)
    rows = stacks.orthogonal_rows(halves)
    return transposed(rows.reshape(*matrix.shape[:-1], -1))


def rotation_vector(rotation: Array) -> Array:
    """Return the rotation vector (..., 3) [rad] of a rotation matrix (..., 3, 3)."""
    if rotation.ndim == 2:
        return pin.log3(rotation)
    return _stacks().rotation_vector(stack(rotation, 2)).reshape(rotation.shape[:-1])


def stack(array: Array, axes: int) -> Array:
    """Return the array with all axes before the last `axes` merged into one."""
    return np.ascontiguousarray(array).reshape(-1, *array.shape[array.ndim - axes :])


@cache
def _stacks() -> ModuleType:
    """Return the compiled module; importing it late lets one arm's controller start fast."""
    return import_module('arm_dynamics.small_matrix_stacks')
