"""What a benchmark's numbers depend on, printed with them; and a ROS domain of its own."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from arm_sim.own_domain import own_domain as own_domain_of_process

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
