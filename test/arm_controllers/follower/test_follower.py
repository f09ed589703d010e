"""Following trajectory goals: takeover, tolerances, ends, streams, holds."""

import numpy as np
import pytest
from following import (
    DT,
    HOME,
    MODEL,
    NAMES,
    REST,
    SECOND,
    assert_names_the_fault,
    assert_no_jump,
    ends,
    goal,
    make,
    run,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from arm_controllers.follower.goal import Goal, GoalError, JointTolerance, ResultCode
from arm_controllers.follower.parameters import FollowerParameters
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel

CONTINUOUS = """<robot name="turntable"><link name="base"/>
<joint name="turn" type="continuous"><parent link="base"/><child link="table"/>
<axis xyz="0 0 1"/><limit effort="50" velocity="20"/></joint>
<link name="table"><inertial><mass value="1"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""


# Holding


def test_active_follower_without_a_goal_holds_the_position_it_was_activated_at():
    arm = make()
    q, v, a = run(arm, 0, SECOND)
    np.testing.assert_array_equal(q, np.tile(HOME, (500, 1)))
    assert not v.any()
    assert not a.any()


def test_activation_in_motion_brakes_within_the_deceleration_and_holds():
    speed = np.array([1.0, -0.5, 0.0, 0.2, 0.0, 0.0])
    arm = make(v=speed, max_deceleration_on_cancel=(4.0,))
    q, v, a = run(arm, 0, SECOND)
    np.testing.assert_array_equal(q[0], HOME)
    np.testing.assert_array_equal(v[0], speed)
    assert np.abs(a).max() <= 4.0 + 1e-12
    np.testing.assert_allclose(q[-1], HOME + speed * 0.25 / 2, atol=1e-12)
    assert not v[-1].any()


# Taking over


@pytest.mark.parametrize('fields', [0, 1, 2])
def test_goal_is_reached_and_succeeds(fields):
    extra = [np.zeros((1, 6))] * fields
    arm = make()
    arm.set_goal(goal([1.0], [HOME + 0.2], *extra, identifier='a'), 0)
    q, v, _ = run(arm, 0, SECOND + 2 * DT)
    assert_no_jump(q, v)
    np.testing.assert_array_equal(arm.reference.q, HOME + 0.2)
    assert ends(arm) == [('a', ResultCode.SUCCESSFUL)]


def test_first_segment_leaves_the_reference_without_a_jump_in_acceleration_if_one_is_given():
    arm = make()
    zero = np.zeros((1, 6))
    arm.set_goal(goal([2.0], [HOME + 0.4], zero, zero), 0)
    run(arm, 0, SECOND // 2)
    before = arm.update(SECOND // 2, HOME, REST).row.copy()
    arm.set_goal(goal([2.0], [HOME - 0.2], zero, zero), SECOND // 2)
    np.testing.assert_allclose(arm.peek(SECOND // 2).row, before, atol=1e-14)


@pytest.mark.parametrize('fields', [0, 1, 2])
def test_new_goal_replaces_the_running_one_without_a_jump(fields):
    extra = [np.zeros((1, 6))] * fields
    arm = make()
    arm.set_goal(goal([1.0], [HOME + 0.4], *extra, identifier='old'), 0)
    q0, v0, _ = run(arm, 0, SECOND // 2)
    arm.set_goal(goal([1.0], [HOME - 0.2], *extra, identifier='new'), SECOND // 2 - DT)
    q1, v1, _ = run(arm, SECOND // 2, 3 * SECOND)
    assert np.abs(v0[-1]).min() > 0.3
    assert_no_jump(np.vstack([q0, q1]), np.vstack([v0, v1]))
    assert ends(arm) == [('old', ResultCode.INVALID_GOAL), ('new', ResultCode.SUCCESSFUL)]


def test_goal_with_a_future_stamp_waits_while_the_old_one_runs_on():
    arm, other = make(), make()
    first = goal([2.0], [HOME + 0.3], identifier='first')
    for one in (arm, other):
        one.set_goal(first, 0)
    arm.set_goal(goal([1.0], [HOME], start_ns=SECOND, identifier='second'), 0)
    q, v, _ = run(arm, 0, SECOND)
    np.testing.assert_array_equal(q, run(other, 0, SECOND)[0])
    assert not arm.results
    q1, v1, _ = run(arm, SECOND, 3 * SECOND)
    assert_no_jump(np.vstack([q, q1]), np.vstack([v, v1]))
    np.testing.assert_array_equal(q1[-1], HOME)
    assert ends(arm) == [('first', ResultCode.INVALID_GOAL), ('second', ResultCode.SUCCESSFUL)]


def test_waiting_goal_is_replaced_by_one_that_starts_earlier():
    arm = make()
    arm.set_goal(goal([1.0], [HOME + 0.1], start_ns=2 * SECOND, identifier='late'), 0)
    arm.set_goal(goal([1.0], [HOME + 0.2], start_ns=SECOND, identifier='early'), 0)
    assert ends(arm) == [('late', ResultCode.INVALID_GOAL)]
    q, v, _ = run(arm, 0, 3 * SECOND)
    assert_no_jump(q, v)
    assert ends(arm) == [('early', ResultCode.SUCCESSFUL)]
    np.testing.assert_array_equal(q[-1], HOME + 0.2)


def test_more_waiting_goals_than_allowed_are_refused():
    arm = make(waiting_goals_limit=2)
    for k in (1, 2):
        arm.set_goal(goal([0.5], [HOME], start_ns=k * SECOND), 0)
    with pytest.raises(GoalError, match='waiting_goals_limit = 2'):
        arm.set_goal(goal([0.5], [HOME], start_ns=3 * SECOND), 0)


def test_points_already_past_are_dropped_and_the_rest_is_joined_without_a_jump():
    arm = make(at=10 * SECOND)
    points = goal([0.5, 1.0, 2.0], [HOME + 3.0, HOME + 0.1, HOME + 0.2], start_ns=9_300_000_000)
    arm.set_goal(points, 10 * SECOND)  # 0.7 s late: the first point, out of reach, is past
    q, v, _ = run(arm, 10 * SECOND, 12 * SECOND)
    np.testing.assert_array_equal(q[0], HOME)
    np.testing.assert_allclose(q[150], HOME + 0.1, atol=1e-9)
    np.testing.assert_array_equal(q[-1], HOME + 0.2)
    assert_no_jump(q[:150], v[:150])


def test_joints_are_taken_by_name_in_any_order():
    order = [3, 0, 5, 1, 4, 2]
    target = HOME + np.arange(6) * 0.05
    one, two = make(), make()
    one.set_goal(goal([1.0], [target]), 0)
    two.set_goal(goal([1.0], [target[order]], names=[NAMES[k] for k in order]), 0)
    np.testing.assert_array_equal(run(one, 0, SECOND)[0], run(two, 0, SECOND)[0])


def test_joints_left_out_of_a_partial_goal_hold():
    arm = make(allow_partial_joints_goal=True)
    arm.set_goal(goal([1.0], [[HOME[2] + 0.3]], names=[NAMES[2]]), 0)
    q, _, _ = run(arm, 0, 2 * SECOND)
    np.testing.assert_array_equal(np.delete(q[-1], 2), np.delete(HOME, 2))
    np.testing.assert_allclose(q[-1][2], HOME[2] + 0.3, atol=1e-12)


def test_joints_left_out_of_a_partial_goal_finish_the_motion_that_they_are_in():
    """As newest JTC: not one bit of their reference changes; the goal ends at its own end."""
    whole = goal([0.7, 1.5], [HOME + 0.2, HOME + 0.4], [REST + 0.3, REST], identifier='a')
    arm, undisturbed = (make(allow_partial_joints_goal=True) for _ in range(2))
    for each in (arm, undisturbed):
        each.set_goal(whole, 0)
    q0, v0, _ = run(arm, 0, SECOND // 2)
    part = goal([0.5], [[HOME[2]]], [[0.0]], names=[NAMES[2]], identifier='b')
    arm.set_goal(part, SECOND // 2 - DT)
    q1, v1, _ = run(arm, SECOND // 2, SECOND + 10 * DT)
    assert ends(arm) == [('a', ResultCode.INVALID_GOAL), ('b', ResultCode.SUCCESSFUL)]
    q2, v2, _ = run(arm, SECOND + 10 * DT, 2 * SECOND)
    q, v = np.vstack([q0, q1, q2]), np.vstack([v0, v1, v2])
    assert_no_jump(q, v)
    expected, _, _ = run(undisturbed, 0, 2 * SECOND)
    np.testing.assert_allclose(np.delete(q - expected, 2, 1), 0.0, atol=1e-13)
    np.testing.assert_allclose(q[-1], np.append(HOME[:2] + 0.4, [HOME[2], *HOME[3:] + 0.4]))


@pytest.mark.slow
def test_two_nodes_that_stream_points_to_different_joints_do_not_disturb_each_other():
    arm, alone = (make(allow_partial_joints_goal=True, stream_horizon=0.3) for _ in range(2))
    q = []
    for k in range(1, 20):
        for each, joints in ((arm, (0, 3)), (alone, (0,))):
            for j in joints:
                point = goal([0.2], [[HOME[j] + 0.02 * (k + 1)]], names=[NAMES[j]])
                each.set_goal(point, each.time_ns)
        end_ns = arm.time_ns + SECOND // 10
        q.append([run(each, each.time_ns, end_ns)[0][:, 0] for each in (arm, alone)])
    both, one = np.array(q).swapaxes(0, 1)
    np.testing.assert_allclose(both, one, atol=1e-13)
    assert both[-1, -1] > HOME[0] + 0.3


def test_a_joint_whose_polynomial_overshoots_its_limit_does_not_refuse_anothers_goal():
    """The first goal is allowed 2 % more than the limit between its points."""
    arm = make(allow_partial_joints_goal=True)
    limit = MODEL.velocity_limit[0]
    way = REST.copy()
    way[0] = (
        1.01 * limit / 1.5
    )  # rest to rest in 1 s: the peak, after 0.5 s, is 1.5 times the mean
    arm.set_goal(goal([1.0], [HOME + way], [REST]), 0)
    run(arm, 0, SECOND // 2)
    start_ns = SECOND // 2
    arm.set_goal(
        goal([0.5], [[HOME[2] + 0.1]], [[0.0]], names=[NAMES[2]], start_ns=start_ns), start_ns
    )
    q, _, _ = run(arm, start_ns, 2 * SECOND)
    np.testing.assert_allclose(q[-1, 0], HOME[0] + way[0], atol=1e-12)


def test_joints_left_out_go_on_only_while_the_goal_that_moved_them_was_not_canceled():
    """The goal before the waiting one is canceled while the latter is checked."""
    arm = make(allow_partial_joints_goal=True)
    arm.set_goal(goal([1.0, 3.0], [HOME, HOME + 0.3]), 0)  # at rest for a second
    run(arm, 0, SECOND // 2)
    part = goal([1.0], [[HOME[2] + 0.1]], names=[NAMES[2]])
    checks = arm.accept(part, SECOND // 2)
    next(checks)
    next(checks)
    arm.cancel(arm.time_ns)
    for _ in checks:
        pass
    q, _, _ = run(arm, SECOND // 2, 4 * SECOND)
    np.testing.assert_allclose(q[-1, 0], HOME[0], atol=1e-12)


@pytest.mark.parametrize(('speed', 'first'), [(0.25, 10.0), (0.25, 0.3), (0.5, 1.2), (1.0, 10.0)])
def test_a_stamp_is_of_the_clock_whatever_the_speed(speed, first):
    """Newest JTC: speed scaling stretches goals, and leaves their stamps.

    At a quarter of its speed the first goal of 10 s has not ended at the stamp, that of 0.3 s has.
    """
    arm = make(speed_scaling=speed)
    arm.set_goal(goal([first], [HOME + 0.1], [REST]), 0)
    run(arm, 0, SECOND)
    later = goal([1.0], [HOME], [REST], start_ns=4 * SECOND, identifier='b')
    arm.set_goal(later, arm.time_ns)
    run(arm, SECOND, 4 * SECOND - DT)
    assert arm.active_goal is not later
    run(arm, 4 * SECOND - DT, 4 * SECOND + 2 * DT)
    assert arm.active_goal is later


def test_single_point_at_time_zero_is_reached_as_soon_as_limits_allow():
    arm = make(max_deceleration_on_cancel=(2.0,))
    arm.set_goal(goal([0.0], [HOME + 0.05], identifier='now'), 0)
    q, v, a = run(arm, 0, 2 * SECOND)
    assert_no_jump(q, v, 2.1)
    assert np.abs(a).max() <= 2.0
    np.testing.assert_array_equal(q[-1], HOME + 0.05)
    assert ends(arm) == [('now', ResultCode.SUCCESSFUL)]


def test_point_at_time_zero_is_the_start_and_the_reference_leaves_from_where_it_is():
    arm = make()
    zero = np.zeros((2, 6))
    arm.set_goal(goal([0.0, 1.0], [HOME + 0.01, HOME + 0.2], zero, zero), 0)
    q, v, _ = run(arm, 0, SECOND + 2 * DT)
    np.testing.assert_array_equal(q[0], HOME)
    assert_no_jump(q, v)


def test_empty_trajectory_brakes_and_holds():
    arm = make(max_deceleration_on_cancel=(4.0,))
    arm.set_goal(goal([2.0], [HOME + 0.6], identifier='a'), 0)
    q0, v0, _ = run(arm, 0, SECOND)
    arm.set_goal(Goal((), np.zeros(0), np.zeros((0, 0)), identifier='empty'), SECOND - DT)
    q1, v1, _ = run(arm, SECOND, 2 * SECOND)
    assert_no_jump(np.vstack([q0, q1]), np.vstack([v0, v1]), 4.1)
    assert not v1[-1].any()
    assert not arm.results[0].canceled
    assert ends(arm) == [('a', ResultCode.INVALID_GOAL), ('empty', ResultCode.SUCCESSFUL)]


def test_mixed_points_use_velocities_where_both_ends_of_a_segment_have_them():
    arm = make()
    positions = [HOME + x for x in (0.1, 0.2, 0.3)]
    mixed = goal(
        [1.0, 2.0, 3.0],
        positions,
        np.full((3, 6), [[0.1], [0.1], [0.0]]),
        has_velocity=np.array([False, True, True]),
    )
    arm.set_goal(mixed, 0)
    _, v, _ = run(arm, 0, 3 * SECOND + DT)
    np.testing.assert_allclose(v[700], np.full(6, 0.1), atol=1e-12)  # linear
    np.testing.assert_allclose(v[1500], np.zeros(6), atol=1e-12)


# Streams


@pytest.mark.parametrize('horizon', [0.02, 0.05, 0.1, 0.5])
@pytest.mark.parametrize('jitter', [0, 3])
@pytest.mark.slow
def test_stream_of_single_points_at_50_hz_never_drops_to_zero_velocity(horizon, jitter):
    arm = make()
    rng = np.random.default_rng(8)
    speed, period = 0.4, 10  # [rad/s], samples
    q, v = [], []
    arrivals = np.arange(0, 1000, period) + rng.integers(0, jitter + 1, 100)
    for k in range(1000):
        if k in arrivals:
            t = k * DT * 1e-9 + horizon
            target = HOME + speed * (t - min(t, 0.4) / 2 if t > 0.4 else t * t / 0.8)
            arm.set_goal(goal([horizon], [target]), k * DT)
        row = arm.update(k * DT, arm.peek(k * DT).q.copy(), REST)
        q.append(row.q.copy())
        v.append(row.v.copy())
    q, v = np.array(q), np.array(v)
    assert_no_jump(q, v)
    settled = v[300:]
    lowest = 0.9 if jitter == 0 else 0.5
    assert settled.min() > lowest * speed * (0.5 if horizon > 0.2 else 1.0)
    assert settled.max() < 1.6 * speed


def test_stream_that_ends_comes_to_rest_at_its_last_point():
    arm = make()
    for k in range(20):
        now = k * 10 * DT
        arm.set_goal(goal([0.02], [HOME + 0.005 * (k + 1)], identifier=k), now)
        run(arm, now, now + 10 * DT)
    q, v, _ = run(arm, 200 * DT, 700 * DT)
    assert_no_jump(q, v)
    np.testing.assert_allclose(q[-1], HOME + 0.1, atol=1e-12)
    assert not v[-1].any()
    assert ends(arm)[-1] == (19, ResultCode.SUCCESSFUL)


def test_stream_towards_a_position_limit_never_passes_it():
    near = HOME.copy()
    near[2] = MODEL.position_upper[2] - 0.02
    arm = make(q=near)
    target = near.copy()
    highest = -np.inf
    for k in range(20):
        target[2] = min(target[2] + 0.002, MODEL.position_upper[2])
        arm.set_goal(goal([0.02], [target]), k * 10 * DT)
        highest = max(highest, run(arm, k * 10 * DT, (k + 1) * 10 * DT)[0][:, 2].max())
    assert highest <= MODEL.position_upper[2] + 1e-6


# Continuous joints


def turntable(q, **parameters):
    return make(RobotModel.from_urdf(CONTINUOUS), np.array([q]), **parameters)


@pytest.mark.parametrize(
    ('start', 'target', 'way'), [(3.0, -3.0, 0.283185307), (-3.0, 3.0, -0.283185307)]
)
def test_continuous_joint_takes_the_short_way_across_the_wrap(start, target, way):
    arm = turntable(start)
    arm.set_goal(goal([1.0], [[target]], names=['turn']), 0)
    q, v, _ = run(arm, 0, SECOND + 2 * DT)
    assert_no_jump(q, v)
    np.testing.assert_allclose(q[-1, 0], start + way, atol=1e-8)


def test_continuous_joint_takes_the_short_way_from_point_to_point():
    arm = turntable(3.0)
    arm.set_goal(goal([1.0, 2.0, 3.0], [[-3.0], [-1.0], [0.5]], names=['turn']), 0)
    q, _, _ = run(arm, 0, 3 * SECOND + 2 * DT)
    np.testing.assert_allclose(q[-1, 0], 2 * np.pi + 0.5, atol=1e-9)


FULL = 2 * np.pi


@pytest.mark.parametrize(
    ('start', 'points', 'way'),  # points: (position, velocity), one per 4 s, then rest
    [
        (0.0, [(2.0, 1.0), (6.0, 1.0)], 6.0),  # as written, not 2.28 rad back
        (0.0, [(-2.0, -1.0), (-6.0, -1.0)], -6.0),
        (2.0, [(3.0, 0.07), (-3.0, 0.07)], FULL - 5.0),  # across the wrap
        (2.0, [(3.0, 0.07), (FULL - 3.0, 0.07)], FULL - 5.0),  # the same, counted
        (0.0, [(4.0, 1.0), (8.0, 1.0), (12.0, 1.0)], 12.0),
        (10 * FULL + 0.1, [(0.2, 0.0)], 0.1),  # after ten turns
        (10 * FULL + 0.1, [(10 * FULL + 3.0, 0.0)], 2.9),
        (0.0, [(np.pi, 0.0)], np.pi),
        (0.0, [(-np.pi, 0.0)], -np.pi),
    ],
)
def test_a_continuous_joint_turns_the_way_that_its_velocities_say(start, points, way):
    arm = turntable(start, allow_nonzero_velocity_at_trajectory_end=True)
    times = 4.0 * np.arange(1, len(points) + 1)
    q, v = np.array(points)[:, :1], np.array(points)[:, 1:]
    arm.set_goal(goal(times, q, v, names=['turn']), 0)
    q, v, _ = run(arm, 0, round(times[-1]) * SECOND)
    np.testing.assert_allclose(q[-1, 0] + v[-1, 0] * DT * 1e-9, start + way, atol=1e-5)
    assert (v[:, 0] * np.sign(way) > -1e-9).all()


@pytest.mark.parametrize(
    ('points', 'velocities', 'place'),
    [
        ([FULL], [0.0], 'from 0 to 6.28319 rad .* or 0 rad for the short way'),  # a full turn
        ([4.5], None, r'point 0, t = 4 s\); .* or -1.78319 rad for the short way'),
        ([0.5, 4.5], None, 'point 1, t = 8 s'),
        ([0.5, 4.5], [1.0, -1.0], 'point 1, t = 8 s'),
        ([2.5, -2.5 - FULL], [0.1, -0.1], 'from 2.5 to -8.78319'),
    ],
)
def test_a_step_of_which_nobody_knows_the_way_round_is_refused(points, velocities, place):
    arm = turntable(0.0, allow_nonzero_velocity_at_trajectory_end=True)
    columns = [None if x is None else np.array(x)[:, np.newaxis] for x in (points, velocities)]
    times = 4.0 * np.arange(1, len(points) + 1)
    with pytest.raises(GoalError, match=f"joint 'turn': .*{place}") as error:
        arm.set_goal(goal(times, *columns, names=['turn']), 0)
    assert_names_the_fault(error.value)
    assert arm.active_goal is None


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.floats(-3.0, 3.0), st.floats(0.1, 3.0), st.integers(2, 40), st.integers(-9, 9))
def test_a_sampled_turn_is_followed_however_its_angles_are_written(start, speed, count, turns):
    """Sampled at intervals of less than half a turn, wrapped or counted from any turn."""
    t = 1.0 * np.arange(1, count + 1)
    q = (start + speed * t - speed * np.minimum(t, 1.0) / 2)[:, np.newaxis]
    wrapped = np.remainder(q + np.pi, FULL) - np.pi
    for positions in (q, wrapped):
        arm = turntable(start + turns * FULL)
        written = positions + (turns * FULL if positions is q else 0.0)
        arm.set_goal(goal(t, written, names=['turn']), 0)
        end = arm.peek(round(t[-1]) * SECOND).q[0]
        np.testing.assert_allclose(end - turns * FULL, q[-1, 0], atol=1e-9)


def test_a_point_at_the_start_is_where_the_arm_is_in_any_turn():
    arm = turntable(0.2 - 3 * FULL)
    arm.set_goal(goal([0.0, 1.0], [[0.2], [0.7]], names=['turn']), 0)
    np.testing.assert_allclose(arm.peek(SECOND).q, 0.7 - 3 * FULL, atol=1e-9)


def test_error_of_a_continuous_joint_is_the_short_way_round():
    arm = turntable(3.1, trajectory_tolerance=(0.2,), goal_tolerance=(0.2,))
    arm.set_goal(goal([1.0], [[-3.1]], names=['turn'], identifier='a'), 0)
    for time_ns in range(0, SECOND + DT, DT):
        measured = np.remainder(arm.peek(time_ns).q + np.pi, 2 * np.pi) - np.pi
        arm.update(time_ns, measured, np.zeros(1))
    assert ends(arm) == [('a', ResultCode.SUCCESSFUL)]


# Time


@pytest.mark.parametrize(('jump', 'word'), [(-SECOND // 2, 'back'), (SECOND, 'forward')])
def test_jump_of_time_drops_the_goal_and_holds_the_arm_where_it_is(jump, word):
    arm = make()
    arm.set_goal(goal([3.0], [HOME + 0.5], identifier='a'), 0)
    run(arm, 0, SECOND)
    measured = HOME + 0.03
    reference = arm.update(SECOND - DT + jump, measured, REST)
    np.testing.assert_array_equal(reference.q, measured)
    assert not reference.v.any()
    assert f'time jumped {word}' in arm.results[0].message
    assert ends(arm) == [('a', ResultCode.INVALID_GOAL)]


def test_reference_is_a_pure_function_of_goal_and_stamp():
    rng = np.random.default_rng(9)
    wanted = goal(np.linspace(0.02, 2.0, 100), HOME + 0.001 * np.arange(100)[:, None] * np.ones(6))
    start = 1_700_000_000 * SECOND
    one, two = make(at=start), make(at=start)
    one.set_goal(wanted, start)
    two.set_goal(wanted, start)
    stamps = start + np.sort(rng.integers(0, 2 * SECOND, 200))
    rows = [one.update(int(t), one.peek(int(t)).q.copy(), REST).row.copy() for t in stamps]
    for t, row in reversed(list(zip(stamps, rows, strict=True))):
        np.testing.assert_array_equal(two.peek(int(t)).row, row)


def test_peek_sees_the_next_reference_and_changes_nothing():
    arm = make()
    arm.set_goal(goal([1.0], [HOME + 0.3]), 0)
    arm.set_goal(goal([1.0], [HOME], start_ns=SECOND // 2), 0)
    for time_ns in range(0, SECOND, DT):
        ahead = arm.peek(time_ns + DT).row.copy()
        here = arm.update(time_ns, arm.peek(time_ns).q.copy(), REST)
        arm.peek(time_ns + 10 * DT)
        assert here is arm.reference
        if time_ns:
            np.testing.assert_array_equal(here.row, previous)  # noqa: F821
        previous = ahead  # noqa: F841


# Parameters


def test_tolerances_set_while_running_count_at_once():
    arm = make()
    arm.set_goal(goal([2.0], [HOME + 0.6]), 0)
    for time_ns in range(0, SECOND, DT):
        arm.update(time_ns, HOME, REST)
    assert not arm.results
    arm.set_parameters(FollowerParameters(trajectory_tolerance=(0.1,)))
    arm.update(SECOND, HOME, REST)
    assert ends(arm) == [(None, ResultCode.PATH_TOLERANCE_VIOLATED)]


@pytest.mark.parametrize(
    'bad',
    [
        {'trajectory_tolerance': (-0.1,)},
        {'goal_tolerance': (float('nan'),)},
        {'max_deceleration_on_cancel': (-1.0,)},
        {'limit_overshoot': -0.01},
        {'interpolation_method': 'cubic'},
        {'speed_scaling': 1.1},
        {'goal_time': 0.5, 'cmd_timeout': 0.4},
        {'max_acceleration': (1.0, 2.0)},
        {'goal_time_limit': float('inf')},
        {'goal_duration_limit': 0.0},
        {'waiting_goals_limit': 0},
        {'time_jump_limit': -1.0},
    ],
)
def test_parameter_out_of_range_is_refused_by_name_and_changes_nothing(bad):
    arm = make()
    before = arm.parameters
    with pytest.raises(ArmError) as error:
        arm.set_parameters(FollowerParameters(**bad))
    name = next(iter(bad))
    words = {
        'trajectory_tolerance': 'constraints.trajectory',
        'goal_tolerance': 'constraints.goal',
    }
    assert words.get(name, name) in str(error.value)
    assert arm.parameters is before


# Acceptance while running


def test_goal_accepted_in_slices_takes_over_without_a_jump_while_the_arm_moves():
    arm = make()
    arm.set_goal(goal([2.0], [HOME + 0.5], identifier='old'), 0)
    points = HOME + 0.2 + 0.05 * np.sin(np.linspace(0.1, 6.2, 300))[:, None] * np.ones(6)
    velocities = np.gradient(points, 0.02, axis=0)
    velocities[-1] = 0.0
    wanted = goal(0.3 + 0.02 * np.arange(300), points, velocities, identifier='new')
    q, v = [], []
    acceptance = None
    for k in range(4000):
        row = arm.update(k * DT, arm.peek(k * DT).q.copy(), arm.peek(k * DT).v.copy())
        q.append(row.q.copy())
        v.append(row.v.copy())
        if k == 250:
            acceptance = arm.accept(wanted, k * DT, notice_ns=DT)
        if acceptance is not None and next(acceptance, 'done') == 'done':
            acceptance = None
    assert_no_jump(np.array(q), np.array(v))
    assert ends(arm) == [('old', ResultCode.INVALID_GOAL), ('new', ResultCode.SUCCESSFUL)]


numbers = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True), st.floats(-10, 10), st.just(0.0)
)


@st.composite
def any_goals(draw):
    m, n = draw(st.integers(0, 4)), draw(st.integers(0, 7))
    names = draw(st.lists(st.sampled_from([*NAMES, 'elbow', '']), min_size=n, max_size=n))
    if draw(st.booleans()):
        names, n = list(NAMES), 6

    def table():
        rows = draw(st.sampled_from([m, m, m, 0, 1]))
        columns = draw(st.sampled_from([n, n, n, 0, 6]))
        flat = draw(st.lists(numbers, min_size=rows * columns, max_size=rows * columns))
        return np.array(flat).reshape(rows, columns)

    times = draw(st.lists(numbers, min_size=m, max_size=m))
    if draw(st.booleans()):
        times = sorted(abs(t) for t in times)
    return Goal(
        tuple(names),
        np.array(times, dtype=float),
        table(),
        *(draw(st.one_of(st.none(), st.builds(table))) for _ in range(3)),
        start_ns=draw(st.one_of(st.just(0), st.integers(-(2**63), 2**63))),
        goal_time_tolerance=draw(numbers),
        path_tolerance=draw(
            st.lists(st.builds(JointTolerance, st.sampled_from(NAMES), numbers), max_size=2).map(
                tuple
            )
        ),
    )


@settings(max_examples=1000, deadline=None, derandomize=True)
@given(any_goals())
@pytest.mark.slow
def test_no_goal_whatever_its_numbers_crashes_the_follower_or_breaks_a_limit(wanted):
    arm = make(allow_partial_joints_goal=True)
    try:
        arm.set_goal(wanted, SECOND)
    except GoalError as error:
        assert_names_the_fault(error)
        np.testing.assert_array_equal(arm.update(2 * DT, HOME, REST).q, HOME)
        return
    for time_ns in np.linspace(SECOND, 60 * SECOND, 40):
        reference = arm.peek(int(time_ns))
        assert np.isfinite(reference.row).all()
        assert (np.abs(reference.q) <= MODEL.position_upper + 1e-5).all()
        assert (np.abs(reference.v) <= MODEL.velocity_limit + 1e-5).all()


# Looking ahead


@pytest.mark.slow
def test_peeking_a_horizon_in_every_period_changes_no_bit_of_the_motion():
    plain, peeking = make(speed_scaling=0.7), make(speed_scaling=0.7)
    wanted = goal([0.1, 0.4], [HOME + 0.02, HOME + 0.1], [REST + 0.2, REST])
    later = goal([0.3], [HOME], start_ns=SECOND // 2)
    for arm in (plain, peeking):
        arm.set_goal(wanted, 0)
        arm.set_goal(later, 0)
    for time_ns in range(DT, 3 * SECOND, DT):
        expected = plain.peek(time_ns).copy()
        before = peeking.reference.row.copy()
        rows = [peeking.peek(time_ns + k * DT).row.copy() for k in range(20)]
        np.testing.assert_array_equal(peeking.reference.row, before)
        np.testing.assert_array_equal(rows[0], expected.row)
        if time_ns == SECOND // 5:
            plain.scaling.wanted = peeking.scaling.wanted = 0.3
        for arm in (plain, peeking):
            arm.update(time_ns, expected.q, expected.v)
        np.testing.assert_array_equal(peeking.reference.row, plain.reference.row)
    found = ends(plain)
    assert ends(peeking) == found
    assert len(found) == 2


def test_what_is_peeked_is_what_update_returns_at_full_speed():
    arm = make()
    arm.set_goal(goal([0.1, 0.4], [HOME + 0.02, HOME + 0.1], [REST + 0.2, REST]), 0)
    horizon = [arm.peek(k * DT).row.copy() for k in range(1, 300)]
    for k, row in enumerate(horizon, 1):
        q, v = row[:6].copy(), row[6:12].copy()
        np.testing.assert_array_equal(arm.update(k * DT, q, v).row, row)
