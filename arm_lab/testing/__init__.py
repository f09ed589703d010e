"""For tests of your own controllers: docs/testing.md.

The fixtures of `plugin` are those of pytest, which finds them by itself where this package is
installed. What is not a fixture is imported from here, at its first use.
"""

from importlib import import_module
from typing import Any

from arm_lab.testing.plugin import judge, ros_domain, start_arm

__all__ = ['ArmError', 'SimulatedArm', 'judge', 'judged', 'reach', 'ros_domain',
           'start_arm', 'when_ready']  # fmt: skip
_LATER = {
    'ArmError': 'arm_dynamics.checks',
    'SimulatedArm': 'arm_lab.testing.ros.simulated_arm',
    'judged': 'arm_lab.testing.judged',
    'reach': 'arm_lab.testing.ros.reach',
    'when_ready': 'arm_lab.testing.launching.ready',
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    return getattr(import_module(_LATER[name]), name)
