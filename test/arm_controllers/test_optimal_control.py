"""The quadratic problem of a horizon, by the conditions that its optimum obeys."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from arm_controllers import optimal_control as core

N, JOINTS, DT = 12, 3, 2e-3
GRID = core.Grid.growing(N, 0.1, DT)


def problem(seed):
    """Return cost, target, motion, torque and slopes of an arm that is away from its target."""
    rng = np.random.default_rng(seed)
    running = np.array([1.6e5, 800.0, 1.0, 1e-3])[:, np.newaxis] * rng.uniform(0.5, 2.0, JOINTS)
    final = np.array([16000.0, 400.0, 40.0])[:, np.newaxis] * np.ones(JOINTS)
    motion, target = np.zeros((2, 1, 3, N + 1, JOINTS))
    motion[0, :2, 0] = rng.normal(size=(2, JOINTS)) * [[0.01], [0.1]]
    target[0, 0] = 0.1
    core.follow(GRID.t, GRID.s, motion)
    root = 0.3 * rng.normal(size=(N, JOINTS, JOINTS))
    mass = root @ root.swapaxes(1, 2) + 0.2 * np.eye(JOINTS)
    others = rng.normal(size=(2, N, JOINTS, JOINTS)) * np.array([1.0, 0.1])[:, None, None, None]
    slopes = np.stack([*others, mass], axis=1)[np.newaxis]
    torque = np.einsum('mkrij,mrkj->mki', slopes, motion[:, :, :-1])
    return core.Cost(running[None], final[None]), target, motion, torque, slopes


def values_of(accelerations, motion, slopes):
    """Return q and v at the nodes 1 ... N and the torques, each (N n,), in one vector."""
    other = motion.copy()
    other[0, 2, :-1] = accelerations.reshape(N, JOINTS)
    core.follow(GRID.t, GRID.s, other)
    torque = np.einsum('krij,rkj->ki', slopes[0], other[0, :, :-1])
    return np.concatenate([other[0, 0, 1:].ravel(), other[0, 1, 1:].ravel(), torque.ravel()])


def dense(cost, target, motion, slopes):
    """Return H, g of the cost in the accelerations, and their effect J, f on `values_of`."""
    size = N * JOINTS
    f = values_of(np.zeros(size), motion, slopes)
    j = np.array([values_of(unit, motion, slopes) - f for unit in np.eye(size)]).T
    weight, wanted = np.zeros((3 * size, 3 * size)), np.zeros(3 * size)
    running, final = cost.running[0], cost.final[0]
    for k in range(N):
        for i in range(JOINTS):
            q, v, tau = (row * size + k * JOINTS + i for row in range(3))
            wanted[q], wanted[v] = target[0, :2, k + 1, i]
            weight[tau, tau] = GRID.t[k] * running[3, i]
            last = k == N - 1
            weight[q, q] = final[0, i] if last else GRID.t[k + 1] * running[0, i]
            weight[v, v] = final[2, i] if last else GRID.t[k + 1] * running[1, i]
            weight[q, v] = weight[v, q] = final[1, i] if last else 0.0
    own = np.diag(np.repeat(GRID.t, JOINTS) * np.tile(running[2], N))
    return j.T @ weight @ j + own, j.T @ weight @ (f - wanted), j, f


def bounds(tau, q, v):
    upper = np.array([tau, q, v])[:, np.newaxis] * np.ones(JOINTS)
    return core.Limits(-upper, upper)


def test_without_limits_one_step_is_the_optimum():
    cost, target, motion, torque, slopes = problem(0)
    h, g, _, _ = dense(cost, target, motion, slopes)
    multipliers = np.zeros((1, 3, N, JOINTS))
    limits = bounds(np.inf, np.inf, np.inf)
    count = core.solve(GRID, cost, limits, target, motion, torque, slopes, multipliers, 9)
    assert count[0] == 1
    found, expected = motion[0, 2, :-1].ravel(), np.linalg.solve(h, -g)
    assert_allclose(found, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize('seed', range(5))
def test_the_optimum_within_limits_obeys_the_conditions_of_karush_kuhn_and_tucker(seed):
    cost, target, motion, torque, slopes = problem(seed)
    h, g, j, f = dense(cost, target, motion, slopes)
    multipliers = np.zeros((1, 3, N, JOINTS))
    limits = bounds(2.0, 0.08, 0.5)
    core.solve(GRID, cost, limits, target, motion, torque, slopes, multipliers, 200)
    a = motion[0, 2, :-1].ravel()
    y = multipliers[0][[1, 2, 0]].ravel()
    upper = np.repeat([0.08, 0.5, 2.0], N * JOINTS)
    values = j @ a + f
    assert (y != 0.0).sum() > 5
    assert_allclose(h @ a + g + j.T @ y, 0.0, atol=1e-9 * np.abs(g).max())
    assert (np.abs(values) <= upper * (1.0 + 1e-7)).all()
    active = y != 0.0
    assert_allclose((values * np.sign(y))[active], upper[active], rtol=1e-7)
    assert_allclose(torque.ravel(), values[-N * JOINTS :], atol=1e-9)


def test_a_limit_that_cannot_be_respected_leaves_a_bounded_motion():
    cost, target, motion, torque, slopes = problem(1)
    motion[0, 1, 0] = 2.0  # four times the limit, and no torque brakes so fast
    core.follow(GRID.t, GRID.s, motion)
    torque[:] = np.einsum('mkrij,mrkj->mki', slopes, motion[:, :, :-1])
    multipliers = np.zeros((1, 3, N, JOINTS))
    for _ in range(20):
        core.solve(GRID, cost, bounds(2.0, 0.08, 0.5), target, motion, torque, slopes,
                   multipliers, 20)  # fmt: skip
    assert np.abs(motion).max() < 1e4
    assert np.abs(motion[0, 1, -1]).max() < 1.0


def test_a_solution_one_period_later_is_the_mean_over_the_later_intervals():
    grid = core.Grid.of([1, 2, 3], DT)
    assert_allclose(grid.shift(), [[0, 1, 0], [0, 0.5, 0.5], [0, 0, 2 / 3]])
    assert GRID.periods[0] == 1.0
    assert abs(GRID.periods.sum() * DT - 0.1) < 0.01


def test_a_node_reaches_where_the_periods_of_its_step_lead():
    motion = np.zeros((1, 3, 2, 1))
    motion[0, :, 0, 0] = 0.3, -0.2, 5.0
    grid, time = core.Grid.of([7], DT), 7 * DT
    q, v = 0.3 - 0.2 * time + 2.5 * time**2, -0.2 + 5.0 * time
    core.follow(grid.t, grid.s, motion)
    assert_allclose(motion[0, :2, 1, 0], (q, v), rtol=1e-13)


def test_a_prediction_moves_as_an_arm_with_constant_acceleration():
    motion = np.zeros((1, 3, N + 1, 1))
    motion[0, :, 0, 0], motion[0, 2] = (0.3, -0.2, 0.0), 1.7
    core.follow(GRID.t, GRID.s, motion)
    t = DT * np.concatenate([[0.0], np.cumsum(GRID.periods)])
    assert_allclose(motion[0, 0, :, 0], 0.3 - 0.2 * t + 0.5 * 1.7 * t**2, atol=1e-12)
    assert_allclose(motion[0, 1, :, 0], -0.2 + 1.7 * t, atol=1e-12)
