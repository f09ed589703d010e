"""Kinematics of a serial chain, compiled: pose, Jacobian, pose error, singular values.

Everything works on plain arrays (see `chain.Chain`) and writes into the caller's arrays. Compiled
code is kept on disk, so that only the very first call waits for the compiler.
"""

import math

import numpy as np

from arm_dynamics.compiling import announce, kept

compiled = kept
announce('arm_dynamics.kinematics.', 'kinematics')
announce('arm_dynamics.inverse_kinematics.', 'kinematics')


@compiled
def chain_pose(fixed, prismatic, q, pose, axes):
    """Write the frame's pose (12,) and each joint's axis and origin, `axes` (n, 6), base frame."""
    r00, r01, r02, r10, r11, r12, r20, r21, r22 = 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0
    x, y, z = 0.0, 0.0, 0.0
    n = q.shape[0]
    for i in range(n + 1):
        x += r00 * fixed[i, 9] + r01 * fixed[i, 10] + r02 * fixed[i, 11]
        y += r10 * fixed[i, 9] + r11 * fixed[i, 10] + r12 * fixed[i, 11]
        z += r20 * fixed[i, 9] + r21 * fixed[i, 10] + r22 * fixed[i, 11]
        a0 = r00 * fixed[i, 0] + r01 * fixed[i, 3] + r02 * fixed[i, 6]
        a1 = r00 * fixed[i, 1] + r01 * fixed[i, 4] + r02 * fixed[i, 7]
        r02 = r00 * fixed[i, 2] + r01 * fixed[i, 5] + r02 * fixed[i, 8]
        b0 = r10 * fixed[i, 0] + r11 * fixed[i, 3] + r12 * fixed[i, 6]
        b1 = r10 * fixed[i, 1] + r11 * fixed[i, 4] + r12 * fixed[i, 7]
        r12 = r10 * fixed[i, 2] + r11 * fixed[i, 5] + r12 * fixed[i, 8]
        c0 = r20 * fixed[i, 0] + r21 * fixed[i, 3] + r22 * fixed[i, 6]
        c1 = r20 * fixed[i, 1] + r21 * fixed[i, 4] + r22 * fixed[i, 7]
        r22 = r20 * fixed[i, 2] + r21 * fixed[i, 5] + r22 * fixed[i, 8]
        r00, r01, r10, r11, r20, r21 = a0, a1, b0, b1, c0, c1
        if i == n:
            break
        axes[i, 0], axes[i, 1], axes[i, 2] = r02, r12, r22
        axes[i, 3], axes[i, 4], axes[i, 5] = x, y, z
        if prismatic[i]:
            x += q[i] * r02
            y += q[i] * r12
            z += q[i] * r22
        else:
            c, s = math.cos(q[i]), math.sin(q[i])
            r00, r01 = c * r00 + s * r01, c * r01 - s * r00
            r10, r11 = c * r10 + s * r11, c * r11 - s * r10
            r20, r21 = c * r20 + s * r21, c * r21 - s * r20
    pose[0], pose[1], pose[2] = r00, r01, r02
    pose[3], pose[4], pose[5] = r10, r11, r12
    pose[6], pose[7], pose[8] = r20, r21, r22
    pose[9], pose[10], pose[11] = x, y, z


@compiled
def chain_jacobian(prismatic, pose, axes, basis, jacobian):
    """Write J (6, n), linear part on top, in the axes of the rotation `basis` (9,) by rows."""
    for i in range(axes.shape[0]):
        ax, ay, az = axes[i, 0], axes[i, 1], axes[i, 2]
        if prismatic[i]:
            vx, vy, vz = ax, ay, az
            ax = ay = az = 0.0
        else:
            dx, dy, dz = pose[9] - axes[i, 3], pose[10] - axes[i, 4], pose[11] - axes[i, 5]
            vx, vy, vz = ay * dz - az * dy, az * dx - ax * dz, ax * dy - ay * dx
        for k in range(3):
            b0, b1, b2 = basis[k], basis[3 + k], basis[6 + k]
            jacobian[k, i] = b0 * vx + b1 * vy + b2 * vz
            jacobian[3 + k, i] = b0 * ax + b1 * ay + b2 * az


