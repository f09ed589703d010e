"""The follower's rules at their very edges: instants and errors that are exact in binary."""

import numpy as np
import pytest
from following import MODEL, NAMES, SECOND, ends, goal, make

from arm_controllers.follower.goal import GoalError, JointTolerance, ResultCode
from arm_dynamics.model import RobotModel

ZERO = np.zeros(6)


def holding(**parameters):
    """Return a follower at zero whose goal is to stay there for a second."""
    arm = make(q=ZERO, **parameters)
    arm.set_goal(goal([1.0], [ZERO], [ZERO], identifier='stay'), 0)
    return arm


def off(error, joint=2):
    """Return a position this far from zero at one joint."""
    q = np.zeros(6)
    q[joint] = error
    return q


@pytest.mark.parametrize('sign', [1.0, -1.0])
def test_an_error_of_the_tolerance_itself_is_allowed_and_the_next_number_is_not(sign):
    arm = holding(trajectory_tolerance=(0.25,))
    for time_ns in (0, SECOND // 4, SECOND // 2):
        arm.update(time_ns, off(0.25 * sign), ZERO)
    assert ends(arm) == []
    arm.update(SECOND * 3 // 4, off(np.nextafter(0.25, 1.0) * sign), ZERO)
    assert ends(arm) == [('stay', ResultCode.PATH_TOLERANCE_VIOLATED)]


def test_velocity_on_the_way_has_a_bound_only_where_the_goal_gives_one():
    for bound, code in ((0.0, None), (0.5, ResultCode.PATH_TOLERANCE_VIOLATED), (-1.0, None)):
        arm = make(q=ZERO)
        path = (JointTolerance(NAMES[2], velocity=bound),)
        arm.set_goal(goal([1.0], [ZERO], [ZERO], path_tolerance=path, identifier='stay'), 0)
        arm.update(SECOND // 4, ZERO, off(0.5))
        assert ends(arm) == []
        arm.update(SECOND // 2, ZERO, off(-0.75))
        assert ends(arm) == ([('stay', code)] if code else [])


def test_path_tolerance_counts_before_the_last_point_and_goal_tolerance_from_it():
    arm = holding(trajectory_tolerance=(0.25,), goal_tolerance=(0.5,))
    arm.update(SECOND // 2, off(0.25), ZERO)
    arm.update(SECOND, off(0.5), ZERO)
    assert ends(arm) == [('stay', ResultCode.SUCCESSFUL)]
    arm = holding(trajectory_tolerance=(0.5,), goal_tolerance=(0.25,))
    for time_ns in (SECOND // 2, SECOND - 1):
        arm.update(time_ns, off(0.5), ZERO)
    assert ends(arm) == []
    arm.update(SECOND, off(0.5), ZERO)
    assert ends(arm) == []  # it may still come


def test_a_goal_waits_for_its_tolerance_as_long_as_allowed_and_not_a_nanosecond_more():
    for requested, given, settle_time, name in (
        ({'goal_time': 0.25}, 0.0, 0.25, 'goal time tolerance'),
        ({'goal_time': 0.25}, 0.5, 0.5, 'goal time tolerance'),
        ({'goal_time_limit': 0.5}, 0.0, 0.5, 'goal_time_limit'),
        ({'goal_time_limit': 0.5, 'goal_time': 0.25}, -1.0, 0.5, 'goal_time_limit'),
        ({'goal_time_limit': 0.5}, 4.0, 0.5, 'goal_time_limit'),
    ):
        arm = make(q=ZERO, goal_tolerance=(0.25,), time_jump_limit=2.0, **requested)
        arm.set_goal(goal([1.0], [ZERO], [ZERO], goal_time_tolerance=given), 0)
        last = SECOND + round(settle_time * SECOND)
        for time_ns in (0, SECOND, last):
            arm.update(time_ns, off(0.5), ZERO)
            assert not arm.results
        arm.update(last + 1, off(0.5), ZERO)
        (end,) = arm.results
        assert end.code is ResultCode.GOAL_TOLERANCE_VIOLATED
        assert end.message.endswith(f', {settle_time:.6g} s ({name}) after its end')


def test_a_step_of_time_of_the_limit_itself_is_none_and_the_next_nanosecond_is():
    arm = holding(time_jump_limit=0.25)
    for time_ns in (0, 0, SECOND // 4, SECOND // 2):
        arm.update(time_ns, ZERO, ZERO)
    assert not arm.results
    arm.update(SECOND * 3 // 4 + 1, ZERO, ZERO)
    (end,) = arm.results
    assert end.message == 'time jumped forward by 0.25 s; the arm holds'
    arm = holding()
    arm.update(SECOND // 4, ZERO, ZERO)
    arm.update(SECOND // 4 - 1, ZERO, ZERO)
    (end,) = arm.results
    assert end.message == 'time jumped back by 1e-09 s; the arm holds'


def test_a_waiting_goal_takes_over_at_its_very_nanosecond():
    arm = make(q=ZERO)
    arm.set_goal(goal([1.0], [off(0.125)], [ZERO], identifier='first'), 0)
    later = goal([1.0], [off(-0.125)], [ZERO], start_ns=SECOND // 4, identifier='later')
    arm.set_goal(later, 0)
    before = arm.update(SECOND // 4 - 1, ZERO, ZERO).copy()
    assert arm.active_goal.identifier == 'first'
    assert [each.identifier for each in arm.goals] == ['first', 'later']
    after = arm.update(SECOND // 4, ZERO, ZERO)
    assert arm.active_goal.identifier == 'later'
    np.testing.assert_allclose(after.q, before.q, atol=1e-8)
    assert arm.time_in_goal(SECOND // 2) == 0.25
    same_instant = goal([1.0], [ZERO], [ZERO], start_ns=SECOND // 2, identifier='one')
    arm.set_goal(same_instant, SECOND // 4)
    arm.set_goal(goal([1.0], [ZERO], [ZERO], start_ns=SECOND // 2, identifier='two'), SECOND // 4)
    assert ends(arm)[1:] == [('one', ResultCode.INVALID_GOAL)]


def test_a_last_velocity_below_rest_is_none_and_any_other_is_refused_or_not_waited_for():
    at_rest = 1e-6  # [rad/s]
    make(q=ZERO).set_goal(goal([1.0], [ZERO], [off(at_rest)]), 0)
    with pytest.raises(GoalError, match='velocity 1.1e-06 at the last point is not zero') as error:
        make(q=ZERO).set_goal(goal([1.0], [ZERO], [off(1.1e-6)]), 0)
    assert error.value.lower == error.value.upper == 0.0
    for speed, ended in ((0.0, []), (0.01, [('pass', ResultCode.SUCCESSFUL)])):
        arm = make(q=ZERO, allow_nonzero_velocity_at_trajectory_end=True)
        arm.set_goal(goal([1.0], [ZERO], [off(speed)], identifier='pass'), 0)
        arm.update(SECOND // 2, ZERO, ZERO)
        arm.update(SECOND, ZERO, off(1.0))  # beyond stopped_velocity_tolerance
        assert ends(arm) == ended


@pytest.mark.parametrize(
    ('way', 'deceleration', 'duration'),
    [
        (0.1, 5.0, 1.01 * np.sqrt(6.0 * 0.1 / 5.0)),  # peak 6 d/T^2
        (-0.1, 5.0, 1.01 * np.sqrt(6.0 * 0.1 / 5.0)),
        (0.1, 2000.0, 1.01 * 1.5 * 0.1 / np.pi),  # peak 1.5 d/T
        (1e-9, 5.0, 0.02),
    ],
)
def test_a_single_point_at_time_zero_is_reached_as_fast_as_limits_allow(
    way, deceleration, duration
):
    light = RobotModel(MODEL.urdf)
    light.effort_limit = np.full(6, np.inf)
    arm = make(light, ZERO, max_deceleration_on_cancel=(deceleration,))
    arm.set_goal(goal([0.0], [off(way)], [ZERO], identifier='there'), 0)
    end = round(duration * SECOND)
    halfway = arm.peek(end // 2)
    np.testing.assert_allclose(halfway.q[2], way / 2, rtol=1e-6)
    np.testing.assert_allclose(halfway.v[2], 1.5 * way / duration, rtol=1e-6)
    arm.update(end - 10, arm.peek(end - 10).q.copy(), ZERO)
    assert arm.active_goal
    arm.update(end + 10, off(way), ZERO)
    assert ends(arm) == [('there', ResultCode.SUCCESSFUL)]


def test_after_a_last_point_in_motion_the_arm_brakes_from_there_and_its_feedforward_fades():
    arm = make(q=ZERO, allow_nonzero_velocity_at_trajectory_end=True)
    efforts = np.array([off(1.0), off(3.0), off(2.0)])
    speeds = [off(0.1), off(0.2), off(0.25)]
    arm.set_goal(goal([1.0, 2.0, 3.0], [off(0.1), off(0.2), off(0.3)], speeds, effort=efforts), 0)
    braking = 0.25 / 5.0  # [s] at constant deceleration
    for share, q, v, effort in (
        (0.0, 0.3, 0.25, 2.0),
        (0.5, 0.3 + 0.25 * braking * 0.375, 0.125, 1.0),
        (1.0, 0.3 + 0.25 * braking / 2, 0.0, 0.0),
        (9.0, 0.3 + 0.25 * braking / 2, 0.0, 0.0),
    ):
        at = arm.peek(3 * SECOND + round(share * braking * SECOND))
        np.testing.assert_allclose([at.q[2], at.v[2], at.effort[2]], [q, v, effort], atol=1e-9)


@pytest.mark.parametrize(('margin', 'speed'), [(1e-9, 0.5), (-1e-9, 0.0)])
@pytest.mark.parametrize('side', [1.0, -1.0])
def test_a_streams_last_point_is_passed_where_limits_allow_the_return(side, margin, speed):
    """The way past it is 4/27 v T with T = 4 v/deceleration: 16/27 v^2/deceleration."""
    light = RobotModel(MODEL.urdf)
    light.effort_limit = np.full(6, np.inf)
    farthest = 0.05 + 16.0 / 27.0 * 0.5**2 / 5.0
    lower, upper = light.position_lower.copy(), light.position_upper.copy()
    lower[2], upper[2] = sorted([side * (farthest + margin), -side])
    light.position_lower, light.position_upper = lower, upper
    arm = make(light, ZERO)
    arm.set_goal(goal([0.1], [off(0.05 * side)]), 0)
    np.testing.assert_allclose(arm.peek(SECOND // 10).v[2], speed * side, atol=1e-9)
    stamps = range(SECOND // 10, SECOND, SECOND // 1000)
    farthest_q = max(side * arm.peek(stamp).q[2] for stamp in stamps)
    np.testing.assert_allclose(farthest_q, farthest if speed else 0.05, atol=1e-6)
    assert arm.peek(SECOND // 2).q[2] == 0.05 * side  # 4 v/deceleration = 0.4 s later


def test_a_start_too_far_away_is_refused_with_what_is_allowed_there():
    arm = make(q=off(0.5), start_tolerance=(0.125,))
    arm.set_goal(goal([0.0, 2.0], [off(0.625), ZERO]), 0)
    for start in (0.626, 0.374):
        with pytest.raises(GoalError, match='from where the arm is then, 0.5 rad') as error:
            arm.set_goal(goal([0.0, 2.0], [off(start), ZERO]), 0)
        assert (error.value.value, error.value.lower, error.value.upper) == (start, 0.375, 0.625)


def test_checks_start_again_where_the_reference_moved_meanwhile_with_twice_the_notice():
    arm = make(q=ZERO, v=off(0.1))  # it brakes for 20 ms
    checks = arm.accept(goal([1.0], [ZERO], [ZERO], identifier='new'), 0, 1_000_000)
    next(checks)
    next(checks)
    arm.update(2_000_000, ZERO, ZERO)  # the take-over has passed
    for _ in checks:
        pass
    arm.update(3_999_999, ZERO, ZERO)
    assert arm.active_goal is None
    arm.update(4_000_000, ZERO, ZERO)
    assert arm.active_goal.identifier == 'new'
    assert arm.time_in_goal(4_000_000) == 0.0
