"""What benchmarks share: conditions printed with their numbers, a ROS domain, rows in turn."""

import json
import os
import platform
import statistics
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from arm_lab.own_domain import own_domain as own_domain_of_process

Row = dict[str, float]  # a measurement's numbers by name
PACKAGES = ('numpy', 'numba', 'mujoco', 'pin', 'rclpy')


def conditions() -> dict[str, str]:
    """Return machine, load and versions."""
    return {'machine': _machine(), 'load': _load(), 'versions': _versions()}


def print_conditions() -> None:
    """Print machine, load and versions, a line each."""
    for name, value in conditions().items():
        print(f'{name}: {value}', flush=True)


def own_domain() -> str:
    """Let this process and what it starts use a ROS domain that no other benchmark here has.

    Else an arm that somebody runs on the default one would answer. It is held until the process
    ends.
    """
    os.environ['ROS_DOMAIN_ID'] = number = own_domain_of_process()
    return number


def rounds_parser(text: str, seconds: float) -> ArgumentParser:
    """Return the command line of a benchmark that measures rows in turn; `text`: its docstring."""
    parser = ArgumentParser(description=text.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=seconds, help='of each measurement')
    parser.add_argument('--rounds', type=int, default=3, help='of which medians count')
    parser.add_argument('--json', type=Path, help='file for the numbers')
    return parser


def in_turn(
    measures: Mapping[str, Callable[[float], Row]], seconds: float, rounds: int
) -> dict[str, list[Row]]:
    """Return the numbers of each row, round by round, printed as they come.

    `measures`: by row, what measures it for so many seconds.
    """
    found: dict[str, list[Row]] = {row: [] for row in measures}
    for number in range(1, rounds + 1):
        for row, measure in measures.items():
            found[row].append(measure(seconds))
            told = ', '.join(f'{name} {value:.4g}' for name, value in found[row][-1].items())
            print(f'round {number}: {row}: {told}', flush=True)
    return found


def medians(found: Mapping[str, list[Row]]) -> dict[str, Row]:
    """Return the median of each number of each row over its rounds."""
    return {
        row: {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
        for row, rounds in found.items()
    }


def write_json(file: Path | None, found: Mapping[str, list[Row]]) -> None:
    """Write medians and all numbers with their conditions, where a file is asked for."""
    if file is not None:
        report = {'conditions': conditions(), 'median': medians(found), 'all': found}
        file.write_text(json.dumps(report, indent=2) + '\n')


def _machine() -> str:
    told = Path('/proc/cpuinfo')
    lines = told.read_text().splitlines() if told.is_file() else []
    names = [line.partition(':')[2].strip() for line in lines if line.startswith('model name')]
    cores = f'{os.cpu_count()} cores'
    return ', '.join([platform.system(), platform.machine(), *names[:1], cores])


def _load() -> str:
    return ' '.join(f'{each:.1f}' for each in os.getloadavg()) + ' (1, 5, 15 min)'


def _versions() -> str:
    found = [f'Python {platform.python_version()}']
    for name in PACKAGES:
        try:
            found.append(f'{name} {version(name)}')
        except PackageNotFoundError:
            found.append(f'{name}: not by pip')
    return ', '.join(found)
