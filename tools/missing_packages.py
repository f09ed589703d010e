"""Says in one line what the sourced ROS 2 lacks for arm_sim; fails where Python has no rclpy."""

import sys
from importlib.util import find_spec
from pathlib import Path

import rclpy  # noqa: F401

ROOT = Path(__file__).resolve().parent.parent
MODULES = {'EAIK': 'eaik', 'pin': 'pinocchio', 'pyyaml': 'yaml'}  # where not the package's name


def main() -> None:
    """Print the line, or nothing."""
    lines = (ROOT / 'requirements.txt').read_text().splitlines()
    names = [line.split('>=')[0] for line in lines if line and not line.startswith('#')]
    python = [name for name in names if not find_spec(MODULES.get(name, name))]
    found = []
    if python:
        command = f'python3 -m pip install -r {ROOT}/requirements.txt'
        found.append(f'Python packages are missing: {" ".join(python)} ({command})')
    if not find_spec('control_msgs'):
        command = f'rosdep install --from-paths {ROOT} {ROOT}/arm_interfaces --ignore-src'
        found.append(f'ROS packages are missing: control_msgs ({command})')
    sys.stdout.write('; '.join(found))


main()
