"""Streams: commands that fall silent, clocks that start late, and qualities of service."""

import numpy as np
import pytest
from arms import load_arm
from domains import fresh_domain
from field import LIFT, goal_of, motion, table
from following import DT, SECOND, assert_no_jump, ends, run
from long_wait import spin_until

from arm_controllers.follower.goal import GoalError, ResultCode
from arm_controllers.follower.state_sequence import StateOrder, StateSequence
from arm_tools.cartesian.tip_servo import TipServo, TipServoParameters, TipStream

HALF = 0.5 * np.pi
READY = np.array([-HALF, -HALF, HALF, -HALF, -HALF, 0.0])
STEP = 20_000_000  # of the servo [ns]
TWIST = np.array([0.1, 0.05, 0.0, 0.0, 0.0, 0.0])


def stream_of(timeout=0.1):
    servo = TipServo(load_arm('ur5e'), TipServoParameters())
    servo.start(READY)
    return TipStream(servo, timeout)


def moving(tip):
    return tip.move(TWIST)


def test_a_stale_command_is_published_for_ever():
    """moveit/moveit#3049. The tip brakes after `command_timeout`.

    One command at 0 s: steps up to 0.1 s, braking within 0.08 s, and no step after 0.2 s.
    """
    stream = stream_of()
    stream.take(moving, 0)
    sent = [k * 0.02 for k in range(100) if stream.step(k * STEP)]
    assert 0.1 <= max(sent) <= 0.2
    assert not stream.servo.v.any()


def test_velocity_stays_when_no_command_comes():
    """moveit/moveit#2254. Each message ends with the way to rest.

    The reference that was sent last, alone, brings the arm to rest, should the node die.
    """
    stream = stream_of()
    for k in range(10):
        stream.take(moving, k * STEP)
        way = stream.step(k * STEP)
        assert not way[-1].v.any()
        assert len(way) <= 1 + 0.08 / 0.02


def test_a_joystick_without_a_last_stop_goes_on():
    """turtlebot/turtlebot_apps#55. Silence is a stop.

    At 0.1 m/s for 1 s, then silence: the tip goes on for 0.1 s and brakes within 0.08 s, that is
    less than 0.11 * (0.1 + 0.08) m.
    """
    stream = stream_of()
    for k in range(50):
        stream.take(moving, k * STEP)
        stream.step(k * STEP)
    last = stream.servo.tip().translation
    for k in range(50, 100):
        stream.step(k * STEP)
    way = np.linalg.norm(stream.servo.tip().translation - last)
    assert 0.1 * 0.1 * 0.8 < way < np.linalg.norm(TWIST) * (0.1 + 0.08)


def test_a_pause_of_the_servo_is_followed_by_a_jump():
    """moveit/moveit2#707. It begins at the reference.

    The arm was moved by 0.5 rad meanwhile: the first step is that of 10 rad/s^2 in 20 ms.
    """
    stream = stream_of()
    stream.take(moving, 0)
    for k in range(20):
        stream.step(k * STEP)
    elsewhere = READY + 0.5 * np.eye(6)[0]
    stream.servo.start(elsewhere)
    stream.take(moving, 100 * STEP)
    first = stream.step(100 * STEP)[0]
    assert np.abs(first.q - elsewhere).max() <= 0.5 * 10.0 * 0.02**2 + 1e-12


def test_another_clock_switches_the_timeout_off():
    """moveit/moveit2#772. A command counts from its arrival.

    The header's stamp, of the wall clock, is not read: with simulated time 3 s the arm stops.
    """
    stream = stream_of()
    stream.take(moving, 3 * SECOND)
    assert stream.commands(3 * SECOND + 90_000_000)
    assert not stream.commands(3 * SECOND + 110_000_000)


def test_a_clock_that_starts_late_ends_the_first_goal():
    """ros-controls/ros2_controllers#585. Leave the stamp at zero.

    The first states are stamped 0 s, then the clock jumps to 1000 s: a goal that came before ends
    with one line that names the jump, and one that comes after it takes its own time.
    """
    arm = table(0.0, LIFT)
    arm.set_goal(goal_of([2.0], [0.5], identifier='early'), 0)
    arm.update(1000 * SECOND, np.zeros(1), np.zeros(1))
    (end,) = arm.results
    assert end.message == 'time jumped forward by 1000 s; the arm holds'
    assert not arm.reference.v.any()
    arm.results.clear()
    arm.set_goal(goal_of([2.0], [0.5], identifier='late'), 1000 * SECOND)
    q, v, _ = run(arm, 1000 * SECOND, 1002 * SECOND + 2 * DT)
    assert_no_jump(q, v)
    np.testing.assert_allclose(q[-1], 0.5, atol=1e-9)
    assert ends(arm) == [('late', ResultCode.SUCCESSFUL)]


