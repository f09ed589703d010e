"""`plot:=true`: rqt_plot is found and started as users have it; a stand-in takes its place."""

import os
import signal
import subprocess
import sys
import time

import pytest
import rclpy
from control_msgs.msg import JointTrajectoryControllerState
from domains import fresh_domain

FIELDS = [
    f'/pd_controller/controller_state/{part}/positions[0]'
    for part in ('reference', 'feedback', 'error')
]
ONLY_PLOT = """
from launch import LaunchDescription
from arm_sim.launching import plot

def generate_launch_description():
    return LaunchDescription(plot('pd'))
"""


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Install a package rqt_plot that writes its arguments to a file; return the file."""
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    (index / 'rqt_plot').touch()
    executable = tmp_path / 'lib' / 'rqt_plot' / 'rqt_plot'
    executable.parent.mkdir(parents=True)
    file = tmp_path / 'started.txt'
    executable.write_text(
        f'#!{sys.executable}\nimport os, sys\n'
        f'open("{file}.part", "w").write("\\n".join(sys.argv[1:]))\n'
        f'os.replace("{file}.part", "{file}")\n'
    )
    executable.chmod(0o755)
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{tmp_path}:{os.environ["AMENT_PREFIX_PATH"]}')
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    return file


def launch(folder, *words):
    with (folder / 'log.txt').open('w') as log:
        return subprocess.Popen(['ros2', 'launch', *words], stdout=log, stderr=subprocess.STDOUT)


def wait(condition, folder):
    end = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < end, (folder / 'log.txt').read_text()
        time.sleep(0.05)


def end(process):
    process.send_signal(signal.SIGINT)
    process.wait(60)


def test_rqt_plot_is_started_by_the_arms_launch_with_the_fields_of_its_controller(
    started, tmp_path
):
    process = launch(tmp_path, 'arm_sim', 'arm.launch.py', 'controller:=pd', 'plot:=true')
    try:
        wait(started.exists, tmp_path)
        assert started.read_text().splitlines() == FIELDS
        assert process.poll() is None  # it has ended, the rest goes on
    finally:
        end(process)


def test_rqt_plot_is_started_when_its_topic_is_there_and_not_before(started, tmp_path):
    (tmp_path / 'only.launch.py').write_text(ONLY_PLOT)
    process = launch(tmp_path, str(tmp_path / 'only.launch.py'))
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(os.environ['ROS_DOMAIN_ID']))
    node = rclpy.create_node('publisher_of_the_test', context=context)
    try:
        wait(lambda: f'plot_{process.pid}' in node.get_node_names(), tmp_path)
        time.sleep(0.5)  # it looks five times a second
        assert not started.exists()
        node.create_publisher(JointTrajectoryControllerState, FIELDS[0].split('/ref')[0], 1)
        wait(started.exists, tmp_path)
        assert process.wait(100) == 0  # nothing is left to run
    finally:
        node.destroy_node()
        context.try_shutdown()
        process.kill()


def test_a_launch_ends_while_rqt_plot_waits_for_its_topic(started, tmp_path):
    (tmp_path / 'only.launch.py').write_text(ONLY_PLOT)
    process = launch(tmp_path, str(tmp_path / 'only.launch.py'))
    try:
        wait(lambda: 'Default logging verbosity' in (tmp_path / 'log.txt').read_text(), tmp_path)
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        process.wait(60)
        assert not started.exists()
    finally:
        process.kill()


def test_without_rqt_plot_one_line_says_so_and_the_rest_goes_on(started, tmp_path):
    (tmp_path / 'lib' / 'rqt_plot' / 'rqt_plot').chmod(0o644)  # as good as not there
    arguments = ('sinusoid.launch.py', 'plot:=true', f'output_dir:={tmp_path}/out')
    process = launch(tmp_path, 'arm_sim', *arguments)
    assert process.wait(240) == 0
    said = (tmp_path / 'log.txt').read_text()
    assert said.count('rqt_plot is not installed; get it with "sudo apt install') == 1
    assert not started.exists()
