"""A recording is a report and a bug report: the same numbers again, and the same bits."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('rclpy')

from arm_system import ArmSystem
from domains import fresh_domain
from long_wait import LONG_WAIT

from arm_dynamics.checks import ArmError
from arm_tools.readers.recorded_messages import messages_of
from arm_tools.recording.ros import render, report, rerun
from arm_tools.recording.ros.recorded_run import RecordedRun

BALL = """
- {name: ball, shape: sphere, size: [0.1], position: [3, 0, 1], mass: 0.2}
- {name: plate, size: [0.1, 0.1, 0.1], position: [0.8, 0, 0.4201], stiffness: 1e3, friction: 0.05}
"""  # the plate is 0.1 mm inside the first link


def launched(folder, *command, domain=''):
    """Return a folder with the files of a task over topics that begins with an approach."""
    scene = folder / 'scene.yaml'
    scene.write_text(BALL)
    command = command or ('sinusoid.launch.py', 'start:=rest', f'scene:={scene}')
    done = subprocess.run(
        ['ros2', 'launch', 'arm_sim', *command, f'output_dir:={folder}'],
        env=os.environ | {'ROS_DOMAIN_ID': domain or fresh_domain()},
        capture_output=True,
        text=True,
        timeout=LONG_WAIT,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    scene.unlink()  # the recording has it
    (folder / 'printed.txt').write_text(done.stdout)
    return folder


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    return launched(tmp_path_factory.mktemp('task'))


def test_two_equal_runs_leave_equal_bytes(folder, tmp_path):
    runs = []
    for each in (folder, launched(tmp_path)):
        by_topic = {}
        for topic, _, _, data in messages_of(each / 'recording.mcap'):
            by_topic.setdefault(topic, []).append(data)
        runs.append(by_topic)
    first, second = runs
    controller = '/pd_feedforward_controller'
    names = (
        'joint_states', 'joint_commands', 'robot_description', 'tf', 'tf_static',
        'simulator/objects', 'simulator/contacts',
    )  # fmt: skip
    # The answer to the last state may come when the recording has ended.
    counts = [len(run['/joint_commands']) for run in runs]
    assert max(counts) - min(counts) <= 1
    for run in runs:
        del run['/joint_commands'][min(counts) :]
    for topic in (*(f'/{name}' for name in names), f'{controller}/goals'):
        assert first[topic] == second[topic], topic
    # The controller publishes its state from when it has discovered the recorder.
    states = [run[f'{controller}/controller_state'] for run in runs]
    count = min(map(len, states)) - 1
    assert count > 50
    assert states[0][-count:] == states[1][-count:]


def test_the_report_of_a_recording_has_the_table_the_numbers_and_the_picture_of_the_run(
    folder, tmp_path, capsys
):
    file = str(folder / 'recording.mcap')
    assert report.main([file, '--output-dir', str(tmp_path)]) == 0
    for name in ('report.json', 'tracking.png'):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes(), name
    run, again = (np.load(each / 'record.npz') for each in (folder, tmp_path))
    for name in run:
        np.testing.assert_array_equal(again[name], run[name], err_msg=name)
    printed = (folder / 'printed.txt').read_text()
    table = [line.rstrip() for line in capsys.readouterr().out.splitlines()[:-1] if line.strip()]
    assert len(table) > 10
    assert [line for line in table if line not in map(str.rstrip, printed.splitlines())] == []
    assert report.main([file, '--json']) == 0
    numbers = json.loads(capsys.readouterr().out)
    assert numbers == json.loads((folder / 'report.json').read_text())
    assert 0.0999 < numbers['penetration_max_mm'] < 5.0
    assert 0.0999 < numbers['contact_force_max_n'] < 20.0  # 1 N/mm
    assert numbers['contact_slip_mm'] > 1.0
    assert 'contact force [N]' in printed


def test_several_recordings_are_compared_a_row_each(folder, capsys):
    assert report.main([str(folder), str(folder / 'recording.mcap')]) == 0
    *_, last = capsys.readouterr().out.split('2 recordings')
    assert last.count(' held ') == 2
    assert f'{folder.name}: sinusoid, planar_3r, pd_feedforward' in last


def test_the_recorded_goals_again_give_every_bit(folder, capsys):
    assert rerun.main([str(folder / 'recording.mcap')]) == 0
    printed = capsys.readouterr().out
    assert '1 goal under pd_feedforward_controller' in printed
    assert 'every bit is the same' in printed


def test_the_goals_of_a_law_with_a_horizon_again_give_every_bit(tmp_path):
    task = ('sinusoid.launch.py', 'robot:=ur5e', 'controller:=servo', 'cycles:=0.5')
    again = rerun.rerun(RecordedRun.load(launched(tmp_path, *task)))
    assert (again.controller, again.difference()) == ('servo_controller', '')


def test_the_recorded_commands_without_the_controller_give_every_bit(folder):
    recording = RecordedRun.load(folder)
    del recording.parameters['/pd_feedforward_controller']  # as of a controller of another package
    with pytest.raises(ArmError, match='has no parameters of /pd_feedforward_controller'):
        rerun.rerun(recording)
    assert rerun.rerun(recording, commands=True).difference() == ''


def test_a_controller_of_some_joints_is_not_repeated(folder):
    recording = RecordedRun.load(folder)
    recording.parameters['/pd_feedforward_controller']['joints'] = ['joint_2']
    recording.parameters['/pd_feedforward_controller'] |= {'kp': [1.0], 'kd': [1.0]}
    with pytest.raises(ArmError, match='the recorded controller commands joint_2 alone; a rerun'):
        rerun.rerun(recording)


def test_a_rerun_with_encoders_reports_measured_positions(folder):
    recording = RecordedRun.load(folder)
    recording.parameters['/simulator']['encoder_resolution'] = [0.01]
    steps = rerun.rerun(recording, commands=True).again[:, 0] / 0.01
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)


def test_an_arm_with_held_joints_next_to_another_arm_is_read_from_its_own_recording(
    tmp_path, capfd
):
    """The launch's URDF of the arm was in a temporary folder, which is gone."""
    task = ('task.launch.py', 'task:=sinusoid', 'robot:=ur5e', 'namespace:=mine')
    with ArmSystem() as other:
        other.simulator()
        other.wait(lambda: other.states, 'state')
        folder = launched(
            tmp_path, *task, 'joints:=shoulder_lift_joint,elbow_joint', domain=other.domain
        )
    recording = RecordedRun.load(folder)
    assert '/mine/simulator' in recording.parameters
    assert not Path(recording.parameters['/mine/simulator']['robot']).exists()
    assert (
        'ur5e: 2 joints (shoulder_lift_joint, elbow_joint)' in (folder / 'printed.txt').read_text()
    )
    assert report.main([str(folder), '--json']) == 0
    assert json.loads(capfd.readouterr().out) == json.loads((folder / 'report.json').read_text())
    assert rerun.main([str(folder)]) == 0
    assert render.recorded_arm(recording)[0].joint_names == (
        'shoulder_lift_joint',
        'elbow_joint',
    )