def test_nothing_is_published_after_the_clock_jumped_back():
    """ros-controls/ros_controllers#101. Time goes on from the earlier stamp.

    A reset from 100 s to 0 s: the states after it follow each other, and a goal is followed.
    """
    order = StateSequence(DT, False, LIFT)
    found = [
        order.take(round(t * SECOND), np.zeros(1), np.zeros(1))
        for t in (99.998, 100.0, 0.0, 0.002)
    ]
    assert found[1:] == [StateOrder.NEXT, StateOrder.BACK, StateOrder.NEXT]
    arm = table(0.0, LIFT, at=100 * SECOND)
    arm.update(0, np.zeros(1), np.zeros(1))
    arm.set_goal(goal_of([1.0], [0.5]), 0)
    q, _, _ = motion(arm, 1.0)
    np.testing.assert_allclose(q[-1], 0.5, atol=1e-9)


def test_a_stamp_before_the_clock_waits_for_years():
    """ros-controls/ros2_control#1311. Leave the stamp at zero.

    Simulated time is 0 s where no clock was received yet: the line names both times.
    """
    with pytest.raises(GoalError, match='its stamp is 1705500000.000 s, the time of the states 0'):
        table(0.0, LIFT).set_goal(goal_of([1.0], [0.1], start_ns=1_705_500_000 * SECOND), 0)


@pytest.fixture
def nodes(monkeypatch):
    """Return the node of the servo, one that publishes, and the servo's executor."""
    rclpy = pytest.importorskip('rclpy')
    from rclpy.executors import SingleThreadedExecutor

    from arm_tools.cartesian.ros.tip_servo_node import TipServoNode

    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    rclpy.init()
    made, executor = (TipServoNode(), rclpy.create_node('joystick')), SingleThreadedExecutor()
    executor.add_node(made[0])
    yield *made, executor
    executor.shutdown()
    for node in made:
        node.destroy_node()
    rclpy.try_shutdown()


def test_best_effort_joysticks_are_not_heard(nodes):
    """RobotWebTools/rosbridge_suite#551. Any quality is read.

    A best-effort publisher reaches a best-effort reader, and no reliable one.
    """
    from rclpy.qos import ReliabilityPolicy

    servo, _, executor = nodes
    streams = 'delta_twist_cmds', 'pose_target_cmds', 'delta_joint_cmds'
    for topic in (*(f'/tip_servo/{name}' for name in streams), '/joint_states'):
        spin_until(executor, lambda topic=topic: servo.get_subscriptions_info_by_topic(topic))
        (found,) = servo.get_subscriptions_info_by_topic(topic)
        assert found.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT, topic


def test_a_publisher_of_another_quality_is_ignored(nodes, capfd):
    """ros2/rosbag2#1527. Publish with reliability `reliable`.

    Reports of a controller are read reliably.
    """
    from control_msgs.msg import JointTrajectoryControllerState
    from rclpy.qos import qos_profile_sensor_data

    _, joystick, executor = nodes
    topic = '/servo_controller/controller_state'
    _ = joystick.create_publisher(JointTrajectoryControllerState, topic, qos_profile_sensor_data)
    said = []

    def logged():
        said.append(capfd.readouterr().err)
        return 'no message from' in ''.join(said)

    spin_until(executor, logged)
    (line,) = (x for x in ''.join(said).splitlines() if 'no message from' in x)
    assert f'{topic}: no message' in line
    assert 'its reliability is best_effort, this node needs reliable' in line
    assert line.endswith('(ros2 topic pub --qos-reliability reliable)')


@pytest.mark.parametrize('beyond', [{'displacements': [0.1]}, {'duration': 1.0}])
def test_displacements_of_a_joystick_do_nothing(nodes, capfd, beyond):
    """xArm-Developer/xarm_ros2#140. Give velocities.

    Alone they are refused. Beside velocities they are named, unless they are nan, as some
    joysticks send; as is a duration beyond command_timeout.
    """
    from control_msgs.msg import JointJog

    servo, _, _ = nodes
    (jogs,) = (x for x in servo.subscriptions if x.topic_name == '/tip_servo/delta_joint_cmds')

    def said(**fields):
        servo.refused = ''
        jogs.callback(JointJog(joint_names=['elbow_joint'], **fields))
        return servo.refused + capfd.readouterr().err

    assert said(velocities=[0.1], displacements=[np.nan], duration=0.1) == ''
    assert 'there are no velocities: give velocities' in said(displacements=[0.1])
    unused = 'displacements and duration are not used: velocities count for command_timeout = 0.1'
    assert unused in said(velocities=[0.1], **beyond)
