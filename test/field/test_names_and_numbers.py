"""Joints of goals: any order, some of them, unknown ones; and numbers that are none."""

import numpy as np
import pytest
from following import HOME, NAMES, SECOND, goal, make

from arm_controllers.follower.goal import GoalError


def test_joints_are_not_in_the_controllers_order():
    """PR2/pr2_controllers#355. Joints have names, in any order.

    The same goal with its columns reversed moves every joint to the same place.
    """
    target = HOME + np.linspace(0.05, 0.3, 6)
    for step in (1, -1):
        arm = make()
        arm.set_goal(goal([2.0], [target[::step]], names=NAMES[::step]), 0)
        np.testing.assert_allclose(arm.peek(3 * SECOND).q, target, atol=1e-12)


def test_a_trajectory_moves_the_elbow_for_the_shoulder():
    """fzi-forschungszentrum-informatik/cartesian_ros_control#4. As above.

    elbow, pan, lift, wrists as the message has them: only the elbow moves.
    """
    order = [2, 0, 1, 3, 4, 5]
    target = HOME.copy()
    target[2] += 0.3
    arm = make()
    arm.set_goal(goal([2.0], [target[order]], names=[NAMES[k] for k in order]), 0)
    np.testing.assert_allclose(arm.peek(3 * SECOND).q, target, atol=1e-12)


def test_a_goal_for_some_of_the_joints_is_refused():
    """ros-controls/ros2_controllers#37. Set `allow_partial_joints_goal`; the others hold."""
    part = goal([2.0], [[HOME[2] + 0.3]], names=[NAMES[2]])
    with pytest.raises(GoalError, match='set allow_partial_joints_goal to let the others hold'):
        make().set_goal(part, 0)
    arm = make(allow_partial_joints_goal=True)
    arm.set_goal(part, 0)
    np.testing.assert_allclose(arm.peek(3 * SECOND).q - HOME, 0.3 * (np.arange(6) == 2), atol=1e-9)


def test_joints_do_not_match_the_controller():
    """xArm-Developer/xarm_ros#197. The line names the joints."""
    with pytest.raises(GoalError, match=r"joint 'joint1' is unknown; this controller has shoul"):
        make().set_goal(goal([2.0], [[0.0] * 6], names=[f'joint{k}' for k in range(1, 7)]), 0)


@pytest.mark.parametrize('field', ['positions', 'velocities', 'effort'])
def test_a_nan_command_reaches_the_motors(field):
    """Interbotix/interbotix_ros_toolboxes#83. The line names joint, quantity and point."""
    rows = {'positions': np.tile(HOME, (2, 1)), 'velocities': np.zeros((2, 6))}
    rows['effort'] = np.zeros((2, 6))
    rows[field][1, 3] = np.nan
    effort = rows.pop('effort')
    with pytest.raises(GoalError, match=rf"'{NAMES[3]}': \w+ nan is not .*\(point 1, t = 2 s\)"):
        make().set_goal(goal([1.0, 2.0], *rows.values(), effort=effort), 0)