@compiled
def pose_error(pose, target, error):
    """Write the error (6,) of a pose, in the target's axes: what is left to go.

    e = [R_t^T (p_t - p); log3(R^T R_t)]. That is R_t^T times the published
    [p_t - p; log3(R_t R^T)], so its norms are the same.
    """
    dx, dy, dz = target[9] - pose[9], target[10] - pose[10], target[11] - pose[11]
    for k in range(3):
        error[k] = target[k] * dx + target[3 + k] * dy + target[6 + k] * dz
    # R^T R_t
    m00 = pose[0] * target[0] + pose[3] * target[3] + pose[6] * target[6]
    m01 = pose[0] * target[1] + pose[3] * target[4] + pose[6] * target[7]
    m02 = pose[0] * target[2] + pose[3] * target[5] + pose[6] * target[8]
    m10 = pose[1] * target[0] + pose[4] * target[3] + pose[7] * target[6]
    m11 = pose[1] * target[1] + pose[4] * target[4] + pose[7] * target[7]
    m12 = pose[1] * target[2] + pose[4] * target[5] + pose[7] * target[8]
    m20 = pose[2] * target[0] + pose[5] * target[3] + pose[8] * target[6]
    m21 = pose[2] * target[1] + pose[5] * target[4] + pose[8] * target[7]
    m22 = pose[2] * target[2] + pose[5] * target[5] + pose[8] * target[8]
    wx, wy, wz = 0.5 * (m21 - m12), 0.5 * (m02 - m20), 0.5 * (m10 - m01)
    sine = math.sqrt(wx * wx + wy * wy + wz * wz)
    cosine = 0.5 * (m00 + m11 + m22 - 1.0)
    angle = math.atan2(sine, cosine)
    if cosine > -0.99:
        scale = angle / sine if sine > 1e-9 else 1.0
        error[3], error[4], error[5] = scale * wx, scale * wy, scale * wz
        return
    # Near a half turn the antisymmetric part vanishes; the axis is in the symmetric part,
    # (M + M^T)/2 = cos I + (1 - cos) u u^T. Its largest column gives u, sin gives the sign.
    one = 1.0 - cosine
    d0, d1, d2 = m00 - cosine, m11 - cosine, m22 - cosine
    if d0 >= d1 and d0 >= d2:
        ux, uy, uz = d0, 0.5 * (m01 + m10), 0.5 * (m02 + m20)
    elif d1 >= d2:
        ux, uy, uz = 0.5 * (m01 + m10), d1, 0.5 * (m12 + m21)
    else:
        ux, uy, uz = 0.5 * (m02 + m20), 0.5 * (m12 + m21), d2
    length = math.sqrt(ux * ux + uy * uy + uz * uz)
    if ux * wx + uy * wy + uz * wz < 0.0:
        length = -length
    scale = angle / length if one > 0.0 else 0.0
    error[3], error[4], error[5] = scale * ux, scale * uy, scale * uz


@compiled
def rotate_rows_to_log(error, jacobian):
    """Replace the angular rows J_w by Jr^-1(phi) J_w: the exact derivative of the log error.

    Jr^-1(phi) = I + [phi]/2 + c [phi]^2, c = 1/|phi|^2 - (1 + cos|phi|) / (2 |phi| sin|phi|)
    (Sola et al. 2018, A micro Lie theory, eq. 144). Without it a log error of which only some
    components count would not converge.
    """
    x, y, z = error[3], error[4], error[5]
    square = x * x + y * y + z * z
    angle = math.sqrt(square)
    if angle < 1e-4:
        c = 1.0 / 12.0
    elif math.pi - angle < 1e-6:
        c = 1.0 / square
    else:
        c = 1.0 / square - (1.0 + math.cos(angle)) / (2.0 * angle * math.sin(angle))
    for i in range(jacobian.shape[1]):
        a, b, d = jacobian[3, i], jacobian[4, i], jacobian[5, i]
        u, v, w = y * d - z * b, z * a - x * d, x * b - y * a
        jacobian[3, i] = a + 0.5 * u + c * (y * w - z * v)
        jacobian[4, i] = b + 0.5 * v + c * (z * u - x * w)
        jacobian[5, i] = d + 0.5 * w + c * (x * v - y * u)


@compiled
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


@compiled
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


@compiled
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


@compiled
def singular_values(jacobian):
    """Return the min(6, n) singular values of J (6, n), in no order."""
    n = jacobian.shape[1]
    rows, length = min(6, n), max(6, n)
    work = np.empty((rows, length))
    for i in range(rows):
        for k in range(length):
            work[i, k] = jacobian[k, i] if n <= 6 else jacobian[i, k]
    orthogonal_rows(work, np.empty((0, 0)), 1e-9)
    values = np.empty(work.shape[0])
    for i in range(work.shape[0]):
        square = 0.0
        for k in range(work.shape[1]):
            square += work[i, k] * work[i, k]
        values[i] = math.sqrt(square)
    return values


@compiled
def condition_number(jacobian):
    """Return sigma_max / sigma_min of J (6, n): infinite at a singularity.

    For n < 6 that is over the n directions the chain can move in.
    """
    largest, smallest = 0.0, math.inf
    for value in singular_values(jacobian):
        largest, smallest = max(largest, value), min(smallest, value)
    return largest / smallest if smallest > 0.0 else math.inf


@compiled
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
