"""Following one inverse kinematics branch along a path, compiled."""

import math

import numpy as np
from numpy import int64  # a bare literal would have a copy compiled for every value

from arm_dynamics.compiling import cached_njit, inlined_njit
from arm_dynamics.inverse_kinematics.residual import (
    hold_joints_at_limits,
    linearise,
    meets,
    new_state,
    residual_at,
)
from arm_dynamics.inverse_kinematics.verification import ease_posture, is_redundant, step_along
from arm_dynamics.kinematics.compiled_kinematics import pose_error
from arm_dynamics.kinematics.compiled_matrices import copy, damped_step

SMALLEST_PART = 1.0 / 1024.0


@inlined_njit
def largest_difference(a, b):
    """Return max |a_i - b_i|."""
    found = 0.0
    for i in range(a.shape[0]):
        found = max(found, abs(a[i] - b[i]))
    return found


@cached_njit
def correct(chain, task, target, q, iterations):
    """Take Newton steps from q, in place, towards the target while the residual falls.

    Returns whether the tolerances are met.
    """
    n = q.shape[0]
    state, step, last_q = new_state(n), np.empty(n), np.empty(n)
    last, last_within = math.inf, False
    for _ in range(iterations):
        position, orientation = residual_at(chain, task, target, q, state)
        size = position * position + orientation * orientation
        within = meets(task, position, orientation)
        if last_within and size >= last:
            copy(last_q, q)
            return True
        if size < 1e-30 or not math.isfinite(size):
            return within
        last, last_within = size, within
        copy(q, last_q)
        linearise(chain, task, target, state)
        hold_joints_at_limits(chain, q, state)
        # Damping vanishes with the residual: regular near a singularity, quadratic at the end.
        if not damped_step(state.jacobian, state.residual, 0.1 * size + 1e-14, step):
            copy(last_q, q)
            return within
        step_along(chain, q, 1.0, step, q)
    if last_within:
        copy(last_q, q)
    return last_within


@cached_njit
def pose_between(start, end, part, pose):
    """Write the pose at `part` of the way: straight line, rotation about one fixed axis."""
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
        r0, r1, r2 = start[k, 0], start[k, 1], start[k, 2]
        pose[k, 0] = r0 * m00 + r1 * m10 + r2 * m20
        pose[k, 1] = r0 * m01 + r1 * m11 + r2 * m21
        pose[k, 2] = r0 * m02 + r1 * m12 + r2 * m22
        pose[k, 3] = start[k, 3] + part * (end[k, 3] - start[k, 3])


@cached_njit
def next_on_branch(chain, task, target, redundant, reference, step_bound, q, trial):
    """Write the solution (n,) at a target near q; return whether it is one, within reach of q.

    A redundant arm is moved along its self-motion by half of its motion.
    """
    copy(q, trial)
    if not correct(chain, task, target, trial, int64(12)):
        return False
    moved = largest_difference(trial, q)
    if moved > step_bound:
        return False
    if redundant and moved > 0.0:
        eased = trial.copy()
        ease_posture(chain, task, target, reference, eased, 0.5 * moved)
        reached = correct(chain, task, target, eased, int64(12))
        if reached and largest_difference(eased, q) <= step_bound:
            copy(eased, trial)
    return True


@cached_njit
def follow(chain, task, targets, step_bound, path):
    """Follow the branch of path[0] along targets (N, 4, 4); write path (N, n).

    Between consecutive poses the straight motion is divided until no joint moves by more than
    `step_bound` [rad | m] in one part, so that the path stays on its branch. Returns the first
    pose that is not reached (N if none) and the reached part of the way to it. `chain` has limits
    if it is redundant; for other chains the caller chooses full turns for the path afterwards.
    """
    count, redundant = path.shape[0], is_redundant(chain, task)
    reference, q = path[0].copy(), path[0].copy()
    trial, between = np.empty(q.shape[0]), np.empty((4, 4))
    if not correct(chain, task, targets[0], q, int64(20)):
        return 0, 0.0
    copy(q, path[0])
    for k in range(1, count):
        done, part = 0.0, 1.0
        while done < 1.0:
            ahead = min(1.0, done + part)
            if ahead == 1.0:
                for row in range(4):
                    copy(targets[k, row], between[row])
            else:
                pose_between(targets[k - 1], targets[k], ahead, between)
            if next_on_branch(chain, task, between, redundant, reference, step_bound, q, trial):
                copy(trial, q)
                done = ahead
                part = 1.0 if part == 1.0 else 2.0 * part
            else:
                part *= 0.5
                if part < SMALLEST_PART:
                    return k, done
        copy(q, path[k])
    return count, 1.0
