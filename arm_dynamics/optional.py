"""Packages that need not be installed, and what installs them."""

import os
from importlib import import_module
from typing import Any

from arm_dynamics.checks import ArmError


def typed(line: str) -> str:
    """Return a command line as its user types it: by `./ws`, if this process came by it."""
    return './ws ' * ('ARM_SIM_WS' in os.environ) + line


def optional_module(name: str, lacking: str) -> Any:
    """Return a module; raise ArmError with the line `lacking` where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise ArmError(lacking) from None
