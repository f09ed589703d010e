"""How goals end: always, in time, and by the tolerances that count."""

import numpy as np
from field import LIFT, goal_of, table
from following import DT, SECOND, ends

from arm_controllers.follower.goal import JointTolerance, ResultCode


def run_behind(arm, behind, seconds):
    """Let the arm follow with an error of position; return when the goal ends [s]."""
    for time_ns in range(0, round(seconds * SECOND), DT):
        expected = arm.peek(time_ns)
        arm.update(time_ns, expected.q - behind, expected.v.copy())
        if arm.results:
            return time_ns * 1e-9
    return None


def test_a_goal_that_the_arm_misses_by_little_never_ends():
    """ros-controls/ros2_controllers#548. Set `constraints.goal_time`, or `goal_time_limit`.

    2 mrad from the goal with a tolerance of 1 mrad: the goal of 1 s ends after its time limit.
    """
    arm = table(0.0, LIFT, goal_tolerance=(1e-3,), goal_time_limit=3.0)
    arm.set_goal(goal_of([1.0], [0.5], identifier='a'), 0)
    end = run_behind(arm, 2e-3, 10.0)
    assert 4.0 <= end <= 4.0 + 2 * DT * 1e-9
    assert ends(arm) == [('a', ResultCode.GOAL_TOLERANCE_VIOLATED)]


def test_a_goal_time_tolerance_of_zero_waits_for_ever():
    """ros-controls/ros2_controllers#1192. 0 in a goal means the controller's own.

    constraints.goal_time is 0.5 s: a goal of 1 s that is missed ends at 1.5 s.
    """
    arm = table(0.0, LIFT, goal_tolerance=(1e-3,), goal_time=0.5)
    arm.set_goal(goal_of([1.0], [0.5], identifier='a', goal_time_tolerance=0.0), 0)
    end = run_behind(arm, 2e-3, 10.0)
    assert 1.5 <= end <= 1.5 + 2 * DT * 1e-9


def test_tolerances_of_the_goal_are_ignored():
    """ros-controls/ros2_controllers#249. They replace the controller's own.

    2 mrad behind: within 5 mrad of the goal's own tolerance, beyond the controller's 1 mrad.
    """
    arm = table(0.0, LIFT, goal_tolerance=(1e-3,), goal_time=0.5)
    own = (JointTolerance('turn', 5e-3),)
    arm.set_goal(goal_of([1.0], [0.5], identifier='a', goal_tolerance=own), 0)
    assert run_behind(arm, 2e-3, 10.0) <= 1.0 + 2 * DT * 1e-9
    assert ends(arm) == [('a', ResultCode.SUCCESSFUL)]


def test_a_goal_succeeds_although_the_arm_is_far_away():
    """nasa/ow_simulator#50. Set `constraints.<joint>.goal`.

    0.2 rad away at the end with a tolerance of 0.1 rad: no success.
    """
    arm = table(0.0, LIFT, goal_tolerance=(0.1,), goal_time=0.5)
    arm.set_goal(goal_of([1.0], [0.5], identifier='a'), 0)
    run_behind(arm, 0.2, 10.0)
    (end,) = arm.results
    assert end.code == ResultCode.GOAL_TOLERANCE_VIOLATED
    assert "'turn'" in end.message
    assert '0.2' in end.message


def test_goal_time_is_checked_only_in_the_last_segment():
    """ros-controls/ros_controllers#486. Set `constraints.<joint>.trajectory` as well.

    An arm that stands still in the first of two segments ends the goal there.
    """
    arm = table(0.0, LIFT, trajectory_tolerance=(0.05,))
    arm.set_goal(goal_of([1.0, 20.0], [0.5, 0.6], identifier='a'), 0)
    for time_ns in range(0, 2 * SECOND, DT):
        arm.update(time_ns, np.zeros(1), np.zeros(1))
        if arm.results:
            break
    assert time_ns < SECOND
    assert ends(arm) == [('a', ResultCode.PATH_TOLERANCE_VIOLATED)]
