"""A busy machine: processes of a launch are stopped for a while, or physics ends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import rclpy
from domains import fresh_domain
from experiment_parts import law_for
from long_wait import LONG_WAIT
from rclpy.executors import SingleThreadedExecutor

from arm_dynamics.checks import ArmError
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.loop.goals import goal_reference
from arm_sim.robot import Robot
from arm_sim.ros import waiting
from arm_sim.tasks import make_task


class Launch:
    """A launch file in a ROS domain of its own, output to a file."""

    def __init__(self, folder: Path, *arguments: str, domain: str = ''):
        self._log, self._out = folder / 'log.txt', folder / 'out'
        self.domain = domain or fresh_domain()
        environment = os.environ | {'ROS_DOMAIN_ID': self.domain}
        command = ['ros2', 'launch', 'arm_sim', *arguments, f'output_dir:={self._out}']
        with self._log.open('w') as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)

    def printed(self) -> str:
        return self._log.read_text()

    def wait_for(self, text: str) -> None:
        end = time.monotonic() + LONG_WAIT
        while not re.search(text, self.printed()):
            assert time.monotonic() < end, self.printed()
            if self.process.poll() is not None:
                assert re.search(text, self.printed()), self.printed()
            time.sleep(0.01)

    def found(self, name: str) -> list[psutil.Process]:
        found = []
        with suppress(psutil.NoSuchProcess):  # all has ended
            for each in psutil.Process(self.process.pid).children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    if f'lib/arm_sim/{name}' in ' '.join(each.cmdline()):
                        found.append(each)
        return found

    def node(self, name: str) -> psutil.Process:
        (node,) = self.found(name)
        return node

    def stop(self, name: str, seconds: float) -> None:
        """Stop a node for a while, unless this test comes too late for it."""
        for node in self.found(name):
            with suppress(psutil.NoSuchProcess):
                node.send_signal(signal.SIGSTOP)
                time.sleep(seconds)
                node.send_signal(signal.SIGCONT)

    def end(self) -> tuple[int, dict]:
        code, report = self.process.wait(timeout=LONG_WAIT), self._out / 'report.json'
        return code, json.loads(report.read_text()) if report.exists() else {}


def test_in_lockstep_a_process_that_stops_for_seconds_changes_no_bit(tmp_path):
    parameters = {'cycles': 8.0}
    arguments = ('law:=computed_torque', 'robot:=planar_3r', f'parameters:={parameters}')
    launch = Launch(tmp_path, 'task.launch.py', *arguments)
    launch.wait_for('measuring')
    for name in ('sinusoid_task', 'computed_torque_controller', 'simulator'):
        launch.stop(name, 1.0)
    code, report = launch.end()
    assert code == 0, launch.printed()

    robot = Robot.load('planar_3r')
    task, law = make_task('sinusoid', robot, parameters), law_for('computed_torque', robot)
    follow = goal_reference(task.goal(), robot.model, task.start.q, task.start.v)
    case = Experiment('planar_3r', 'sinusoid', 'computed_torque')
    loop = task.run(law, *LoadedExperiment(case, robot).plants(), reference=follow)
    assert report['checksum'] == loop.checksum()


def test_in_real_time_a_stall_ends_the_goal_and_says_by_how_much_and_what_helps(tmp_path):
    (tmp_path / 'long.yaml').write_text('sinusoid_task: {ros__parameters: {sample_period: 0.1}}\n')
    long = (f'config:={tmp_path}/long.yaml', 'cycles:=60.0')  # 120 s: no stall outlasts it
    launch = Launch(tmp_path, 'sinusoid.launch.py', 'mode:=realtime', 'start:=rest', *long)
    ended = 'sinusoid_task: .*too slow for real time'
    launch.wait_for(f'measuring|{ended}')  # it moves
    if not re.search(ended, launch.printed()):  # else other work has stalled it already
        launch.stop('pd_feedforward_controller', 5.0)
    code, report = launch.end()
    assert (code, report) == (1, {})
    (line,) = re.findall('^sinusoid_task: (?!waiting for ).*', launch.printed(), re.MULTILINE)
    assert 'the machine was too slow for real time' in line
    assert ' ms old; mode:=lockstep, or a smaller real_time_factor or a longer' in line


def test_a_diverged_pose_ends_with_the_simulators_reason(tmp_path):
    (tmp_path / 'wild.yaml').write_text(
        'pose_pid_controller: {ros__parameters: {p: [1.0e9], i: [0.0], d: [0.0]}}\n'
    )
    wild = f'config:={tmp_path}/wild.yaml'
    launch = Launch(tmp_path, 'pose_hold.launch.py', wild, 'duration:=100.0')
    assert launch.end()[0] == 1
    assert 'pose_hold_task: simulator: joint ' in launch.printed(), launch.printed()
    assert 'physics diverged' in launch.printed()
    assert 'no command for' not in launch.printed()  # nothing else ends it, later


@pytest.mark.parametrize('how', [signal.SIGTERM, signal.SIGKILL])
def test_all_nodes_end_with_their_launch_however_it_ends(how, tmp_path):
    # 120 000 steps: most of a minute at least, and a goal that is quickly made.
    launch = Launch(tmp_path, 'sinusoid.launch.py', 'start:=rest', 'cycles:=60.0')
    launch.wait_for('measuring')
    nodes = psutil.Process(launch.process.pid).children(recursive=True)
    assert len(nodes) == 4  # the task has a process that draws
    launch.process.send_signal(how)
    launch.process.wait(timeout=LONG_WAIT)
    _, alive = psutil.wait_procs(nodes, timeout=LONG_WAIT)
    assert not alive


def test_a_node_whose_launch_has_just_ended_does_not_start():
    launch = psutil.Popen(['true'])  # for which no process has waited
    while launch.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    node = [sys.executable, '-m', 'arm_sim.executables', 'simulator']
    parameters = os.environ | {'ARM_SIM_LAUNCH': str(launch.pid), 'ROS_DOMAIN_ID': fresh_domain()}
    assert subprocess.run(node, env=parameters, timeout=LONG_WAIT, check=False).returncode == 1
    launch.wait()


def test_a_second_simulator_gives_way_to_the_first_and_names_its_process(tmp_path):
    arguments = 'sinusoid.launch.py', 'start:=rest', 'cycles:=100.0', 'record:=false'
    folders = []
    for name in ('first', 'second'):
        folders.append(tmp_path / name)
        folders[-1].mkdir()
    first = Launch(folders[0], *arguments)
    first.wait_for('measuring')
    ended = first.printed().count('goal ended')
    second = Launch(folders[1], *arguments, domain=first.domain)
    code, _ = second.end()
    assert code == 1, first.printed() + second.printed()
    who = f'process {first.node("simulator").pid} of launch {first.process.pid}'
    assert f'{who} on {socket.gethostname()}' in second.printed()
    assert first.process.poll() is None
    assert first.printed().count('goal ended') == ended
    first.process.send_signal(signal.SIGINT)
    first.process.wait(timeout=LONG_WAIT)


def test_a_node_that_starts_is_waited_for_beyond_the_timeout_and_named(monkeypatch, capsys):
    monkeypatch.setattr(waiting, '_LOG', 0.1)
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(fresh_domain()))
    node, compiling = (rclpy.create_node(name, context=context) for name in ('task', 'compiler'))
    executor = SingleThreadedExecutor(context=context)
    run = waiting.Waiting(node, executor, 0.3)
    try:
        looks = iter(range(100))
        run.wait_until(lambda: next(looks) > 80, 'answer', of='compiler')  # a look takes 10 ms
        assert 'task: waiting for answer, ' in capsys.readouterr().out
        compiling.destroy_node()
        with pytest.raises(ArmError, match=r'no answer within 0.3 s'):
            run.wait_until(lambda: False, 'answer', of='compiler')
    finally:
        node.destroy_node()
        rclpy.shutdown(context=context)
