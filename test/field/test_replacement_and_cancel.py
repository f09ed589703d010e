"""Replacement, cancel and speed: goals that replace or cancel others, speeds that change."""

import numpy as np
import pytest
from field import LIFT, TURNTABLE, goal_of, motion, table
from following import DT, SECOND, assert_no_jump, ends, run

from arm_controllers.follower.goal import GoalError, ResultCode


def test_the_arm_freezes_at_a_goal_for_later():
    """ros-controls/ros2_controllers#2607. Every goal takes over at its stamp.

    A goal each second, 50 ms ahead: the arm moves on until the last one, at 0.5 rad.
    """
    arm = table(0.0, LIFT)
    for k in range(1, 6):
        arm.set_goal(
            goal_of([2.0], [0.1 * k], [0.0], start_ns=arm.time_ns + SECOND // 20), arm.time_ns
        )
        q, v, _ = run(arm, arm.time_ns, arm.time_ns + SECOND)
        assert_no_jump(q, v)
        assert np.ptp(q) > 0.02
    q, _, _ = motion(arm, 2.0, arm.time_ns)
    np.testing.assert_allclose(q[-1], 0.5, atol=1e-9)


@pytest.mark.slow
def test_the_arm_stops_at_every_message():
    """ros-controls/ros2_controllers#1800. Near points are passed at speed.

    Points every 0.1 s at 0.5 rad/s: after the first ones the velocity stays within 10 % of it.
    """
    arm = table(0.0, TURNTABLE, stream_horizon=0.3)
    speeds = []
    for k in range(1, 30):
        arm.set_goal(goal_of([0.2], [0.05 * (k + 1)]), arm.time_ns)
        speeds.append(run(arm, arm.time_ns, arm.time_ns + SECOND // 10)[1][:, 0])
    assert np.abs(np.concatenate(speeds[10:]) - 0.5).max() < 0.05


def test_a_cancel_steps_back_by_the_tracking_error():
    """ros-controls/ros2_controllers#2587. The stop begins at the reference.

    An arm 5.6 mrad behind at 0.5 rad/s: the reference goes on without a step, and brakes.
    """
    arm = table(0.0, LIFT, max_deceleration_on_cancel=(1.3,))
    arm.set_goal(goal_of([2.0], [0.9], [0.0]), 0)
    q, _, _ = run(arm, 0, SECOND)
    before = q[-1, 0]
    arm.update(SECOND, np.array([before - 5.6e-3]), np.array([0.5]))
    arm.cancel(SECOND)
    after = arm.update(SECOND + DT, np.array([before - 5.6e-3]), np.array([0.5]))
    step = after.q[0] - before
    assert 0.0 < step < 3 * 0.7 * DT * 1e-9
    assert abs(after.a[0] + 1.3) < 1e-9


def test_a_cancel_stops_the_joints_within_one_period():
    """ros-controls/ros2_controllers#2163. Set `max_deceleration_on_cancel`.

    From 0.6 rad/s at 3 rad/s^2 the joint needs 0.2 s and 60 mrad.
    """
    arm = table(0.0, LIFT, v=0.6, max_deceleration_on_cancel=(3.0,))
    q, v, a = motion(arm, 0.5)
    np.testing.assert_allclose(q[-1], 0.06, atol=1e-9)
    assert np.abs(a).max() < 3.0 + 1e-9
    assert abs(v[95]) > 0.02 > abs(v[105])


def test_a_first_segment_steps_in_acceleration():
    """ros-controls/ros2_controllers#2015. It is a quintic from the reference.

    Rest to rest over 0.5 rad in 2 s: the acceleration is 0 at both ends, at most
    10 / sqrt(3) * 0.5 / 4 rad/s^2 in between.
    """
    arm = table(0.0, LIFT)
    arm.set_goal(goal_of([2.0], [0.5], [0.0], [0.0]), 0)
    _, _, a = motion(arm, 2.0)
    assert abs(a[0]) < 1e-9
    assert abs(a[1]) < 0.01
    np.testing.assert_allclose(np.abs(a).max(), 10.0 / np.sqrt(3.0) * 0.5 / 4.0, rtol=1e-4)


def test_a_goal_after_a_pause_is_too_fast():
    """fetchrobotics/robot_controllers#33. Time counts from the new goal.

    10 s after the cancel, 0.9 rad in 3 s: the cubic peaks at 0.45 rad/s.
    """
    arm = table(0.0, LIFT)
    arm.set_goal(goal_of([3.0], [0.9], [0.0]), 0)
    run(arm, 0, SECOND)
    arm.cancel(arm.time_ns)
    run(arm, arm.time_ns, 11 * SECOND)
    start = arm.reference.q[0]
    arm.set_goal(goal_of([3.0], [0.9], [0.0]), arm.time_ns)
    _, v, _ = motion(arm, 3.0, arm.time_ns)
    np.testing.assert_allclose(v.max(), 1.5 * (0.9 - start) / 3.0, rtol=1e-3)


def test_the_trajectory_goes_on_after_an_abort():
    """ros-controls/ros_controllers#461. The arm brakes from where it is.

    An arm that stands still violates its path tolerance, and the reference comes to it.
    """
    arm = table(0.0, LIFT, trajectory_tolerance=(0.05,))
    arm.set_goal(goal_of([2.0], [0.9], identifier='a'), 0)
    for time_ns in range(0, 3 * SECOND, DT):
        arm.update(time_ns, np.zeros(1), np.zeros(1))
    assert ends(arm) == [('a', ResultCode.PATH_TOLERANCE_VIOLATED)]
    assert abs(arm.reference.q[0]) < 1e-9


def test_a_velocity_at_the_last_point_runs_away():
    """ros-controls/ros2_controllers#567. Refused, or braked where it is allowed.

    0.5 rad/s at the end, braked at 2 rad/s^2: the joint stops 62.5 mrad later.
    """
    moving = goal_of([2.0], [0.5], [0.5])
    with pytest.raises(GoalError, match='velocity 0.5 at the last point is not zero'):
        table(0.0, LIFT).set_goal(moving, 0)
    options = {'allow_nonzero_velocity_at_trajectory_end': True}
    arm = table(0.0, LIFT, max_deceleration_on_cancel=(2.0,), **options)
    arm.set_goal(moving, 0)
    q, v, _ = motion(arm, 3.0)
    np.testing.assert_allclose(q[-1], 0.5625, atol=1e-9)
    assert not v[-1]


def test_a_goal_at_reduced_speed_begins_with_a_delay():
    """UniversalRobots/Universal_Robots_ROS2_Driver#714. Only its time is stretched.

    At 40 % a goal of 2 s takes 5 s, from the first period on.
    """
    arm = table(0.0, LIFT, speed_scaling=0.4)
    arm.set_goal(goal_of([2.0], [0.5], [0.0], identifier='a'), 0)
    q, v, _ = motion(arm, 5.0)
    assert v[2] > 0.0
    np.testing.assert_allclose(q[1250], 0.25, atol=2e-3)  # half way at half the time
    np.testing.assert_allclose(q[-1], 0.5, atol=1e-9)


@pytest.mark.slow
def test_a_paused_robot_jumps_on_resume():
    """UniversalRobots/Universal_Robots_ROS2_Driver#279. Set the speed to 0 while it is paused.

    20 s at speed 0: the reference stays, and goes on from there without a jump.
    """
    arm = table(0.0, LIFT, goal_time_limit=100.0)
    arm.set_goal(goal_of([4.0], [0.9], [0.0], identifier='a'), 0)
    parts = [run(arm, 0, SECOND)]
    arm.scaling.wanted = 0.0
    parts.append(run(arm, SECOND, 21 * SECOND))
    assert not parts[1][1][-1].any()
    arm.scaling.wanted = 1.0
    parts.append(run(arm, 21 * SECOND, 26 * SECOND))
    q, v = (np.concatenate([part[k] for part in parts]) for k in (0, 1))
    assert_no_jump(q, v)
    np.testing.assert_allclose(q[-1], 0.9, atol=1e-9)


@pytest.mark.parametrize('scaling', [0.1, 0.0])
def test_a_goal_at_reduced_speed_runs_out_of_time(scaling):
    """UniversalRobots/Universal_Robots_ROS2_Driver#871. `goal_time` counts at full speed.

    A goal of 2 s with 0.1 s of goal_time, slowed down or stopped from 1 s on: at a tenth of the
    speed the second half takes 10 s; after 20 s at 0 and at full speed again it takes 1 s.
    """
    limits = {'max_deceleration_on_cancel': (1e3,)}  # the speed changes at once
    arm = table(0.0, LIFT, goal_time=0.1, goal_tolerance=(1e-3,), **limits)
    arm.set_goal(goal_of([2.0], [0.5], [0.0], identifier='a'), 0)
    run(arm, 0, SECOND)
    arm.scaling.wanted = scaling
    last = 11.0 if scaling else 22.0
    if not scaling:
        run(arm, SECOND, 21 * SECOND)
        arm.scaling.wanted = 1.0
    run(arm, arm.time_ns + DT, round((last - 0.1) * SECOND))
    assert not arm.results
    run(arm, arm.time_ns + DT, round((last + 0.1) * SECOND))
    assert ends(arm) == [('a', ResultCode.SUCCESSFUL)]
    np.testing.assert_allclose(arm.reference.q, 0.5, atol=1e-9)


def test_a_canceled_goal_still_moves_the_arm():
    """UniversalRobots/Universal_Robots_ROS_Driver#274. A cancel ends the goal at once.

    At speed 0 the arm rests: the goal ends with the next state, nothing moves, also not at full
    speed, and a new goal from there is followed.
    """
    arm = table(0.0, LIFT)
    arm.set_goal(goal_of([2.0], [0.5], [0.0], identifier='a'), 0)
    run(arm, 0, SECOND)
    arm.scaling.wanted = 0.0
    run(arm, SECOND, 3 * SECOND)
    rest = float(arm.reference.q[0])
    arm.cancel(arm.time_ns)
    assert arm.results[0].canceled
    arm.scaling.wanted = 1.0
    q, v, _ = run(arm, arm.time_ns + DT, 5 * SECOND)
    assert not v.any()
    np.testing.assert_array_equal(q, rest)
    arm.set_goal(goal_of([1.0], [0.9], [0.0]), arm.time_ns)
    np.testing.assert_allclose(motion(arm, 1.0, arm.time_ns)[0][-1], 0.9, atol=1e-9)


def test_a_stop_leaves_an_action_that_never_finishes():
    """UniversalRobots/Universal_Robots_ROS2_Driver#1250. It ends as canceled, once.

    Canceled in the period after the speed became 0, while the joint still brakes from 0.5 rad/s
    at 2 rad/s^2: the goal ends at once, the joint after 0.25 s and 62.5 mrad, also where the
    speed stays 0.
    """
    ends_moving = {'allow_nonzero_velocity_at_trajectory_end': True}
    arm = table(0.0, LIFT, v=0.5, max_deceleration_on_cancel=(2.0,), **ends_moving)
    arm.set_goal(goal_of([1.0], [0.5], [0.5], identifier='a'), 0)
    arm.scaling.wanted = 0.0
    arm.update(0, np.zeros(1), np.full(1, 0.5))
    arm.cancel(0)
    (end,) = arm.results
    assert end.canceled
    q, v, a = run(arm, DT, 20 * SECOND)
    assert_no_jump(q, v)
    np.testing.assert_allclose(q[-1], 0.0625, atol=2.0 * DT * 1e-9)
    assert abs(v[round(0.24 * SECOND / DT)]) > 0.0
    assert not v[round(0.26 * SECOND / DT) :].any()
    assert np.abs(a).max() < 2.0 + 1e-9
    assert list(arm.results) == [end]


@pytest.mark.slow
def test_a_hundred_goals_a_second_make_the_joint_shiver():
    """UniversalRobots/Universal_Robots_ROS_Driver#454. Goals go on at speed.

    For 2 s every 10 ms a goal 0.1 s ahead on x = 0.4 t: 0.4 rad/s from 1 s on, each goal but
    the last ends as replaced, and that one is reached.
    """
    arm = table(0.0, TURNTABLE, allow_nonzero_velocity_at_trajectory_end=True)
    parts = []
    for k in range(200):
        now, t = k * SECOND // 100, 0.01 * k + 0.1
        arm.set_goal(goal_of([0.1], [0.4 * t], [0.4], start_ns=now, identifier=k), arm.time_ns)
        parts.append(run(arm, now, now + SECOND // 100))
    q, v = (np.concatenate([part[i] for part in parts]) for i in (0, 1))
    assert_no_jump(q, v)
    assert np.abs(v[500:] - 0.4).max() < 1e-7
    ended = ends(arm)
    assert [name for name, _ in ended] == list(range(199))
    assert {code for _, code in ended} == {ResultCode.INVALID_GOAL}


@pytest.mark.slow
def test_a_long_trajectory_falls_behind():
    """ros-controls/ros2_controllers#1293. Points are found at once.

    200 000 points of 0.4 sin(t) over 200 s, with velocities: at any time between two points the
    cubic is within h^4 / 384 of the sine, below 1e-14 rad.
    """
    t = 0.001 * np.arange(1, 200_001)
    arm = table(0.0, TURNTABLE, v=0.4, allow_nonzero_velocity_at_trajectory_end=True)
    arm.set_goal(goal_of(t, 0.4 * np.sin(t), 0.4 * np.cos(t)), 0)
    for at in (0.0005, 17.12345, 199.9995):
        np.testing.assert_allclose(
            arm.peek(round(at * SECOND)).q, 0.4 * np.sin(at), rtol=0.0, atol=1e-12
        )


def test_a_reset_in_motion_leaves_the_goal_of_before():
    """ros-controls/ros_controllers#101. Time that goes back ends all goals.

    At 1 s of a goal the simulation begins again at 0 s and 0 rad: the arm holds there.
    """
    arm = table(0.0, LIFT)
    arm.set_goal(goal_of([2.0], [0.8], identifier='a'), 0)
    arm.set_goal(goal_of([1.0], [0.1], start_ns=3 * SECOND, identifier='b'), 0)
    run(arm, 0, SECOND)
    arm.update(0, np.zeros(1), np.zeros(1))
    q, _, _ = run(arm, DT, 4 * SECOND)
    assert ends(arm) == [('a', ResultCode.INVALID_GOAL), ('b', ResultCode.INVALID_GOAL)]
    assert not q.any()
