"""Pose holding as its user runs it: `ros2 launch arm_sim pose_hold.launch.py`."""

import json
import os
import signal
import subprocess

import pytest
from domains import fresh_domain
from long_wait import LONG_WAIT

from arm_tools.recording.ros import rerun


def hold(folder, *arguments):
    """Run the launch to its end; return exit code, what it printed, and its report."""
    environment = os.environ | {'ROS_DOMAIN_ID': fresh_domain()}
    command = ['ros2', 'launch', 'arm_sim', 'pose_hold.launch.py', f'output_dir:={folder}/out']
    done = subprocess.run(
        [*command, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=LONG_WAIT,
        check=False,
    )
    report = folder / 'out' / 'report.json'
    text = report.read_text() if report.exists() else ''
    return done.returncode, done.stdout + done.stderr, json.loads(text) if text else {}


@pytest.mark.parametrize('controller', ['pose_pid', 'motor_computed_torque'])
def test_the_pose_is_held_over_topics_with_the_predicted_objective(tmp_path, controller):
    code, printed, report = hold(tmp_path, f'controller:={controller}', 'duration:=0.3')
    assert code == 0, printed
    assert report['duration_s'] == 0.3
    assert report['cost'] == report['predicted_cost']
    assert report['cost'] < 1e-3
    assert max(report['final_error_rad']) < 1e-6
    assert 'the same' in printed
    assert (tmp_path / 'out' / 'pose_hold.png').stat().st_size > 1000
    assert rerun.main([str(tmp_path / 'out')]) == 0


def test_a_target_of_the_wrong_length_ends_the_launch_with_one_clear_line(tmp_path):
    code, printed, _ = hold(tmp_path, 'target:=[0.0, 1.0]')
    assert code == 1
    assert 'target has shape (2,); it must be (5,)' in printed
    assert 'Traceback' not in printed


def start_arm(*arguments):
    environment = os.environ | {'ROS_DOMAIN_ID': fresh_domain()}
    command = ['ros2', 'launch', 'arm_sim', 'arm.launch.py', 'robot:=five_joint_arm', *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
    )


def test_the_arm_alone_starts_on_the_engine_that_its_file_names():
    arm, printed = start_arm('controller:=pose_pid'), ''
    try:
        for line in arm.stdout:  # until its nodes run, or have ended
            printed += line
            if 'five_joint_arm: 5 joints (' in line and 'engine analytical' in line:
                break
    finally:
        arm.send_signal(signal.SIGINT)
        printed += arm.communicate(timeout=LONG_WAIT)[0]
    assert 'engine analytical, realtime' in printed, printed
    assert arm.returncode == 0


def test_a_law_that_cannot_drive_the_arm_is_refused_with_those_that_can():
    arm = start_arm()
    printed = arm.communicate(timeout=LONG_WAIT)[0]
    assert arm.returncode == 1
    assert "controller 'servo' commands position, which the robot 'five_joint_arm'" in printed
    assert 'pose_pid' in printed
    assert 'process started' not in printed
