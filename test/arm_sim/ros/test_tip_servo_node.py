"""What the node tip_servo reads: states and reports that cannot be used harm it nowhere."""

import numpy as np
import pytest
from domains import fresh_domain

rclpy = pytest.importorskip('rclpy')

from control_msgs.msg import JointJog, JointTrajectoryControllerState  # noqa: E402
from geometry_msgs.msg import PoseStamped, TwistStamped  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from arm_controllers.ros.messages import set_stamp  # noqa: E402
from arm_dynamics.checks import ArmError  # noqa: E402
from arm_sim.ros.tip_servo_node import TipServoNode  # noqa: E402


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
    set_stamp(message.header.stamp, round(sec * 1e9))
    message.reference.positions = [0.1] * len(names)
    message.reference.velocities = [0.0] * len(names)
    return message


def twist_along_y(speed=0.01):
    message = TwistStamped()
    message.twist.linear.y = speed
    return message


def ask(node, message=None):
    node._stream.take(node._twist(message or twist_along_y()), node._now_ns)


def test_states_that_cannot_be_used_and_reports_of_others_are_dropped_and_it_goes_on(node):
    node._on_reference(report(node, 5))
    for raw in (b'', b'\x00', state(5)[:10], state(2**31 - 1)):
        node._on_state(raw)
        assert (node._now_ns, node.goals) == (-1, 0)
    node._on_state(state(5))
    ask(node)
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


@pytest.mark.parametrize(
    ('speed', 'reported', 'reason'),
    [
        (1e6, 5.02, 'velocity 1e+06 rad/s is above its upper limit 6.28319 rad/s (the reference'),
        (0.1, 3, 'moves, and its last report is 2.0 s from joint_states; allowed: 1 s'),
        (0.1, 9, 'moves, and its last report is 4.0 s from joint_states; allowed: 1 s'),
        (0.1, -9, 'moves, and its last report is 14.0 s from joint_states; allowed: 1 s'),
    ],
)
def test_a_reference_that_cannot_be_gone_on_from_moves_nothing(node, speed, reported, reason):
    said = []
    node._log.warning = said.append
    message = report(node, reported)
    message.reference.velocities[2] = speed
    node._on_state(state(5))
    ask(node)
    node._on_reference(message)
    node._on_state(state(5))
    assert node.goals == 0
    assert reason in said[-1]
    assert said[-1].endswith(': nothing moves')
    node._on_reference(report(node, 5))
    node._on_state(state(5))
    assert node.goals == 1
    node._on_reference(message)
    node._next_ns = node._now_ns - 1  # states were missed
    node._on_state(state(5))
    assert node.goals == 1  # whose end is the way to rest


def test_after_a_reset_nothing_moves_before_the_controller_has_told_where_it_is(node):
    node._on_reference(report(node, 5))
    node._on_state(state(5))
    node._on_state(state(1))
    ask(node)
    node._on_state(state(1))
    assert node.goals == 0
    node._on_reference(report(node, 1))
    node._on_state(state(1))
    assert node.goals == 1


def test_absurd_commands_are_refused(node):
    for speed in (1e100, -1e7):
        with pytest.raises(ArmError, match='the twist has .*; allowed: up to 1e.06'):
            node._twist(twist_along_y(speed))
    message = PoseStamped()
    message.pose.position.z = 1e100
    with pytest.raises(ArmError, match="the target's position has 1e.100; allowed: up to 1e.06"):
        node._pose(message)
    node._on_reference(report(node, 5))
    node._on_state(state(5))
    ask(node, twist_along_y(1e6))
    node._on_state(state(5))
    assert node.goals == 1


def test_joint_velocities_move_the_joints_that_they_name_and_others_are_refused(node):
    def jog(*velocities, joints=('elbow_joint', 'wrist_3_joint')):
        return node._jog(JointJog(joint_names=list(joints), velocities=list(velocities)))

    node._on_reference(report(node, 5))
    node._on_state(state(5))
    node._stream.take(jog(0.1, -0.2), node._now_ns)
    node._on_state(state(5))
    np.testing.assert_allclose(node._stream.servo.v, [0, 0, 0.1, 0, 0, -0.2], atol=1e-12)
    assert node.goals == 1
    with pytest.raises(ArmError, match="joint 'nose' is unknown; there are shoulder_pan_joint"):
        jog(0.1, joints=('nose',))
    with pytest.raises(ArmError, match='velocities has shape'):
        jog(0.1)
