"""Joint positions for poses of the tool frame: single poses and whole paths."""

from importlib import import_module
from typing import Any

# Imported when asked for: they bring a compiler.
_HOME = {
    'IkResult': 'arm',
    'IkTask': 'task',
    'InverseKinematics': 'arm',
    'Solutions': 'solver',
    'Solver': 'solver',
    'ik_task': 'task',
    'inverse_kinematics': 'arm',
    'solve_ik': 'solve',
    'solve_path_ik': 'path',
    'solver_names': 'solver',
}
__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f'{__name__}.{_HOME[name]}'), name)
    raise AttributeError(f'module {__name__} has no {name!r}')
