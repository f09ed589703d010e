"""Prints what this Python lacks of requirements.txt; fails where it has no rclpy."""

import importlib.util
import sys
from pathlib import Path

import rclpy  # noqa: F401

MODULES = {'EAIK': 'eaik', 'pin': 'pinocchio', 'pyyaml': 'yaml'}  # where not the package's name

requirements = Path(__file__).parent.parent.joinpath('requirements.txt').read_text().splitlines()
names = [line.split('>=')[0] for line in requirements if line and not line.startswith('#')]
missing = [name for name in names if not importlib.util.find_spec(MODULES.get(name, name))]
sys.stdout.write(' '.join(missing))
