"""The node tip_servo: invalid states, reports and commands change nothing."""

import re

import numpy as np
import pinocchio as pin
import pytest
from domains import fresh_domain
from long_wait import spin_until

rclpy = pytest.importorskip('rclpy')

from control_msgs.msg import JointJog, JointTrajectoryControllerState  # noqa: E402
from geometry_msgs.msg import PoseStamped, TwistStamped  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from trajectory_msgs.msg import JointTrajectory  # noqa: E402

from arm_controllers.ros.messages import set_stamp  # noqa: E402
from arm_tools.cartesian.ros import tip_servo_node  # noqa: E402

CONTROLLER = '/servo_controller'


class Servo:
    """A tip servo whose messages arrive when the test sends them."""

    def __init__(self):
        self.node = tip_servo_node.TipServoNode()
        self.callbacks = {each.topic_name: each.callback for each in self.node.subscriptions}

    @property
    def goals(self):
        return self.node.goals

    @property
    def period(self):
        return self.node.parameters.period

    def state(self, sec):
        self.receive('/joint_states', state(sec))

    def report(self, message):
        self.receive(f'{CONTROLLER}/controller_state', message)

    def command(self, topic, message):
        """Receive a command; return why the node refused this command, '' if it did not."""
        self.node.refused = ''
        self.receive(f'/tip_servo/{topic}', message)
        return self.node.refused

    def twist(self, speed=0.01):
        return self.command('delta_twist_cmds', twist_along_y(speed))

    def receive(self, topic, message):
        self.callbacks[topic](message)


