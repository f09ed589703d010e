"""/tf of the simulator: any engine's arm, at a rate, for listeners only, and for one speaker."""

import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from long_wait import LONG_WAIT
from repository import ROOT

rclpy = pytest.importorskip('rclpy')

from domains import fresh_domain  # noqa: E402
from frames_of_links import in_base  # noqa: E402
from mimic_arm import mimic_urdf  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from arm_controllers.ros.qos import LATCHED_QOS, STATE_QOS  # noqa: E402
from arm_dynamics.model import RobotModel  # noqa: E402
from arm_dynamics.robots import find_urdf  # noqa: E402
from arm_sim.parameter_files import as_arguments, files_of  # noqa: E402
from arm_sim.ros.display import Displays  # noqa: E402
from arm_sim.ros.displays import frames as frames_output  # noqa: E402
from arm_sim.ros.simulator_node import SimulatorNode  # noqa: E402
from arm_sim.simulation.mjcf_parts import MjcfParts  # noqa: E402
from arm_sim.simulation.scene_state import SceneState  # noqa: E402

FIVE = RobotModel(find_urdf('five_joint_arm'))
needs_tf = pytest.mark.skipif(
    frames_output.TFMessage is None,
    reason='no tf2_msgs: ./ws builds it, and a ROS 2 gets it by rosdep',
)


class Graph:
    """A ROS domain with nodes of this process."""

    def __init__(self, *arguments):
        rclpy.init(args=['--ros-args', *arguments], domain_id=int(fresh_domain()))
        self.executor, self.nodes = SingleThreadedExecutor(), []

    def node(self, name, namespace=None):
        return self.add(rclpy.create_node(name, namespace=namespace, use_global_arguments=False))

    def add(self, node):
        self.nodes.append(node)
        self.executor.add_node(node)
        return node

    def until(self, condition, step=lambda: None):
        end = time.monotonic() + LONG_WAIT
        while not condition():
            assert time.monotonic() < end
            step()
            self.executor.spin_once(timeout_sec=0.02)

    def listen(self, topic='/tf', qos=1000):
        heard = []
        node = self.nodes[-1]
        node.create_subscription(frames_output.TFMessage, topic, heard.append, qos)
        return heard

    def end(self):
        for node in self.nodes:
            node.destroy_node()
        rclpy.shutdown()


@pytest.fixture
def graph(monkeypatch):
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    made = []

    def make(*arguments):
        made.append(Graph(*arguments))
        return made[0]

    yield make
    for each in made:
        each.end()


def standing_still(steps=0):
    q = np.array([0.1, -1.1, 0.4, 0.5, -0.2])
    plant = SimpleNamespace(q=q, scene=SceneState(), mjcf=MjcfParts())
    return SimpleNamespace(
        model=FIVE, plant=plant, period_ns=1_000_000, steps=steps, time_ns=steps * 1_000_000
    )


def displays_of(node, simulation, rate):
    return Displays(node, simulation, SimpleNamespace(wanted=False), rate)


def stamp_ns(message):
    stamp = message.transforms[0].header.stamp
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def as_tree(messages):
    """Return pairs (carrier, link) and rows of poses of messages."""
    links, rows = [], []
    for each in (each for message in messages for each in message.transforms):
        place, turn = each.transform.translation, each.transform.rotation
        links.append((each.header.frame_id, each.child_frame_id))
        rows.append([place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w])
    return SimpleNamespace(
        moving=links,
        moving_poses=lambda q: np.array(rows),
        fixed=[],
        fixed_poses=lambda: np.zeros((0, 7)),
    )


@pytest.mark.quick(1)
@needs_tf
@pytest.mark.parametrize(
    ('robot', 'engine'),
    [
        ('ur5e', 'mujoco'),
        ('five_joint_arm', 'analytical'),
        ('planar_3r', 'motion_model'),
        ('mimics.urdf', 'mujoco'),
    ],
)
def test_every_link_of_a_simulated_arm_is_where_its_state_says(graph, tmp_path, robot, engine):
    if robot == 'mimics.urdf':
        robot = str(tmp_path / robot)
        Path(robot).write_text(mimic_urdf())
    options = ['-p', f'engine:={engine}', '-p', 'mode:=realtime', '-p', 'real_time_factor:=0.1']
    options += ['-p', f'robot:={robot}']
    domain = graph(*as_arguments(files_of(robot)), *options)
    domain.node('listener')
    moving, standing, states = domain.listen(), domain.listen('/tf_static', LATCHED_QOS), {}

    def take(message):
        stamp = message.header.stamp
        states[stamp.sec * 1_000_000_000 + stamp.nanosec] = message

    domain.nodes[0].create_subscription(JointState, 'joint_states', take, STATE_QOS)
    domain.add(SimulatorNode())
    domain.until(lambda: standing and any(stamp_ns(each) in states for each in moving))
    model = RobotModel(find_urdf(robot))
    shown = next(each for each in moving if stamp_ns(each) in states)
    state = states[stamp_ns(shown)]
    places = dict(zip(state.name, state.position, strict=True))
    assert list(places)[: model.nv] == list(model.joint_names)  # those that follow come behind
    q = np.array(list(places.values())[: model.nv])
    every = [places[name] for name in model.moving_joints]
    np.testing.assert_array_equal(every, model.all_positions(q))
    assert len(state.velocity) == len(state.effort) == len(state.name) == len(every)
    found = in_base(as_tree([shown, standing[0]]), model.base_frame, q)
    assert set(found) == set(model.frame_names)
    for name, pose in found.items():
        wanted = model.forward_kinematics(q, name)
        np.testing.assert_allclose(pose.homogeneous, wanted.homogeneous, atol=1e-12)


