"""Cycles per second of the lock-step loop over topics, beside its floor and the usual code.

    ./ws python benchmarks/lockstep.py [--seconds 5] [--json FILE]

Each row is two processes that take turns: a state message out, a command message back.
  loop    simulator and servo controller, as `cube.launch.py` runs them
  floor   the same two messages between two bare nodes, same executor, QoS and core: each reads
          the numbers that it gets, puts them into its answer, and does nothing else
  usual   simulator physics and computed torque in nodes as they are usually written:
          SingleThreadedExecutor, a fresh message each time
Rows are measured in turn, several rounds, and the median counts.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import JointState

from arm_controllers.laws.computed_torque import ComputedTorque, ComputedTorqueParameters
from arm_controllers.reference import Reference
from arm_controllers.ros.messages import set_stamp, to_ns
from arm_controllers.ros.qos import CONTROL_INPUT_QOS, CONTROL_QOS, STATE_QOS
from arm_controllers.ros.running import make_executor, pin_to_core
from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader, JointStateWriter
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.parameter_files import as_arguments, files_of
from arm_sim.plants.mujoco_plant import MujocoPlant
from arm_sim.plants.plant import PlantParameters

CORE = 0
JOINTS = 6
JOINT_NAMES = [f'joint_{i}' for i in range(JOINTS)]


class BareSimulator(Node):
    """Answers each command with the next state message, and prints its rate."""

    def __init__(self):
        super().__init__('bare_simulator')
        self.steps = 0
        self.state = JointStateWriter(JOINT_NAMES, FIELDS)
        self.command = JointStateReader(JOINT_NAMES, ('position',))
        self.publisher = self.create_publisher(JointState, 'joint_states', STATE_QOS)
        self.create_subscription(
            JointState, 'joint_commands', self.on_command, CONTROL_INPUT_QOS, raw=True
        )
        self.create_timer(0.2, self.publish)

    def on_command(self, message: bytes) -> None:
        """Count and answer."""
        self.command.open(message)
        if self.command.time_ns == self.steps:
            self.state.position[:] = self.command.values('position')
            self.steps += 1
            self.publish()

    def publish(self) -> None:
        """Send the state."""
        self.publisher.publish(self.state.serialized(self.steps))


class BareController(Node):
    """Answers each state with a command message."""

    def __init__(self):
        super().__init__('bare_controller')
        self.command = JointStateWriter(JOINT_NAMES, ('position',))
        self.state = JointStateReader(JOINT_NAMES, FIELDS[:2])
        self.publisher = self.create_publisher(JointState, 'joint_commands', CONTROL_QOS)
        self.create_subscription(
            JointState, 'joint_states', self.on_state, CONTROL_INPUT_QOS, raw=True
        )

    def on_state(self, message: bytes) -> None:
        """Answer."""
        self.state.open(message)
        self.command.position[:] = self.state.values('position')
        self.command.position += self.state.values('velocity')
        self.publisher.publish(self.command.serialized(self.state.time_ns))


def arm() -> RobotModel:
    """Return the arm of both nodes."""
    return RobotModel.from_urdf(find_urdf('ur5e'), armature=0.1)


class UsualSimulator(Node):
    """A simulator node as it is usually written."""

    def __init__(self):
        super().__init__('usual_simulator')
        self.steps = 0
        parameters = PlantParameters(actuator='torque')
        self.plant = MujocoPlant(arm(), parameters)
        self.publisher = self.create_publisher(JointState, 'joint_states', 10)
        self.create_subscription(JointState, 'joint_commands', self.on_command, 10)
        self.create_timer(0.2, self.publish)

    def on_command(self, message: JointState) -> None:
        """Step and answer."""
        if to_ns(message.header.stamp) == self.steps:
            self.plant.step(np.array(message.effort))
            self.steps += 1
            self.publish()

    def publish(self) -> None:
        """Send the state in a fresh message."""
        message = JointState()
        set_stamp(message.header.stamp, self.steps)
        message.name = list(self.plant.joint_names)
        message.position = self.plant.q.tolist()
        message.velocity = self.plant.v.tolist()
        message.effort = self.plant.effort.tolist()
        self.publisher.publish(message)


class UsualController(Node):
    """A computed-torque node as it is usually written."""

    def __init__(self):
        super().__init__('usual_controller')
        self.model = arm()
        self.law = ComputedTorque(self.model, ComputedTorqueParameters())
        self.reference = Reference(JOINTS)
        self.publisher = self.create_publisher(JointState, 'joint_commands', 10)
        self.create_subscription(JointState, 'joint_states', self.on_state, 10)

    def on_state(self, state: JointState) -> None:
        """Answer with a fresh message."""
        tau = self.law(np.array(state.position), np.array(state.velocity), self.reference, 0.002)
        message = JointState()
        message.header.stamp = state.header.stamp
        message.name = list(state.name)
        message.effort = tau.tolist()
        self.publisher.publish(message)


ROLES = {
    'floor': (BareSimulator, BareController),
    'usual': (UsualSimulator, UsualController),
}


def run_role(row: str, side: int) -> None:
    """Run one of the two nodes of a row; the simulator side prints its steps every 0.25 s."""
    rclpy.init()
    node = ROLES[row][side]()
    executor = SingleThreadedExecutor() if row == 'usual' else make_executor()
    executor.add_node(node)
    if row == 'floor':
        pin_to_core(CORE)
    if side == 0:
        node.create_timer(0.25, lambda: print(time.monotonic(), node.steps, flush=True))
    while rclpy.ok():
        executor.spin_until_future_complete(rclpy.task.Future(), timeout_sec=1.0)


def measure_bare(row: str, seconds: float) -> float:
    """Return cycles per second of the 'floor' or 'usual' row."""
    command = [sys.executable, __file__, '--role', row]
    with (
        subprocess.Popen([*command, '0'], stdout=subprocess.PIPE, text=True) as simulator,
        subprocess.Popen([*command, '1']) as controller,
    ):
        assert simulator.stdout is not None
        lines = []
        end = None
        for line in simulator.stdout:
            moment, steps = map(float, line.split())
            if steps > 50:
                end = end or time.monotonic() + seconds
                lines.append((moment, steps))
                if time.monotonic() > end:
                    break
        for process in (simulator, controller):
            process.kill()
    return _rate(lines)


def measure_loop(seconds: float) -> float:
    """Return cycles per second of the real simulator and servo controller."""
    run = [sys.executable, '-m', 'arm_sim.executables']
    arguments = ['--ros-args', *as_arguments(files_of('ur5e')), '-p', f'core:={CORE}']
    level = ['-p', 'autostart:=true', '-p', 'feedforward:=discrete']
    rclpy.init()
    node = Node('stopwatch')
    lines: list[tuple[float, float]] = []
    from rosgraph_msgs.msg import Clock

    period = 0.002
    node.create_subscription(
        Clock,
        '/clock',
        lambda m: lines.append((time.monotonic(), to_ns(m.clock) * 1e-9 / period)),
        CONTROL_INPUT_QOS,
    )
    quiet = ['-p', 'clock_rate:=0.5']
    with (
        subprocess.Popen([*run, 'simulator', *arguments, *quiet]) as simulator,
        subprocess.Popen([*run, 'servo_controller', *arguments, *level]) as controller,
    ):
        executor = make_executor()
        executor.add_node(node)
        while len(lines) < 3:
            executor.spin_once(timeout_sec=0.1)
        lines.clear()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
        for process in (simulator, controller):
            process.kill()
    node.destroy_node()
    rclpy.shutdown()
    return _rate(lines)


def _rate(lines: list[tuple[float, float]]) -> float:
    (t0, n0), (t1, n1) = lines[0], lines[-1]
    return (n1 - n0) / (t1 - t0)


def main() -> None:
    """Measure all rows and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=4.0, help='of each measurement')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--json', type=Path, help='file for the numbers')
    parser.add_argument('--role', nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role:
        run_role(options.role[0], int(options.role[1]))
        return
    os.environ.setdefault('ROS_DOMAIN_ID', '97')
    rows = {'loop': measure_loop}
    rows |= {row: (lambda s, row=row: measure_bare(row, s)) for row in ROLES}
    rates: dict[str, list[float]] = {row: [] for row in rows}
    for number in range(options.rounds):
        for row, measure in rows.items():
            rates[row].append(measure(options.seconds))
            print(f'round {number + 1}: {row:6s} {rates[row][-1]:8.0f} cycles/s', flush=True)
    median = {row: statistics.median(values) for row, values in rates.items()}
    print(f'\n{"":8s}{"cycles/s":>10s}{"of floor":>10s}{"of usual":>10s}')
    for row, value in median.items():
        floor, usual = value / median['floor'], value / median['usual']
        print(f'{row:8s}{value:10.0f}{floor:10.2f}{usual:10.2f}')
    if options.json:
        options.json.write_text(json.dumps({'median': median, 'all': rates}, indent=2) + '\n')


if __name__ == '__main__':
    main()
