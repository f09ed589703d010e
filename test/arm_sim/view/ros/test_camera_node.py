"""The node of the cameras where there is no OpenGL."""

import time

import pytest
import rclpy
from domains import fresh_domain
from long_wait import LONG_WAIT
from std_msgs.msg import String

from arm_controllers.ros.qos import LATCHED_QOS
from arm_dynamics.checks import ArmError
from arm_dynamics.robots import find_urdf
from arm_sim.view import offscreen
from arm_sim.view.ros.camera_node import CameraNode


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
