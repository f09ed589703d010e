"""Linear algebra of many small matrices, compiled: an arm's result is independent of the others.

Arrays have one leading axis N; small_matrices takes (...). Expensive functions work on LANES
matrices side by side, which the compiler vectorises. A matrix that is singular or not finite
affects only its own result, where NumPy would raise LinAlgError for all.
"""

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.compiling import cached_njit, inlined_njit
from arm_dynamics.rotations import log3

_LANES = 32
_SWEEPS = 30


def _times(matrix, vector, result):
    last, columns = matrix.shape[0] - 1, vector.shape[1]
    for k in range(vector.shape[0]):
        for i in range(matrix.shape[1]):
            own, one, two, three, four = matrix[min(k, last), i], 0.0, 0.0, 0.0, 0.0
            for j in range(0, columns - 3, 4):  # four independent sums
                one += own[j] * vector[k, j]
                two += own[j + 1] * vector[k, j + 1]
                three += own[j + 2] * vector[k, j + 2]
                four += own[j + 3] * vector[k, j + 3]
            for j in range(columns - columns % 4, columns):
                one += own[j] * vector[k, j]
            result[k, i] = (one + two) + (three + four)


def _product(one, other, result):
    for k in range(result.shape[0]):
        for i in range(result.shape[1]):
            for j in range(result.shape[2]):
                result[k, i, j] = 0.0
            for m in range(one.shape[2]):
                factor = one[k, i, m]
                for j in range(result.shape[2]):
                    result[k, i, j] += factor * other[k, m, j]


def _load_block(rows, first, block):
    """Copy matrices (N, n, m) from `first` on to a block (n, m, LANES), padded by the last one."""
    last = rows.shape[0] - 1
    for k in range(block.shape[2]):
        row = rows[min(first + k, last)]
        for i in range(block.shape[0]):
            for j in range(block.shape[1]):
                block[i, j, k] = row[i, j]


def _store_block(block, first, rows):
    """Copy a block (n, m, LANES) to matrices (N, n, m) from `first` on, without the padding."""
    for k in range(min(block.shape[2], rows.shape[0] - first)):
        for i in range(block.shape[0]):
            for j in range(block.shape[1]):
                rows[first + k, i, j] = block[i, j, k]


def _factorise_block(lower):
    """Write L of L L^T to the lower half of a block (n, n, LANES) of such matrices."""
    n, _, lanes = lower.shape
    for j in range(n):
        for m in range(j):
            for i in range(j, n):
                for k in range(lanes):
                    lower[i, j, k] -= lower[i, m, k] * lower[j, m, k]
        for k in range(lanes):
            lower[j, j, k] = 1.0 / np.sqrt(lower[j, j, k])  # the diagonal: its inverse
        for i in range(j + 1, n):
            for k in range(lanes):
                lower[i, j, k] *= lower[j, j, k]


def _solve(matrix, right, whole, result):
    """Cholesky's L^-1 right, or with `whole` matrix^-1 right."""
    count, n, columns = right.shape
    lower, x = np.zeros((n, n, _LANES)), np.zeros((n, columns, _LANES))
    for first in range(0, count, _LANES):
        _load(matrix, first, lower)
        _load(right, first, x)
        _factorise(lower)
        for i in range(n):
            for c in range(columns):
                for m in range(i):
                    for k in range(_LANES):
                        x[i, c, k] -= lower[i, m, k] * x[m, c, k]
                for k in range(_LANES):
                    x[i, c, k] *= lower[i, i, k]
        for i in range(n - 1 if whole else -1, -1, -1):
            for c in range(columns):
                for m in range(i + 1, n):
                    for k in range(_LANES):
                        x[i, c, k] -= lower[m, i, k] * x[m, c, k]
                for k in range(_LANES):
                    x[i, c, k] *= lower[i, i, k]
        _store(x, first, result)


def _make_orthogonal(one, other, squares, others, work):
    """Rotate two rows (n, LANES) so that they become orthogonal, in the lanes that go on.

    Args:
        one, other: the rows.
        squares, others: (LANES,) their squared lengths.
        work: (5, LANES): 1 in the lanes that go on, else 0; gets the largest squared cosine
            between two rows; product of `squares` below which rows are rounding; scratch, twice.
    """
    n, lanes = one.shape
    going, largest, least, cosine, sine = work[0], work[1], work[2], work[3], work[4]
    for k in range(lanes):
        cosine[k] = 0.0
    for i in range(n):
        for k in range(lanes):
            cosine[k] += one[i, k] * other[i, k]
    for k in range(lanes):
        x, y, z = squares[k], others[k], cosine[k]
        share = z * z / (x * y + least[k])
        largest[k] = share if share > largest[k] else largest[k]
        turns = going[k] != 0.0 and z != 0.0
        slope = (y - x) / (2.0 * (z if turns else 1.0))
        t = 1.0 / (abs(slope) + np.sqrt(1.0 + slope * slope))
        t = t if slope >= 0.0 else -t
        t = t if turns else 0.0
        cosine[k] = 1.0 / np.sqrt(1.0 + t * t)
        sine[k] = t * cosine[k]
        squares[k], others[k] = x - t * z, y + t * z
    for i in range(n):
        for k in range(lanes):
            x, y = one[i, k], other[i, k]
            one[i, k] = cosine[k] * x - sine[k] * y
            other[i, k] = sine[k] * x + cosine[k] * y


