"""A package outside the repository that brings laws, tasks or solvers by entry points."""

import sys
import textwrap
from pathlib import Path

from repository import ROOT


def write_plugins(
    folder: Path, modules: dict[str, str], entry_points: dict[str, dict[str, str]]
) -> Path:
    """Write what `pip install` leaves of a package; return the folder that is to be on the path.

    Args:
        folder: an empty or missing folder.
        modules: text by name of module.
        entry_points: 'module:Class' by name, by group.
    """
    package = 'plugins_of_a_user'
    for name in [each for each in sys.modules if each.partition('.')[0] == package]:
        del sys.modules[name]  # of an earlier test
    (folder / package).mkdir(parents=True)
    (folder / package / '__init__.py').touch()
    for name, text in modules.items():
        (folder / package / f'{name}.py').write_text(textwrap.dedent(text))
    info = folder / f'{package}-1.0.dist-info'
    info.mkdir()
    (info / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n')
    groups = (
        '\n'.join(
            [f'[{group}]', *(f'{name} = {package}.{value}' for name, value in given.items())]
        )
        for group, given in entry_points.items()
    )
    (info / 'entry_points.txt').write_text('\n'.join(groups) + '\n')
    return folder


# The law of the page for those who write one.
_PAGE = (ROOT / 'docs' / 'laws' / 'README.md').read_text()
LAW = _PAGE.split('```python\n')[1].split('```')[0]

# Computed torque that gives way to the force-torque sensor and to joint torque sensors.
FEELING_LAW = """
from arm_controllers.laws.computed_torque import ComputedTorque

class FeelingLaw(ComputedTorque):
    needs = 'wrench', 'effort'

    def __call__(self, state, measured, reference, dt):
        tau, state = super().__call__(state, measured, reference, dt)
        return tau + 0.02 * (measured.wrench[..., : tau.shape[-1]] - measured.effort), state
"""

# The task of the page on tasks.
_TASKS = (ROOT / 'docs' / 'tasks.md').read_text()
TASK = _TASKS.split('```python\n')[1].split('```')[0]
