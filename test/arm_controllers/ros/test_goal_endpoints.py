"""Action goals as bytes, also with an rclpy whose inside is another."""

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')

from control_msgs.action import FollowJointTrajectory  # noqa: E402
from control_msgs.msg import JointTolerance  # noqa: E402
from domains import fresh_domain  # noqa: E402
from patience import PATIENCE, spin_until  # noqa: E402
from rclpy.action import ActionClient  # noqa: E402
from rclpy.serialization import deserialize_message, serialize_message  # noqa: E402
from trajectory_msgs.msg import JointTrajectoryPoint  # noqa: E402

from arm_controllers.follower.goal import Goal  # noqa: E402
from arm_controllers.ros import goal_endpoints  # noqa: E402
from arm_controllers.ros.messages import goal_from_action, trajectory_message  # noqa: E402
from arm_controllers.ros.running import make_executor  # noqa: E402


def test_this_rclpy_hands_goals_over_as_bytes():
    assert goal_endpoints._ACTION is not FollowJointTrajectory


def test_another_rclpy_is_used_as_it_is(monkeypatch):
    monkeypatch.setattr(goal_endpoints.ctypes, 'CDLL', lambda file: object())  # without symbols
    assert goal_endpoints._action() is FollowJointTrajectory


def test_a_long_goal_with_empty_fields_is_read_although_ros_counts_room_for_them():
    points, names = 70_000, ('one',)
    times = np.arange(1.0, points + 1)
    asked = FollowJointTrajectory.Goal()
    asked.trajectory = trajectory_message(Goal(names, times, np.zeros((points, 1))))
    asked.path_tolerance = [JointTolerance(name='one', position=0.5)]
    raw = serialize_message(asked)
    assert len(raw) > 1_000_000
    found = goal_from_action(raw, b'')
    np.testing.assert_allclose(found.times, times, rtol=1e-15)  # whole nanoseconds
    assert found.path_tolerance[0].position == 0.5


@pytest.mark.parametrize('action', [goal_endpoints._ACTION, FollowJointTrajectory])
def test_the_goal_that_was_sent_arrives(monkeypatch, action):
    monkeypatch.setattr(goal_endpoints, '_ACTION', action)
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
        assert client.wait_for_server(PATIENCE)
        client.send_goal_async(asked)
        spin_until(executor, lambda: arrived)
        # Padding may hold anything.
        assert [deserialize_message(raw, type(asked)) for raw in arrived] == [asked]
    finally:
        node.destroy_node()
        rclpy.try_shutdown()
