"""How goals end: tolerances, settle time, cancel, velocity at the end."""

import numpy as np
import pytest
from following import (
    DT,
    HOME,
    NAMES,
    REST,
    SECOND,
    assert_no_jump,
    ends,
    goal,
    make,
    run,
)

from arm_controllers.follower.goal import JointTolerance, ResultCode


def test_violated_path_tolerance_stops_the_arm_where_it_is_and_says_why():
    arm = make(trajectory_tolerance=(0.1,))
    arm.set_goal(goal([2.0], [HOME + 1.0], identifier='a'), 0)
    stuck = HOME.copy()
    for time_ns in range(0, SECOND, DT):
        reference = arm.update(time_ns, stuck, REST)
        if arm.results:
            break
    np.testing.assert_array_equal(reference.q, stuck)
    end = arm.results.popleft()
    assert end.code == ResultCode.PATH_TOLERANCE_VIOLATED
    assert f"joint '{NAMES[0]}': position error 0.10" in end.message
    assert 'path tolerance 0.1 rad' in end.message
    assert 't = 0.3' in end.message
    np.testing.assert_array_equal(arm.update(time_ns + DT, stuck, REST).q, stuck)


@pytest.mark.parametrize(
    ('given', 'off', 'message'),
    [
        ({}, 0.11, f"joint '{NAMES[1]}' ended 0.11 rad from its reference; neither"
         f' constraints.{NAMES[1]}.goal nor the goal limits that'),
        ({'stopped_velocity_tolerance': 0.0}, 0.11, 'ended 0.11 rad'),
        ({}, 0.09, ''),
        ({'goal_tolerance': (0.2,)}, 0.11, ''),
    ],
)  # fmt: skip
def test_a_success_names_a_joint_without_tolerance_far_from_its_reference(given, off, message):
    arm = make(**given)
    arm.set_goal(goal([1.0], [HOME + 0.2], identifier='a'), 0)
    away = HOME + 0.2
    away[1] -= off
    for time_ns in range(0, 2 * SECOND, DT):
        arm.update(time_ns, away, REST)
    (end,) = arm.results
    assert end.code == ResultCode.SUCCESSFUL
    assert message in end.message
    assert bool(message) == bool(end.message)


@pytest.mark.parametrize(
    ('given', 'lag', 'latest'),
    [({}, 5, 0.11), ({}, 20, 0.11), ({'goal_tolerance': (0.01,)}, 20, 0.2)],
)
def test_a_passed_point_is_reached_at_the_point_and_not_beyond(given, lag, latest):
    """0.1 rad in 0.1 s: the arm, `lag` periods behind, goes on to 0.21 rad and comes back."""
    arm = make(**given)
    arm.set_goal(goal([0.1], [HOME + np.eye(6)[5] * 0.1], identifier='a'), 0)
    way = [HOME] * lag
    for time_ns in range(0, SECOND, DT):
        way.append(arm.peek(time_ns).q.copy())
        arm.update(time_ns, way[-lag], (way[-lag] - way[-lag - 1]) / (DT * 1e-9))
        if arm.results:
            break
    assert time_ns < latest * SECOND
    assert np.all(
        np.abs(way[-lag] - HOME - np.eye(6)[5] * 0.1) <= given.get('goal_tolerance', 0.05)
    )
    (end,) = arm.results
    assert end.code == ResultCode.SUCCESSFUL
    assert f"joint '{NAMES[5]}' passes the point and returns: " in end.message


def test_violation_in_motion_brakes_from_the_measured_state():
    arm = make(trajectory_tolerance=(0.1,), max_deceleration_on_cancel=(5.0,))
    arm.set_goal(goal([2.0], [HOME + 1.0]), 0)
    run(arm, 0, SECOND)
    q, v = arm.reference.q - 0.2, np.full(6, 0.5)
    reference = arm.update(SECOND, q, v)
    np.testing.assert_array_equal(reference.q, q)
    np.testing.assert_array_equal(reference.v, v)
    q1, v1, _ = run(arm, SECOND, 2 * SECOND)
    assert_no_jump(q1, v1, 5.1)
    np.testing.assert_allclose(q1[-1], q + 0.5**2 / (2 * 5.0), atol=1e-12)


