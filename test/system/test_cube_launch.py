"""The main job as its user runs it: `ros2 launch arm_sim cube.launch.py`."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest
from domains import fresh_domain
from long_wait import LONG_WAIT

KEYS = {
    'robot', 'controller', 'engine', 'mode', 'feedforward', 'path', 'duration_s', 'steps',
    'cycles_per_second', 'path_error_mm', 'tracking_error_mm', 'joint_error_rad',
    'orientation_error_rad',
    'peak_torque_nm', 'peak_torque_share', 'saturated_samples', 'ik', 'checksum',
}  # fmt: skip


def start(folder: Path, *arguments: str) -> subprocess.Popen:
    """Start the launch in a ROS domain of its own, output to a file."""
    environment = os.environ | {'ROS_DOMAIN_ID': fresh_domain()}
    command = ['ros2', 'launch', 'arm_sim', 'cube.launch.py', f'output_dir:={folder}/out']
    with (folder / 'log.txt').open('w') as log:
        return subprocess.Popen(
            [*command, *arguments], stdout=log, stderr=subprocess.STDOUT, env=environment
        )


def draw(folder: Path, *arguments: str) -> tuple[int, str, dict]:
    """Run the launch to its end; return exit code, what it printed, and its report."""
    code = start(folder, *arguments).wait(timeout=LONG_WAIT)
    report = folder / 'out' / 'report.json'
    return (
        code,
        (folder / 'log.txt').read_text(),
        json.loads(report.read_text()) if report.exists() else {},
    )


def test_default_run_draws_straight_edges_and_repeats_in_one_process_bit_for_bit(tmp_path):
    runs = []
    for composed in ('false', 'true'):
        folder = tmp_path / composed
        folder.mkdir()
        code, printed, report = draw(folder, f'composed:={composed}')
        assert code == 0, printed
        assert report.keys() >= KEYS
        assert (report['duration_s'], report['steps']) == (30.0, 15000)
        assert report['path_error_mm']['rms'] <= 0.005
        assert report['path_error_mm']['max'] <= 0.02
        assert report['tracking_error_mm']['rms'] <= 0.001
        assert report['saturated_samples'] == 0
        for artefact, size in (('tracking.png', 30_000), ('recording.mcap', 100_000)):
            assert (folder / 'out' / artefact).stat().st_size > size
        runs.append(report)
    assert runs[0]['checksum'] == runs[1]['checksum']


# One process gives the same bits, as above, for 0.6 of the CPU time.
PUBLISHED = 'composed:=true', 'record:=false', 'robot:=ur5e_menagerie', 'path:=published'


def test_published_run_is_reproduced(tmp_path):
    code, printed, report = draw(tmp_path, *PUBLISHED, 'feedforward:=gravity_velocity')
    assert code == 0, printed
    assert report['tracking_error_mm']['rms'] == pytest.approx(0.0879, rel=0.01)
    assert report['tracking_error_mm']['max'] == pytest.approx(0.234, rel=0.02)
    assert report['peak_torque_nm'] == pytest.approx(16.50, rel=0.01)


def test_computed_torque_draws_the_published_cube(tmp_path):
    code, printed, report = draw(tmp_path, *PUBLISHED, 'controller:=computed_torque')
    assert code == 0, printed
    assert report['tracking_error_mm']['rms'] <= 0.012


def test_realtime_draws_by_the_wall_clock_and_reports_its_rate(tmp_path):
    begin = time.monotonic()
    code, printed, report = draw(tmp_path, 'mode:=realtime', 'edge_time:=0.5')
    if too_slow := re.search('the machine was too slow for real time[:;] .*', printed):
        assert code == 1
        pytest.skip(too_slow.group())
    assert code == 0, printed
    assert time.monotonic() - begin > 7.5
    assert report['late_ticks'] >= 0
    assert 0.0 < report['achieved_real_time_factor'] <= 1.05


def test_broken_limits_end_with_exit_code_1(tmp_path):
    code, printed, report = draw(
        tmp_path, 'composed:=true', 'record:=false', 'edge_time:=0.3', 'feedforward:=none'
    )
    assert code == 1
    assert not report['limits_held']
    assert 'BROKEN' in printed


@pytest.mark.parametrize(
    ('argument', 'says'),
    [
        ('output_dir:=/proc/nowhere', "output_dir '/proc/nowhere'"),  # a node refuses
        ('sides:=0.2', "unknown launch argument 'sides'; nearest known: 'side'"),
    ],
)
def test_bad_arguments_end_with_one_line_and_exit_code_1(argument, says, tmp_path):
    code, printed, report = draw(tmp_path, argument)
    assert code == 1
    assert 'Traceback' not in printed
    assert re.search(says, printed), printed
    assert not report


def our_processes(launch: subprocess.Popen) -> list[psutil.Process]:
    return psutil.Process(launch.pid).children(recursive=True)


def wait_for_text(folder: Path, text: str) -> None:
    end = time.monotonic() + LONG_WAIT
    while text not in (folder / 'log.txt').read_text():
        assert time.monotonic() < end, (folder / 'log.txt').read_text()
        time.sleep(0.02)


@pytest.mark.parametrize('moment', ['process started', 'model and plant agree', 'stroke  1'])
def test_ctrl_c_ends_everything(moment, tmp_path):
    launch = start(tmp_path)
    wait_for_text(tmp_path, moment)
    processes = our_processes(launch)
    launch.send_signal(signal.SIGINT)
    launch.wait(timeout=LONG_WAIT)
    assert psutil.wait_procs(processes, timeout=LONG_WAIT)[1] == []
    assert 'Traceback' not in (tmp_path / 'log.txt').read_text()


@pytest.mark.parametrize(
    ('victim', 'moment'),
    [
        ('simulator', 'stroke  1'),
        ('servo_controller', 'model and plant agree'),
        ('inverse_kinematics', 'model and plant agree'),
        ('cube_task', 'model and plant agree'),
        ('composed', 'stroke  1'),
    ],
)
def test_death_of_one_process_ends_the_launch(victim, moment, tmp_path):
    composed = 'true' if victim == 'composed' else 'false'
    launch = start(tmp_path, f'composed:={composed}')
    wait_for_text(tmp_path, moment)
    processes = our_processes(launch)
    found = [p for p in processes if f'lib/arm_sim/{victim}' in ' '.join(p.cmdline())]
    min(found, key=lambda p: p.create_time()).kill()  # a task has a process that draws
    assert launch.wait(timeout=LONG_WAIT) == 1
    assert psutil.wait_procs(processes, timeout=LONG_WAIT)[1] == []
