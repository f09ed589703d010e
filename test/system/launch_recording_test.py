"""Recording over ROS: the simulator writes its inputs, a recorder what everybody says."""

import signal
import subprocess
import sys

import numpy as np
import pytest
from arm_system import HOME, ArmSystem, goal, seconds
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import WrenchStamped
from patience import PATIENCE
from rclpy.serialization import deserialize_message
from std_srvs.srv import Trigger

from arm_controllers.ros.qos import CONTROL_QOS
from arm_sim.commands import replay_inputs
from arm_sim.plants.input_recording import InputRecording
from arm_sim.runs.mcap_messages import messages_of

CONTROLLER = 'computed_torque_controller'
PERIOD = 0.002


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    """Move and push an arm; return the recording's file and the states seen over topics."""
    folder = tmp_path_factory.mktemp('recording')
    file = folder / 'inputs.npz'
    with ArmSystem() as system:
        system.simulator('engine:=analytical', f'record_inputs:={file}')
        system.controller()
        system.start('recorder', f'output_dir:={folder}')
        told = []
        system.node.create_subscription(Time, 'simulator/recorded_until', told.append, CONTROL_QOS)
        system.wait_for_motion_control(CONTROLLER)
        stand_still_while_stopped(system, 'recorder', folder)
        topics = [f'/{CONTROLLER}/{name}' for name in ('goals', 'results')]
        system.wait(lambda: all(map(system.node.count_subscribers, topics)), 'recorder of goals')
        system.spin(1.0)  # the controller may know of it later than we do
        pushes = system.node.create_publisher(WrenchStamped, 'external_wrench', 10)
        system.wait(lambda: pushes.get_subscription_count() > 1, 'simulator and recorder')
        push = WrenchStamped()
        push.header.frame_id = 'forearm_link'
        push.wrench.force.y = 5.0
        pushes.publish(push)
        system.follow(CONTROLLER, goal([0.3], [HOME + 0.05]))
        assert system.pause()
        system.diagnostics.clear()
        system.words('simulator', 'paused')
        last = float(system.values['simulator']['simulated time [s]'])
        system.wait(lambda: abs(system.now - last) < 1e-6, 'last state')  # anew if it is lost
        system.wait(lambda: abs(seconds(told[-1]) - last) < 1e-6, 'recorder')
        answer = system.call(Trigger, '/simulator/save_inputs', Trigger.Request())
        assert answer.success, answer.message
        assert answer.message == str(file)
        assert system.stop('recorder') == 0
        return file, list(system.states)


def stand_still_while_stopped(system, recorder, folder):
    """Stop a recorder; see that simulated time goes on a little, and then stands."""
    system.wait(lambda: any(folder.glob('*.mcap')), 'recording')
    heard = 'recorded until [s]'
    system.wait(lambda: system.values['simulator'].get(heard, '-') != '-', heard)
    system.processes[recorder].send_signal(signal.SIGSTOP)
    system.words('simulator', 'waiting for a recorder that stays at ')
    said = system.values['simulator']
    assert float(said['simulated time [s]']) <= float(said[heard]) + 200.5 * PERIOD
    system.processes[recorder].send_signal(signal.SIGCONT)


def test_nothing_is_lost_in_lock_step_although_the_recorder_was_stopped(recorded):
    file, states = recorded
    (recording,) = file.parent.glob('*.mcap')
    found = {}
    for message in messages_of(recording):
        found.setdefault(message.topic, []).append(message)
    stamps = {topic: [each.time_ns for each in rows] for topic, rows in found.items()}
    for topic in ('/joint_states', '/joint_commands'):
        assert set(np.diff(stamps[topic])) == {round(PERIOD * 1e9)}, topic
    assert stamps['/joint_states'][-1] == round(states[-1][0] * 1e9)
    assert stamps['/joint_commands'][-1] >= stamps['/joint_states'][-2]
    assert set(np.diff(stamps[f'/{CONTROLLER}/controller_state'])) == {20_000_000}
    assert set(np.diff(stamps['/tf'])) == {20_000_000}
    assert len(found['/external_wrench']) == len(found[f'/{CONTROLLER}/goals']) == 1
    (result,) = found[f'/{CONTROLLER}/results']
    assert deserialize_message(result.data, FollowJointTrajectory.Result).error_code == 0
    events = b''.join(each.data for each in found['/parameter_events'])
    for name in (b'/simulator\0', f'/{CONTROLLER}\0'.encode(), b'record_inputs'):
        assert name in events
    assert found.keys() >= {'/robot_description', '/tf_static', '/diagnostics'}


def test_replay_from_the_file_alone_ends_in_the_simulators_state_to_the_last_bit(recorded):
    file, states = recorded
    done = subprocess.run(
        [
            sys.executable,
            '-m',
            'arm_sim.executables',
            'replay_inputs',
            str(file),
            '--robot',
            'ur5e',
        ],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert 'bit-identical' in done.stdout
    recording = InputRecording(file)
    assert len(recording.commands) > 150
    assert [frame for _, frame, _ in recording.wrenches] == ['forearm_link']
    _, q, v = states[-1]
    np.testing.assert_array_equal(recording.replay(), np.concatenate([q, v]))


@pytest.mark.parametrize('share', [0.5, 0.99])
def test_a_recording_that_is_cut_off_is_refused_in_one_line(recorded, tmp_path, capsys, share):
    whole = recorded[0].read_bytes()
    file = tmp_path / 'cut.npz'
    file.write_bytes(whole[: int(share * len(whole))])
    assert replay_inputs.main([str(file)]) == 1
    refusal = capsys.readouterr().err
    assert refusal.count('\n') == 1
    assert 'is not a recording of inputs, or it is cut off or damaged' in refusal


def test_a_recording_of_another_arm_is_refused_in_one_line(recorded, capsys):
    assert replay_inputs.main([str(recorded[0]), '--robot', 'five_joint_arm']) == 1
    refusal = capsys.readouterr().err
    assert refusal.count('\n') == 1
    assert "the recording is of 'ur5e'" in refusal
    assert "not of 'five_joint_arm'" in refusal
