"""Cycles per second of the lock-step loop over topics, compared with its floor and the usual code.

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
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import NamedTuple

import psutil
import rclpy
from bare_nodes import CORE, ROLES, run_role
from conditions import (
    Row,
    in_turn,
    medians,
    own_domain,
    print_conditions,
    rounds_parser,
    write_json,
)
from rclpy.node import Node
from rosgraph_msgs.msg import Clock

from arm_controllers.ros.messages import to_ns
from arm_controllers.ros.qos import CONTROL_INPUT_QOS
from arm_controllers.ros.running import make_executor
from arm_lab.experiments.processes import Group
from arm_lab.judging.trials import controller_command
from arm_sim.parameter_files import as_arguments, files_of
from arm_sim.simulation.plant import COMMAND_INTERFACE

PERIOD = 0.002  # of config/ur5e.yaml [s]
LONG_WAIT = 120  # with who does not answer [s]


class Sample(NamedTuple):
    """Where a row was at a moment: wall clock [s], CPU time of its processes [s], cycles."""

    wall: float
    cpu: float
    cycles: float


def rate(first: Sample, last: Sample) -> Row:
    """Return cycles per second of the wall clock, and CPU time per cycle [us]."""
    count = last.cycles - first.cycles
    cpu_us = 1e6 * (last.cpu - first.cpu) / count
    return {'rate': count / (last.wall - first.wall), 'cpu_us': cpu_us}


def cpu_time(processes: Sequence[subprocess.Popen | Group]) -> float:
    """Return the CPU time that processes have used, with those that they started [s]."""
    first = [psutil.Process(each.pid) for each in processes]
    used = (own.cpu_times() for each in first for own in (each, *each.children(recursive=True)))
    return sum(each.user + each.system for each in used)


def measure_bare(row: str, seconds: float) -> Row:
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
    return rate(samples[0], samples[-1])


def measure_loop(composed: bool, seconds: float) -> Row:
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


def measure_external(command: str, actuator: str, seconds: float) -> Row:
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


def measure_clock(seconds: float, cpu: Callable[[], float]) -> Row:
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
            if time.monotonic() > begin + LONG_WAIT:
                raise SystemExit(f'no answer on joint_commands to joint_states for {LONG_WAIT} s')
        first = samples[-1]
        while samples[-1].wall < first.wall + seconds:
            executor.spin_once(timeout_sec=0.1)
    finally:
        node.destroy_node()
        rclpy.shutdown()
    return rate(first, samples[-1])


def end(processes: Sequence[subprocess.Popen]) -> None:
    """End processes at once."""
    for process in processes:
        process.kill()
        process.wait()


def main() -> None:
    """Measure all rows and print the table."""
    parser = rounds_parser(__doc__, 4.0)
    command = 'a controller of your own, compared with the others, as one word: "python3 my.py"'
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
    found = in_turn(measures, options.seconds, options.rounds)
    middle = medians(found)
    print(f'\n{"":10s}{"cycles/s":>10s}{"CPU us":>8s}   of others, by wall clock (by CPU time)')
    for row, own in middle.items():
        others = {
            'loop': ('floor', 'usual'),
            'composed': ('bare', 'typed', 'loop'),
            'external': ('loop',),
        }.get(row, ())
        shares = [
            f'{own["rate"] / middle[other]["rate"]:.2f} '
            f'({middle[other]["cpu_us"] / own["cpu_us"]:.2f}) {other}'
            for other in others
        ]
        print(f'{row:10s}{own["rate"]:10.0f}{own["cpu_us"]:8.1f}   {", ".join(shares)}')
    write_json(options.json, found)


if __name__ == '__main__':
    main()
