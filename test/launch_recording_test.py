"""Recording over ROS: the simulator writes its inputs, `replay_inputs` needs the file alone."""

import subprocess
import sys

import numpy as np
import pytest
from arm_system import HOME, ArmSystem, goal
from geometry_msgs.msg import WrenchStamped
from std_srvs.srv import Trigger

from arm_sim.commands import replay_inputs
from arm_sim.plants.input_recording import InputRecording

CONTROLLER = 'computed_torque_controller'


@pytest.fixture(scope='module')
def recorded(tmp_path_factory):
    """Move and push an arm; return the recording's file and the states seen over topics."""
    file = tmp_path_factory.mktemp('recording') / 'inputs.npz'
    with ArmSystem() as system:
        system.simulator('engine:=analytical', f'record_inputs:={file}')
        system.controller()
        system.wait_for_motion_control(CONTROLLER)
        pushes = system.node.create_publisher(WrenchStamped, 'external_wrench', 10)
        system.wait(lambda: pushes.get_subscription_count() > 0, 'simulator listening')
        push = WrenchStamped()
        push.header.frame_id = 'forearm_link'
        push.wrench.force.y = 5.0
        pushes.publish(push)
        system.follow(CONTROLLER, goal([0.3], [HOME + 0.05], start=0.0))
        assert system.pause()
        system.spin(0.2)  # the last state may be on its way
        answer = system.call(Trigger, '/simulator/save_inputs', Trigger.Request())
        assert answer.success, answer.message
        assert answer.message == str(file)
        return file, list(system.states)


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
        timeout=120,
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
