"""Hours of simulated time under ever-changing goals: does anything leak, drift, or fail to end?

    ./ws python benchmarks/soak.py --hours 8

Simulator and controller run in lock-step as processes of their own. Goals follow one another:
reached, replaced on the way, canceled, and refused ones. Prints a row for each tenth of the time,
and ends with exit code 0 only if every goal ended as it must, the tracking error kept its bound,
and the memory of both processes is flat after the first tenth.

This client may come too late to cancel or replace a goal: then the goal must have succeeded at its
last point, by the controller's own clock, which the action's feedback tells.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter

import numpy as np
import rclpy
from action_msgs.msg import GoalStatus
from conditions import own_domain, print_conditions
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.action import ActionClient
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_controllers.ros.messages import set_stamp, to_ns
from arm_controllers.ros.running import make_executor, wait_until
from arm_dynamics.checks import ArmError
from arm_sim.parameter_files import as_arguments, files_of

CONTROLLER = 'computed_torque_controller'
HOME = np.array([-np.pi / 2, -np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, 0.0])
JOINTS = (
    'shoulder_pan_joint',
    'shoulder_lift_joint',
    'elbow_joint',
    'wrist_1_joint',
    'wrist_2_joint',
    'wrist_3_joint',
)
PERIODS = ('timestep:=0.002', 'control_decimation:=4')
# A process may grow by so much after the first tenth of the run, whatever its length [MB].
MEMORY_LIMIT = 4.0
# Largest joint error on the way [rad].
ERROR_LIMIT = 0.02
_TIMEOUT = 300.0  # wall clock [s]
# Feedback comes in each control period of 8 ms, at most 10 000 times a second of wall-clock time:
# that of a goal that has succeeded came at most so long before the goal's end [s].
_LAST_FEEDBACK = 0.06
_EXPECTED = {
    'reach': (GoalStatus.STATUS_SUCCEEDED,),
    'replace': (GoalStatus.STATUS_ABORTED,),
    'cancel': (GoalStatus.STATUS_CANCELED,),
    'refuse': (GoalStatus.STATUS_ABORTED,),
}


class Soak:
    """The two processes, and a client that keeps them busy."""

    def __init__(self, seed: int = 1):
        """Start everything in this process's ROS domain."""
        rclpy.init()
        self.node = rclpy.create_node('soak')
        self.executor = make_executor()
        self.executor.add_node(self.node)
        self.rng = np.random.default_rng(seed)
        self.time = 0.0
        self.q = HOME
        self.largest_error = 0.0
        self.ended: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.late = 0
        self.progress: dict[bytes, float] = {}
        self.node.create_subscription(
            JointTrajectoryControllerState, f'{CONTROLLER}/controller_state', self._on_state, 10
        )
        action = f'{CONTROLLER}/follow_joint_trajectory'
        self.client = ActionClient(self.node, FollowJointTrajectory, action)
        feedback = FollowJointTrajectory.Impl.FeedbackMessage
        self.node.create_subscription(
            feedback, f'{action}/_action/feedback', self._on_feedback, 1000
        )
        self.processes = {
            'simulator': self._start('simulator', 'mode:=lockstep', 'actuator:=torque'),
            CONTROLLER: self._start(
                CONTROLLER,
                'autostart:=true',
                'state_publish_rate:=10.0',
                'action_monitor_rate:=10000.0',
            ),
        }
        wait_until(self.executor, lambda: self.time > 0, 'state of the controller', _TIMEOUT)
        wait_until(self.executor, self.client.server_is_ready, 'action server', _TIMEOUT)

    def close(self) -> None:
        """End both processes as Ctrl-C does."""
        for process in self.processes.values():
            process.send_signal(signal.SIGINT)
        for process in self.processes.values():
            process.wait(_TIMEOUT)
        self.node.destroy_node()
        rclpy.try_shutdown()

    def memory(self) -> dict[str, float]:
        """Return the resident memory of each process [MB]."""
        page = os.sysconf('SC_PAGE_SIZE')
        sizes = {}
        for name, process in self.processes.items():
            if process.poll() is not None:
                raise ArmError(f'{name} has died with exit code {process.returncode}')
            with open(f'/proc/{process.pid}/statm') as file:
                sizes[name] = int(file.read().split()[1]) * page / 1e6
        return sizes

    def run_until(self, end: float) -> None:
        """Send goals until the simulated time `end` [s]."""
        kinds = tuple(_EXPECTED)
        while self.time < end:
            self.progress.clear()
            self._one(kinds[self.rng.integers(len(kinds))])

    def _one(self, kind: str) -> None:
        target = HOME + self.rng.uniform(-0.4, 0.4, 6)
        sent = self.time
        duration = self.rng.uniform(1.0, 2.0)
        goal = _goal(target, duration)
        if kind == 'refuse':
            goal.trajectory.points[-1].positions[2] = float(self.rng.choice([np.nan, 4.0, -1e308]))
        handle = self._wait(self.client.send_goal_async(goal), 'answer to a goal')
        result = handle.get_result_async()
        if kind in ('cancel', 'replace'):
            some_way = self.time + self.rng.uniform(0.2, 0.8)
            wait_until(self.executor, lambda: self.time > some_way, 'motion', _TIMEOUT)
        if kind == 'cancel':
            self._wait(handle.cancel_goal_async(), 'answer to a cancel')
        if kind == 'replace':
            self._one('reach')
        answer = self._wait(result, f'end of a goal to {kind}')
        self.ended[kind] += 1
        identifier = bytes(handle.goal_id.uuid)
        if kind in ('cancel', 'replace') and answer.status == GoalStatus.STATUS_SUCCEEDED:
            self._judge_success(identifier, duration, f'{kind}, sent at {sent:.2f} s')
        elif answer.status not in _EXPECTED[kind]:
            text = answer.result.error_string
            took = self.time - sent
            self.wrong.append(f'{kind}: status {answer.status} after {took:.2f} s, {text}')
        elif kind == 'reach' and np.abs(self.q - target).max() >= 0.05:
            self.wrong.append(f'reach: not at its target, sent at {sent:.2f} s')

    def _judge_success(self, identifier: bytes, duration: float, what: str) -> None:
        """A goal succeeded that was to be ended on the way: it must have been over by then."""

        def was_over() -> bool:
            return self.progress.get(identifier, 0.0) > duration - _LAST_FEEDBACK

        try:
            wait_until(self.executor, was_over, 'feedback of its end', _TIMEOUT)
            self.late += 1
        except ArmError:
            t = self.progress.get(identifier, 0.0)
            self.wrong.append(f'{what}: succeeded, but was at {t:.2f} of {duration:.2f} s')

    def _wait(self, future, what: str):
        wait_until(self.executor, future.done, what, _TIMEOUT, future)
        return future.result()

    def _start(self, executable: str, *parameters: str) -> subprocess.Popen:
        code = f'import sys; from arm_sim.executables import {executable} as run; sys.exit(run())'
        arguments = ['--ros-args', '--log-level', 'ERROR', *as_arguments(files_of('ur5e'))]
        for parameter in (*parameters, *PERIODS):
            arguments += ['-p', f'{executable}:{parameter}']
        return subprocess.Popen([sys.executable, '-c', code, *arguments])

    def _on_feedback(self, message) -> None:
        stamp = message.feedback.desired.time_from_start
        self.progress[bytes(message.goal_id.uuid)] = to_ns(stamp) * 1e-9

    def _on_state(self, message: JointTrajectoryControllerState) -> None:
        self.time = to_ns(message.header.stamp) * 1e-9
        self.q = np.array(message.feedback.positions)
        error = np.abs(message.error.positions).max()
        self.largest_error = max(self.largest_error, float(error))


