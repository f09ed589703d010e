"""What becomes of a solver's answers, compiled: turned to the seed, held to limits, checked."""

import math

import numpy as np
from numpy import int64  # a bare literal would have a copy compiled for every value

from arm_dynamics.compiling import kept
from arm_dynamics.inverse_kinematics.posture import improve_posture, is_redundant
from arm_dynamics.inverse_kinematics.residual import (
    assign,
    condition_number,
    keep_within_limits,
    meets,
    new_state,
    residual_at,
    singular_values_of,
)
from arm_dynamics.inverse_kinematics.solvers.levenberg_marquardt import minimise
from arm_dynamics.inverse_kinematics.task import IkTask
from arm_dynamics.kinematics.chain import ChainArrays


@kept
def turn_to(chain, seed, q):
    """Shift q, in place, by full turns towards the seed, as the limits allow, else to the limits.

    Returns the squared distance from the seed: 1e300 where no turn is within the limits, infinite
    where q is not finite.
    """
    turn, distance = 2.0 * math.pi, 0.0
    for i in range(q.shape[0]):
        value, lower, upper = q[i], chain.lower[i], chain.upper[i]
        near = value
        if not math.isfinite(value):
            return math.inf
        if not chain.prismatic[i]:
            near += turn * math.floor((seed[i] - value) / turn + 0.5)
            value = near
            if near > upper:
                value -= turn * math.ceil((near - upper - 1e-12) / turn)
            elif near < lower:
                value += turn * math.ceil((lower - near - 1e-12) / turn)
        if value < lower - 1e-12 or value > upper + 1e-12:
            distance, value = 1e300, near
        q[i] = min(max(value, lower), upper)
        distance += (q[i] - seed[i]) ** 2
    return distance


@kept
def best_of(chain, task, target, candidates, polish, seed, q):
    """Write the candidate (m, n) nearest to the seed that meets the task within limits.

    The candidates are turned, in place. With `polish` one that nearly meets the task is improved
    first. A redundant arm is moved along its self-motion. If none meets the task, q is the one of
    the smallest residual, or the seed if there is none. Returns whether the task is met, the
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
        assign(trial, candidates[c])
        p, o = residual_at(chain, task, target, trial, state)
        if polish and not meets(task, p, o) and p + o < 1e-2:
            minimise((int64(20), int64(6)), chain, task, target, trial)
            p, o = residual_at(chain, task, target, trial, state)
        if meets(task, p, o):
            assign(q, trial)
            if is_redundant(chain, task):
                improve_posture(chain, task, target, seed, q)
                p, o = residual_at(chain, task, target, q, state)
            return True, p, o, condition_number(singular_values_of(chain, state))
        if p * p + o * o < least:
            least = p * p + o * o
            assign(q, trial)
    if least == math.inf:
        assign(q, seed)
        keep_within_limits(chain, q)
    position, orientation = residual_at(chain, task, target, q, state)
    return False, position, orientation, condition_number(singular_values_of(chain, state))
