"""Start and end a launch many times, at random moments, and count how its processes ended.

    ./ws python benchmarks/starts_and_ends.py --count 50 --mode realtime
    ./ws python benchmarks/starts_and_ends.py --count 20 -- cube.launch.py viewer:=true

Each time `ros2 launch arm_sim <file>` gets one Ctrl-C, as a terminal sends it: SIGINT to the
whole process group; or (`--alone`) to `ros2 launch` only, which then waits 3 s before it ends its
processes by SIGTERM. Printed are the exit codes of the launches and of their processes, `hung` for
a launch that was still there `--wait` seconds later, and `left` for its processes; these are
killed. In order is 0, 130 (a task), -2 or -15, by the signal itself: a process that still loaded,
and `1 while Python started`, which is Python's own. The exit code is 1 if any ended otherwise.
Every other Ctrl-C comes while the nodes start, the others after the simulator has shown its arm.
"""

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import IO

import psutil
from conditions import own_domain, print_conditions

STARTED = re.compile(r'\[(\w+)-\d+\]: process started with pid \[(\d+)\]')
DIED = re.compile(r'\[(\w+)-\d+\]: process has died \[pid \d+, exit code (-?\d+)')
LEFT = 'left_over'
EARLY = re.compile(r'\[(\w+)-\d+\] Fatal Python error: init_')
READY = 'model and plant agree'
CLEAN = re.compile(r'\[(\w+)-\d+\]: process has finished cleanly')


def main() -> int:
    """Start, end, count, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--count', type=int, default=20, help='how often')
    parser.add_argument('--mode', default='lockstep', choices=['lockstep', 'realtime'])
    parser.add_argument('--longest', type=float, default=12.0, help='latest Ctrl-C [s]')
    parser.add_argument('--wait', type=float, default=20.0, help='for an end [s]')
    parser.add_argument('--alone', action='store_true', help='no SIGINT to its processes')
    parser.add_argument('--seed', type=int, default=0, help='of the moments')
    parser.add_argument('launch', nargs='*', default=['arm.launch.py'], help='file, arguments')
    given = parser.parse_args()
    own_domain()
    print_conditions()
    rng = random.Random(given.seed)
    launches, ends = Counter(), Counter()
    for i in range(given.count):
        moment = rng.uniform(0.5, given.longest)
        ready = READY if i % 2 else ''
        command = ['ros2', 'launch', 'arm_sim', *given.launch, f'mode:={given.mode}']
        code, log = once(command, ready, moment, given.wait, not given.alone)
        launches[code] += 1
        ends.update(endings(log))
        if code not in ('0', '-2') or not all(map(in_order, endings(log))):
            file = Path(tempfile.gettempdir()) / f'starts_and_ends_{os.getpid()}_{i}.log'
            file.write_text(log)
            where = 'the arm was there' if ready else 'the start'
            print(
                f'{i}: Ctrl-C {moment:.2f} s after {where}: launch {code}, see {file}', flush=True
            )
    print(f'{given.count} x {" ".join(given.launch)} in {given.mode}')
    for what, counted in (('ros2 launch', launches), ('process', ends)):
        for how, count in sorted(counted.items()):
            print(f'  {what:12s} {how:40s} {count:5d}')
    return 0 if all(map(in_order, ends)) and not launches['hung'] else 1


def in_order(ending: str) -> bool:
    """Whether that is how a process ends, asked to."""
    name, _, how = ending.rpartition(' ')
    return how in ('0', '-2', '-15', 'started') or (name.endswith('_task') and how == '130')


def once(
    command: list[str], ready: str, moment: float, long_wait: float, whole_group: bool
) -> tuple[str, str]:
    """Run a launch to its end; return its exit code, or 'hung', and what it printed.

    Ctrl-C comes `moment` [s] after it has printed `ready`, at once if that is empty.
    """
    with tempfile.TemporaryFile('w+') as output:
        launch = subprocess.Popen(
            command, stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
        while ready not in printed_by(output) and launch.poll() is None:
            time.sleep(0.1)
        time.sleep(moment)
        if launch.poll() is None:
            (os.killpg if whole_group else os.kill)(launch.pid, signal.SIGINT)
        try:
            code = str(launch.wait(long_wait))
        except subprocess.TimeoutExpired:
            code = 'hung'
            launch.kill()
            launch.wait()
        log = printed_by(output)
    pids = [int(pid) for _, pid in STARTED.findall(log)]
    left = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    _, alive = psutil.wait_procs(left, timeout=5.0)
    for process in alive:
        process.kill()
    return code, log + ''.join(f'[{LEFT}-0]: process has finished cleanly\n' for _ in alive)


def printed_by(output: IO[str]) -> str:
    """Return what has been printed to a file up to now."""
    return os.pread(output.fileno(), 10_000_000, 0).decode(errors='replace')


def endings(log: str) -> Counter[str]:
    """Return how the processes of a launch ended, by name; 'unknown': it was not said."""
    started = Counter(name for name, _ in STARTED.findall(log))
    early = Counter(EARLY.findall(log))
    told = []
    for name, code in DIED.findall(log):
        early[name] -= code == '1'
        told.append(
            f'{name} {code}' + ' while Python started' * (code == '1' and early[name] >= 0)
        )
    told += [f'{name} 0' for name in CLEAN.findall(log)]
    found = Counter(told)
    if f'{LEFT} 0' in found:
        found['a process left'] = found.pop(f'{LEFT} 0')
    for name, count in started.items():
        missing = count - sum(n for end, n in found.items() if end.startswith(f'{name} '))
        if missing > 0:
            found[f'{name} unknown'] = missing
    return found


if __name__ == '__main__':
    sys.exit(main())