def _orthogonal(matrix, result):
    """One-sided Jacobi (Hestenes 1958; Golub and Van Loan, section 8.6.3).

    Convergence is quadratic: after a sweep in which no pair was further than 1e-8 from orthogonal,
    only rounding is left. Such a matrix then gets turns of exactly 0 while others go on.
    """
    count, rows, width = matrix.shape
    turned, squares = np.empty((rows, width, _LANES)), np.empty((rows, _LANES))
    work = np.empty((5, _LANES))
    going, largest, least = work[0], work[1], work[2]
    for first in range(0, count, _LANES):
        _load(matrix, first, turned)
        for k in range(_LANES):
            going[k] = 1.0
        for _ in range(_SWEEPS):
            for k in range(_LANES):
                largest[k] = least[k] = 0.0
            for j in range(rows):
                for k in range(_LANES):
                    squares[j, k] = 0.0
                for i in range(width):
                    for k in range(_LANES):
                        squares[j, k] += turned[j, i, k] * turned[j, i, k]
                for k in range(_LANES):
                    least[k] += squares[j, k]
            for k in range(_LANES):
                least[k] = (1e-24 * least[k]) ** 2
            for p in range(rows - 1):
                for q in range(p + 1, rows):
                    _make(turned[p], turned[q], squares[p], squares[q], work)
            left = 0.0
            for k in range(_LANES):
                going[k] = 1.0 if largest[k] > 1e-16 else 0.0
                left += going[k]
            if left == 0.0:
                break
        _store(turned, first, result)


def _rotation_vector(rotation, result):
    for k in range(rotation.shape[0]):
        first, second, third = rotation[k]
        result[k, 0], result[k, 1], result[k, 2] = log3(
            (first[0], first[1], first[2]),
            (second[0], second[1], second[2]),
            (third[0], third[1], third[2]),
        )


_load, _store = inlined_njit(_load_block), inlined_njit(_store_block)
_factorise, _make = inlined_njit(_factorise_block), cached_njit(_make_orthogonal, nogil=True)
_times_of_many = cached_njit(_times, nogil=True)
_product_of_many = cached_njit(_product, nogil=True)
_solve_of_many = cached_njit(_solve, nogil=True)
_orthogonal_of_many = cached_njit(_orthogonal, nogil=True)
_rotation_vector_of_many = cached_njit(_rotation_vector, nogil=True)


def times(matrix: Array, vector: Array) -> Array:
    """Return matrix (N or 1, n, m) times vector (N, m): (N, n)."""
    result = np.empty((len(vector), matrix.shape[1]))
    _times_of_many(matrix, vector, result)
    return result


def product(one: Array, other: Array) -> Array:
    """Return the products (N, n, m) of matrices (N, n, l) and (N, l, m)."""
    result = np.empty((len(one), one.shape[1], other.shape[2]))
    _product_of_many(one, other, result)
    return result


def solve_positive(matrix: Array, right: Array) -> Array:
    """Return matrix^-1 right (N, n, m), nan where a matrix is not positive definite."""
    result = np.empty(right.shape)
    _solve_of_many(matrix, right, True, result)
    return result


def half_solved(matrix: Array, right: Array) -> Array:
    """Return L^-1 right (N, n, m), with matrix = L L^T; its square is right^T matrix^-1 right."""
    result = np.empty(right.shape)
    _solve_of_many(matrix, right, False, result)
    return result


def orthogonal_rows(matrix: Array) -> Array:
    """Return rotations times matrices (N, n, m), so that the rows are orthogonal."""
    result = np.empty(matrix.shape)
    _orthogonal_of_many(matrix, result)
    return result


def rotation_vector(rotation: Array) -> Array:
    """Return rotation vectors (N, 3) [rad]."""
    result = np.empty(rotation.shape[:2])
    _rotation_vector_of_many(rotation, result)
    return result
