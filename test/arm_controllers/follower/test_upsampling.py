"""Chunks of positions: the spline of positions_upsampling, against SciPy's and its rule."""

from dataclasses import replace

import numpy as np
import pytest
from following import HOME, MODEL, NAMES
from scipy.interpolate import CubicSpline

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.goal import Goal, GoalError
from arm_controllers.follower.parameters import FollowerParameters

RULES = FollowerParameters(upsampling=True)
STEP = 2_000_000
REST = np.zeros(6)


def chunk(rng, times, size=0.05):
    return Goal(NAMES, np.asarray(times), HOME + size * rng.standard_normal((len(times), 6)))


def follower(rules=RULES):
    arm = TrajectoryFollower(MODEL, rules)
    arm.activate(0, HOME, REST)
    return arm


def followed(arm, start_ns, times):
    """(m, 3, 6) position, velocity, acceleration at these times [s] after a stamp."""
    rows = [arm.peek(start_ns + round(t * 1e9)).copy() for t in times]
    return np.array([[row.q, row.v, row.a] for row in rows])


def test_a_second_chunk_goes_on_with_position_and_velocity_of_the_first():
    rng, arm = np.random.default_rng(1), follower()
    first, second = chunk(rng, [0.2, 0.4, 0.6, 0.8]), chunk(rng, [0.15, 0.35, 0.6])
    arm.set_goal(first, 0)
    at_ns = 300 * 10**6
    arm.update(at_ns, HOME, REST)
    now = arm.reference.copy()
    assert np.abs(now.v).max() > 0.05
    arm.set_goal(second, at_ns)
    times = np.concatenate([[0.0], second.times])
    spline = CubicSpline(
        times, np.vstack([now.q, second.positions]), bc_type=((1, now.v), (1, REST))
    )
    t = np.linspace(0.0, 0.599, 50)
    found = followed(arm, at_ns, t)
    for order in range(3):
        np.testing.assert_allclose(found[:, order], spline(t, order), atol=1e-7)
    end = followed(arm, at_ns, [0.6])[0]
    np.testing.assert_allclose(end, [second.positions[-1], REST, REST], atol=1e-12)


def test_points_without_times_are_one_policy_period_apart():
    rng = np.random.default_rng(2)
    arm = follower(replace(RULES, policy_frequency=30.0))
    untimed = chunk(rng, np.zeros(5), 0.005)
    arm.set_goal(untimed, 0)
    times = np.arange(1, 6) / 30.0
    np.testing.assert_allclose(followed(arm, 0, times)[:, 0], untimed.positions, atol=1e-7)
    with pytest.raises(GoalError, match='times must increase'):
        follower().set_goal(untimed, 0)
    arm = follower(replace(RULES, policy_frequency=30.0))
    timed = chunk(rng, [0.1, 0.2, 0.5])  # times of its own stay
    arm.set_goal(timed, 0)
    np.testing.assert_allclose(followed(arm, 0, timed.times)[:, 0], timed.positions, atol=1e-12)


def test_other_goals_and_other_controllers_are_as_before():
    rng = np.random.default_rng(3)
    times = [0.4, 0.8, 1.2]
    plain, t = chunk(rng, times), np.linspace(0.0, 1.19, 40)
    for goal in (replace(plain, velocities=np.zeros((3, 6))), replace(plain, identifier='action')):
        found = []
        for rules in (RULES, FollowerParameters()):
            arm = follower(rules)
            arm.set_goal(goal, 0)
            found.append(followed(arm, 0, t))
        np.testing.assert_array_equal(*found)
