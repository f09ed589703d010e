"""What the node tip_servo reads: states and reports that cannot be used harm it nowhere."""

import pytest
from domains import fresh_domain

rclpy = pytest.importorskip('rclpy')

from control_msgs.msg import JointTrajectoryControllerState  # noqa: E402
from geometry_msgs.msg import TwistStamped  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from arm_sim.cartesian.ros.tip_servo_node import TipServoNode  # noqa: E402


@pytest.fixture
def node(monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    rclpy.init()
    servo = TipServoNode()
    yield servo
    servo.destroy_node()
    rclpy.try_shutdown()


def state(sec):
    message = JointState()
    message.header.stamp.sec = sec
    return bytes(serialize_message(message))


def report(node, sec):
    """What a controller says of an arm that stands, at all joints 0.1."""
    names = node.model.joint_names
    message = JointTrajectoryControllerState(joint_names=names)
    message.header.stamp.sec = sec
    message.reference.positions = [0.1] * len(names)
    message.reference.velocities = [0.0] * len(names)
    return message


def test_states_that_cannot_be_used_and_reports_of_others_are_dropped_and_it_goes_on(node):
    twist = TwistStamped()
    twist.twist.linear.y = 0.01
    node._on_reference(report(node, 5))
    for raw in (b'', b'\x00', state(5)[:10], state(2**31 - 1)):
        node._on_state(raw)
        assert (node._now_ns, node.goals) == (-1, 0)
    node._on_state(state(5))
    node._stream.take(node._twist(twist), node._now_ns)
    node._on_state(state(5))
    assert node.goals == 1
    foreign = report(node, 5)
    foreign.joint_names = [f'other_{name}' for name in foreign.joint_names]
    node._on_reference(foreign)
    node._next_ns = node._now_ns
    node._on_state(state(5))
    assert node.goals == 1
    node._on_reference(report(node, 5))
    node._on_state(state(5))
    assert node.goals == 2