def _goal(target: np.ndarray, duration: float) -> FollowJointTrajectory.Goal:
    point = JointTrajectoryPoint(positions=target.tolist(), velocities=[0.0] * 6)
    point.accelerations = [0.0] * 6
    set_stamp(point.time_from_start, round(duration * 1e9))
    trajectory = JointTrajectory(joint_names=list(JOINTS), points=[point])
    return FollowJointTrajectory.Goal(trajectory=trajectory)


def run(seconds: float) -> dict:
    """Soak for so much simulated time; print the table and return its numbers."""
    soak = Soak()
    try:
        print(f'{"simulated":>10} {"wall":>8} {"goals":>7} {"simulator":>10} {"controller":>11}')
        start, first = time.monotonic(), soak.time
        rows = []
        for tenth in range(1, 11):
            soak.run_until(first + seconds * tenth / 10)
            memory = soak.memory()
            goals = sum(soak.ended.values())
            row = (soak.time - first, time.monotonic() - start, goals, *memory.values())
            rows.append(row)
            print('{:8.0f} s {:6.0f} s {:7d} {:7.1f} MB {:8.1f} MB'.format(*row), flush=True)
    finally:
        soak.close()
    growth = [rows[-1][k] - rows[0][k] for k in (3, 4)]
    print(f'goals: {dict(soak.ended)}; ended otherwise than they must: {len(soak.wrong)}', end='')
    print(f'; over before they could be canceled or replaced: {soak.late}')
    for line in soak.wrong[:10]:
        print(f'  {line}')
    print(f'growth: simulator {growth[0]:.1f} MB, controller {growth[1]:.1f} MB', end='')
    print(f' (at most {MEMORY_LIMIT:g}); largest error {soak.largest_error:.2e} rad')
    return {
        'simulated_s': soak.time - first,
        'wall_s': rows[-1][1],
        'goals': dict(soak.ended),
        'wrong': soak.wrong,
        'late': soak.late,
        'growth_mb': growth,
        'largest_error_rad': soak.largest_error,
    }


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--hours', type=float, default=8.0, help='simulated hours')
    parser.add_argument('--json', help='write the numbers to this file')
    arguments = parser.parse_args()
    own_domain()
    print_conditions()
    try:
        numbers = run(arguments.hours * 3600)
    except ArmError as error:
        print(f'soak: {error}', file=sys.stderr)
        return 1
    if arguments.json:
        with open(arguments.json, 'w') as file:
            json.dump(numbers, file, indent=2)
    flat = max(numbers['growth_mb']) <= MEMORY_LIMIT
    followed = numbers['largest_error_rad'] <= ERROR_LIMIT
    return int(bool(numbers['wrong']) or not flat or not followed)


if __name__ == '__main__':
    sys.exit(main())
