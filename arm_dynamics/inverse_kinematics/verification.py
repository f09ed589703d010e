"""Checks of solvers' proposals, compiled: turned to the seed, kept within limits, verified.

A redundant arm is then moved along its self-motion to a better posture.
"""

import math

import numpy as np
from numpy import int64  # a bare literal would have a copy compiled for every value

from arm_dynamics.compiling import cached_njit, inlined_njit
from arm_dynamics.inverse_kinematics.residual import (
    condition_number,
    linearise,
    meets,
    new_state,
    residual_at,
    singular_values_of,
    turn_to,
)
from arm_dynamics.inverse_kinematics.solvers.levenberg_marquardt import minimise
from arm_dynamics.inverse_kinematics.task import IkTask
from arm_dynamics.kinematics.chain import ChainArrays
from arm_dynamics.kinematics.compiled_matrices import copy, damped_step, product


@inlined_njit
def is_redundant(chain, task):
    """Return whether the chain has more joints than the task has components that count."""
    count = 6
    for width in task.dead_zone:
        if width > 0.0:
            count -= 1
    return chain.lower.shape[0] > count


@cached_njit
def posture_cost(chain, reference, q):
    """Return 1/2 |q - reference|^2 plus a penalty in the outer tenth of each joint's range."""
    cost = 0.0
    for i in range(q.shape[0]):
        cost += 0.5 * (q[i] - reference[i]) ** 2
        margin = 0.1 * (chain.upper[i] - chain.lower[i])
        if margin < math.inf:
            near = max(chain.lower[i] + margin - q[i], q[i] - chain.upper[i] + margin, 0.0)
            cost += 5.0 * near * near
    return cost


@cached_njit
def posture_descent(chain, reference, q, jacobian, direction):
    """Write the negative gradient (n,) of `posture_cost`, its part d - pinv(J) J d.

    That part does not move the task. Returns its largest component.
    """
    n = q.shape[0]
    for i in range(n):
        direction[i] = reference[i] - q[i]
        margin = 0.1 * (chain.upper[i] - chain.lower[i])
        if margin < math.inf:
            direction[i] += 10.0 * max(chain.lower[i] + margin - q[i], 0.0)
            direction[i] -= 10.0 * max(q[i] - chain.upper[i] + margin, 0.0)
    moved, step = np.empty(6), np.empty(n)
    product(jacobian, direction, moved)
    solved, largest = damped_step(jacobian, moved, 1e-10, step), 0.0
    for i in range(n):
        if solved:
            direction[i] -= step[i]
        largest = max(largest, abs(direction[i]))
    return largest


@inlined_njit
def step_along(chain, q, factor, direction, moved):
    """Write q + factor d (n,), clipped to the limits."""
    for i in range(q.shape[0]):
        moved[i] = min(max(q[i] + factor * direction[i], chain.lower[i]), chain.upper[i])


@cached_njit
def improve_posture(chain, task, target, reference, q):
    """Move a redundant solution q, in place, along its self-motion to a lower `posture_cost`.

    Every accepted step meets the tolerances and the limits.
    """
    n = q.shape[0]
    state, direction, trial = new_state(n), np.empty(n), np.empty(n)
    cost, scale = posture_cost(chain, reference, q), 1.0
    for _ in range(20):
        # Free components stay free; components within a finite dead zone are held.
        residual_at(chain, task, target, q, state)
        linearise(chain, task, target, state)
        reach = posture_descent(chain, reference, q, state.jacobian, direction)
        if reach < 1e-4:
            break
        gained = -1.0
        for _ in range(4):
            step_along(chain, q, scale * min(1.0, 0.5 / reach), direction, trial)
            _, p, o = minimise((int64(5), int64(5)), chain, task, target, trial)
            lower_cost = posture_cost(chain, reference, trial)
            if meets(task, p, o) and lower_cost < cost - 1e-9:
                gained, cost, scale = cost - lower_cost, lower_cost, min(1.0, 2.0 * scale)
                copy(trial, q)
                break
            scale *= 0.4
        if gained < 1e-3 * cost:
            break


@cached_njit
def ease_posture(chain, task, target, reference, q, allowed):
    """Move q, in place, along its self-motion towards the reference and away from limits.

    No joint moves by more than `allowed` [rad], so that the arm does not overtake a slow path.
    """
    n = q.shape[0]
    state, direction = new_state(n), np.empty(n)
    residual_at(chain, task, target, q, state)
    linearise(chain, task, target, state)
    reach = posture_descent(chain, reference, q, state.jacobian, direction)
    if reach > 0.0:
        step_along(chain, q, min(0.1, allowed / reach), direction, q)


@cached_njit
def best_of(chain, task, target, candidates, polish, seed, q):
    """Write the candidate (m, n) nearest to the seed that meets the task within limits.

    The candidates are turned, in place. With `polish` a candidate that nearly meets the task is
    improved first. A redundant arm is moved along its self-motion. If no candidate meets the task,
    q is the one with the smallest residual, or the seed. Returns whether the task is met, the
    residuals and the condition number.
    """
    chain, task = ChainArrays(*chain), IkTask(*task)  # plain tuples come in at half the cost
    m, n = candidates.shape
    state, distance, trial = new_state(n), np.empty(m), np.empty(n)
    least = math.inf
    for c in range(m):
        distance[c] = turn_to(chain, seed, candidates[c])
    for _ in range(m):
        c = distance.argmin()
        if distance[c] == math.inf:
            break
        distance[c] = math.inf
        copy(candidates[c], trial)
        p, o = residual_at(chain, task, target, trial, state)
        if polish and not meets(task, p, o) and p + o < 1e-2:
            minimise((int64(20), int64(6)), chain, task, target, trial)
            p, o = residual_at(chain, task, target, trial, state)
        if meets(task, p, o):
            copy(trial, q)
            if is_redundant(chain, task):
                improve_posture(chain, task, target, seed, q)
                p, o = residual_at(chain, task, target, q, state)
            return True, p, o, condition_number(singular_values_of(chain, state))
        if p * p + o * o < least:
            least = p * p + o * o
            copy(trial, q)
    if least == math.inf:
        copy(seed, q)
        turn_to(chain, seed, q)
    position, orientation = residual_at(chain, task, target, q, state)
    return False, position, orientation, condition_number(singular_values_of(chain, state))
