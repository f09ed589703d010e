"""Action goals arrive as they were sent."""

import pytest

rclpy = pytest.importorskip('rclpy')

from control_msgs.action import FollowJointTrajectory  # noqa: E402
from domains import fresh_domain  # noqa: E402
from long_wait import LONG_WAIT, spin_until  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.serialization import deserialize_message  # noqa: E402
from trajectory_msgs.msg import JointTrajectoryPoint  # noqa: E402
from unique_identifier_msgs.msg import UUID  # noqa: E402

from arm_controllers.follower.goal import GoalResult, ResultCode  # noqa: E402
from arm_controllers.ros import goal_endpoints  # noqa: E402
from arm_controllers.ros.qos import ACTION_SERVICES  # noqa: E402
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


def test_each_of_thirty_clients_gets_its_answer_and_its_result():
    # A client's queue also has the answers to the others: ROS's own, of ten, loses answers.
    rclpy.init(domain_id=int(fresh_domain()))
    node, others = rclpy.create_node('arm'), rclpy.create_node('others')
    executor, reading, arrived = make_executor(), SingleThreadedExecutor(), []
    name = '/arm/follow_joint_trajectory'
    try:
        ends = goal_endpoints.GoalEndpoints(node, False, lambda *goal: arrived.append(goal), bool)
        executor.add_node(node)
        reading.add_node(others)
        options = ACTION_SERVICES
        clients = [ActionClient(others, FollowJointTrajectory, name, **options) for _ in range(30)]
        assert all(client.wait_for_server(LONG_WAIT) for client in clients)
        answers = [client.send_goal_async(FollowJointTrajectory.Goal()) for client in clients]
        spin_until(executor, lambda: len(arrived) == 30)  # nobody reads meanwhile
        for identifier, _ in arrived:
            ends.resolve(GoalResult(identifier, ResultCode.SUCCESSFUL, ''))
        spin_until(reading, lambda: all(answer.done() for answer in answers))
        results = [answer.result().get_result_async() for answer in answers]
        for _ in range(100):
            executor.spin_once(timeout_sec=0.01)
        spin_until(reading, lambda: all(result.done() for result in results))
    finally:
        node.destroy_node()
        others.destroy_node()
        rclpy.try_shutdown()
