"""Levenberg-Marquardt: dq = (J^T J + mu I)^-1 J^T r, mu by the gain ratio, limits held."""

import numpy as np
from numpy import int64  # a bare literal would have a copy compiled for every value

from arm_dynamics.compiling import cached_njit
from arm_dynamics.inverse_kinematics.iteration import from_starts
from arm_dynamics.inverse_kinematics.residual import (
    hold_joints_at_limits,
    linearise,
    meets,
    new_state,
    residual_at,
    turn_to,
)
from arm_dynamics.inverse_kinematics.solver import CompiledSolver
from arm_dynamics.kinematics.compiled_matrices import copy, damped_step, product


@cached_njit
def minimise(effort, chain, task, target, q):
    """Minimise |r|^2 from q, in place. Returns iterations, position and rotation residual.

    Damping by the gain ratio (Nielsen 1999). `effort`: the largest number of iterations, and the
    number within which the residual has to halve. One more step follows when the tolerances are
    met.
    """
    iterations, halving = effort
    n = q.shape[0]
    here, there = new_state(n), new_state(n)
    step, slope, trial = np.empty(n), np.empty(n), np.empty(n)
    position, orientation = residual_at(chain, task, target, q, here)
    cost = position * position + orientation * orientation
    damping, growth = 1e-3, 2.0
    last_cost, last_iteration = cost, 0
    for iteration in range(iterations):
        done = meets(task, position, orientation)
        if cost < 1e-28:
            return iteration, position, orientation
        linearise(chain, task, target, here)
        hold_joints_at_limits(chain, q, here)
        improved = False
        for _ in range(12):
            if damped_step(here.jacobian, here.residual, damping, step):
                for i in range(n):
                    trial[i] = q[i] + step[i]
                turn_to(chain, trial, trial)
                p, o = residual_at(chain, task, target, trial, there)
                trial_cost = p * p + o * o
                if trial_cost < cost:
                    # The decrease of |r|^2 if r were linear: dq^T (mu dq + J^T r).
                    predicted = 0.0
                    product(here.jacobian.T, here.residual, slope)
                    for i in range(n):
                        predicted += step[i] * (damping * step[i] + slope[i])
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
        copy(trial, q)
        here, there = there, here
        position, orientation, cost = p, o, trial_cost
        if done:
            return iteration + 1, position, orientation
        if cost < 0.5 * last_cost:
            last_cost, last_iteration = cost, iteration
        elif iteration - last_iteration >= halving:
            return iteration + 1, position, orientation
    return iterations, position, orientation


@cached_njit
def search(chain, task, target, starts, q):
    """See `CompiledSolver.search`. Where no start succeeds, the best is minimised further."""
    effort = int64(40), int64(6)
    met, total, restarts = from_starts(minimise, effort, chain, task, target, starts, q)
    if not met:
        used, position, orientation = minimise((int64(200), int64(30)), chain, task, target, q)
        total += used
        met = meets(task, position, orientation)
    return met, total, restarts


class LevenbergMarquardt(CompiledSolver):
    """Minimises the residual from each start; without a solution finds the nearest pose."""

    search = staticmethod(search)
