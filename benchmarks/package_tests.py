"""The tests of an example package again and again, under load: failures and checksums.

    ./ws python benchmarks/package_tests.py --runs 200 --load 8

Each run is a pytest of its own, in a process of its own; the load are processes that count.
"""

import argparse
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from conditions import print_conditions

PACKAGE = Path(__file__).parents[1] / 'examples' / 'controller_package'
TEST = 'test/test_my_controller.py::test_it_reaches_its_goals_although_it_is_pushed'
REPORT = 10  # runs from one line of progress to the next
_LONGEST = 600.0  # of a run, which has failed then [s]


def main() -> int:
    """Print the table; return 1 after a failure, or with several checksums."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--runs', type=int, default=10)
    parser.add_argument('--load', type=int, default=0, help='number of processes that count')
    parser.add_argument('--at-once', type=int, default=2, help='runs at the same time')
    parser.add_argument('--seconds', type=float, default=1e9, help='no run begins later [s]')
    parser.add_argument('--test', default=TEST)
    given = parser.parse_args()
    print_conditions()
    words = [sys.executable, '-c', 'while True: pass']
    load = [subprocess.Popen(words) for _ in range(given.load)]
    begun = time.monotonic()
    try:
        codes, sums = repeated(given, begun)
    finally:
        for each in load:
            each.kill()
            each.wait()
    print_counts(codes, sums, begun)
    for name, count in sums.most_common():
        print(f'{count:5} {name}')
    return int(codes[0] < codes.total() or len(sums) > 1)


def print_counts(codes: Counter[int], sums: Counter[str], begun: float) -> None:
    """Print how many runs there were, and how they ended."""
    print(
        f'{codes.total()} runs in {time.monotonic() - begun:.0f} s at load '
        f'{os.getloadavg()[0]:.1f}: {codes.total() - codes[0]} failures, {len(sums)} checksum(s)',
        flush=True,
    )


def repeated(given: argparse.Namespace, begun: float) -> tuple[Counter[int], Counter[str]]:
    """Return how often each exit code and each checksum came."""
    codes, sums = Counter[int](), Counter[str]()
    command = [sys.executable, '-m', 'pytest', given.test, '-q', '-s', '-p', 'no:cacheprovider']
    path = os.pathsep.join(filter(None, [str(PACKAGE), os.environ.get('PYTHONPATH')]))
    running: list[subprocess.Popen[str]] = []
    left = given.runs
    while left or running:
        while left and len(running) < given.at_once:
            if time.monotonic() - begun > given.seconds:
                left = 0
                break
            left -= 1
            running.append(
                subprocess.Popen(
                    [*command, '--rootdir', '.'], cwd=PACKAGE, text=True, stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT, env=os.environ | {'PYTHONPATH': path},
                )
            )  # fmt: skip
        if running:
            one = running.pop(0)
            try:
                output, _ = one.communicate(timeout=_LONGEST)
            except subprocess.TimeoutExpired:
                one.send_signal(signal.SIGINT)  # it ends its processes
                output, _ = one.communicate()
            codes[one.returncode] += 1
            sums.update(re.findall(r'checksum (\w+)', output))
            if one.returncode:
                print(output, flush=True)
            if not codes.total() % REPORT and (left or running):
                print_counts(codes, sums, begun)
    return codes, sums


if __name__ == '__main__':
    sys.exit(main())