def test_violation_holds_at_once_where_deceleration_is_switched_off():
    arm = make(trajectory_tolerance=(0.1,), decelerate_on_violation=False)
    arm.set_goal(goal([2.0], [HOME + 1.0]), 0)
    run(arm, 0, SECOND)
    q = arm.reference.q - 0.2
    assert not arm.update(SECOND, q, np.full(6, 0.5)).v.any()
    np.testing.assert_array_equal(arm.update(SECOND + DT, q, REST).q, q)


def test_tolerance_of_a_goal_overrides_the_controllers_own():
    for own, of_goal, violated in ((0.1, 0.5, False), (0.5, 0.1, True), (0.1, -1.0, False)):
        arm = make(trajectory_tolerance=(own,))
        tolerance = tuple(JointTolerance(name, of_goal) for name in NAMES)
        arm.set_goal(goal([1.0], [HOME + 0.6], path_tolerance=tolerance), 0)
        for time_ns in range(0, SECOND, DT):
            arm.update(time_ns, arm.peek(time_ns).q - 0.2, REST)
        assert bool(arm.results) == violated


def test_velocity_tolerance_of_a_goal_is_watched():
    arm = make()
    tolerance = (JointTolerance(NAMES[1], velocity=0.2),)
    arm.set_goal(goal([1.0], [HOME + 0.6], path_tolerance=tolerance), 0)
    for time_ns in range(0, SECOND, DT):
        arm.update(time_ns, arm.peek(time_ns).q.copy(), REST)
    assert 'velocity error 0.2' in arm.results[0].message


def test_velocity_tolerance_of_a_goal_counts_at_its_end_where_that_is_not_at_rest():
    arm = make(goal_time_limit=0.5, allow_nonzero_velocity_at_trajectory_end=True)
    tolerance = (JointTolerance(NAMES[1], velocity=0.01),)
    arm.set_goal(goal([1.0], [HOME + 0.05], [np.full(6, 0.1)], goal_tolerance=tolerance), 0)
    for time_ns in range(0, 2 * SECOND, DT):
        arm.update(time_ns, arm.peek(time_ns).q.copy(), arm.peek(time_ns).v - 0.3)
    assert ends(arm) == [(None, ResultCode.GOAL_TOLERANCE_VIOLATED)]


