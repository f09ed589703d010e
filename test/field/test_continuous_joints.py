"""Continuous joints: which way round, how far, and from which turn."""

import numpy as np
import pytest
from field import FULL, goal_of, motion, table
from following import ends

from arm_controllers.follower.goal import GoalError, ResultCode


def test_a_goal_of_more_than_a_turn_succeeds_too_early():
    """ros-controls/ros2_controllers#1599. Give velocities, or points less than half a turn apart.

    160 rad in one point: the short way would be 160 - 25 * 2 pi = 2.92 rad. The goal says no way,
    so it is refused; with 5 rad/s at both ends of 32 s it is followed: 160 = 5 * 32.
    """
    arm = table()
    with pytest.raises(GoalError, match=r'from 0 to 160 rad .* or 2.92\d+ rad for the short way'):
        arm.set_goal(goal_of([40.0], [160.0], [0.0]), 0)
    arm.set_goal(goal_of([1.0, 33.0, 34.0], [2.5, 162.5, 165.0], [5.0, 5.0, 0.0]), 0)
    q, v, _ = motion(arm, 34.0)
    np.testing.assert_allclose(q[-1], 165.0, atol=1e-9)
    assert v.min() > -1e-9


def test_a_motion_that_begins_at_pi_goes_the_wrong_way_first():
    """ros-controls/ros_controllers#274. -pi and 3.1413 rad are 0.3 mrad apart.

    Held at -pi, points from 3.1413 down to 2.5 rad: the joint only ever turns backwards.
    """
    arm = table(-np.pi)
    q = np.linspace(3.1413, 2.5, 11)
    arm.set_goal(goal_of(0.1 * np.arange(1, 12), q), 0)
    way, v, _ = motion(arm, 1.2)
    np.testing.assert_allclose(way[-1], 2.5 - FULL, atol=1e-9)
    assert v.max() < 1e-9


def test_after_some_turns_the_joint_unwinds_all_the_way():
    """PR2/pr2_controllers#285. The nearest angle counts.

    At 4 turns and 0.1 rad the angle 0.2 rad is 0.1 rad away.
    """
    arm = table(4 * FULL + 0.1)
    arm.set_goal(goal_of([1.0], [0.2]), 0)
    q, _, _ = motion(arm, 1.0)
    np.testing.assert_allclose(q[-1] - q[0], 0.1, atol=1e-9)


def test_an_arm_turned_by_hand_rotates_by_720_degrees():
    """PR2/pr2_controllers#40. Errors of continuous joints are angles.

    A measured position two turns off is the same place: the goal with 0.1 rad tolerance succeeds.
    """
    arm = table(0.3, trajectory_tolerance=(0.1,), goal_tolerance=(0.1,))
    arm.set_goal(goal_of([1.0], [0.5], identifier='a'), 0)
    for time_ns in range(0, 1_100_000_000, 2_000_000):
        arm.update(time_ns, arm.peek(time_ns).q + 2 * FULL, arm.peek(time_ns).v.copy())
    assert ends(arm) == [('a', ResultCode.SUCCESSFUL)]


@pytest.mark.parametrize('turns', [0, 2])
def test_a_turn_from_0_to_360_degrees_moves_nothing(turns):
    """PR2/pr2_controllers#352. Give the velocity of the turn.

    The wrap of the first point holds for the whole goal: from 720 to 1080 degrees.
    """
    arm, speed = table(turns * FULL), FULL / 5.0
    with pytest.raises(GoalError, match='more than half a turn'):
        arm.set_goal(goal_of([0.0, 5.0], [0.0, FULL]), 0)
    times, q = [0.0, 1.0, 6.0, 7.0], np.array([0.0, 0.5, 5.5, 6.0]) * speed
    arm.set_goal(goal_of(times, q, [0.0, speed, speed, 0.0]), 0)
    way, v, _ = motion(arm, 7.0)
    np.testing.assert_allclose(way[-1] - way[0], 1.2 * FULL, atol=1e-9)
    assert v.min() > -1e-9


def test_repeating_180_to_minus_180_degrees_spins_back_quickly():
    """ros-controls/ros2_controllers#1183. Give points less than half a turn apart.

    Three turns of points at 1 rad/s, each from -pi to pi: 18.8 rad, never backwards.
    """
    arm = table(-np.pi)
    t = np.arange(1, 38) * (FULL * 3 / 37)
    wrapped = np.remainder(t, FULL) - np.pi
    arm.set_goal(goal_of(t, wrapped), 0)
    q, v, _ = motion(arm, t[-1])
    np.testing.assert_allclose(q[-1] - q[0], 3 * FULL, atol=1e-6)
    assert v.min() > -1e-9


@pytest.mark.parametrize('turns', [-3, 1, 2, 5])
def test_only_one_wrap_is_unwound_at_the_start(turns):
    """moveit/moveit2#1777. Begin with a point at time 0.

    The numbers of a dense trajectory are several turns away: every step is followed as written.
    """
    arm = table(0.2)
    q = 0.2 + turns * FULL + np.linspace(0.0, 1.0, 11)
    arm.set_goal(goal_of(0.2 * np.arange(11), q), 0)
    way, v, _ = motion(arm, 2.0)
    np.testing.assert_allclose(way[-1], 1.2, atol=1e-9)
    assert v.max() < 0.9  # 1 rad in 2 s; the first segment begins at rest


def test_one_turn_off_at_the_first_point_spins_the_joint():
    """ros-controls/ros2_controllers#796. The first point is an angle.

    At 2 pi + 0.05 rad, the points 0.1 and 0.3 rad are 0.05 and 0.25 rad away.
    """
    arm = table(FULL + 0.05)
    arm.set_goal(goal_of([1.0, 2.0], [0.1, 0.3]), 0)
    q, _, _ = motion(arm, 2.0)
    np.testing.assert_allclose(q[-1], FULL + 0.3, atol=1e-9)
