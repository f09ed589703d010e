"""The viewer shows what joint_states say, whatever steps the arm, and ends after its thread."""

import os
import re
import subprocess
import sys
import threading
import time
from types import SimpleNamespace
from typing import ClassVar

import mujoco
import numpy as np
import pytest
import rclpy
from domains import fresh_domain
from long_wait import LONG_WAIT
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

from arm_controllers.ros.qos import LATCHED_QOS, STATE_QOS
from arm_dynamics import ArmError, RobotModel
from arm_dynamics.robots import find_urdf, robot_names
from arm_dynamics.surroundings import Surroundings
from arm_sim.parent_process import LAUNCH
from arm_tools.view.ros import viewer_node
from arm_tools.view.scene import Scene

FIVE = RobotModel.from_urdf(find_urdf('five_joint_arm'))


@pytest.mark.parametrize('robot', robot_names())
def test_the_scene_of_every_arm_is_as_its_model_says(robot):
    model = RobotModel.from_urdf(find_urdf(robot))
    scene = Scene(model, Surroundings())
    rng = np.random.default_rng(3)
    for _ in range(10):
        q = model.random_configuration(rng)
        scene.show(q)
        for frame in model.frame_names[1:]:
            pose, body = model.forward_kinematics(q, frame), scene.mj_data.body(frame)
            np.testing.assert_allclose(body.xpos, pose.translation, atol=1e-9)
            np.testing.assert_allclose(body.xmat.reshape(3, 3), pose.rotation, atol=1e-9)


def test_an_arm_that_mujoco_does_not_simulate_is_shown():
    massless = FIVE.urdf.replace('<mass value="', '<mass value="0.0" was="')
    assert massless != FIVE.urdf
    model = RobotModel.from_urdf(massless)
    Scene(model, Surroundings()).show(model.neutral())


def test_the_scene_has_the_table_and_returns_the_tip():
    scene = Scene(FIVE, Surroundings(table=(0.5, 0.0, 0.1, 0.2, 0.2, 0.2)))
    assert scene.mj_model.geom('table').id > 0
    q = np.array([0.0, 0.3, 0.3, 0.0, 0.0])
    np.testing.assert_array_equal(scene.show(q), FIVE.forward_kinematics(q).translation)


class FakeWindow:
    """Shows nothing, and takes note."""

    opened: ClassVar[list['FakeWindow']] = []

    def __init__(self, scene):
        self.scene, self.is_open, self.closed = scene, True, False
        FakeWindow.opened.append(self)

    def place(self, objects):
        self.scene.place(objects)

    def show(self, q):
        self.scene.show(q)

    def close(self):
        self.closed = True


@pytest.fixture
def ros(monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    rclpy.init()
    FakeWindow.opened.clear()
    yield
    rclpy.shutdown()


def test_the_node_shows_states_of_any_engine_in_any_order_and_ends_with_its_window(
    ros, monkeypatch, capfd
):
    sender = rclpy.create_node('sender')
    node = viewer_node.ViewerNode(FakeWindow)
    executor = rclpy.executors.SingleThreadedExecutor()
    executor.add_node(node)
    ended = []
    monkeypatch.setattr(viewer_node, 'end_node', lambda: ended.append(True))
    description = sender.create_publisher(String, 'robot_description', LATCHED_QOS)
    states = sender.create_publisher(JointState, 'joint_states', STATE_QOS)
    q = np.array([0.1, -1.1, 0.4, 0.5, -0.2])
    order = [3, 1, 0, 4, 2]
    names = [FIVE.joint_names[i] for i in order]
    message = JointState(name=names, position=q[order].tolist())
    description.publish(String(data=FIVE.urdf))

    def until(condition):
        end = time.monotonic() + LONG_WAIT
        while not condition():
            assert time.monotonic() < end
            states.publish(message)
            executor.spin_once(timeout_sec=0.02)

    until(lambda: FakeWindow.opened)
    (window,) = FakeWindow.opened
    until(lambda: np.array_equal(window.scene.mj_data.qpos, q))
    objects = sender.create_publisher(MarkerArray, 'simulator/objects', STATE_QOS)
    marker = Marker(type=Marker.CUBE, ns='block')
    marker.scale.x = marker.scale.y = marker.scale.z = marker.color.a = 0.1
    until(objects.get_subscription_count)
    for x in (1.0, 2.0):
        marker.pose.position.x = x
        objects.publish(MarkerArray(markers=[marker]))
        until(lambda x=x: FakeWindow.opened[-1].scene.mj_data.mocap_pos[:, 0].tolist() == [x])
    assert window.closed
    assert len(FakeWindow.opened) == 2
    window = FakeWindow.opened[-1]
    until(lambda: np.array_equal(window.scene.mj_data.qpos, q))
    message.position = [0.0]  # no state
    printed = []
    until(lambda: printed.append(capfd.readouterr().err) or 'joint_states: ' in ''.join(printed))
    np.testing.assert_array_equal(window.scene.mj_data.qpos, q)
    window.is_open = False
    until(lambda: ended)
    sender.destroy_node()
    node.destroy_node()
    assert window.closed


def test_a_closed_window_has_no_thread_left(monkeypatch):
    from arm_tools.view import window

    ending, threads = threading.Event(), []
    monkeypatch.setattr(window, '_LONGEST_END', LONG_WAIT)

    def render():
        ending.wait()
        time.sleep(0.3)  # as the graphics driver may

    def launch(model, data, **_):
        threads.append(threading.Thread(target=render, daemon=True))
        threads[0].start()
        camera = SimpleNamespace(lookat=np.zeros(3))
        return SimpleNamespace(lock=threading.Lock, cam=camera, close=ending.set)

    monkeypatch.setattr(window.viewer, 'launch_passive', launch)
    opened = window.Window(Scene(FIVE, Surroundings()))
    assert threads[0].is_alive()
    opened.close()
    assert not threads[0].is_alive()


@pytest.mark.slow
def test_a_window_whose_thread_stays_does_not_keep_the_process():
    code = """
import sys, threading, time
from arm_controllers.ros import running
from arm_tools.view import window
from arm_tools.view.ros import viewer_node
window.check_display = lambda: None
threading.Thread(target=time.sleep, args=(1000,)).start()
running.run_node = lambda name, node: 7
viewer_node.main()
"""
    assert (
        subprocess.run([sys.executable, '-c', code], timeout=LONG_WAIT, check=False).returncode
        == 7
    )


@pytest.mark.quick(1)
@pytest.mark.parametrize('in_launch', [True, False])
def test_without_a_display_the_viewer_ends_with_one_line_and_a_launch_goes_on(in_launch):
    environment = {name: value for name, value in os.environ.items() if 'DISPLAY' not in name}
    environment |= {LAUNCH: str(os.getpid())} if in_launch else {}
    command = [sys.executable, '-m', 'arm_sim.executables', 'viewer']
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=LONG_WAIT, check=False
    )
    (line,) = (done.stdout + done.stderr).splitlines()
    assert 'needs a display: DISPLAY is not set; view:=true shows the arm' in line
    assert done.returncode == (0 if in_launch else 1)


