"""Iterative inverse kinematics of a serial chain, compiled.

All solvers reduce the residual r: the pose error beyond a dead zone a component (infinite for a
free component), in the target's axes. All keep every iterate within the joint limits: a revolute
joint that passes a limit is turned back by a full turn where that is inside, else held at the
limit.
"""

import math

import numpy as np
from numpy import int64  # a bare literal would have a copy compiled for every value

from arm_dynamics.kinematics.compiled_kinematics import (
    chain_jacobian,
    chain_pose,
    compiled,
    condition_number,
    damped_step,
    pose_error,
    pseudo_inverse_step,
    rotate_rows_to_log,
    singular_values,
)

LEVENBERG_MARQUARDT, DAMPED_LEAST_SQUARES, PSEUDO_INVERSE = 0, 1, 2


@compiled
def assign(target, source):
    """Copy a vector."""
    for i in range(target.shape[0]):
        target[i] = source[i]


@compiled
def largest(vector):
    """Return max |x_i|."""
    found = 0.0
    for value in vector:
        found = max(found, abs(value))
    return found


@compiled
def residual_at(fixed, prismatic, q, target, dead_zone, pose, axes, residual):
    """Write pose, axes and residual (6,) at q; return its position and rotation norms."""
    chain_pose(fixed, prismatic, q, pose, axes)
    pose_error(pose, target, residual)
    position, orientation = 0.0, 0.0
    for k in range(6):
        if dead_zone[k] > 0.0:
            beyond = max(abs(residual[k]) - dead_zone[k], 0.0)
            residual[k] = math.copysign(beyond, residual[k])
        if k < 3:
            position += residual[k] * residual[k]
        else:
            orientation += residual[k] * residual[k]
    return math.sqrt(position), math.sqrt(orientation)


@compiled
def task_jacobian(prismatic, target, dead_zone, pose, axes, residual, jacobian):
    """Write the residual's Jacobian (6, n), negated: r(q + dq) = r(q) - J dq to first order."""
    chain_jacobian(prismatic, pose, axes, target, jacobian)
    if dead_zone[3] > 0.0 or dead_zone[4] > 0.0 or dead_zone[5] > 0.0:
        error = np.empty(6)
        pose_error(pose, target, error)
        rotate_rows_to_log(error, jacobian)
    for k in range(6):
        if dead_zone[k] > 0.0 and residual[k] == 0.0:
            for i in range(jacobian.shape[1]):
                jacobian[k, i] = 0.0


@compiled
def keep_within_limits(prismatic, lower, upper, q):
    """Bring q back between its limits: by full turns where that is possible, else to the limit."""
    turn = 2.0 * math.pi
    for i in range(q.shape[0]):
        if lower[i] <= q[i] <= upper[i]:
            continue
        if not prismatic[i]:
            turned = q[i] - turn * math.ceil((q[i] - upper[i]) / turn)
            if q[i] < lower[i]:
                turned = q[i] + turn * math.ceil((lower[i] - q[i]) / turn)
            if lower[i] <= turned <= upper[i]:
                q[i] = turned
                continue
        q[i] = min(max(q[i], lower[i]), upper[i])


@compiled
def hold_joints_at_limits(lower, upper, q, residual, jacobian):
    """Zero the columns of joints at a limit that a descent step would push further out."""
    for i in range(q.shape[0]):
        if lower[i] < q[i] < upper[i]:
            continue
        slope = 0.0
        for k in range(6):
            slope += jacobian[k, i] * residual[k]
        if (q[i] >= upper[i] and slope > 0.0) or (q[i] <= lower[i] and slope < 0.0):
            for k in range(6):
                jacobian[k, i] = 0.0


