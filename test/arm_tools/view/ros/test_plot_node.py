"""The node `plot`: numbers that rqt_plot draws over seconds, and the start of rqt_plot."""

import ast
import json
import time
from pathlib import Path

import pytest
import rclpy
from control_msgs.msg import JointTrajectoryControllerState
from domains import fresh_domain
from long_wait import LONG_WAIT
from repository import ROOT
from std_msgs.msg import Float64MultiArray

from arm_tools.view.ros import plot_node

PARTS = ('reference', 'feedback', 'error')
TOPICS = (*PARTS, 'effort')


@pytest.fixture
def ros(monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    rclpy.init()
    yield
    rclpy.shutdown()


class FakeProcess:
    def __init__(self, command):
        self.command, self.code, self.terminated = command, None, False

    def poll(self):
        return self.code

    def terminate(self):
        self.terminated = True


def fields_of_perspective():
    """Return the numbers that config/rqt.perspective plots."""
    manager = json.loads((ROOT / 'config/rqt.perspective').read_text())['groups']['pluginmanager']
    running = ast.literal_eval(manager['keys']['running-plugins']['repr'])
    assert set(manager['groups']) == {
        f'plugin__{plugin.replace("/", "__")}__{k}' for plugin, ks in running.items() for k in ks
    }
    keys = [group['groups']['plugin']['keys'] for group in manager['groups'].values()]
    return [path for key in keys for path in ast.literal_eval(key['topics']['repr'])]


def place_in_rqt_plot(message, start_time):
    """Return where rqt_plot (rosplot.py, ROSData._ros_cb of ROS 2) draws a message [s]."""
    if hasattr(message, 'header'):
        stamp = message.header.stamp
        return stamp.sec + stamp.nanosec * 10**-9 - start_time
    return time.time() - start_time


def test_simulated_states_are_drawn_over_seconds_and_rqt_plot_starts_with_the_first(
    ros, monkeypatch
):
    monkeypatch.setattr(plot_node, 'tool', lambda name: Path('/lib') / name)
    ended, started, drawn = [], [], []
    monkeypatch.setattr(plot_node, 'end_node', lambda: ended.append(True))
    sender = rclpy.create_node('sender')
    states = sender.create_publisher(
        JointTrajectoryControllerState, 'servo_controller/controller_state', 1
    )
    node = plot_node.PlotNode(lambda command: started.append(FakeProcess(command)) or started[-1])
    executor = rclpy.executors.SingleThreadedExecutor()
    executor.add_node(node)
    executor.add_node(sender)
    start_time = time.time()

    def on_number(message, part):
        drawn.append((part, place_in_rqt_plot(message, start_time), message.data[0]))

    for part in TOPICS:
        sender.create_subscription(
            Float64MultiArray, f'/plot/{part}', lambda m, part=part: on_number(m, part), 10
        )
    state = JointTrajectoryControllerState()
    state.header.stamp.sec = 4  # of simulated time
    for k, part in enumerate(PARTS):
        getattr(state, part).positions = [0.5 + k, 9.0]
    state.feedback.effort = [0.5 + len(PARTS), 9.0]

    def until(condition):
        end = time.monotonic() + LONG_WAIT
        while not condition():
            assert time.monotonic() < end
            states.publish(state)
            executor.spin_once(timeout_sec=0.02)

    executor.spin_once(timeout_sec=0.02)
    assert not started  # rqt_plot drops a topic without a publisher
    until(lambda: {part for part, *_ in drawn} == set(TOPICS))
    (process,) = started
    assert process.command == ['/lib/rqt_plot', *(f'/plot/{part}/data[0]' for part in PARTS)]
    assert all(0.0 <= t <= LONG_WAIT for _, t, _ in drawn)
    assert {(part, y) for part, _, y in drawn} == {
        (part, 0.5 + k) for k, part in enumerate(TOPICS)
    }
    assert place_in_rqt_plot(state, start_time) < -1e9  # as it would be without the node
    assert not ended
    process.code = 0
    until(lambda: ended)
    node.destroy_node()
    assert process.terminated
    sender.destroy_node()


def test_rqts_perspective_plots_the_numbers_of_the_node_for_six_joints():
    assert set(fields_of_perspective()) == {
        f'/plot/{topic}/data[{joint}]' for topic in TOPICS for joint in range(6)
    }
