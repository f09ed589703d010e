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
def orthogonal_rows(matrix, rotation, accuracy):
    """One-sided Jacobi SVD: turn the rows of A (n, m) until orthogonal, V^T A = Sigma U^T.

    Overwrites `matrix` by Sigma U^T and, where it is (n, n), `rotation` by V^T (Golub and Van
    Loan, 8.6.3). For small matrices; small singular values are as accurate as large ones.
    `accuracy`: cosine between rows that counts as orthogonal; the singular values' relative error
    is its square.
    """
    n, length = matrix.shape
    accumulate = rotation.shape[0] == n
    if accumulate:
        for i in range(n):
            for j in range(n):
                rotation[i, j] = 1.0 if i == j else 0.0
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
                for k in range(length):
                    a, b = matrix[i, k], matrix[j, k]
                    matrix[i, k], matrix[j, k] = c * a - s * b, s * a + c * b
                if accumulate:
                    for k in range(n):
                        a, b = rotation[i, k], rotation[j, k]
                        rotation[i, k], rotation[j, k] = c * a - s * b, s * a + c * b
        if not turned:
            break


@kept
def singular_values(jacobian):
    """Return the min(6, n) singular values of J (6, n), in no order."""
    n = jacobian.shape[1]
    rows, length = min(6, n), max(6, n)
    work = np.empty((rows, length))
    for i in range(rows):
        for k in range(length):
            work[i, k] = jacobian[k, i] if n <= 6 else jacobian[i, k]
    orthogonal_rows(work, np.empty((0, 0)), 1e-6)
    values = np.empty(work.shape[0])
    for i in range(work.shape[0]):
        square = 0.0
        for k in range(work.shape[1]):
            square += work[i, k] * work[i, k]
        values[i] = math.sqrt(square)
    return values


@kept
def condition_number(jacobian):
    """Return sigma_max / sigma_min of J (6, n): infinite at a singularity.

    For n < 6 that is over the n directions the chain can move in.
    """
    largest, smallest = 0.0, math.inf
    for value in singular_values(jacobian):
        largest, smallest = max(largest, value), min(smallest, value)
    return largest / smallest if smallest > 0.0 else math.inf


@kept
def pseudo_inverse_step(jacobian, error, cutoff, step):
    """Write dq = pinv(J) e; singular values below cutoff * sigma_max count as zero."""
    n = jacobian.shape[1]
    # V^T J^T = Sigma U^T, hence pinv(J) e = V Sigma^-2 (Sigma U^T) e.
    work, rotation = np.empty((n, 6)), np.empty((n, n))
    for i in range(n):
        for k in range(6):
            work[i, k] = jacobian[k, i]
    orthogonal_rows(work, rotation, 1e-15)
    squares, largest = np.zeros(n), 0.0
    for i in range(n):
        step[i] = 0.0
        for k in range(6):
            squares[i] += work[i, k] * work[i, k]
        largest = max(largest, squares[i])
    floor = cutoff * cutoff * largest
    for i in range(n):
        if squares[i] <= floor:
            continue
        value = 0.0
        for k in range(6):
            value += work[i, k] * error[k]
        value /= squares[i]
        for k in range(n):
            step[k] += rotation[i, k] * value
