"""Times of points and stamps of goals: forgotten, doubled, of another clock, or passed."""

import numpy as np
import pytest
from field import LIFT, goal_of, motion, table
from following import SECOND

from arm_controllers.follower.goal import GoalError, ResultCode

WALL = 1_790_000_000 * SECOND


def refusal(goal, at=0, **options):
    """Return the line that refuses a goal for an arm at rest at 0, whose states are at a time."""
    with pytest.raises(GoalError) as error:
        table(0.0, LIFT, at=at, **options).set_goal(goal, at)
    assert '\n' not in str(error.value)
    return str(error.value)


def test_all_points_are_played_at_once():
    """ros-simulation/gazebo_ros_pkgs#405. Set `time_from_start` of each point."""
    line = refusal(goal_of([0.0, 0.0, 0.0], [0.1, 0.2, 0.3]))
    assert line.endswith('time_from_start of each point is missing')


def test_a_single_point_without_a_time_is_an_error():
    """ros-controls/ros_controllers#291. Set `time_from_start`.

    At 2 rad/s and 5 rad/s^2 over 0.8 rad, a cubic from rest to rest takes 0.98 s or more:
    sqrt(6 * 0.8 / 5) = 0.98 s, 1.5 * 0.8 / 2 = 0.6 s.
    """
    line = refusal(goal_of([0.0], [0.8]), max_deceleration_on_cancel=(5.0,))
    assert 'set time_from_start for a motion to there, 0.99 s or more' in line


def test_a_first_point_at_time_zero_is_dropped():
    """ros-controls/ros_controllers#291. It must be where the arm is."""
    arm = table(0.2, LIFT)
    arm.set_goal(goal_of([0.0, 1.0], [0.2, 0.5]), 0)
    np.testing.assert_allclose(arm.peek(SECOND).q, 0.5, atol=1e-12)


def test_durations_below_a_second_are_invalid():
    """UniversalRobots/Universal_Robots_ROS_controllers_cartesian#12. Give whole numbers.

    0.8 s that a program converts to an integer is 0: the line asks for time_from_start.
    """
    assert 'set time_from_start for a motion' in refusal(goal_of([int(0.8)], [0.2]))


def test_two_points_are_nearer_than_the_clock():
    """Yaskawa-Global/motoros2#255. The line says which two.

    1e-7 rad within 1e-12 s after 1 s: 1e5 rad/s.
    """
    line = refusal(goal_of([1.0, 1.0 + 1e-12], [0.1, 0.1 + 1e-7]))
    assert 'point 1 is 1e-12 s after point 0' in line


def test_points_that_do_not_increase_are_not_named():
    """moveit/moveit_tutorials#517. The line names both points."""
    line = refusal(goal_of([0.5, 1.0, 1.0, 2.0], [0.1, 0.2, 0.3, 0.4]))
    assert 'point 2 is at t = 1 s, point 1 at 1 s' in line


def test_times_go_back_and_the_arm_jumps():
    """ros-controls/ros_controllers#145. Times must increase."""
    assert 'point 1 is at t = 0.5 s, point 0 at 1 s' in refusal(goal_of([1.0, 0.5], [0.1, 0.2]))


def test_time_from_start_counts_from_the_point_before():
    """ros-controls/ros2_controllers#1090. It counts from the start of the goal."""
    line = refusal(goal_of([2.0, 2.0, 2.0], [0.1, 0.2, 0.3]))
    assert line.endswith('counts from the start of the goal, not from the point before')


def test_a_wall_clock_stamp_waits_for_years():
    """moveit/moveit2#287. Set `use_sim_time`, or leave the stamp at zero."""
    line = refusal(goal_of([1.0], [0.1], start_ns=WALL), at=12 * SECOND)
    assert 'its stamp is 1790000000.000 s, the time of the states 12.000 s' in line
    assert 'set use_sim_time to true in the client, or leave the stamp at zero' in line


def test_a_simulated_stamp_is_in_the_past():
    """ros-industrial-attic/godel#239. Unset `use_sim_time`, or leave the stamp at zero."""
    line = refusal(goal_of([1.0], [0.1], start_ns=12 * SECOND), at=WALL)
    assert 'set use_sim_time to false in the client, or leave the stamp at zero' in line


def test_a_trajectory_in_the_past_is_a_cryptic_error():
    """ros-controls/ros_controllers#233. Leave the stamp at zero."""
    arm = table(0.0, LIFT, at=20_000 * SECOND)
    goal = goal_of([1.0], [0.1], start_ns=10_000 * SECOND)
    with pytest.raises(GoalError, match='the last point lies 9999 s in the past') as error:
        arm.set_goal(goal, 20_000 * SECOND)
    assert error.value.code == ResultCode.OLD_HEADER_TIMESTAMP
    assert 'of another clock or run: leave the stamp at zero' in str(error.value)


def test_a_stamp_just_passed_drops_the_goal():
    """PR2/pr2_controllers#364. The arm joins the motion.

    A stamp 0.5 s ago, points at 1 and 2 s: the arm is at each on time.
    """
    arm = table(0.0, LIFT, at=10 * SECOND)
    arm.set_goal(goal_of([1.0, 2.0], [0.2, 0.5], start_ns=10 * SECOND - SECOND // 2), 10 * SECOND)
    np.testing.assert_allclose(arm.peek(10 * SECOND + SECOND // 2).q, 0.2, atol=1e-12)
    np.testing.assert_allclose(arm.peek(11 * SECOND + SECOND // 2).q, 0.5, atol=1e-12)


def test_a_late_message_makes_the_arm_move_very_fast():
    """ros-controls/ros_controllers#493. Leave the stamp at zero.

    0.8 rad of which 0.1 s are left: the cubic would peak at 12 rad/s, limit 2 rad/s.
    """
    goal = goal_of([1.0], [0.8], [0.0], start_ns=10 * SECOND)
    line = refusal(goal, at=10 * SECOND + 9 * SECOND // 10)
    assert 'velocity 12 rad/s is above its upper limit 2 rad/s' in line


def test_a_goal_for_later_begins_at_once():
    """fetchrobotics/robot_controllers#40. It waits for its stamp.

    A stamp in 3 s: the arm stays until then, and is there 1 s later.
    """
    arm = table(0.0, LIFT)
    arm.set_goal(goal_of([1.0], [0.5], start_ns=3 * SECOND), 0)
    q, _, _ = motion(arm, 4.0)
    assert not q[: 3 * 500].any()
    np.testing.assert_allclose(q[-1], 0.5, atol=1e-12)