@compiled
def levenberg_marquardt(
    fixed, prismatic, lower, upper, target, dead_zone, tolerances, q, iterations, patience
):
    """Minimise |r|^2 from q, in place. Returns iterations, position and rotation residual.

    Damping by the gain ratio (Nielsen 1999). Gives up where the residual has not halved within
    `patience` iterations. One step more is taken once the tolerances are met.
    """
    n = q.shape[0]
    pose, axes, residual = np.empty(12), np.empty((n, 6)), np.empty(6)
    trial_pose, trial_axes, trial_residual = np.empty(12), np.empty((n, 6)), np.empty(6)
    jacobian, step, trial = np.empty((6, n)), np.empty(n), np.empty(n)
    position, orientation = residual_at(
        fixed, prismatic, q, target, dead_zone, pose, axes, residual
    )
    cost = position * position + orientation * orientation
    damping, growth = 1e-3, 2.0
    last_cost, last_iteration = cost, 0
    for iteration in range(iterations):
        done = position <= tolerances[0] and orientation <= tolerances[1]
        if cost < 1e-28:
            return iteration, position, orientation
        task_jacobian(prismatic, target, dead_zone, pose, axes, residual, jacobian)
        hold_joints_at_limits(lower, upper, q, residual, jacobian)
        improved = False
        for _ in range(12):
            ok = damped_step(jacobian, residual, damping, step)
            predicted = 0.0
            if ok:
                for i in range(n):
                    slope = 0.0
                    for k in range(6):
                        slope += jacobian[k, i] * residual[k]
                    predicted += step[i] * (damping * step[i] + slope)
                    trial[i] = q[i] + step[i]
                keep_within_limits(prismatic, lower, upper, trial)
                trial_position, trial_orientation = residual_at(
                    fixed,
                    prismatic,
                    trial,
                    target,
                    dead_zone,
                    trial_pose,
                    trial_axes,
                    trial_residual,
                )
                trial_cost = (
                    trial_position * trial_position + trial_orientation * trial_orientation
                )
                if trial_cost < cost:
                    ratio = (cost - trial_cost) / predicted if predicted > 0.0 else 1.0
                    damping *= max(0.1, 1.0 - (2.0 * min(ratio, 1.0) - 1.0) ** 3)
                    damping, growth, improved = max(damping, 1e-14), 2.0, True
                    break
            if done:
                break
            damping *= growth
            growth *= 2.0
        if not improved:
            return iteration, position, orientation
        assign(q, trial)
        pose, trial_pose = trial_pose, pose
        axes, trial_axes = trial_axes, axes
        residual, trial_residual = trial_residual, residual
        position, orientation, cost = trial_position, trial_orientation, trial_cost
        if done:
            return iteration + 1, position, orientation
        if cost < 0.5 * last_cost:
            last_cost, last_iteration = cost, iteration
        elif iteration - last_iteration >= patience:
            return iteration + 1, position, orientation
    return iterations, position, orientation


@compiled
def fixed_rule(
    method, fixed, prismatic, lower, upper, target, dead_zone, tolerances, q, iterations
):
    """Iterate the damped least squares or pseudo-inverse rule from q, in place.

    Damped least squares: dq = J^T (J J^T + lambda^2 I)^-1 r, lambda halved where |r| fell and
    doubled where it rose, within [1e-4, 1]. Pseudo-inverse: dq = pinv(J) r.
    Returns iterations, position and rotation residual.
    """
    n = q.shape[0]
    pose, axes, residual = np.empty(12), np.empty((n, 6)), np.empty(6)
    jacobian, step = np.empty((6, n)), np.empty(n)
    factor, last = 0.1, math.inf
    for iteration in range(iterations + 1):
        position, orientation = residual_at(
            fixed, prismatic, q, target, dead_zone, pose, axes, residual
        )
        within = position <= tolerances[0] and orientation <= tolerances[1]
        if within or iteration == iterations:
            break
        task_jacobian(prismatic, target, dead_zone, pose, axes, residual, jacobian)
        if method == PSEUDO_INVERSE:
            pseudo_inverse_step(jacobian, residual, 1e-12, step)
        else:
            size = position * position + orientation * orientation
            if iteration > 0:
                factor = factor * 0.5 if size < last else factor * 2.0
                factor = min(max(factor, 1e-4), 1.0)
            last = size
            damped_step(jacobian, residual, factor * factor, step)
        for i in range(n):
            q[i] += step[i]
            if not math.isfinite(q[i]) or abs(q[i]) > 1e9:
                q[i] = 0.0
        keep_within_limits(prismatic, lower, upper, q)
    return iteration, position, orientation


