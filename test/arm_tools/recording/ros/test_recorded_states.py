"""Recordings in real time: an arm at rest takes little space, and its readers see every state."""

import numpy as np
import pytest

rclpy = pytest.importorskip('rclpy')

from domains import fresh_domain  # noqa: E402
from identification_samples import read_samples  # noqa: E402
from launch import LaunchContext  # noqa: E402
from launch_ros.utilities import evaluate_parameters  # noqa: E402

from arm_controllers.ros.serialized_messages import FIELDS, JointStateWriter  # noqa: E402
from arm_sim.launching.arguments import usual_values  # noqa: E402
from arm_sim.launching.arm import arm_nodes  # noqa: E402
from arm_tools.readers.recorded_messages import messages_of  # noqa: E402
from arm_tools.readers.recorded_samples import read_voltages  # noqa: E402
from arm_tools.recording.ros.recorder import Recorder  # noqa: E402

PERIOD = 2_000_000
JOINTS = ('joint_1', 'joint_2')
REST = 400  # number of states at rest, before and after a motion
MOTION = 50


@pytest.fixture
def record(monkeypatch):
    """Return a function that records the arm with a rest period [s], and the written file."""
    monkeypatch.setenv('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    rclpy.init(domain_id=int(fresh_domain()))
    node = rclpy.create_node('arm')

    def run(path, rest_period, command_at=-1):
        recorder = Recorder(node, lambda number: path, own_states=False, rest_period=rest_period)
        state, command = (JointStateWriter(JOINTS, fields) for fields in (FIELDS, ('effort',)))
        noise = np.random.default_rng(3)  # as rounding errors are
        for k in range(REST + MOTION + REST):
            share = np.clip((k - REST) / MOTION, 0.0, 1.0)
            state.position[:] = share + noise.uniform(-1e-13, 1e-13, 2)
            state.velocity[:] = noise.uniform(-1e-13, 1e-13, 2)
            state.effort[:] = 3.0 + noise.uniform(-1e-13, 1e-13, 2)
            command.effort[:] = 4.0 + share + (k >= command_at >= 0)
            recorder.take_state(state.serialized(k * PERIOD))
            recorder.take_command(command.serialized(k * PERIOD))
        recorder.close()
        found = {}
        for message in messages_of(path):
            found.setdefault(message.topic, []).append(message)
        return found

    yield run
    node.destroy_node()
    rclpy.shutdown()


def test_of_states_at_rest_the_first_the_last_and_one_each_tenth_of_a_second_are_recorded(
    record, tmp_path
):
    found = record(tmp_path / 'x.mcap', 0.1)
    moving = range(REST, REST + MOTION + 1)
    last = REST + MOTION + REST - 1
    grid = [k for k in range(last + 1) if k * PERIOD % 100_000_000 == 0]
    expected = [k * PERIOD for k in sorted({*grid, REST, *moving, last})]
    for topic in ('/joint_states', '/joint_commands'):
        assert [message.time_ns for message in found[topic]] == expected, topic


def test_a_command_that_changes_is_recorded_with_its_state_while_the_arm_is_still_at_rest(
    record, tmp_path
):
    found = record(tmp_path / 'x.mcap', 0.1, command_at=123)
    for topic in ('/joint_states', '/joint_commands'):
        assert 123 * PERIOD in [message.time_ns for message in found[topic]], topic


def test_equal_runs_leave_equal_states_and_commands(record, tmp_path):
    first, second = (record(tmp_path / name, 0.1) for name in ('a.mcap', 'b.mcap'))
    for topic in ('/joint_states', '/joint_commands'):
        assert first[topic] == second[topic], topic


def test_without_a_rest_period_every_state_is_recorded(record, tmp_path):
    found = record(tmp_path / 'x.mcap', 0.0)
    assert len(found['/joint_states']) == REST + MOTION + REST


def test_samples_of_a_recording_hold_the_states_at_rest_as_well(record, tmp_path):
    for name, rest_period in (('all', 0.0), ('few', 0.1)):
        record(tmp_path / f'{name}.mcap', rest_period)
    every, filled = (read_samples(tmp_path / f'{name}.mcap', JOINTS) for name in ('all', 'few'))
    np.testing.assert_allclose(filled.times, every.times, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(filled.q, every.q, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(filled.effort, every.effort, rtol=0.0, atol=1e-9)
    voltages = [
        read_voltages(tmp_path / f'{name}.mcap', JOINTS, every.times) for name in ('all', 'few')
    ]
    np.testing.assert_array_equal(*voltages)


@pytest.mark.parametrize(('mode', 'expected'), [('realtime', 0.1), ('lockstep', None)])
def test_a_launch_in_real_time_records_rest_at_a_lower_rate_a_lock_step_every_state(
    mode, expected
):
    given = usual_values() | {'engine': 'mujoco', 'mode': mode, 'record': 'true'}
    (recorder,) = (
        node for node in arm_nodes(given) if getattr(node, 'node_executable', '') == 'recorder'
    )
    (parameters,) = evaluate_parameters(LaunchContext(), recorder._Node__parameters)
    assert parameters.get('rest_period') == expected
