"""`camera:=FILE`: every picture of a lock-step arrives, also in the recording, as of its state."""

import os
import subprocess

import numpy as np
from domains import fresh_domain
from long_wait import LONG_WAIT
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import CameraInfo, Image

from arm_dynamics.surroundings import Surroundings
from arm_sim.loop.record import Record
from arm_sim.robot import Robot
from arm_tools.readers.recorded_messages import messages_of
from arm_tools.view.cameras import CameraPictures, read_cameras
from arm_tools.view.scene import Scene

CAMERA = """
- {name: side, position: [0.0, -3.0, 0.5], rotation: [0.0, 0.0, 1.57], rate: 12.5,
   width: 64, height: 48, depth: true}
"""
TOPICS = {
    '/side/color/image_raw': Image, '/side/depth/image_raw': Image,
    '/side/color/camera_info': CameraInfo,
}  # fmt: skip


def test_no_picture_of_a_lockstep_is_missing_and_each_is_the_one_of_its_state(tmp_path):
    file, domain = tmp_path / 'cameras.yaml', fresh_domain()
    file.write_text(CAMERA)
    command = ['ros2', 'launch', 'arm_sim', 'task.launch.py', 'robot:=planar_3r', 'task:=step']
    command += [f'camera:={file}', f'output_dir:={tmp_path}']
    run = subprocess.run(
        command, capture_output=True, text=True, timeout=4 * LONG_WAIT,
        env=os.environ | {'ROS_DOMAIN_ID': domain},
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    record, robot = Record.load(tmp_path / 'record.npz'), Robot.load('planar_3r')
    times = np.rint(record.t * 1e9).astype(int)
    found, last = {topic: {} for topic in TOPICS}, 0
    for each in messages_of(tmp_path / 'recording.mcap'):
        last = each.time_ns if each.topic == '/joint_states' else last
        if kind := TOPICS.get(each.topic):
            found[each.topic][each.time_ns] = deserialize_message(each.data, kind)
    due = range(0, last + 1, 80_000_000)
    assert due[-1] == last > 500_000_000  # the last state has a picture as well
    for part in found.values():
        assert [*part] == [*due]
    due = [each for each in due if each <= times[-1]]
    colour, depth, info = found.values()
    (camera,) = read_cameras(file)
    pictures = CameraPictures(camera, Scene(robot.model, Surroundings()))
    for t in due[::4]:
        pixels, distances = pictures.take(record.q[np.searchsorted(times, t)])
        assert bytes(colour[t].data) == pixels.tobytes()
        assert bytes(depth[t].data) == distances.tobytes()
        assert colour[t].header.frame_id == 'side_optical_frame'
    pictures.close()
    size = sum(len(bytes(each[0].data)) for each in (colour, depth)) * 12.5
    assert (
        f'side: {1e-6 * size:.3g} MB of pictures per simulated second' in run.stderr + run.stdout
    )
    assert len({bytes(colour[t].data) for t in due}) > 1  # the arm has moved
    np.testing.assert_array_equal(info[0].k, camera.intrinsics.ravel())
    assert (info[0].width, info[0].height) == (64, 48)
