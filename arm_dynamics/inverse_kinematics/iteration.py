"""Loops of iterative solvers, compiled: over steps, and over starts."""

import math

import numpy as np

from arm_dynamics.compiling import higher_order_njit
from arm_dynamics.inverse_kinematics.residual import (
    linearise,
    meets,
    new_state,
    residual_at,
    turn_to,
)
from arm_dynamics.kinematics.compiled_matrices import copy

ITERATIONS = 200


@higher_order_njit
def iterate(rule, chain, task, target, q):
    """Take the steps of a rule from q, in place, until the task is met, at most 200.

    `rule(state, factor, fallen, step)` writes a step (n,) and returns its factor for the next one;
    `fallen`: the residual is smaller than at the previous step. Returns the number of iterations,
    and position and rotation residual.
    """
    state, step = new_state(q.shape[0]), np.empty(q.shape[0])
    factor, last = math.nan, math.inf
    for iteration in range(ITERATIONS + 1):
        position, orientation = residual_at(chain, task, target, q, state)
        if iteration == ITERATIONS or meets(task, position, orientation):
            break
        linearise(chain, task, target, state)
        size = position * position + orientation * orientation
        factor = rule(state, factor, size < last, step)
        last = size
        for i in range(q.shape[0]):
            q[i] += step[i]
            if not math.isfinite(q[i]) or abs(q[i]) > 1e9:
                q[i] = 0.0
        turn_to(chain, q, q)
    return iteration, position, orientation


@higher_order_njit
def from_starts(minimise, how, chain, task, target, starts, q):
    """Minimise from each start (m, n) in turn until one meets the task; write the best q (n,).

    `minimise(how, chain, task, target, q)` moves q and returns iterations and residuals. Returns
    whether the task is met, all iterations together, and the starts used after the first.
    """
    trial = np.empty(q.shape[0])
    best, total = math.inf, 0
    for start in range(starts.shape[0]):
        copy(starts[start], trial)
        turn_to(chain, trial, trial)
        used, position, orientation = minimise(how, chain, task, target, trial)
        total += used
        if meets(task, position, orientation):
            copy(trial, q)
            return True, total, start
        cost = position * position + orientation * orientation
        if cost < best:
            best = cost
            copy(trial, q)
    return False, total, starts.shape[0] - 1