def test_a_display_that_cannot_be_opened_is_refused_in_one_line(monkeypatch):
    from arm_tools.view.window import check_display

    monkeypatch.delenv('DISPLAY', raising=False)
    monkeypatch.delenv('WAYLAND_DISPLAY', raising=False)
    with pytest.raises(ArmError, match='needs a display: DISPLAY is not set'):
        check_display()
    monkeypatch.setenv('DISPLAY', ':973')
    with pytest.raises(ArmError, match="needs a display: ':973' cannot be opened"):
        check_display()


def test_meshes_are_shown_where_they_are_in_the_links_frame(tmp_path):
    corners = '0 0 0', '0.1 0 0', '0 0.2 0', '0 0 0.3'
    faces = ('1 3 2', '1 2 4', '1 4 3', '2 3 4')
    lines = [f'v {corner}' for corner in corners] + [f'f {face}' for face in faces]
    (tmp_path / 'wedge.obj').write_text('\n'.join(lines))
    shape = (
        f'<visual><origin xyz="0 0 0.5" rpy="0 0 1.5707963267948966"/><geometry>'
        f'<mesh filename="file://{tmp_path}/wedge.obj" scale="2 1 1"/></geometry>'
        '<material name="red"><color rgba="1 0 0 1"/></material></visual>'
    )
    there = find_urdf('planar_3r').read_text().replace('</link>', f'{shape}</link>')
    gone = there.replace('wedge.obj', 'nowhere.obj')
    model = RobotModel(there)
    m = Scene(model, Surroundings()).mj_model
    (geom, *others) = [k for k in range(m.ngeom) if m.geom_dataid[k] >= 0]
    assert len(others) == len(model.urdf.split('</link>')) - 2
    assert m.geom_rgba[geom].tolist() == [1, 0, 0, 1]
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, m.geom_quat[geom])
    points = m.mesh_vert[: m.mesh_vertnum[0]] @ turn.reshape(3, 3).T + m.geom_pos[geom]
    wanted = np.array([[0, 0, 0.5], [0, 0.2, 0.5], [-0.2, 0, 0.5], [0, 0, 0.8]])
    for corner in wanted:  # scaled, then turned by 90 degrees, then lifted
        assert np.linalg.norm(points - corner, axis=1).min() < 1e-6
    without = Scene(RobotModel(gone), Surroundings()).mj_model
    assert not (without.geom_dataid >= 0).any()


def test_an_arm_without_any_shape_is_shown_as_rods_from_joint_to_joint():
    model = RobotModel(re.sub(r'<visual>.*?</visual>', '', FIVE.urdf, flags=re.DOTALL))
    scene = Scene(model, Surroundings())
    m, data = scene.mj_model, scene.mj_data
    scene.show(model.neutral())
    rods = np.flatnonzero(m.geom_type == mujoco.mjtGeom.mjGEOM_CAPSULE)
    assert len(rods) >= 3
    places = [
        model.forward_kinematics(model.neutral(), name).translation for name in model.frame_names
    ]
    for rod in rods:
        half = data.geom_xmat[rod].reshape(3, 3)[:, 2] * m.geom_size[rod, 1]
        for end in (data.geom_xpos[rod] - half, data.geom_xpos[rod] + half):
            assert min(np.linalg.norm(end - place) for place in places) < 1e-9
    balls = m.geom_type == mujoco.mjtGeom.mjGEOM_SPHERE
    assert balls.sum() == m.nbody - 1