@needs_tf
def test_frames_come_at_their_rate_and_only_while_a_node_listens(graph):
    domain = graph()
    simulation, node = standing_still(), domain.node('speaker')
    frames = displays_of(node, simulation, rate=50.0)

    def run(periods):
        for _ in range(periods):
            simulation.steps += 1
            simulation.time_ns += simulation.period_ns
            frames.show()

    run(1000)
    assert not frames.by_name['frames'].active
    domain.node('listener')
    heard, expected = domain.listen(), [1000]  # of an arm at rest

    def hears(*steps):
        expected.extend(steps)
        domain.until(lambda: len(heard) >= len(expected))
        assert [stamp_ns(each) // simulation.period_ns for each in heard] == expected

    hears()
    run(1000)
    hears(*range(1020, 2001, 20))
    frames.set_rate(250.0)
    run(100)
    hears(*range(2004, 2101, 4))
    frames.set_rate(0.0)
    run(1000)
    frames.set_rate(1e4)  # faster than there are states
    domain.until(lambda: frames.by_name['frames'].active)
    run(5)
    hears(*range(3101, 3106))
    frames.set_rate(0.0)
    later = time.monotonic() + 0.5
    domain.until(lambda: time.monotonic() > later)
    assert not frames.by_name['frames'].active


@pytest.mark.slow
@needs_tf
def test_a_robot_state_publisher_has_the_word_while_it_is_there(graph):
    domain = graph()
    node = domain.node('speaker')
    simulation = standing_still()
    frames = displays_of(node, simulation, rate=1000.0)
    domain.node('listener')
    heard = domain.listen()
    domain.until(lambda: heard, frames.show)
    other = rclpy.create_node('robot_state_publisher')
    publisher = other.create_publisher(frames_output.TFMessage, '/tf', 10)
    domain.until(lambda: not frames.by_name['frames'].active, frames.show)
    simulation.time_ns += simulation.period_ns  # what is on the way bears an older stamp
    for _ in range(20):
        frames.show()
        domain.executor.spin_once(timeout_sec=0.01)
    assert not any(stamp_ns(each) == simulation.time_ns for each in heard)
    other.destroy_publisher(publisher)
    other.destroy_node()
    domain.until(lambda: stamp_ns(heard[-1]) == simulation.time_ns, frames.show)


@needs_tf
def test_frames_of_an_arm_in_a_namespace_have_it_before_their_names(graph):
    domain = graph()
    frames = displays_of(domain.node('speaker', '/left'), standing_still(), rate=1000.0)
    domain.node('listener')
    moving, standing = domain.listen(), domain.listen('/tf_static', LATCHED_QOS)
    domain.until(lambda: moving and standing, frames.show)
    for each in (*moving[0].transforms, *standing[0].transforms):
        assert each.header.frame_id.startswith('left/')
        assert each.child_frame_id.removeprefix('left/') in FIVE.frame_names


def test_without_tf2_msgs_one_line_is_logged_and_the_simulator_goes_on(graph, monkeypatch):
    monkeypatch.setattr(frames_output, 'TFMessage', None)
    node = graph().node('speaker')
    received = []
    monkeypatch.setattr(frames_output.Log, 'warning', lambda self, text: received.append(text))
    frames = displays_of(node, standing_still(), rate=50.0)
    for _ in range(100):
        frames.show()
    assert received == ['tf2_msgs is not installed: nothing is published on /tf']
    assert '/tf' not in dict(node.get_topic_names_and_types())
    displays_of(node, standing_still(), rate=0.0)
    assert len(received) == 1


def test_the_environment_that_ws_makes_has_tf2_msgs():
    """Where `.ros` of this checkout is in use, nothing of the above may be left out."""
    own = ROOT / '.ros'
    assert frames_output.TFMessage or not Path(sys.prefix).is_relative_to(own)