def test_goal_ends_only_within_its_goal_tolerance_and_at_rest():
    arm = make(goal_tolerance=(0.01,))
    arm.set_goal(goal([0.5], [HOME + 0.1], identifier='a'), 0)
    run(arm, 0, SECOND // 2)
    arm.update(SECOND // 2, HOME + 0.05, REST)
    assert not arm.results  # too far
    arm.update(SECOND // 2 + DT, HOME + 0.095, np.full(6, 0.02))
    assert not arm.results  # near, but moving
    arm.update(SECOND // 2 + 2 * DT, HOME + 0.095, np.full(6, 0.005))
    assert ends(arm) == [('a', ResultCode.SUCCESSFUL)]


@pytest.mark.parametrize(
    ('parameters', 'requested', 'settle_time'),
    [
        ({'goal_time': 0.3}, 0.0, 0.3),
        ({'goal_time': 0.3}, 0.1, 0.1),
        ({'goal_time': 0.3, 'goal_time_limit': 0.5}, -1.0, 0.5),
        ({'goal_time_limit': 0.4}, 0.0, 0.4),
    ],
)
def test_goal_that_is_not_met_in_time_ends_with_joint_error_limit_and_time(
    parameters, requested, settle_time
):
    arm = make(goal_tolerance=(0.01,), **parameters)
    arm.set_goal(goal([0.5], [HOME + 0.1], goal_time_tolerance=requested), 0)
    for time_ns in range(0, 3 * SECOND, DT):
        reference = arm.update(time_ns, HOME, REST)
        if arm.results:
            break
    np.testing.assert_allclose(time_ns * 1e-9, 0.5 + settle_time, atol=2 * DT * 1e-9)
    end = arm.results[0]
    assert end.code == ResultCode.GOAL_TOLERANCE_VIOLATED
    assert f"joint '{NAMES[0]}': position error 0.1 rad" in end.message
    assert 'goal tolerance 0.01 rad' in end.message
    assert f'{settle_time:g} s' in end.message
    np.testing.assert_array_equal(reference.q, HOME)


def test_every_goal_ends_in_finite_time_by_default_even_if_the_arm_never_rests():
    arm = make()
    arm.set_goal(goal([0.5], [HOME]), 0)
    for time_ns in range(0, 12 * SECOND, 10 * DT):
        arm.update(time_ns, HOME, np.full(6, 0.5))
    assert ends(arm) == [(None, ResultCode.GOAL_TOLERANCE_VIOLATED)]


def test_cancel_brakes_within_the_deceleration_and_holds():
    arm = make(max_deceleration_on_cancel=(2.0,))
    arm.set_goal(goal([2.0], [HOME + 0.6], identifier='a'), 0)
    q0, v0, _ = run(arm, 0, SECOND)
    arm.cancel(SECOND - DT)
    q1, v1, a1 = run(arm, SECOND, 2 * SECOND)
    assert_no_jump(np.vstack([q0, q1]), np.vstack([v0, v1]), 2.1)
    assert np.abs(a1).max() <= 2.0 + 1e-12
    assert not v1[-1].any()
    assert arm.results[0].canceled
    assert ends(arm) == [('a', ResultCode.SUCCESSFUL)]


def test_cancel_ends_waiting_goals_too():
    arm = make()
    arm.set_goal(goal([1.0], [HOME + 0.1], start_ns=SECOND, identifier='waiting'), 0)
    arm.cancel(0)
    assert ends(arm) == [('waiting', ResultCode.SUCCESSFUL)]
    np.testing.assert_array_equal(run(arm, 0, 2 * SECOND)[0][-1], HOME)


def test_cancel_of_a_waiting_goal_leaves_the_running_one():
    arm = make()
    arm.set_goal(goal([1.0], [HOME + 0.1], identifier='running'), 0)
    for k, name in ((2, 'second'), (3, 'third')):
        arm.set_goal(goal([0.5], [HOME], start_ns=k * SECOND, identifier=name), 0)
    arm.cancel(0, 'second')
    arm.cancel(0, 'unheard of')
    assert ends(arm) == [('second', ResultCode.SUCCESSFUL), ('third', ResultCode.INVALID_GOAL)]
    np.testing.assert_array_equal(run(arm, 0, 4 * SECOND)[0][-1], HOME + 0.1)
    assert ends(arm) == [('running', ResultCode.SUCCESSFUL)]


def test_velocity_at_the_end_is_braked_after_the_goal():
    arm = make(allow_nonzero_velocity_at_trajectory_end=True, max_deceleration_on_cancel=(2.0,))
    arm.set_goal(goal([1.0], [HOME + 0.2], np.full((1, 6), 0.4), identifier='a'), 0)
    q, v, _ = run(arm, 0, 2 * SECOND)
    assert_no_jump(q, v)
    np.testing.assert_allclose(v[500], np.full(6, 0.4), atol=1e-9)
    np.testing.assert_allclose(q[-1], HOME + 0.2 + 0.4**2 / (2 * 2.0), atol=1e-9)
    assert ends(arm) == [('a', ResultCode.SUCCESSFUL)]


def test_effort_is_handed_through_as_feedforward_and_fades_when_canceled():
    arm = make()
    effort = np.outer([1.0, 3.0], np.ones(6))
    arm.set_goal(goal([1.0, 2.0], [HOME + 0.2, HOME + 0.4], effort=effort), 0)
    run(arm, 0, SECOND + SECOND // 2)
    np.testing.assert_allclose(arm.reference.effort, np.full(6, 2.0), atol=0.01)
    arm.cancel(SECOND + SECOND // 2)
    run(arm, SECOND + SECOND // 2, 3 * SECOND)
    assert not arm.reference.effort.any()