@compiled
def search(
    method, fixed, prismatic, lower, upper, target, dead_zone, tolerances, starts, iterations, q
):
    """Run a solver from each start (m, n) in turn until one succeeds; write the best q (n,).

    Returns success, total iterations, starts used after the first, and the position and rotation
    residual of q. Where nothing succeeds, q is the least-squares best of all starts.
    """
    n = q.shape[0]
    trial = np.empty(n)
    best, position, orientation, total = math.inf, math.inf, math.inf, 0
    for start in range(starts.shape[0]):
        assign(trial, starts[start])
        keep_within_limits(prismatic, lower, upper, trial)
        if method == LEVENBERG_MARQUARDT:
            used, p, o = levenberg_marquardt(
                fixed,
                prismatic,
                lower,
                upper,
                target,
                dead_zone,
                tolerances,
                trial,
                iterations,
                int64(6),
            )
        else:
            used, p, o = fixed_rule(
                method,
                fixed,
                prismatic,
                lower,
                upper,
                target,
                dead_zone,
                tolerances,
                trial,
                iterations,
            )
        total += used
        if p <= tolerances[0] and o <= tolerances[1]:
            assign(q, trial)
            return True, total, start, p, o
        if p * p + o * o < best:
            best, position, orientation = p * p + o * o, p, o
            assign(q, trial)
    if method == LEVENBERG_MARQUARDT:
        used, position, orientation = levenberg_marquardt(
            fixed, prismatic, lower, upper, target, dead_zone, tolerances, q, int64(200), int64(30)
        )
        total += used
    success = position <= tolerances[0] and orientation <= tolerances[1]
    return success, total, starts.shape[0] - 1, position, orientation


@compiled
def posture_cost(prismatic, lower, upper, reference, q):
    """Return 1/2 |q - reference|^2 plus a penalty in the outer tenth of each joint's range."""
    cost = 0.0
    for i in range(q.shape[0]):
        cost += 0.5 * (q[i] - reference[i]) ** 2
        margin = 0.1 * (upper[i] - lower[i])
        if margin < math.inf:
            near = max(lower[i] + margin - q[i], q[i] - upper[i] + margin, 0.0)
            cost += 5.0 * near * near
    return cost


@compiled
def posture_descent(prismatic, lower, upper, reference, q, direction):
    """Write the negative gradient (n,) of `posture_cost`."""
    for i in range(q.shape[0]):
        direction[i] = reference[i] - q[i]
        margin = 0.1 * (upper[i] - lower[i])
        if margin < math.inf:
            direction[i] += 10.0 * max(lower[i] + margin - q[i], 0.0)
            direction[i] -= 10.0 * max(q[i] - upper[i] + margin, 0.0)


@compiled
def project_on_null_space(jacobian, direction):
    """Replace d by (I - pinv(J) J) d: the part of d that leaves the task where it is."""
    task, step = np.zeros(6), np.empty(direction.shape[0])
    for k in range(6):
        for i in range(direction.shape[0]):
            task[k] += jacobian[k, i] * direction[i]
    if damped_step(jacobian, task, 1e-10, step):
        for i in range(direction.shape[0]):
            direction[i] -= step[i]


@compiled
def improve_posture(
    fixed, prismatic, lower, upper, target, dead_zone, tolerances, reference, q, iterations
):
    """Move a redundant solution q, in place, along its self-motion to a lower `posture_cost`.

    Every accepted step meets the tolerances and the limits. Returns the residuals of q.
    """
    n = q.shape[0]
    pose, axes, residual = np.empty(12), np.empty((n, 6)), np.empty(6)
    jacobian, direction, trial = np.empty((6, n)), np.empty(n), np.empty(n)
    # Free components stay free, but a loosened one is held where it is while the arm moves.
    position, orientation = residual_at(
        fixed, prismatic, q, target, dead_zone, pose, axes, residual
    )
    cost, scale = posture_cost(prismatic, lower, upper, reference, q), 1.0
    for _ in range(iterations):
        task_jacobian(prismatic, target, dead_zone, pose, axes, residual, jacobian)
        posture_descent(prismatic, lower, upper, reference, q, direction)
        project_on_null_space(jacobian, direction)
        reach = largest(direction)
        if reach < 1e-4:
            break
        improved = False
        for _ in range(4):
            factor = scale * min(1.0, 0.5 / reach)
            for i in range(n):
                trial[i] = min(max(q[i] + factor * direction[i], lower[i]), upper[i])
            _, p, o = levenberg_marquardt(
                fixed,
                prismatic,
                lower,
                upper,
                target,
                dead_zone,
                tolerances,
                trial,
                int64(5),
                int64(5),
            )
            lower_cost = posture_cost(prismatic, lower, upper, reference, trial)
            if p <= tolerances[0] and o <= tolerances[1] and lower_cost < cost - 1e-9:
                gained = cost - lower_cost
                assign(q, trial)
                cost, position, orientation, improved = lower_cost, p, o, True
                scale = min(1.0, 2.0 * scale)
                break
            scale *= 0.4
        if not improved or gained < 1e-3 * cost:
            break
        residual_at(fixed, prismatic, q, target, dead_zone, pose, axes, residual)
    return position, orientation


