"""An arm in real time on a busy machine: how often it brakes, and which rate is carried.

    ./ws python benchmarks/real_time.py [--loads 0 2 4 8] [--rates 500 250 125] [--seconds 45]

Each row starts `arm.launch.py`, then so many busy loops in the same session, and counts how often
the simulator brakes the arm for want of a command: with `command_wait:=0` at once when the newest
command is older than `command_timeout`, and by default after a further second of the wall clock.
`real time`: simulated over wall-clock time. `oldest command`: simulated time.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import rclpy
from conditions import own_domain, print_conditions
from diagnostic_msgs.msg import DiagnosticArray

from arm_controllers.ros.running import make_executor

LOST, AGE, FACTOR = 'brakings without command', 'oldest command [ms]', 'real time factor'
START = 120.0  # longest start of a launch [s]
CONFIG = """
/**: {{ros__parameters: {{timestep: {timestep}}}}}
simulator: {{ros__parameters: {{command_wait: {wait}}}}}
"""
HEADER = f'{"load":>4s} {"rate [Hz]":>9s} {"wait [s]":>8s} {"brakes/min":>10s} {"real time":>9s}'


def main() -> int:
    """Print a row for each load, rate and wait."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--loads', type=int, nargs='+', default=[0, 2, 4, 8], help='busy loops')
    parser.add_argument('--rates', type=int, nargs='+', default=[500, 250, 125], help='[Hz]')
    parser.add_argument('--waits', type=float, nargs='+', default=[0.0, 1.0], help='[s]')
    parser.add_argument('--seconds', type=float, default=45.0, help='of each row')
    given = parser.parse_args()
    own_domain()
    print_conditions()
    rclpy.init()
    print(f'{HEADER} {"oldest command [ms]":>19s}')
    for load in given.loads:
        for rate in given.rates:
            for wait in given.waits:
                brakes, factor, age = row(load, rate, wait, given.seconds)
                print(
                    f'{load:4d} {rate:9d} {wait:8.3g} {brakes * 60 / given.seconds:10.3g} '
                    f'{factor:9.0%} {age:19.0f}',
                    flush=True,
                )
    return 0


def row(load: int, rate: int, wait: float, seconds: float) -> tuple[int, float, float]:
    """Return the number of brakings, the share of real time, and the oldest command [ms]."""
    node, values = rclpy.create_node('watcher'), []
    node.create_subscription(DiagnosticArray, '/diagnostics', lambda m: values.extend(of(m)), 100)
    executor = make_executor()
    executor.add_node(node)

    def spin(length: float) -> None:
        end = time.monotonic() + length
        while time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)

    with ExitStack() as stack, tempfile.TemporaryDirectory() as folder:
        log, config = Path(folder) / 'log', Path(folder) / 'config.yaml'
        config.write_text(CONFIG.format(timestep=1 / rate, wait=wait))
        command = ['ros2', 'launch', 'arm_sim', 'arm.launch.py', f'config:={config}']
        file = stack.enter_context(log.open('wb'))
        arm = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, process_group=0)
        stack.callback(end_of, arm)
        latest = time.monotonic() + START
        while not any(factor > 0.1 for _, _, factor in values):
            spin(0.5)
            if time.monotonic() > latest or arm.poll() is not None:
                raise SystemExit(log.read_text())
        spin(2.0)
        before = values[-1][0]
        values.clear()
        for _ in range(load):
            busy = subprocess.Popen([sys.executable, '-c', 'while True: pass'])
            stack.callback(busy.kill)
        spin(seconds)
    node.destroy_node()
    brakes, ages, factors = zip(*values, strict=True)
    return brakes[-1] - before, sum(factors) / len(factors), max(ages)


def of(message: DiagnosticArray) -> list[tuple[int, float, float]]:
    """Return brakings, age of the oldest command [ms] and real-time factor of each simulator."""
    told = ({pair.key: pair.value for pair in status.values} for status in message.status)
    return [
        (int(each[LOST]), float(each[AGE]), float(each[FACTOR])) for each in told if AGE in each
    ]


def end_of(launch: subprocess.Popen) -> None:
    """End a launch as Ctrl-C does, or by force after a while."""
    if launch.poll() is not None:
        return
    os.killpg(launch.pid, signal.SIGINT)
    try:
        launch.wait(30.0)
    except subprocess.TimeoutExpired:
        os.killpg(launch.pid, signal.SIGKILL)
        launch.wait()


if __name__ == '__main__':
    sys.exit(main())
