"""Processes of the cube's launch are stopped again and again: the same bits, or what was lost.

    ./ws python benchmarks/stopped_processes.py [--launches 5] [--stops 5] [--seconds 5] [--seed 1]

Each launch draws the cube in lock-step while one process after another, drawn at random, gets
SIGSTOP at a random moment and SIGCONT after so many seconds. Counted are launches that ended with
exit code 0 and the checksum of the first launch, in which nothing is stopped.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import psutil
from conditions import own_domain, print_conditions

NAMES = ('simulator', 'servo_controller', 'inverse_kinematics', 'cube_task')


def draw(stops: int, seconds: float, rng: random.Random) -> tuple[int, str, int]:
    """Launch once; return exit code, checksum ('' without a report), and processes stopped."""
    with tempfile.TemporaryDirectory() as folder:
        command = ['ros2', 'launch', 'arm_sim', 'cube.launch.py', f'output_dir:={folder}']
        launch = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stopped = 0
        while stopped < stops and launch.poll() is None:
            time.sleep(rng.uniform(0.0, 2.0))
            stopped += stop(psutil.Process(launch.pid), rng.choice(NAMES), seconds)
        code, report = launch.wait(), Path(folder) / 'report.json'
        checksum = json.loads(report.read_text())['checksum'] if report.is_file() else ''
        return code, checksum, stopped


def stop(launch: psutil.Process, name: str, seconds: float) -> bool:
    """Stop a process of a launch for a while; return whether it was there."""
    try:
        for each in launch.children(recursive=True):
            if f'lib/arm_sim/{name}' in ' '.join(each.cmdline()):
                each.send_signal(signal.SIGSTOP)
                time.sleep(seconds)
                each.send_signal(signal.SIGCONT)
                return True
    except psutil.NoSuchProcess:
        pass
    return False


def main() -> int:
    """Print a line per launch, and the count of those that changed nothing."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('--launches', type=int, default=5)
    parser.add_argument('--stops', type=int, default=5, help='in each launch')
    parser.add_argument('--seconds', type=float, default=5.0, help='of each stop')
    parser.add_argument('--seed', type=int, default=1)
    options = parser.parse_args()
    own_domain()
    print_conditions()
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    rng = random.Random(options.seed)
    _, expected, _ = draw(0, 0.0, rng)
    same = total = 0
    for k in range(options.launches):
        code, checksum, stopped = draw(options.stops, options.seconds, rng)
        same += code == 0 and checksum == expected != ''
        total += stopped
        print(f'{k}: {stopped} stops, exit code {code}, {checksum[:16]}', flush=True)
    print(f'{same} of {options.launches} launches as {expected[:16]}, {total} stops')
    return 0 if same == options.launches else 1


if __name__ == '__main__':
    raise SystemExit(main())
