"""Following one inverse kinematics branch along a path, compiled."""

import math

import numpy as np
from numpy import int64  # a bare literal would have a copy compiled for every value

from arm_dynamics.inverse_kinematics.numeric import (
    assign,
    hold_joints_at_limits,
    largest,
    posture_descent,
    project_on_null_space,
    residual_at,
    task_jacobian,
)
from arm_dynamics.kinematics.compiled_kinematics import compiled, damped_step, pose_error

SMALLEST_PART = 1.0 / 1024.0


@compiled
def largest_difference(a, b):
    """Return max |a_i - b_i|."""
    found = 0.0
    for i in range(a.shape[0]):
        found = max(found, abs(a[i] - b[i]))
    return found


@compiled
def correct(fixed, prismatic, lower, upper, limited, target, dead_zone, tolerances, q, iterations):
    """Newton steps from q, in place, to the target, as far as the residual falls.

    Returns whether the tolerances are met. With `limited`, q stays between its limits.
    """
    n = q.shape[0]
    pose, axes, residual = np.empty(12), np.empty((n, 6)), np.empty(6)
    jacobian, step, last_q = np.empty((6, n)), np.empty(n), np.empty(n)
    last, last_within = math.inf, False
    for _ in range(iterations):
        position, orientation = residual_at(
            fixed, prismatic, q, target, dead_zone, pose, axes, residual
        )
        size = position * position + orientation * orientation
        within = position <= tolerances[0] and orientation <= tolerances[1]
        if last_within and size >= last:
            assign(q, last_q)
            return True
        if size < 1e-30 or not math.isfinite(size):
            return within
        last, last_within = size, within
        assign(last_q, q)
        task_jacobian(prismatic, target, dead_zone, pose, axes, residual, jacobian)
        if limited:
            hold_joints_at_limits(lower, upper, q, residual, jacobian)
        # Damping vanishes with the residual: regular near a singularity, quadratic at the end.
        if not damped_step(jacobian, residual, 0.1 * size + 1e-14, step):
            assign(q, last_q)
            return within
        for i in range(n):
            q[i] += step[i]
            if limited:
                q[i] = min(max(q[i], lower[i]), upper[i])
    if last_within:
        assign(q, last_q)
    return last_within


@compiled
def pose_between(start, end, part, pose):
    """Write the pose (12,) at `part` of the way: straight line, rotation about one fixed axis."""
    error = np.empty(6)
    pose_error(start, end, error)
    x, y, z = part * error[3], part * error[4], part * error[5]
    square = x * x + y * y + z * z
    angle = math.sqrt(square)
    a = math.sin(angle) / angle if angle > 1e-8 else 1.0
    b = (1.0 - math.cos(angle)) / square if angle > 1e-4 else 0.5
    m00, m01, m02 = 1.0 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y
    m10, m11, m12 = b * x * y + a * z, 1.0 - b * (x * x + z * z), b * y * z - a * x
    m20, m21, m22 = b * x * z - a * y, b * y * z + a * x, 1.0 - b * (x * x + y * y)
    for k in range(3):
        r0, r1, r2 = start[3 * k], start[3 * k + 1], start[3 * k + 2]
        pose[3 * k] = r0 * m00 + r1 * m10 + r2 * m20
        pose[3 * k + 1] = r0 * m01 + r1 * m11 + r2 * m21
        pose[3 * k + 2] = r0 * m02 + r1 * m12 + r2 * m22
        pose[9 + k] = start[9 + k] + part * (end[9 + k] - start[9 + k])


@compiled
def ease_posture(fixed, prismatic, lower, upper, target, dead_zone, reference, q, allowed):
    """Move q, in place, along its self-motion towards the reference and away from limits.

    By at most `allowed` [rad] (largest joint), so that a slow path is not overtaken.
    """
    n = q.shape[0]
    pose, axes, residual = np.empty(12), np.empty((n, 6)), np.empty(6)
    jacobian, direction = np.empty((6, n)), np.empty(n)
    residual_at(fixed, prismatic, q, target, dead_zone, pose, axes, residual)
    task_jacobian(prismatic, target, dead_zone, pose, axes, residual, jacobian)
    posture_descent(prismatic, lower, upper, reference, q, direction)
    project_on_null_space(jacobian, direction)
    reach = largest(direction)
    if reach > 0.0:
        factor = min(0.1, allowed / reach)
        for i in range(n):
            q[i] = min(max(q[i] + factor * direction[i], lower[i]), upper[i])


@compiled
def follow(
    fixed, prismatic, lower, upper, redundant, targets, dead_zone, tolerances, step_bound, path
):
    """Follow the branch of path[0] along targets (N, 12); write path (N, n).

    Between neighbouring poses the straight motion is divided until no joint moves by more than
    `step_bound` [rad | m] in one part, so that a branch is followed and never changed. Returns
    the first pose that cannot be reached so (N if none) and the part of the way to it that can.
    Limits count only for redundant chains; else turns of the whole path are chosen afterwards.
    """
    count, n = path.shape
    q, trial, reference, eased = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    between = np.empty(12)
    assign(q, path[0])
    assign(reference, path[0])
    if not correct(
        fixed, prismatic, lower, upper, redundant, targets[0], dead_zone, tolerances, q, int64(20)
    ):
        return 0, 0.0
    assign(path[0], q)
    for k in range(1, count):
        done, part = 0.0, 1.0
        while done < 1.0:
            ahead = min(1.0, done + part)
            if ahead == 1.0:
                assign(between, targets[k])
            else:
                pose_between(targets[k - 1], targets[k], ahead, between)
            assign(trial, q)
            reached = correct(
                fixed,
                prismatic,
                lower,
                upper,
                redundant,
                between,
                dead_zone,
                tolerances,
                trial,
                int64(12),
            )
            moved = largest_difference(trial, q)
            if reached and moved <= step_bound:
                if redundant and moved > 0.0:
                    assign(eased, trial)
                    ease_posture(
                        fixed,
                        prismatic,
                        lower,
                        upper,
                        between,
                        dead_zone,
                        reference,
                        eased,
                        0.5 * moved,
                    )
                    if (
                        correct(
                            fixed,
                            prismatic,
                            lower,
                            upper,
                            redundant,
                            between,
                            dead_zone,
                            tolerances,
                            eased,
                            int64(12),
                        )
                        and largest_difference(eased, q) <= step_bound
                    ):
                        assign(trial, eased)
                assign(q, trial)
                done = ahead
                part = 1.0 if part == 1.0 else 2.0 * part
            else:
                part *= 0.5
                if part < SMALLEST_PART:
                    return k, done
        assign(path[k], q)
    return count, 1.0


@compiled
def largest_residuals(poses, targets, dead_zone):
    """Return the largest position [m] and rotation [rad] residual of poses (N, 12)."""
    error = np.empty(6)
    position, orientation = 0.0, 0.0
    for k in range(poses.shape[0]):
        pose_error(poses[k], targets[k], error)
        p, o = 0.0, 0.0
        for i in range(3):
            p += max(abs(error[i]) - dead_zone[i], 0.0) ** 2
            o += max(abs(error[3 + i]) - dead_zone[3 + i], 0.0) ** 2
        position, orientation = max(position, p), max(orientation, o)
    return math.sqrt(position), math.sqrt(orientation)
