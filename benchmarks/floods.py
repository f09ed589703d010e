"""Floods of goals in real time: the longest pause between two commands, and how much is ours.

    ./ws python benchmarks/floods.py [--seconds 5] [--rate 2700] [--points 5000] [--count 12]

A simulator and a controller hold a UR5e at 500 Hz while goals flood in by topic and by action:
many small ones, then few huge ones. Printed are the longest pause between two commands by the
wall clock; the age of the oldest command that the simulator used; and the longest pause less the
time in which the controller's main thread stood in the queue for a core, but no more than all its
threads worked meanwhile (Linux's schedstat): what a pause is at most on a machine with a free
core.
"""

import argparse
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from conditions import own_domain, print_conditions
from control_msgs.action import FollowJointTrajectory
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.action import ActionClient
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from arm_controllers.follower.goal import Goal
from arm_controllers.ros.messages import trajectory_message
from arm_controllers.ros.qos import ACTION_QOS, STATE_QOS
from arm_controllers.ros.running import make_executor, wait_until
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.parameter_files import as_arguments, files_of

CONTROLLER = 'computed_torque_controller'
HOME = np.array([-np.pi / 2, -np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, 0.0])
OLDEST = 'oldest command [ms]'
TIMEOUT = 60.0

Send = Callable[[], Any]


