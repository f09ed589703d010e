"""Packages that need not be installed."""

from importlib import import_module
from types import ModuleType

from arm_dynamics.checks import ArmError


def optional_module(name: str, lacking: str) -> ModuleType:
    """Return a module; raise ArmError with the line `lacking` where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise ArmError(lacking) from None
