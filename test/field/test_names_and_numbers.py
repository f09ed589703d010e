"""Joints of goals: any order, some of them, unknown ones; and numbers that are none."""

import numpy as np
import pytest
from field import LIFT, table
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
    with pytest.raises(GoalError, match='set allow_partial_joints_goal to leave joints out'):
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


def action(points, names=('turn',), **tolerances):
    """Return an action goal as the controller reads it from its bytes."""
    pytest.importorskip('rclpy')
    from control_msgs.action import FollowJointTrajectory
    from rclpy.serialization import serialize_message
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    from arm_controllers.ros.messages import goal_from_action

    rows = [JointTrajectoryPoint(**each) for each in points]
    for k, row in enumerate(rows):
        row.time_from_start.sec = k + 1
    trajectory = JointTrajectory(joint_names=list(names), points=rows)
    message = FollowJointTrajectory.Goal(trajectory=trajectory, **tolerances)
    return goal_from_action(bytes(serialize_message(message)), 'x')


def test_a_joint_that_is_named_twice_is_accepted():
    """Yaskawa-Global/motoros2#28. The line names the joint."""
    twice = action([{'positions': [0.1, 0.2]}], ['turn', 'turn'])
    with pytest.raises(GoalError, match=r"joint 'turn' is named twice"):
        table(0.0, LIFT).set_goal(twice, 0)


def test_tolerances_of_a_goal_are_not_checked():
    """Yaskawa-Global/motoros2#250. Those that cannot count are refused.

    Of another joint, two for one joint, and of Cartesian components.
    """
    pytest.importorskip('control_msgs')
    from control_msgs.msg import JointComponentTolerance, JointTolerance

    one, other = (JointTolerance(name='turn', position=x) for x in (0.1, 0.2))
    for given, line in (
        ({'goal_tolerance': [JointTolerance(name='lift')]}, "joint 'lift' is unknown"),
        ({'goal_tolerance': [one, other]}, "joint 'turn' has 2 tolerances; allowed: one"),
        ({'component_goal_tolerance': [JointComponentTolerance()]}, 'component tolerances are un'),
        ({'component_path_tolerance': [JointComponentTolerance()]}, 'component tolerances are un'),
    ):
        with pytest.raises(GoalError, match=line):
            table(0.0, LIFT).set_goal(action([{'positions': [0.1]}], **given), 0)
    both = {'goal_tolerance': [one], 'path_tolerance': [other]}
    table(0.0, LIFT).set_goal(action([{'positions': [0.1]}], **both), 0)
