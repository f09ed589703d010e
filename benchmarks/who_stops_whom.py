"""Each process of an arm is stopped and goes on: does any process end, does any goal not end?

    ./ws python benchmarks/who_stops_whom.py --seconds 0.05 1 10 40 600

An arm (planar_3r, `arm.launch.py record:=true`) moves to a goal. Meanwhile one of its processes
gets SIGSTOP, and SIGCONT after so many seconds. Then the goal must end, all processes must still
run, and a further goal must be reached. In lock-step, and in real time at 125 Hz.
"""

import argparse
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import psutil
import rclpy
from action_msgs.msg import GoalStatus
from conditions import print_conditions
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_controllers.ros.messages import set_stamp
from arm_dynamics.checks import ArmError
from arm_lab.own_domain import own_domain

PROCESSES = ('simulator', 'servo_controller', 'inverse_kinematics', 'recorder')
PERIODS = '/**: {ros__parameters: {timestep: 0.008}}\n'
# Lock-step runs as fast as it can: the goals last several seconds of the wall clock in both.
DURATIONS = {'lockstep': 60.0, 'realtime': 3.0}  # of a goal [s]
LONGEST = 180.0  # until a goal has ended, and until a further one is reached [s]
ENDS = {
    GoalStatus.STATUS_SUCCEEDED: 'reached',
    GoalStatus.STATUS_ABORTED: 'aborted',
    GoalStatus.STATUS_CANCELED: 'canceled',
}


class Row(NamedTuple):
    """What a stop did; `after`: time from SIGCONT until a further goal was reached [s]."""

    mode: str
    stopped: str
    seconds: float
    goal: str
    after: float
    ended: list[str]

    @property
    def holds(self) -> bool:
        """Whether every goal and no process ended."""
        return not self.ended and self.goal in ENDS.values() and self.after < LONGEST


class Arm:
    """A launched arm, and a client of its controller."""

    def __init__(self, mode: str, folder: str, longest: float = LONGEST):
        """Launch the arm in a ROS domain of its own; `longest`: what a goal may take [s]."""
        self._longest = longest
        self._domain, self._duration, self._side = own_domain(), DURATIONS[mode], 1.0
        file = Path(folder, 'periods.yaml')
        file.write_text(PERIODS)
        words = ['robot:=planar_3r', f'mode:={mode}', 'record:=true', f'config:={file}']
        command = ['ros2', 'launch', 'arm_sim', 'arm.launch.py', *words]
        environment = os.environ | {'ROS_DOMAIN_ID': self._domain}
        self.log = Path(folder, 'launch.log')
        with self.log.open('w') as log:
            self.launch = psutil.Popen(
                command, cwd=folder, stdout=log, stderr=log, env=environment
            )
        self._context = rclpy.Context()
        rclpy.init(context=self._context, domain_id=int(self._domain))
        self._node = rclpy.create_node(f'client_{self._domain}', context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        action = 'servo_controller/follow_joint_trajectory'
        self._client = ActionClient(self._node, FollowJointTrajectory, action)
        self._wait(self._client.server_is_ready)
        while self.goal() != 'reached':
            time.sleep(1.0)

    def close(self) -> None:
        """End the launch as Ctrl-C does."""
        self.launch.send_signal(signal.SIGINT)
        self.launch.wait(self._longest)
        self._node.destroy_node()
        rclpy.shutdown(context=self._context)

    def processes(self) -> dict[str, psutil.Process]:
        """Return the running processes by name."""
        found = {}
        for each in self.launch.children(recursive=True):
            words = ' '.join(each.cmdline())
            found |= {name: each for name in PROCESSES if f'lib/arm_sim/{name}' in words}
        return found

    def goal(self, meanwhile: Callable[[], Any] = lambda: None) -> str:
        """Send a goal, do something `meanwhile`, and return how the goal ended."""
        self._side = -self._side
        point = JointTrajectoryPoint(positions=[0.4 * self._side] * 3, velocities=[0.0] * 3)
        set_stamp(point.time_from_start, round(self._duration * 1e9))
        names = [f'joint_{k}' for k in (1, 2, 3)]
        trajectory = JointTrajectory(joint_names=names, points=[point])
        sent = self._client.send_goal_async(FollowJointTrajectory.Goal(trajectory=trajectory))
        if not self._wait(sent.done):
            return 'no answer'
        if not sent.result().accepted:
            return 'refused'
        result = sent.result().get_result_async()
        meanwhile()
        return ENDS[result.result().status] if self._wait(result.done) else 'no end'

    def _wait(self, condition: Callable[[], bool]) -> bool:
        end = time.monotonic() + self._longest
        while not condition() and time.monotonic() < end:
            if self.launch.poll() is not None:
                raise ArmError(f'the launch has ended: {self.log.read_text()[-1000:]}')
            self._executor.spin_once(timeout_sec=0.02)
        return condition()


def stop(process: psutil.Process, seconds: float) -> None:
    """Stop a process for so long, soon after this call."""
    time.sleep(0.3)
    process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    process.send_signal(signal.SIGCONT)


def rows(mode: str, name: str, durations: list[float]) -> list[Row]:
    """Return what stops of a process did."""
    found = []
    with tempfile.TemporaryDirectory() as folder:
        arm = Arm(mode, folder)
        before = arm.processes()
        for seconds in durations:
            goal = arm.goal(partial(stop, before[name], seconds))
            begin, after = time.monotonic(), 0.0
            while arm.goal() != 'reached' and after < LONGEST:
                time.sleep(0.5)
                after = time.monotonic() - begin
            after = time.monotonic() - begin
            ended = sorted(before.keys() - arm.processes().keys())
            found.append(Row(mode, name, seconds, goal, after, ended))
            print(*found[-1], file=sys.stderr, flush=True)
            if ended:
                print(arm.log.read_text()[-3000:], file=sys.stderr)
                break
        arm.close()
    return found


def main() -> int:
    """Print a row per stop; 1: a process ended, or a goal did not."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--seconds', type=float, nargs='+', default=[0.05, 1.0, 10.0, 40.0])
    parser.add_argument('--modes', nargs='+', choices=DURATIONS, default=list(DURATIONS))
    parser.add_argument('--at-once', type=int, default=2, help='arms that run at the same time')
    options = parser.parse_args()
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    print_conditions()
    with ThreadPoolExecutor(options.at_once) as pool:
        arms = [(mode, name) for mode in options.modes for name in PROCESSES]
        jobs = [pool.submit(rows, *arm, options.seconds) for arm in arms]
        found = [row for job in jobs for row in job.result()]
    print('\n| mode | stopped | for [s] | the goal | further goal reached after [s] | ended |')
    print('| --- | --- | ---: | --- | ---: | --- |')
    for row in found:
        cells = row.mode, row.stopped, f'{row.seconds:g}', row.goal, f'{row.after:.1f}'
        print(f'| {" | ".join(cells)} | {", ".join(row.ended) or "none"} |')
    print(f'\n{sum(not row.holds for row in found)} of {len(found)} stops did harm')
    return int(not all(row.holds for row in found))


if __name__ == '__main__':
    sys.exit(main())
