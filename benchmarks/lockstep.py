"""Cycles per second of the lock-step loop over topics, beside its floor and the usual code.

    ./ws python benchmarks/lockstep.py [--seconds 5] [--json FILE] [--external COMMAND]

Two nodes take turns: a state message out, a command message back. In two processes:
  loop      simulator and servo controller, as `cube.launch.py` runs them
  floor     the same two messages between two bare nodes, same executor, QoS and core: each reads
            the numbers that it gets, puts them into its answer, and does nothing else
  usual     simulator physics and computed torque in nodes as they are usually written:
            SingleThreadedExecutor, a fresh message each time
  external  with --external: simulator and a controller of your own, as `controller:=external`
In one process, on one executor:
  composed  simulator and servo controller, as with `composed:=true`
  bare      the two nodes of floor
  typed     two nodes that make nothing but the same messages, as Python objects
Rows are measured in turn, several rounds, and the median counts. Beside the rate by the wall clock
stands the CPU time per cycle, of all processes of a row: it counts where others use the machine.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple

import numpy as np
import psutil
import rclpy
from conditions import conditions, own_domain, print_conditions
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from arm_controllers.laws.computed_torque import ComputedTorque, ComputedTorqueParameters
from arm_controllers.reference import Reference
from arm_controllers.ros.messages import set_stamp, to_ns
from arm_controllers.ros.qos import CONTROL_INPUT_QOS, CONTROL_QOS, STATE_QOS
from arm_controllers.ros.running import make_executor, pin_to_core
from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader, JointStateWriter
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.judging.processes import Group
from arm_sim.judging.trials import controller_command
from arm_sim.parameter_files import as_arguments, files_of
from arm_sim.plants.mujoco_plant import MujocoPlant
from arm_sim.plants.plant import COMMAND_INTERFACE, PlantParameters

CORE = 0
JOINTS = 6
PERIOD = 0.002  # of config/ur5e.yaml [s]
PATIENCE = 120  # with who does not answer [s]
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


class TypedSimulator(Node):
    """Answers each command with the next state, a Python message that is used again and again."""

    def __init__(self):
        super().__init__('typed_simulator')
        self.steps = 0
        self.state = JointState(name=JOINT_NAMES)
        self.state.velocity = self.state.effort = [0.0] * JOINTS
        self.publisher = self.create_publisher(JointState, 'joint_states', STATE_QOS)
        self.create_subscription(JointState, 'joint_commands', self.on_command, CONTROL_INPUT_QOS)
        self.create_timer(0.2, self.publish)

    def on_command(self, command: JointState) -> None:
        """Count and answer."""
        if to_ns(command.header.stamp) == self.steps:
            self.state.position = command.position
            self.steps += 1
            self.publish()

    def publish(self) -> None:
        """Send the state."""
        set_stamp(self.state.header.stamp, self.steps)
        self.publisher.publish(self.state)


class TypedController(Node):
    """Answers each state with a Python message that is used again and again."""

    def __init__(self):
        super().__init__('typed_controller')
        self.command = JointState(name=JOINT_NAMES)
        self.publisher = self.create_publisher(JointState, 'joint_commands', CONTROL_QOS)
        self.create_subscription(JointState, 'joint_states', self.on_state, CONTROL_INPUT_QOS)

    def on_state(self, state: JointState) -> None:
        """Answer."""
        self.command.header.stamp, self.command.position = state.header.stamp, state.position
        self.publisher.publish(self.command)


# The nodes of each process of a row.
ROLES = {
    'floor': ((BareSimulator,), (BareController,)),
    'usual': ((UsualSimulator,), (UsualController,)),
    'bare': ((BareSimulator, BareController),),
    'typed': ((TypedSimulator, TypedController),),
}


def run_role(row: str, process: int) -> None:
    """Run the nodes of one process of a row; the first prints its steps every 0.25 s."""
    rclpy.init()
    nodes = [make() for make in ROLES[row][process]]
    executor = SingleThreadedExecutor() if row == 'usual' else make_executor()
    for node in nodes:
        executor.add_node(node)
    if row != 'usual':
        pin_to_core(CORE)
    if process == 0:
        nodes[0].create_timer(0.25, lambda: print(time.monotonic(), nodes[0].steps, flush=True))
    while rclpy.ok():
        executor.spin_until_future_complete(rclpy.task.Future(), timeout_sec=1.0)


class Sample(NamedTuple):
    """Where a row was at a moment: wall clock [s], CPU time of its processes [s], cycles."""

    wall: float
    cpu: float
    cycles: float


class Rate(NamedTuple):
    """Cycles per second of the wall clock, and CPU time per cycle [us]."""

    wall: float
    cpu: float

    @classmethod
    def between(cls, first: Sample, last: Sample) -> 'Rate':
        """Return the rate from one moment to another."""
        count = last.cycles - first.cycles
        return cls(count / (last.wall - first.wall), 1e6 * (last.cpu - first.cpu) / count)


def cpu_time(processes: Sequence[subprocess.Popen | Group]) -> float:
    """Return the CPU time that processes have used, with those that they started [s]."""
    first = [psutil.Process(each.pid) for each in processes]
    used = (own.cpu_times() for each in first for own in (each, *each.children(recursive=True)))
    return sum(each.user + each.system for each in used)


def measure_bare(row: str, seconds: float) -> Rate:
    """Return the rate of a row of ROLES."""
    command = [sys.executable, __file__, '--role', row]
    processes = [
        subprocess.Popen([*command, str(k)], stdout=None if k else subprocess.PIPE, text=True)
        for k in range(len(ROLES[row]))
    ]
    samples: list[Sample] = []
    try:
        assert processes[0].stdout is not None
        for line in processes[0].stdout:
            moment, steps = map(float, line.split())
            if steps > 50:
                samples.append(Sample(moment, cpu_time(processes), steps))
                if moment > samples[0].wall + seconds:
                    break
    finally:
        end(processes)
    return Rate.between(samples[0], samples[-1])


def measure_loop(composed: bool, seconds: float) -> Rate:
    """Return the rate of the real simulator and servo controller, in one or two processes."""
    nodes = ['simulator', 'servo_controller']
    told = (
        *(f'{node}:core:={CORE}' for node in nodes),
        'servo_controller:autostart:=true',
        'servo_controller:feedforward:=discrete',
    )
    starts = [['composed', *nodes]] if composed else [[node] for node in nodes]
    processes = [subprocess.Popen(executable(start, told)) for start in starts]
    try:
        return measure_clock(seconds, lambda: cpu_time(processes))
    finally:
        end(processes)


def measure_external(command: str, actuator: str, seconds: float) -> Rate:
    """Return the rate of the real simulator and a controller that is a command of the user's."""
    told = (f'simulator:core:={CORE}', f'simulator:actuator:={actuator}')
    simulator = subprocess.Popen(executable(['simulator'], told))
    try:
        with (
            NamedTemporaryFile() as log,
            Group(controller_command([command]), Path(log.name), os.environ) as own,
        ):
            return measure_clock(seconds, lambda: cpu_time([simulator, own]))
    finally:
        end([simulator])