def start(executable: str, *overrides: str) -> subprocess.Popen:
    """Start a node of the package with the UR5e's parameters and 'name:=value'."""
    code = f'import sys; from arm_sim.executables import {executable} as run; sys.exit(run())'
    arguments = ['--ros-args', '-r', f'__node:={executable}', *as_arguments(files_of('ur5e'))]
    for override in overrides:
        arguments += ['-p', f'{executable}:{override}']
    quiet = {'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, '-c', code, *arguments], **quiet)


class Recorder:
    """Notes when commands come, and the queue and work of a process by then [ns]."""

    def __init__(self, process: int):
        self.node = rclpy.create_node('floods_recorder')
        self.process, self.rows, self.ages, self.tasks = process, [], [], []
        self.node.create_subscription(
            JointState, 'joint_commands', self.on_command, STATE_QOS, raw=True
        )
        self.node.create_subscription(DiagnosticArray, '/diagnostics', self.on_diagnostics, 100)

    def begin(self) -> None:
        """Note from here on."""
        for task in self.tasks:
            os.close(task)
        found = sorted(Path(f'/proc/{self.process}/task').iterdir())  # the main thread first
        self.tasks = [os.open(task / 'schedstat', os.O_RDONLY) for task in found]
        self.rows.clear()
        self.ages.clear()

    def on_command(self, raw: bytes) -> None:
        """Note a command."""
        told = [os.pread(task, 99, 0).split() for task in self.tasks] or [(0, 0)]
        work = sum(int(task[0]) for task in told)
        self.rows.append((time.monotonic_ns(), int(told[0][1]), work))

    def on_diagnostics(self, message: DiagnosticArray) -> None:
        """Note how old commands were."""
        pairs = (pair for status in message.status for pair in status.values)
        self.ages += [float(pair.value) for pair in pairs if pair.key == OLDEST]

    def worst(self) -> tuple[float, float, float]:
        """Return the longest pause, the oldest command and the longest own pause [ms]."""
        wall, queue, work = np.diff(self.rows, axis=0).T * 1e-6
        own = np.minimum(wall - queue, work)
        return float(wall.max()), max(self.ages, default=0.0), float(own.max())


def record(pipe: Connection, process: int) -> None:
    """Record; for each word that comes send what is the worst since the last one."""
    rclpy.init()
    recorder, executor = Recorder(process), make_executor()
    executor.add_node(recorder.node)
    while True:
        executor.spin_once(timeout_sec=0.02)
        if pipe.poll():
            if pipe.recv() == 'end':
                return
            pipe.send(recorder.worst() if len(recorder.rows) > 1 else None)
            recorder.begin()


class Sender:
    """Sends goals to the controller by topic or by action."""

    def __init__(self):
        self.node, self.executor = rclpy.create_node('floods'), make_executor()
        self.executor.add_node(self.node)
        prefix = f'/{CONTROLLER}'
        self.topic = self.node.create_publisher(JointTrajectory, f'{prefix}/joint_trajectory', 10)
        self.action = ActionClient(
            self.node,
            FollowJointTrajectory,
            f'{prefix}/follow_joint_trajectory',
            goal_service_qos_profile=ACTION_QOS,
        )

    def ready(self) -> bool:
        """Whether the controller is there."""
        return self.topic.get_subscription_count() > 0 and self.action.server_is_ready()

    def by_topic(self, goal: Goal) -> Send:
        """Return what sends a goal, which is serialised once."""
        return partial(self.topic.publish, bytes(serialize_message(trajectory_message(goal))))

    def by_action(self, goal: Goal) -> Send:
        """Return what sends a goal."""
        asked = FollowJointTrajectory.Goal(trajectory=trajectory_message(goal))
        return partial(self.action.send_goal_async, asked)

    def rest(self, seconds: float) -> None:
        """Only listen."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0.0:
            self.executor.spin_once(timeout_sec=left)

    def flood(self, sends: list[Send], rate: float, count: int) -> str:
        """Send a number of messages at a rate [Hz], if that can be; say how it went."""
        begin = time.monotonic()
        for k in range(count):
            sends[k % len(sends)]()
            self.rest(begin + (k + 1) / rate - time.monotonic())
        return f'{count} at {count / (time.monotonic() - begin):.1f} Hz'


def small(names: tuple[str, ...]) -> list[Goal]:
    """Return trajectories near home, of which a quarter is refused."""
    times, rows = np.linspace(0.5, 2.0, 4), HOME + 0.002 * np.arange(4)[:, None]
    return [Goal(names, times, rows)] * 3 + [Goal(names, times, rows + 99.0)]


def huge(names: tuple[str, ...], points: int) -> list[Goal]:
    """Return a trajectory of a number of points, and one that is refused at its last."""
    times = np.arange(1, points + 1) * 0.001
    rows = HOME + 0.01 * np.sin(times)[:, None] ** 2
    bad = rows.copy()
    bad[-1] += 99.0
    return [Goal(names, times, rows), Goal(names, times, bad)]


def main() -> int:
    """Print a row per flood."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--seconds', type=float, default=5.0, help='of small ones')
    parser.add_argument('--rate', type=float, default=2700.0, help='of small ones [Hz]')
    parser.add_argument('--points', type=int, default=5000, help='of a huge one')
    parser.add_argument('--count', type=int, default=12, help='huge ones')
    options = parser.parse_args()
    own_domain()
    print_conditions()
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    names = RobotModel.from_urdf(find_urdf('ur5e')).joint_names
    few, many = options.count, round(options.seconds * options.rate)
    floods = {
        'small': (small(names), options.rate, many),
        'huge': (huge(names, options.points), 100.0, few),
    }
    controller = start(CONTROLLER, 'mode:=realtime', 'autostart:=true', 'time_jump_limit:=5.0')
    simulator = start('simulator', 'mode:=realtime', 'actuator:=torque')
    processes = multiprocessing.get_context('spawn')
    pipe, theirs = processes.Pipe()
    processes.Process(target=record, args=(theirs, controller.pid), daemon=True).start()
    rclpy.init()
    sender = Sender()

    def worst() -> Any:
        pipe.send('worst')
        return pipe.recv()

    def row(what: str, sent: str) -> None:
        words = ''.join(f'{number:9.0f}' for number in worst())
        print(f'{what:16} {sent:22}{words} {os.getloadavg()[0]:6.1f}', flush=True)

    print(f'{"flood":16} {"sent":22}    pause   oldest      own   load   [ms]')
    try:
        wait_until(sender.executor, sender.ready, 'controller', TIMEOUT)
        while worst() is None:
            sender.rest(5.0)
        worst()
        sender.rest(5.0)
        row('none', '')
        for kind, (goals, rate, count) in floods.items():
            for way in (sender.by_topic, sender.by_action):
                sends = [way(goal) for goal in goals]
                worst()
                sent = sender.flood(sends, rate, count)
                sender.rest(5.0)
                row(f'{kind}, {way.__name__}', sent)
    finally:
        pipe.send('end')
        for node in (controller, simulator):
            node.send_signal(signal.SIGINT)
            node.wait()
        rclpy.try_shutdown()
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
