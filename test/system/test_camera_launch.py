"""`camera:=FILE`: every picture of a lock-step arrives, also in the recording, as of its state."""

import os
import subprocess
import threading
from contextlib import suppress

import numpy as np
import rclpy
from domains import fresh_domain
from patience import PATIENCE
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import CameraInfo, Image

from arm_controllers.ros.messages import to_ns
from arm_dynamics.clearance import Surroundings
from arm_sim.loop.record import Record
from arm_sim.loop.recorded_messages import messages_of
from arm_sim.robot import Robot
from arm_sim.view.cameras import CameraPictures, read_cameras
from arm_sim.view.scene import Scene

CAMERA = """
- {name: side, position: [0.0, -3.0, 0.5], rotation: [0.0, 0.0, 1.57], rate: 12.5,
   width: 64, height: 48, depth: true}
"""


def listen(domain):
    """Return the pictures and infos that arrive from now on, and what ends the listening."""
    context, found = rclpy.Context(), {'color': {}, 'depth': {}, 'info': {}}
    rclpy.init(context=context, domain_id=int(domain))
    node, qos = rclpy.create_node('listener', context=context), QoSProfile(depth=1000)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def keep(part, message):
        found[part][to_ns(message.header.stamp)] = message

    for part, kind, topic in (
        ('color', Image, 'side/color/image_raw'),
        ('depth', Image, 'side/depth/image_raw'),
        ('info', CameraInfo, 'side/color/camera_info'),
    ):
        node.create_subscription(kind, topic, lambda m, part=part: keep(part, m), qos)

    def spin():
        with suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=spin)
    thread.start()

    def end():
        context.shutdown()
        thread.join(PATIENCE)

    return found, end


def test_no_picture_of_a_lockstep_is_missing_and_each_is_the_one_of_its_state(tmp_path):
    file, domain = tmp_path / 'cameras.yaml', fresh_domain()
    file.write_text(CAMERA)
    found, end = listen(domain)
    command = ['ros2', 'launch', 'arm_sim', 'task.launch.py', 'robot:=planar_3r', 'task:=step']
    command += [f'camera:={file}', f'output_dir:={tmp_path}']
    try:
        run = subprocess.run(
            command, capture_output=True, text=True, timeout=4 * PATIENCE,
            env=os.environ | {'ROS_DOMAIN_ID': domain},
        )  # fmt: skip
    finally:
        end()
    assert run.returncode == 0, run.stdout + run.stderr
    record, robot = Record.load(tmp_path / 'record.npz'), Robot.load('planar_3r')
    times = np.rint(record.t * 1e9).astype(int)
    # A busy machine may show the listener to the camera after the first pictures.
    known = max(min(part) for part in found.values())
    due = [t for t in range(0, times[-1], 80_000_000) if t >= known]
    assert len(due) > 5
    for part in found.values():
        assert [t for t in sorted(part) if t >= known][: len(due)] == due
    (camera,) = read_cameras(file)
    pictures = CameraPictures(camera, Scene(robot.model, Surroundings()))
    for t in due[::4]:
        colours, depth = pictures.take(record.q[np.searchsorted(times, t)])
        assert bytes(found['color'][t].data) == colours.tobytes()
        assert bytes(found['depth'][t].data) == depth.tobytes()
        assert found['color'][t].header.frame_id == 'side_optical_frame'
    pictures.close()
    assert len({bytes(found['color'][t].data) for t in due}) > 1  # the arm has moved
    recorded = {
        each.time_ns: deserialize_message(each.data, Image)
        for each in messages_of(tmp_path / 'recording.mcap')
        if each.topic == '/side/color/image_raw'
    }
    due = range(0, times[-1], 80_000_000)
    assert [*recorded][: len(due)] == [*due]
    for t in {*due} & found['color'].keys():
        assert recorded[t] == found['color'][t]
    info = found['info'][known]
    np.testing.assert_array_equal(info.k, camera.intrinsics.ravel())
    assert (info.width, info.height) == (64, 48)