def executable(words: Sequence[str], told: Sequence[str]) -> list[str]:
    """Return the command that runs executables of this package for the UR5e."""
    files = as_arguments(files_of('ur5e'))
    command = [sys.executable, '-m', 'arm_sim.executables', *words, '--ros-args', *files]
    for each in ('simulator:clock_rate:=0.5', *told):
        command += ['-p', each]
    return command


def measure_clock(seconds: float, cpu: Callable[[], float]) -> Rate:
    """Return the rate of the simulator that publishes /clock; `cpu` tells the CPU time [s]."""
    rclpy.init()
    node = Node('stopwatch')
    samples: list[Sample] = []

    def on_clock(message: Clock) -> None:
        cycles = to_ns(message.clock) * 1e-9 / PERIOD
        samples.append(Sample(time.monotonic(), cpu(), cycles))

    node.create_subscription(Clock, '/clock', on_clock, CONTROL_INPUT_QOS)
    executor = make_executor()
    executor.add_node(node)
    begin = time.monotonic()
    try:
        while len(samples) < 3:
            executor.spin_once(timeout_sec=0.1)
            if time.monotonic() > begin + PATIENCE:
                raise SystemExit(f'no answer on joint_commands to joint_states for {PATIENCE} s')
        first = samples[-1]
        while samples[-1].wall < first.wall + seconds:
            executor.spin_once(timeout_sec=0.1)
    finally:
        node.destroy_node()
        rclpy.shutdown()
    return Rate.between(first, samples[-1])


def end(processes: Sequence[subprocess.Popen]) -> None:
    """End processes at once."""
    for process in processes:
        process.kill()
        process.wait()


def main() -> None:
    """Measure all rows and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=4.0, help='of each measurement')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--json', type=Path, help='file for the numbers')
    command = 'a controller of your own beside the others, as one word: "python3 my.py"'
    parser.add_argument('--external', metavar='COMMAND', help=command)
    what = 'what its commands are (torque)'
    parser.add_argument('--actuator', choices=COMMAND_INTERFACE, default='torque', help=what)
    parser.add_argument('--role', nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.role:
        run_role(options.role[0], int(options.role[1]))
        return
    own_domain()
    print_conditions()
    measures = {
        'loop': partial(measure_loop, False),
        'floor': partial(measure_bare, 'floor'),
        'usual': partial(measure_bare, 'usual'),
        'composed': partial(measure_loop, True),
        'bare': partial(measure_bare, 'bare'),
        'typed': partial(measure_bare, 'typed'),
    }
    if options.external:
        external = partial(measure_external, options.external, options.actuator)
        measures['external'] = external
    rates: dict[str, list[Rate]] = {row: [] for row in measures}
    for number in range(options.rounds):
        for row, measure in measures.items():
            rates[row].append(measure(options.seconds))
            told = '{:8.0f} cycles/s {:8.1f} us CPU'.format(*rates[row][-1])
            print(f'round {number + 1}: {row:8s} {told}', flush=True)
    median = {
        row: Rate(*(statistics.median(each) for each in zip(*found, strict=True)))
        for row, found in rates.items()
    }
    print(f'\n{"":10s}{"cycles/s":>10s}{"CPU us":>8s}   of others, by wall clock (by CPU time)')
    for row, value in median.items():
        others = {
            'loop': ('floor', 'usual'),
            'composed': ('bare', 'typed', 'loop'),
            'external': ('loop',),
        }.get(row, ())
        shares = [
            f'{value.wall / median[other].wall:.2f} ({median[other].cpu / value.cpu:.2f}) {other}'
            for other in others
        ]
        print(f'{row:10s}{value.wall:10.0f}{value.cpu:8.1f}   {", ".join(shares)}')
    if options.json:
        report = {'conditions': conditions(), 'median': median, 'all': rates}
        options.json.write_text(json.dumps(report, indent=2) + '\n')


if __name__ == '__main__':
    main()
