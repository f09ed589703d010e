"""Nodes, commands and their Python calls, by the names in their own files; to look imports none.

- `ros/my_thing_node.py` with the class `MyThingNode` is the node `my_thing`;
- `commands/my_study.py`, or one in a folder `ros`, with a function `main` is a command;
- `my_thing_launch.py` brings the launch arguments and the process of a node beside an arm;
- `my_call = call(...)` at the left margin of a command is the function `arm_sim.my_call`.

setup.py runs this file alone: it imports nothing else of the package.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

_ROOT = Path(__file__).parent.parent
# Nodes with an executable for each law or task: pd_controller.
OF_MANY = ('controller', 'task')
_NODE = '_node'  # the end of the name of a node's module
_MAIN = re.compile(r'^(def main\(|main = )', re.MULTILINE)
_CALL = re.compile(r'^(\w+) = call\(', re.MULTILINE)
_LAWS, _TASKS = 'arm_controllers/laws', 'arm_*/tasks'


@cache
def nodes() -> dict[str, str]:
    """Return the module of each node by the node's name."""
    found = {path.stem.removesuffix(_NODE): path for path in _files(f'ros/*{_NODE}.py')}
    return {name: _module(path) for name, path in found.items()}


@cache
def launches() -> list[str]:
    """Return the modules of processes that launch arguments request beside an arm's nodes."""
    return [_module(path) for path in _files('*_launch.py')]


def node_class(name: str) -> Any:
    """Return the class of a node, whose module is imported."""
    module = nodes()[name]
    return getattr(import_module(module), class_name(module))


def class_name(module: str) -> str:
    """Return the name of the class in a node's module."""
    return module.rpartition('.')[2].title().replace('_', '')


def node_of(executable: str) -> str:
    """Return the node that an executable runs: `pd_controller` runs `controller`; '': none."""
    if executable in nodes():
        return executable
    ending = executable.rpartition('_')[2]
    return ending if ending in OF_MANY else ''


@cache
def commands(folder: str = 'commands') -> dict[str, str]:
    """Return the module of each command in folders of this name; `ros`: those that need ROS."""
    paths = [path for path in _files(f'{folder}/*.py') if not path.stem.endswith(_NODE)]
    return {path.stem: _module(path) for path in paths if _MAIN.search(path.read_text())}


@cache
def calls() -> dict[str, str]:
    """Return the module of each function of `arm_sim` by the function's name."""
    found = {'explore': 'arm_sim.notebook'}
    for path in _files('commands/*.py'):
        found |= dict.fromkeys(_CALL.findall(path.read_text()), _module(path))
    return found


def executables() -> list[str]:
    """Return the names for `ros2 run`: a law and a task of the package have one each."""
    laws = sorted(path.stem for path in (_ROOT / _LAWS).glob('[!_]*.py'))
    # A folder without modules is what git leaves where a task has moved.
    folders = [path.parent for path in _ROOT.glob(f'{_TASKS}/[!_]*/__init__.py')]
    tasks = sorted(path.stem for path in (*_ROOT.glob(f'{_TASKS}/[!_]*.py'), *folders))
    return [
        *(name for name in nodes() if name != 'task'),
        'composed',
        *commands(),
        *commands('ros'),
        *(f'{law}_controller' for law in laws),
        *(f'{task}_task' for task in (*tasks, 'comparison')),
    ]


def _files(pattern: str) -> Iterator[Path]:
    for package in sorted(_ROOT.glob('arm_*')):
        yield from sorted(package.rglob(pattern))


def _module(path: Path) -> str:
    return '.'.join(path.relative_to(_ROOT).with_suffix('').parts)
