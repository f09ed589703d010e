"""Linear algebra of many small matrices, compiled: an arm's result is independent of the others.

Arrays have one leading axis N; small_matrices takes (...). Expensive functions work on LANES
matrices side by side, which the compiler vectorises. A matrix that is singular or not finite
affects only its own result, where NumPy would raise LinAlgError for all.
"""

import numpy as np

from arm_dynamics.compiling import inlined_njit, unlocked_njit
from arm_dynamics.rotations import log3

_LANES = 32
_SWEEPS = 30


@unlocked_njit
def times(matrix, vector):
    """Return matrix (N or 1, n, m) times vector (N, m): (N, n)."""
    result = np.empty((vector.shape[0], matrix.shape[1]))
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
    return result


@unlocked_njit
def product(one, other):
    """Return the products (N, n, m) of matrices (N, n, l) and (N, l, m)."""
    result = np.empty((one.shape[0], one.shape[1], other.shape[2]))
    for k in range(result.shape[0]):
        for i in range(result.shape[1]):
            for j in range(result.shape[2]):
                result[k, i, j] = 0.0
            for m in range(one.shape[2]):
                factor = one[k, i, m]
                for j in range(result.shape[2]):
                    result[k, i, j] += factor * other[k, m, j]
    return result


@inlined_njit
def load(rows, first, block):
    """Copy matrices (N, n, m) from `first` on to a block (n, m, LANES), padded by the last one."""
    last = rows.shape[0] - 1
    for k in range(block.shape[2]):
        row = rows[min(first + k, last)]
        for i in range(block.shape[0]):
            for j in range(block.shape[1]):
                block[i, j, k] = row[i, j]


@inlined_njit
def store(block, first, rows):
    """Copy a block (n, m, LANES) to matrices (N, n, m) from `first` on, without the padding."""
    for k in range(min(block.shape[2], rows.shape[0] - first)):
        for i in range(block.shape[0]):
            for j in range(block.shape[1]):
                rows[first + k, i, j] = block[i, j, k]


@inlined_njit
def factorise(lower):
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


@unlocked_njit
def solved(matrix, right, whole):
    """Return L^-1 right (N, n, m) with matrix = L L^T, or with `whole` matrix^-1 right.

    The result is nan where a matrix (N, n, n) is not positive definite. The square of L^-1 right
    is right^T matrix^-1 right.
    """
    result = np.empty(right.shape)
    count, n, columns = right.shape
    lower, x = np.zeros((n, n, _LANES)), np.zeros((n, columns, _LANES))
    for first in range(0, count, _LANES):
        load(matrix, first, lower)
        load(right, first, x)
        factorise(lower)
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
        store(x, first, result)
    return result


@unlocked_njit
def make_orthogonal(one, other, squares, others, work):
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


@unlocked_njit
def orthogonal_rows(matrix):
    """Return rotations times matrices (N, n, m), so that the rows are orthogonal.

    One-sided Jacobi (Hestenes 1958; Golub and Van Loan, section 8.6.3).

    Convergence is quadratic: after a sweep in which no pair was further than 1e-8 from orthogonal,
    only rounding is left. Such a matrix then gets turns of exactly 0 while others go on.
    """
    result = np.empty(matrix.shape)
    count, rows, width = matrix.shape
    turned, squares = np.empty((rows, width, _LANES)), np.empty((rows, _LANES))
    work = np.empty((5, _LANES))
    going, largest, least = work[0], work[1], work[2]
    for first in range(0, count, _LANES):
        load(matrix, first, turned)
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
                    make_orthogonal(turned[p], turned[q], squares[p], squares[q], work)
            left = 0.0
            for k in range(_LANES):
                going[k] = 1.0 if largest[k] > 1e-16 else 0.0
                left += going[k]
            if left == 0.0:
                break
        store(turned, first, result)
    return result


@unlocked_njit
def rotation_vector(rotation):
    """Return the rotation vectors (N, 3) [rad] of rotation matrices (N, 3, 3)."""
    result = np.empty(rotation.shape[:2])
    for k in range(rotation.shape[0]):
        first, second, third = rotation[k]
        result[k, 0], result[k, 1], result[k, 2] = log3(
            (first[0], first[1], first[2]),
            (second[0], second[1], second[2]),
            (third[0], third[1], third[2]),
        )
    return result
