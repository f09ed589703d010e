"""The tests of the example package, as its owner runs them, and what a failure leaves."""

import logging
import os
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
from ament_index_python.packages import get_packages_with_prefixes
from long_wait import LONG_WAIT
from repository import ROOT

from arm_dynamics.checks import ArmError

PACKAGE = ROOT / 'examples' / 'controller_package'
COMMAND = [sys.executable, '-m', 'pytest', '-q', '-p', 'no:cacheprovider', '--rootdir', '.']
ENVIRONMENT = os.environ | {
    'PYTHONPATH': os.pathsep.join([str(PACKAGE), os.environ.get('PYTHONPATH', '')])
}
OWN = """
import pytest

def test_fails(start_arm):
    arm = start_arm(robot='planar_3r', law='pd')
    with pytest.raises(ValueError, match="'joint_1': position 9 rad is above its upper limit"):
        arm.reach('pd_controller', [9.0, 0.0, 0.0])
    {rest}
"""


def pytest_of(folder, *words):
    return subprocess.run(
        [*COMMAND, *words], cwd=folder, env=ENVIRONMENT, text=True, timeout=4 * LONG_WAIT,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def nodes_of(folder):
    """Return the processes whose logs are in a folder."""
    return [
        each
        for each in psutil.process_iter()
        if any(str(folder) in file.path for file in open_files(each))
    ]


def open_files(process):
    try:
        return process.open_files()
    except psutil.Error:  # it has just ended
        return []


@pytest.mark.slow
def test_the_tests_of_the_example_package_pass():
    run = pytest_of(PACKAGE, 'test')
    there = 'controller_manager' in get_packages_with_prefixes()
    if not there:
        logging.getLogger(__name__).warning('left out: ros2_control is not installed here')
    assert run.returncode == 0, run.stdout
    assert f'{2 + there} passed' in run.stdout
    assert not (PACKAGE / 'failed_tests').exists()


@pytest.mark.slow
def test_the_same_fault_begins_again(start_arm):
    arm = start_arm(robot='planar_3r', law='pd')
    for _ in range(2):
        arm.fault('offset_encoder', joint='joint_2', value=0.1, duration=0.1)
        began = len(arm.motion.q)
        arm.run(0.2)
        jumps = np.flatnonzero(np.abs(np.diff(arm.motion.q[began - 1 :, 1])) > 0.05)
        np.testing.assert_array_equal(jumps, [0, 100_000_000 // arm.period_ns - 1])


@pytest.mark.slow
def test_a_misspelt_controller_is_refused_at_once_with_the_nearest_name(start_arm):
    arm = start_arm(robot='planar_3r', law='pd')
    began = time.monotonic()
    for wrong in ('pd_controler', 'pd'):
        with pytest.raises(
            ArmError, match=rf"^no action {wrong}/.* did you mean 'pd_controller'\?$"
        ):
            arm.reach(wrong, [0.1, 0.0, 0.0])
    assert time.monotonic() - began < 20.0  # of a busy machine; it was 60 s


@pytest.mark.slow
def test_a_failure_keeps_the_recording_and_ends_the_processes(tmp_path):
    (tmp_path / 'test_own.py').write_text(OWN.format(rest='assert arm.time_ns < 0'))
    run = pytest_of(tmp_path, f'--basetemp={tmp_path / "temp"}')
    assert '1 failed' in run.stdout
    kept = tmp_path / 'failed_tests' / 'test_own.py_test_fails'
    assert f'recording and logs are in {kept}' in run.stdout
    assert (kept / 'recording.mcap').stat().st_size > 10_000
    assert 'pd_controller' in (kept / 'launch.log').read_text()
    assert nodes_of(tmp_path) == []


@pytest.mark.slow
def test_ctrl_c_ends_the_processes(tmp_path):
    text = OWN.format(rest='print(end := chr(10) + "begun", flush=True); arm.run(1e6)')
    (tmp_path / 'test_own.py').write_text(text)
    command = [*COMMAND, '-s', f'--basetemp={tmp_path / "temp"}']
    run = subprocess.Popen(
        command, cwd=tmp_path, env=ENVIRONMENT, text=True, stdout=subprocess.PIPE
    )
    try:
        for line in run.stdout:
            if line == 'begun\n':
                break
        assert nodes_of(tmp_path)
        run.send_signal(signal.SIGINT)
        assert run.wait(LONG_WAIT) == pytest.ExitCode.INTERRUPTED
    finally:
        run.kill()
    assert nodes_of(tmp_path) == []


def test_the_plugin_imports_nothing_slow_and_tests_without_it_do_not_notice(tmp_path):
    (tmp_path / 'test_plain.py').write_text(
        'import sys\n\n\ndef test_plain():\n'
        "    assert 'arm_lab.testing.plugin' in sys.modules\n"
        "    slow = {'rclpy', 'numpy', 'mujoco', 'pinocchio', 'arm_sim', 'arm_dynamics'}\n"
        '    assert not slow & {*sys.modules}\n'
    )
    run = pytest_of(tmp_path, '-p', 'no:launch_testing', '-p', 'no:launch_ros')
    assert run.returncode == 0, run.stdout