def test_a_rerun_with_another_arm_says_where_it_differs_first(folder):
    recording = RecordedRun.load(folder)
    recording.parameters['/simulator']['payload'] = 0.1
    found = rerun.rerun(recording).difference()
    assert found.startswith('t = 0.102')  # planar: nothing moves before the goal starts at 0.1 s
    assert "joint 'joint_1': " in found


def test_what_a_recording_lacks_is_a_line(folder, tmp_path, capsys):
    whole = (folder / 'recording.mcap').read_bytes()
    cut = tmp_path / 'cut.mcap'
    cut.write_bytes(whole[: len(whole) // 2])
    assert report.main([str(cut)]) == 1
    finding, refusal = capsys.readouterr().err.splitlines()
    assert 'no end of cut.mcap' in finding
    assert 'has no task' in refusal
    assert rerun.main([str(cut)]) == 0  # as far as it goes
    recording = RecordedRun.load(folder)
    del recording.states[7]
    with pytest.raises(ArmError, match=r'has no state 7 \(t = 0.0070 s\)'):
        rerun.rerun(recording)
    recording.commands.clear()
    with pytest.raises(ArmError, match='has no joint_commands'):
        rerun.rerun(recording)
    assert report.main([str(tmp_path / 'none.mcap')]) == 1
    assert 'cannot be read' in capsys.readouterr().err
