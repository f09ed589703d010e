"""Linear algebra of matrices with at most a dozen rows, compiled; results are written in place."""

import math

import numpy as np

from arm_dynamics.compiling import cached_njit, inlined_njit


@cached_njit
def factorise(matrix):
    """Write L of L L^T to the lower half of a symmetric matrix; return whether it is positive."""
    for j in range(matrix.shape[0]):
        pivot = matrix[j, j]
        for k in range(j):
            pivot -= matrix[j, k] * matrix[j, k]
        if not pivot > 0.0:
            return False
        matrix[j, j] = pivot = math.sqrt(pivot)
        for i in range(j + 1, matrix.shape[0]):
            value = matrix[i, j]
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = value / pivot
    return True


@cached_njit
def solve_positive(matrix, vector):
    """Solve A x = b in place by Cholesky for symmetric positive A (n, n): x (n,) in `vector`.

    Returns False, and an unusable x, where A is not numerically positive definite.
    """
    if not factorise(matrix):
        return False
    size = matrix.shape[0]
    for i in range(size):
        value = vector[i]
        for k in range(i):
            value -= matrix[i, k] * vector[k]
        vector[i] = value / matrix[i, i]
    for i in range(size - 1, -1, -1):
        value = vector[i]
        for k in range(i + 1, size):
            value -= matrix[k, i] * vector[k]
        vector[i] = value / matrix[i, i]
    return True


@inlined_njit
def copy(values, target):
    """Write values (n,); `target[:] = values` would take ten times as long to compile."""
    for i in range(target.shape[0]):
        target[i] = values[i]


@inlined_njit
def product(matrix, vector, result):
    """Write A x (m,) of A (m, n)."""
    for i in range(matrix.shape[0]):
        value = 0.0
        for k in range(matrix.shape[1]):
            value += matrix[i, k] * vector[k]
        result[i] = value


@cached_njit
def damped_step(jacobian, error, damping, step):
    """Write dq = J^T (J J^T + damping I)^-1 e = (J^T J + damping I)^-1 J^T e, damping > 0."""
    n = jacobian.shape[1]
    wide = n > 6
    size, others = (6, n) if wide else (n, 6)
    matrix = np.empty((size, size))
    for i in range(size):
        for j in range(i + 1):
            value = 0.0
            for k in range(others):
                if wide:
                    value += jacobian[i, k] * jacobian[j, k]
                else:
                    value += jacobian[k, i] * jacobian[k, j]
            matrix[i, j] = value
        matrix[i, i] += damping
    if not wide:
        product(jacobian.T, error, step)
        return solve_positive(matrix, step)
    weights = error.copy()
    solved = solve_positive(matrix, weights)
    product(jacobian.T, weights, step)
    return solved


@cached_njit
def orthogonal_rows(matrix, length, accuracy):
    """One-sided Jacobi SVD: turn the rows of [A B] until those of A (n, length) are orthogonal.

    A becomes Sigma U^T and B becomes V^T B (Golub and Van Loan, 8.6.3). For small matrices; small
    singular values are as accurate as large ones. `accuracy`: cosine between rows that counts as
    orthogonal; the singular values' relative error is its square. Returns the squares of the
    singular values (n,), in no order.
    """
    n, width = matrix.shape
    for _ in range(30):
        turned = False
        for i in range(n - 1):
            for j in range(i + 1, n):
                alpha, beta, gamma = 0.0, 0.0, 0.0
                for k in range(length):
                    alpha += matrix[i, k] * matrix[i, k]
                    beta += matrix[j, k] * matrix[j, k]
                    gamma += matrix[i, k] * matrix[j, k]
                if gamma * gamma <= accuracy * accuracy * alpha * beta:
                    continue
                turned = True
                zeta = (beta - alpha) / (2.0 * gamma)
                t = math.copysign(1.0, zeta) / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
                c = 1.0 / math.sqrt(1.0 + t * t)
                s = c * t
                for k in range(width):
                    a, b = matrix[i, k], matrix[j, k]
                    matrix[i, k], matrix[j, k] = c * a - s * b, s * a + c * b
        if not turned:
            break
    squares = np.zeros(n)
    for i in range(n):
        for k in range(length):
            squares[i] += matrix[i, k] * matrix[i, k]
    return squares


@cached_njit
def singular_values(jacobian):
    """Return the min(6, n) singular values of J (6, n), in no order."""
    rows = np.ascontiguousarray(jacobian.T) if jacobian.shape[1] <= 6 else jacobian.copy()
    return np.sqrt(orthogonal_rows(rows, rows.shape[1], 1e-6))


@cached_njit
def pseudo_inverse_step(jacobian, error, cutoff, step):
    """Write dq = pinv(J) e; singular values below cutoff * sigma_max count as zero."""
    # V^T [J^T I] = [Sigma U^T  V^T], hence pinv(J) e = V Sigma^-2 (Sigma U^T) e.
    work = np.hstack((jacobian.T, np.eye(jacobian.shape[1])))
    squares = orthogonal_rows(work, 6, 1e-15)
    weights = np.empty_like(squares)
    product(work[:, :6], error, weights)
    floor = cutoff * cutoff * squares.max()
    for i in range(squares.shape[0]):
        weights[i] = weights[i] / squares[i] if squares[i] > floor else 0.0
    product(work[:, 6:].T, weights, step)
