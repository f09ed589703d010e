"""What it costs to accept a goal of 1000 points and six joints, and what the control loop feels.

    ./ws python benchmarks/goal_acceptance.py

First the checks alone, in this process. Then a simulator and a controller in real time at 500 Hz:
the longest pause between two commands, in control periods, while such goals arrive by the action,
beside the longest pause in the same time without any.
"""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import rclpy
from conditions import own_domain, print_conditions
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.goal import Goal
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.ros.messages import to_ns, trajectory_message
from arm_controllers.ros.qos import STATE_QOS
from arm_controllers.ros.running import make_executor, wait_until
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.parameter_files import as_arguments, files_of

POINTS, SPACING, PERIOD_NS = 1000, 0.03, 2_000_000
HOME = np.array([-np.pi / 2, -np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, 0.0])
CONTROLLER = 'computed_torque_controller'
_TIMEOUT, _ROUNDS = 30.0, 5


def long_goal(names: tuple[str, ...]) -> Goal:
    """Return a goal of 1000 points with velocities and accelerations, from home to home."""
    t = SPACING * np.arange(1, POINTS + 1)
    rate = 2 * np.pi / t[-1]
    ones = np.ones((1, len(names)))
    q = HOME + 0.1 * (1 - np.cos(rate * t))[:, np.newaxis] * ones
    v = 0.1 * rate * np.sin(rate * t)[:, np.newaxis] * ones
    a = 0.1 * rate**2 * np.cos(rate * t)[:, np.newaxis] * ones
    v[-1] = a[-1] = 0.0
    return Goal(names, t, q, v, a)


def checks_alone(model: RobotModel) -> tuple[float, float]:
    """Return the time of all checks and of the longest slice [ms], the best of several runs."""
    goal = long_goal(model.joint_names)
    follower = TrajectoryFollower(model, FollowerParameters())
    follower.activate(0, HOME, np.zeros(6))
    rounds = []
    for _ in range(15):
        instants = [time.perf_counter()]
        for _ in follower.accept(goal, 0):
            instants.append(time.perf_counter())
        instants.append(time.perf_counter())
        rounds.append(np.diff(instants))
    slices = np.min(rounds, axis=0)  # other processes disturb this or that slice of a round
    return 1e3 * float(np.min(np.sum(rounds, axis=1))), 1e3 * float(slices.max())


def pauses_in_real_time(model: RobotModel) -> tuple[float, float]:
    """Return the longest pauses between commands [control periods], median: without, with."""
    rclpy.init()
    node = rclpy.create_node('goal_acceptance')
    executor = make_executor()
    executor.add_node(node)
    stamps: list[int] = []
    node.create_subscription(
        JointState, 'joint_commands', lambda m: stamps.append(to_ns(m.header.stamp)), STATE_QOS
    )
    processes = [
        _start('simulator', 'mode:=realtime', 'actuator:=torque'),
        _start(CONTROLLER, 'mode:=realtime', 'autostart:=true'),
    ]
    try:
        client = ActionClient(node, FollowJointTrajectory, f'{CONTROLLER}/follow_joint_trajectory')
        wait_until(executor, lambda: len(stamps) > 500, 'commands', _TIMEOUT)
        wait_until(executor, client.server_is_ready, 'action server', _TIMEOUT)
        request = FollowJointTrajectory.Goal(
            trajectory=trajectory_message(long_goal(model.joint_names))
        )
        quiet, busy = [], []
        for _ in range(_ROUNDS):
            quiet.append(_longest_pause(executor, stamps))
            sent = client.send_goal_async(request)
            busy.append(_longest_pause(executor, stamps))
            wait_until(executor, sent.done, 'answer to the goal', _TIMEOUT, sent)
            canceled = sent.result().cancel_goal_async()
            wait_until(executor, canceled.done, 'answer to the cancel', _TIMEOUT, canceled)
            _longest_pause(executor, stamps)
    finally:
        for process in processes:
            process.send_signal(signal.SIGINT)
        for process in processes:
            process.wait(10)
        node.destroy_node()
        rclpy.try_shutdown()
    return float(np.median(quiet)), float(np.median(busy))


def _longest_pause(executor, stamps: list[int], seconds: float = 0.5) -> float:
    """Return the longest pause between two commands within so much time [control periods]."""
    stamps.clear()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        executor.spin_once(timeout_sec=0.02)
    return float(np.max(np.diff(stamps))) / PERIOD_NS


def _start(executable: str, *parameters: str) -> subprocess.Popen:
    code = f'import sys; from arm_sim.executables import {executable} as run; sys.exit(run())'
    arguments = ['--ros-args', *as_arguments(files_of('ur5e'))]
    for parameter in parameters:
        arguments += ['-p', f'{executable}:{parameter}']
    quiet = {'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL}
    return subprocess.Popen([sys.executable, '-c', code, *arguments], **quiet)


def main() -> int:
    """Print the numbers."""
    own_domain()
    print_conditions()
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    model = RobotModel.from_urdf(find_urdf('ur5e'))
    whole, longest = checks_alone(model)
    print(f'{POINTS} points, six joints, quintic segments')
    print(f'  all checks                          {whole:6.1f} ms   (at most 20)')
    print(
        f'  longest slice between two cycles    {longest:6.2f} ms   (at most 2, a control period)'
    )
    quiet, busy = pauses_in_real_time(model)
    print('longest pause between commands in real time at 500 Hz, median of rounds')
    print(f'  no goal arrives                     {quiet:6.1f} control periods')
    print(f'  a goal of 1000 points arrives       {busy:6.1f} control periods')
    return int(whole > 20.0)


if __name__ == '__main__':
    sys.exit(main())
