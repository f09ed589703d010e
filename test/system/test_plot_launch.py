"""`plot:=true`, `rviz:=true`: started as users have them; stand-ins are in their place."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from domains import fresh_domain
from long_wait import LONG_WAIT

FIELDS = [f'/plot/{part}/data[0]' for part in ('reference', 'feedback', 'error')]


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Install packages that write their arguments to a file; return rqt_plot's file."""
    index = tmp_path / 'share' / 'ament_index' / 'resource_index' / 'packages'
    index.mkdir(parents=True)
    for name in ('rqt_plot', 'rviz2'):
        (index / name).touch()
        install(tmp_path / 'lib' / name / name, tmp_path / f'{name}.txt')
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'{tmp_path}:{os.environ["AMENT_PREFIX_PATH"]}')
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    return tmp_path / 'rqt_plot.txt'


def install(executable, file):
    executable.parent.mkdir(parents=True)
    executable.write_text(
        f'#!{sys.executable}\nimport os, sys\n'
        f'open("{file}.part", "w").write("\\n".join(sys.argv[1:]))\n'
        f'os.replace("{file}.part", "{file}")\n'
    )
    executable.chmod(0o755)


def launch(folder, *words):
    with (folder / 'log.txt').open('w') as log:
        return subprocess.Popen(['ros2', 'launch', *words], stdout=log, stderr=subprocess.STDOUT)


def wait(condition, folder):
    end = time.monotonic() + LONG_WAIT
    while not condition():
        assert time.monotonic() < end, (folder / 'log.txt').read_text()
        time.sleep(0.05)


def end(process):
    process.send_signal(signal.SIGINT)
    process.wait(LONG_WAIT)


def test_rqt_plot_and_rviz_are_started_by_the_arms_launch_with_what_they_are_to_show(
    started, tmp_path
):
    asked = ('controller:=pd', 'plot:=true', 'rviz:=true')
    process = launch(tmp_path, 'arm_sim', 'arm.launch.py', *asked)
    rviz = tmp_path / 'rviz2.txt'
    try:
        wait(lambda: started.exists() and rviz.exists(), tmp_path)
        assert started.read_text().splitlines() == FIELDS
        display, file, *rest = rviz.read_text().splitlines()
        assert (display, file[-16:]) == ('-d', '/config/arm.rviz')
        assert yaml.safe_load(Path(file).read_text())['Visualization Manager']['Displays']
        assert rest == ['-f', 'base_link', '--ros-args', '-p', 'use_sim_time:=true']
        assert process.poll() is None  # it has ended, the rest goes on
    finally:
        end(process)


def test_without_rqt_plot_or_rviz_one_line_states_it_and_the_rest_goes_on(started, tmp_path):
    for name in ('rqt_plot', 'rviz2'):
        (tmp_path / 'lib' / name / name).chmod(0o644)  # as good as not there
    asked = ('plot:=true', 'rviz:=true')
    arguments = ('sinusoid.launch.py', *asked, f'output_dir:={tmp_path}/out')
    process = launch(tmp_path, 'arm_sim', *arguments)
    assert process.wait(LONG_WAIT) == 0
    said = (tmp_path / 'log.txt').read_text()
    assert said.count('rqt_plot is not installed; get it with "sudo apt install') == 1
    assert said.count('rviz2 is not installed; get it with "sudo apt install') == 1
    assert not started.exists()