@pytest.fixture
def servo(monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    rclpy.init()
    made = Servo()
    yield made
    made.node.destroy_node()
    rclpy.try_shutdown()


def state(sec):
    message = JointState()
    set_stamp(message.header.stamp, round(sec * 1e9))
    return bytes(serialize_message(message))


def report(servo, sec, q=(0.1, 0.1, 0.1, 0.1, 0.1, 0.1)):
    """What a controller reports of an arm at rest."""
    names = servo.node.model.joint_names
    message = JointTrajectoryControllerState(joint_names=names)
    set_stamp(message.header.stamp, round(sec * 1e9))
    message.reference.positions = list(q)
    message.reference.velocities = [0.0] * len(names)
    return message


def twist_along_y(speed):
    message = TwistStamped()
    message.twist.linear.y = speed
    return message


def test_states_that_cannot_be_used_and_reports_of_others_are_dropped_and_it_goes_on(servo):
    servo.report(report(servo, 5))
    for raw in (b'', b'\x00', state(5)[:10], state(2**31 - 1)):
        servo.receive('/joint_states', raw)
    servo.state(5)
    servo.twist()
    servo.state(5)
    assert servo.goals == 1  # the state of the year 2038 was no reset
    foreign = report(servo, 5)
    foreign.joint_names = [f'other_{name}' for name in foreign.joint_names]
    servo.report(foreign)
    servo.state(5 + servo.period)
    assert servo.goals == 1
    servo.report(report(servo, 5))
    servo.state(5 + servo.period)
    assert servo.goals == 2


@pytest.mark.parametrize(
    ('speed', 'reported', 'reason'),
    [
        (1e6, 5.02, 'velocity 1e+06 rad/s is above its upper limit 6.28319 rad/s (the reference'),
        (0.1, 3, 'moves, and its last report is 2.0 s from joint_states; allowed: 1 s'),
        (0.1, 9, 'moves, and its last report is 4.0 s from joint_states; allowed: 1 s'),
        (0.1, -9, 'moves, and its last report is 14.0 s from joint_states; allowed: 1 s'),
    ],
)
def test_a_reference_that_cannot_be_gone_on_from_moves_nothing(
    servo, monkeypatch, speed, reported, reason
):
    said = []
    monkeypatch.setattr(tip_servo_node.Log, 'warning', lambda self, text: said.append(text))
    message = report(servo, reported)
    message.reference.velocities[2] = speed
    servo.state(5)
    servo.twist()
    servo.report(message)
    servo.state(5)
    assert servo.goals == 0
    assert reason in said[-1]
    assert said[-1].endswith(': nothing moves')
    servo.report(report(servo, 5))
    servo.state(5)
    assert servo.goals == 1
    servo.report(message)
    servo.state(5 + 3 * servo.period)  # states were missed
    assert servo.goals == 1  # whose end is the way to rest


def test_after_a_reset_nothing_moves_before_the_controller_has_reported_where_it_is(servo):
    servo.report(report(servo, 5))
    servo.state(5)
    servo.state(1)
    servo.twist()
    servo.state(1)
    assert servo.goals == 0
    servo.report(report(servo, 1))
    servo.state(1)
    assert servo.goals == 1


def test_absurd_commands_are_refused(servo):
    for speed in (1e100, -1e7):
        reason = servo.twist(speed)
        assert reason.startswith('~/delta_twist_cmds: the twist has ')
        assert reason.endswith('; allowed: up to 1e+06')
    message = PoseStamped()
    message.pose.position.z = 1e100
    reason = servo.command('pose_target_cmds', message)
    assert reason.endswith("the target's position has 1e+100; allowed: up to 1e+06")
    servo.report(report(servo, 5))
    servo.state(5)
    servo.state(5)
    assert servo.goals == 0
    assert servo.twist(1e6) == ''
    servo.state(5)
    assert servo.goals == 1


def test_joint_velocities_move_the_joints_that_they_name_and_others_are_refused(servo):
    def jog(*velocities, joints=('elbow_joint', 'wrist_3_joint')):
        message = JointJog(joint_names=list(joints), velocities=list(velocities))
        return servo.command('delta_joint_cmds', message)

    listener, sent, executor = rclpy.create_node('listener'), [], SingleThreadedExecutor()
    listener.create_subscription(JointTrajectory, f'{CONTROLLER}/joint_trajectory', sent.append, 1)
    executor.add_node(listener)
    (publisher,) = [x for x in servo.node.publishers if x.topic_name.endswith('joint_trajectory')]
    spin_until(executor, publisher.get_subscription_count)
    servo.report(report(servo, 5))
    servo.state(5)
    assert jog(0.1, -0.2) == ''
    servo.state(5)
    spin_until(executor, lambda: sent)
    listener.destroy_node()
    v = sent[0].points[0].velocities
    np.testing.assert_allclose(v, [0, 0, 0.1, 0, 0, -0.2], atol=1e-12)
    assert "unknown joint 'elbow'; nearest known: 'elbow_joint'" in jog(0.1, joints=('elbow',))
    assert 'velocities of 2 joint_names has shape (1,)' in jog(0.1)
    twice = jog(0.1, 0.2, joints=('elbow_joint', 'elbow_joint'))
    assert "joint 'elbow_joint' is named 2 times; allowed: once" in twice


@pytest.mark.slow
def test_the_log_names_what_the_tip_does_not_follow(servo, capfd):
    ready = np.array([-0.5, -0.5, 0.5, -0.5, -0.5, 0.0]) * np.pi

    def stream(topic, message, q, steps=100):
        """Send a stream from an arm at rest; return the log."""
        for sec in (6, 5):  # a time before the last one is a reset
            servo.state(sec)
        servo.report(report(servo, 5, q.tolist()))
        for k in range(steps):
            assert servo.command(topic, message) == ''
            servo.state(5 + k * servo.period)
        assert servo.goals > 0
        return capfd.readouterr().err

    def pose(away):
        tip, message = servo.node.model.forward_kinematics(ready), PoseStamped()
        place, turn = message.pose.position, message.pose.orientation
        place.x, place.y, place.z = (tip.translation + np.array([0.0, 0.0, away])).tolist()
        turn.x, turn.y, turn.z, turn.w = pin.Quaternion(tip.rotation).coeffs().tolist()
        return message

    assert stream('delta_twist_cmds', twist_along_y(0.01), ready) == ''
    assert stream('pose_target_cmds', pose(0.01), ready) == ''
    outwards = TwistStamped()
    outwards.twist.linear.x = 0.01
    said = stream('delta_twist_cmds', outwards, np.repeat([0.0, 0.3], 3))  # stretched
    assert re.search(r'the tip leaves out .* of the twist \[0.01, 0.0, .* of the 6 joints', said)
    said = stream('pose_target_cmds', pose(0.6), ready, 400)
    assert re.search(r'the tip rests 11\d mm and .* rad from the target pose', said)
