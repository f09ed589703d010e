"""Linear algebra of matrices with at most a dozen rows, compiled: results go into given arrays."""

import math

import numpy as np

from arm_dynamics.compiling import kept


@kept
def all_finite(numbers):
    """Return whether no number of an array is NaN or infinite."""
    for number in numbers.flat:  # noqa: SIM110  (numba has no generators)
        if not math.isfinite(number):
            return False
    return True


@kept
def solve_positive(matrix, vector, size):
    """Solve A x = b in place by Cholesky for symmetric positive A (size x size): x in `vector`.

    Returns False, and an unusable x, where A is not numerically positive definite.
    """
    for j in range(size):
        pivot = matrix[j, j]
        for k in range(j):
            pivot -= matrix[j, k] * matrix[j, k]
        if not pivot > 0.0:
            return False
        pivot = math.sqrt(pivot)
        matrix[j, j] = pivot
        for i in range(j + 1, size):
            value = matrix[i, j]
            for k in range(j):
                value -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = value / pivot
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


@kept
def damped_step(jacobian, error, damping, step):
    """Write dq = J^T (J J^T + damping I)^-1 e = (J^T J + damping I)^-1 J^T e, damping > 0."""
    n = jacobian.shape[1]
    if n <= 6:
        matrix = np.empty((n, n))
        for i in range(n):
            value = 0.0
            for k in range(6):
                value += jacobian[k, i] * error[k]
            step[i] = value
            for j in range(i + 1):
                value = 0.0
                for k in range(6):
                    value += jacobian[k, i] * jacobian[k, j]
                matrix[i, j] = value
            matrix[i, i] += damping
        return solve_positive(matrix, step, n)
    matrix = np.empty((6, 6))
    weights = np.empty(6)
    for i in range(6):
        weights[i] = error[i]
        for j in range(i + 1):
            value = 0.0
            for k in range(n):
                value += jacobian[i, k] * jacobian[j, k]
            matrix[i, j] = value
        matrix[i, i] += damping
    if not solve_positive(matrix, weights, 6):
        return False
    for i in range(n):
        value = 0.0
        for k in range(6):
            value += jacobian[k, i] * weights[k]
        step[i] = value
    return True


@kept
def orthogonal_rows(matrix, length, accuracy):
    """One-sided Jacobi SVD: turn the rows of [A B] until those of A (n, length) are orthogonal.

    A becomes Sigma U^T and B becomes V^T B (Golub and Van Loan, 8.6.3). For small matrices; small
    singular values are as accurate as large ones. `accuracy`: cosine between rows that counts as
    orthogonal; the singular values' relative error is its square.
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


@kept
def singular_values(jacobian):
    """Return the min(6, n) singular values of J (6, n), in no order."""
    n = jacobian.shape[1]
    rows = np.empty((min(6, n), max(6, n)))
    for i in range(rows.shape[0]):
        for k in range(rows.shape[1]):
            rows[i, k] = jacobian[k, i] if n <= 6 else jacobian[i, k]
    orthogonal_rows(rows, rows.shape[1], 1e-6)
    values = np.empty(rows.shape[0])
    for i in range(rows.shape[0]):
        square = 0.0
        for k in range(rows.shape[1]):
            square += rows[i, k] * rows[i, k]
        values[i] = math.sqrt(square)
    return values


@kept
def pseudo_inverse_step(jacobian, error, cutoff, step):
    """Write dq = pinv(J) e; singular values below cutoff * sigma_max count as zero."""
    n = jacobian.shape[1]
    # V^T [J^T I] = [Sigma U^T  V^T], hence pinv(J) e = V Sigma^-2 (Sigma U^T) e.
    work = np.zeros((n, 6 + n))
    for i in range(n):
        work[i, 6 + i] = 1.0
        for k in range(6):
            work[i, k] = jacobian[k, i]
    orthogonal_rows(work, 6, 1e-15)
    squares = np.zeros(n)
    for i in range(n):
        step[i] = 0.0
        for k in range(6):
            squares[i] += work[i, k] * work[i, k]
    floor = cutoff * cutoff * squares.max()
    for i in range(n):
        if squares[i] <= floor:
            continue
        value = 0.0
        for k in range(6):
            value += work[i, k] * error[k]
        value /= squares[i]
        for k in range(n):
            step[k] += work[i, 6 + k] * value