@compiled
def nearest_verified(
    fixed, prismatic, lower, upper, matrix, dead_zone, tolerances, candidates, seed, q
):
    """Write the candidate (m, n) nearest to the seed that is within limits and passes FK.

    The target is a pose (4, 4). Joints are shifted by full turns as the limits allow. A candidate
    whose residual is small but above tolerance is first polished. Returns whether there is one,
    its residuals and condition number.
    """
    m, n = candidates.shape
    target = flatten(matrix)
    pose, axes, residual = np.empty(12), np.empty((n, 6)), np.empty(6)
    distance, shifted, trial = np.empty(m), np.empty((m, n)), np.empty(n)
    turn = 2.0 * math.pi
    for c in range(m):
        distance[c] = 0.0
        for i in range(n):
            value = candidates[c, i]
            value += turn * math.floor((seed[i] - value) / turn + 0.5)
            if value > upper[i]:
                value -= turn * math.ceil((value - upper[i] - 1e-12) / turn)
            elif value < lower[i]:
                value += turn * math.ceil((lower[i] - value - 1e-12) / turn)
            if value < lower[i] - 1e-12 or value > upper[i] + 1e-12:
                distance[c] = math.inf
            value = min(max(value, lower[i]), upper[i])
            shifted[c, i] = value
            distance[c] += (value - seed[i]) ** 2
    for _ in range(m):
        c = 0
        for other in range(m):
            if distance[other] < distance[c]:
                c = other
        if distance[c] == math.inf:
            break
        distance[c] = math.inf
        assign(trial, shifted[c])
        p, o = residual_at(fixed, prismatic, trial, target, dead_zone, pose, axes, residual)
        within = p <= tolerances[0] and o <= tolerances[1]
        if not within and p + o < 1e-2:
            _, p, o = levenberg_marquardt(
                fixed,
                prismatic,
                lower,
                upper,
                target,
                dead_zone,
                tolerances,
                trial,
                int64(20),
                int64(6),
            )
            within = p <= tolerances[0] and o <= tolerances[1]
        if within:
            assign(q, trial)
            return True, p, o, condition_at(fixed, prismatic, q)
    return False, math.inf, math.inf, math.inf


@compiled
def condition_at(fixed, prismatic, q):
    """Return the condition number of the Jacobian at q."""
    pose, axes = np.empty(12), np.empty((q.shape[0], 6))
    jacobian = np.empty((6, q.shape[0]))
    chain_pose(fixed, prismatic, q, pose, axes)
    chain_jacobian(prismatic, pose, axes, pose, jacobian)
    return condition_number(jacobian)


@compiled
def manipulability_at(fixed, prismatic, q):
    """Return the product of the Jacobian's singular values at q, Yoshikawa's measure."""
    pose, axes = np.empty(12), np.empty((q.shape[0], 6))
    jacobian = np.empty((6, q.shape[0]))
    chain_pose(fixed, prismatic, q, pose, axes)
    chain_jacobian(prismatic, pose, axes, pose, jacobian)
    product = 1.0
    for value in singular_values(jacobian):
        product *= value
    return product


@compiled
def all_finite(matrix, vector):
    """Return whether every entry of a pose (4, 4) and of a vector (n,) is finite."""
    total = 0.0  # a sum of finite numbers of a pose and a seed does not overflow, and NaN stays
    for i in range(4):
        for j in range(4):
            total += abs(matrix[i, j])
    for value in vector:
        total += abs(value)
    return math.isfinite(total)


@compiled
def flatten(matrix):
    """Return (12,), rotation by rows, then translation, of a pose (4, 4)."""
    flat = np.empty(12)
    for i in range(3):
        for j in range(3):
            flat[3 * i + j] = matrix[i, j]
        flat[9 + i] = matrix[i, 3]
    return flat
