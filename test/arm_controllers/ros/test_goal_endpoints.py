"""Action goals arrive as they were sent."""

import pytest

rclpy = pytest.importorskip('rclpy')

from control_msgs.action import FollowJointTrajectory  # noqa: E402
from domains import fresh_domain  # noqa: E402
from long_wait import LONG_WAIT, spin_until  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from rclpy.serialization import deserialize_message  # noqa: E402
from trajectory_msgs.msg import JointTrajectoryPoint  # noqa: E402
from unique_identifier_msgs.msg import UUID  # noqa: E402

from arm_controllers.ros import goal_endpoints  # noqa: E402
from arm_controllers.ros.running import make_executor  # noqa: E402


def test_the_goal_that_was_sent_arrives():
    rclpy.init(domain_id=int(fresh_domain()))
    node, arrived = rclpy.create_node('arm'), []
    executor = make_executor()
    try:
        goal_endpoints.GoalEndpoints(
            node, False, lambda identifier, raw: arrived.append(raw), lambda identifier: True
        )
        asked = FollowJointTrajectory.Goal()
        asked.trajectory.joint_names = ['one', 'two']
        asked.trajectory.points = [JointTrajectoryPoint(positions=[0.1, 0.2])] * 3
        client = ActionClient(node, FollowJointTrajectory, '/arm/follow_joint_trajectory')
        executor.add_node(node)
        assert client.wait_for_server(LONG_WAIT)
        client.send_goal_async(asked)
        spin_until(executor, lambda: arrived)
        # Padding may hold anything.
        assert [deserialize_message(raw, type(asked)) for raw in arrived] == [asked]
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def test_an_accepted_goal_of_the_action_is_logged(capfd):
    rclpy.init(domain_id=int(fresh_domain()))
    node = rclpy.create_node('arm')
    try:
        ends = goal_endpoints.GoalEndpoints(node, False, print, bool)
        ends.publish_goal(b'', None, 0)
        assert 'goal' not in capfd.readouterr().err
        ends.publish_goal(b'', b'1', 0)
        assert capfd.readouterr().err.endswith('[arm]: goal accepted\n')
    finally:
        node.destroy_node()
        rclpy.try_shutdown()


def test_a_goal_with_the_id_of_another_is_rejected_with_a_line(capfd):
    rclpy.init(domain_id=int(fresh_domain()))
    node, identifiers = rclpy.create_node('arm'), []
    executor = make_executor()
    try:
        goal_endpoints.GoalEndpoints(
            node, False, lambda identifier, raw: identifiers.append(identifier), bool
        )
        client = ActionClient(node, FollowJointTrajectory, '/arm/follow_joint_trajectory')
        executor.add_node(node)
        assert client.wait_for_server(LONG_WAIT)
        one = UUID(uuid=list(range(16)))
        for accepted in (True, False):
            answer = client.send_goal_async(FollowJointTrajectory.Goal(), goal_uuid=one)
            spin_until(executor, answer.done)
            assert answer.result().accepted is accepted
            assert ('[WARN]' in capfd.readouterr().err) is not accepted
        assert identifiers == [bytes(range(16))]
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
