"""The node of the cameras: where there is no OpenGL, and what it does when it ends."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
import rclpy
from domains import fresh_domain
from long_wait import LONG_WAIT
from rclpy.duration import Duration
from sensor_msgs.msg import Image
from std_msgs.msg import String, UInt8MultiArray

from arm_controllers.ros.messages import to_ns
from arm_controllers.ros.qos import LATCHED_QOS, STATE_QOS
from arm_controllers.ros.running import make_executor, wait_until
from arm_controllers.ros.serialized_messages import FIELDS, JointStateWriter
from arm_dynamics.checks import ArmError
from arm_dynamics.robots import find_urdf
from arm_sim.ros.loop_messages import STATE, TOPIC, LoopMessages
from arm_tools.view import offscreen
from arm_tools.view.ros import camera_node
from arm_tools.view.ros.camera_node import CameraNode


def spin(executor):
    end = time.monotonic() + LONG_WAIT
    while time.monotonic() < end:
        executor.spin_once(timeout_sec=0.05)


def test_without_opengl_the_node_ends_with_a_line_after_the_simulator_has_noticed_it(
    monkeypatch, tmp_path
):
    monkeypatch.delenv('MUJOCO_GL', raising=False)
    monkeypatch.setattr(offscreen, 'why_not', lambda library: 'gone')
    file = tmp_path / 'cameras.yaml'
    file.write_text('- {name: side}')
    rclpy.init(args=['--ros-args', '-p', f'cameras:={file}'], domain_id=int(fresh_domain()))
    try:
        node, sender = CameraNode(), rclpy.create_node('sender')
        # The simulator waits for a camera until it has seen this publisher.
        assert node.count_publishers('simulator/rendered_until') == 1
        description = sender.create_publisher(String, 'robot_description', LATCHED_QOS)
        description.publish(String(data=find_urdf('planar_3r').read_text()))
        executor = rclpy.executors.SingleThreadedExecutor()
        executor.add_node(node)
        with pytest.raises(ArmError, match='^no OpenGL without a window here ') as refused:
            spin(executor)
        message = str(refused.value)
        assert '(egl: gone; osmesa: gone); install Mesa' in message
        assert '\n' not in message
        node.destroy_node()
        sender.destroy_node()
    finally:
        rclpy.try_shutdown()


def batch(*times_ns):
    """Return states of the arm, gathered as a simulator does it."""
    sent = []
    gatherer = LoopMessages(
        SimpleNamespace(
            create_publisher=lambda *_: SimpleNamespace(publish=sent.append),
            create_timer=lambda *_: None, timers=(),
        )
    )  # fmt: skip
    writer = JointStateWriter(('joint_1', 'joint_2', 'joint_3'), FIELDS)
    for each in times_ns:
        gatherer.add(STATE, writer.serialized(each))
    gatherer.publish()
    return sent[0]


@pytest.fixture
def black(monkeypatch, tmp_path):
    """Begin ROS for a node with a camera whose pictures are black."""
    pictures = SimpleNamespace(take=lambda q: [np.zeros((8, 8, 3), np.uint8)], close=lambda: None)
    monkeypatch.setattr(camera_node, 'CameraPictures', lambda *_: pictures)
    file = tmp_path / 'cameras.yaml'
    file.write_text('- {name: side, rate: 50, width: 8, height: 8}')
    rclpy.init(args=['--ros-args', '-p', f'cameras:={file}'], domain_id=int(fresh_domain()))


def test_the_time_that_pictures_take_is_stated_once(monkeypatch, black):
    said = []
    monkeypatch.setattr(camera_node.Log, 'info', lambda log, text: said.append(text))
    try:
        node = CameraNode()
        description = node.create_publisher(String, 'robot_description', LATCHED_QOS)
        description.publish(String(data=find_urdf('planar_3r').read_text()))
        states = node.create_publisher(UInt8MultiArray, TOPIC, STATE_QOS)
        executor, times = make_executor(), iter(range(0, 10**12, 10_000_000))
        executor.add_node(node)

        def stated():
            states.publish(batch(next(times)))
            return [line for line in said if 'a picture takes' in line]

        wait_until(executor, stated, 'time of the pictures', LONG_WAIT)
        after = next(times) + 500_000_000
        wait_until(executor, lambda: stated() and next(times) > after, 'more', LONG_WAIT)
        (line,) = stated()
        node.destroy_node()
    finally:
        rclpy.try_shutdown()
    assert 'a lower rate, width or height of a camera shortens it' in line


def test_states_that_wait_when_the_node_ends_have_their_pictures(black):
    try:
        node, other, seen = CameraNode(), rclpy.create_node('other'), []
        description = other.create_publisher(String, 'robot_description', LATCHED_QOS)
        description.publish(String(data=find_urdf('planar_3r').read_text()))
        states = other.create_publisher(UInt8MultiArray, TOPIC, STATE_QOS)
        other.create_subscription(
            Image, 'side/color/image_raw',
            lambda message: seen.append(to_ns(message.header.stamp)), STATE_QOS,
        )  # fmt: skip
        executor = make_executor()
        executor.add_node(other)
        executor.add_node(node)
        # The first state is repeated, as in lock-step, until the node knows the arm.
        wait_until(executor, lambda: states.publish(batch(0)) or seen, 'picture', LONG_WAIT)
        executor.remove_node(node)
        states.publish(batch(10_000_000, 20_000_000, 30_000_000, 40_000_000))
        states.publish(batch(50_000_000, 60_000_000))
        assert states.wait_for_all_acked(Duration(seconds=LONG_WAIT))
        node.destroy_node()
        wait_until(executor, lambda: len(seen) > 3, 'last picture', LONG_WAIT)
        other.destroy_node()
    finally:
        rclpy.try_shutdown()
    assert seen == [0, 20_000_000, 40_000_000, 60_000_000]
