"""Kinematics of a serial chain, compiled: pose, Jacobian, pose error.

A pose is a homogeneous matrix (4, 4) in the base frame, whose last row is not written. Results
are written to the caller's arrays. A chain is a `chain.ChainArrays`.
"""

import math

from arm_dynamics.compiling import announce, cached_njit, inlined_njit
from arm_dynamics.rotations import log3

announce('arm_dynamics.kinematics.', 'kinematics')
announce('arm_dynamics.inverse_kinematics.', 'kinematics')


@inlined_njit
def combined(frame, a, b, c):
    """Return a x + b y + c z of the axes x, y, z of a frame, three numbers each."""
    x, y, z = frame
    return (
        a * x[0] + b * y[0] + c * z[0],
        a * x[1] + b * y[1] + c * z[1],
        a * x[2] + b * y[2] + c * z[2],
    )


@inlined_njit
def turned(x, y, angle):
    """Return the first two axes of a frame, turned about its third."""
    c, s = math.cos(angle), math.sin(angle)
    return (
        (c * x[0] + s * y[0], c * x[1] + s * y[1], c * x[2] + s * y[2]),
        (c * y[0] - s * x[0], c * y[1] - s * x[1], c * y[2] - s * x[2]),
    )


@inlined_njit
def chain_pose(chain, q, pose, axes):
    """Write the frame's pose and each joint's axis and origin, `axes` (n, 6), base frame."""
    frame = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    x, y, z = 0.0, 0.0, 0.0
    n = q.shape[0]
    for i in range(n + 1):
        fixed = chain.fixed[i]
        dx, dy, dz = combined(frame, fixed[0, 3], fixed[1, 3], fixed[2, 3])
        x, y, z = x + dx, y + dy, z + dz
        frame = (
            combined(frame, fixed[0, 0], fixed[1, 0], fixed[2, 0]),
            combined(frame, fixed[0, 1], fixed[1, 1], fixed[2, 1]),
            combined(frame, fixed[0, 2], fixed[1, 2], fixed[2, 2]),
        )
        if i == n:
            break
        axis = frame[2]
        axes[i, 0], axes[i, 1], axes[i, 2] = axis
        axes[i, 3], axes[i, 4], axes[i, 5] = x, y, z
        if chain.prismatic[i]:
            x, y, z = x + q[i] * axis[0], y + q[i] * axis[1], z + q[i] * axis[2]
        else:
            first, second = turned(frame[0], frame[1], q[i])
            frame = first, second, axis
    for k in range(3):
        pose[k, 0], pose[k, 1], pose[k, 2] = frame[0][k], frame[1][k], frame[2][k]
    pose[0, 3], pose[1, 3], pose[2, 3] = x, y, z


@inlined_njit
def chain_jacobian(chain, pose, axes, basis, jacobian):
    """Write J (6, n), linear part on top, in the axes of the pose `basis`."""
    for i in range(axes.shape[0]):
        ax, ay, az = axes[i, 0], axes[i, 1], axes[i, 2]
        if chain.prismatic[i]:
            vx, vy, vz = ax, ay, az
            ax = ay = az = 0.0
        else:
            dx, dy, dz = pose[0, 3] - axes[i, 3], pose[1, 3] - axes[i, 4], pose[2, 3] - axes[i, 5]
            vx, vy, vz = ay * dz - az * dy, az * dx - ax * dz, ax * dy - ay * dx
        for k in range(3):
            b0, b1, b2 = basis[0, k], basis[1, k], basis[2, k]
            jacobian[k, i] = b0 * vx + b1 * vy + b2 * vz
            jacobian[3 + k, i] = b0 * ax + b1 * ay + b2 * az


@inlined_njit
def dot(a, i, b, j):
    """Return axis i of a pose times axis j of another."""
    return a[0, i] * b[0, j] + a[1, i] * b[1, j] + a[2, i] * b[2, j]


@inlined_njit
def pose_error(pose, target, error):
    """Write the error (6,) from a pose to the target, in the target's axes.

    e = [R_t^T (p_t - p); log3(R^T R_t)]. That is R_t^T times the published
    [p_t - p; log3(R_t R^T)], so its norms are the same.
    """
    dx, dy, dz = target[0, 3] - pose[0, 3], target[1, 3] - pose[1, 3], target[2, 3] - pose[2, 3]
    for k in range(3):
        error[k] = target[0, k] * dx + target[1, k] * dy + target[2, k] * dz
    error[3], error[4], error[5] = log3(
        (dot(pose, 0, target, 0), dot(pose, 0, target, 1), dot(pose, 0, target, 2)),
        (dot(pose, 1, target, 0), dot(pose, 1, target, 1), dot(pose, 1, target, 2)),
        (dot(pose, 2, target, 0), dot(pose, 2, target, 1), dot(pose, 2, target, 2)),
    )


@cached_njit
def rotate_rows_to_log(error, jacobian):
    """Replace the angular rows J_w by Jr^-1(phi) J_w: the exact derivative of the log error.

    Jr^-1(phi) = I + [phi]/2 + c [phi]^2, c = 1/|phi|^2 - (1 + cos|phi|) / (2 |phi| sin|phi|)
    (Sola et al. 2018, A micro Lie theory, eq. 144). Without it, solving for some components of a
    log error would not converge.
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
