"""Whether a command in the pages is one that there is: its file or executable, its arguments."""

import re
from collections.abc import Iterable
from functools import cache
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location

from launch.actions import DeclareLaunchArgument
from samples import ROOT, Sample, words

from arm_dynamics.checks import ArmError
from arm_lab.command_line import read
from arm_sim.registered import commands, nodes
from arm_sim.ros.known_parameters import known_nodes, known_parameters

# Verbs of `ros2` that pages name, and of `./ws`; what follows them is not looked at.
VERBS = (
    'action', 'bag', 'control', 'doctor', 'interface', 'lifecycle', 'node', 'param', 'pkg',
    'security', 'service', 'topic', 'daemon',
)  # fmt: skip
WS = (
    'bash', 'clean', 'cp', 'sed', 'COMMAND...', 'dask', 'docs', 'doctor', 'pip', 'rod', 'ruff',
    '--help',
)  # fmt: skip
# Placeholders for what a user has.
OF_A_USER = re.compile(r'\bmy_|\blimits\.yaml|/path/to|[A-Z]{4}|<|^\.\.\.$|host:|\.\.\.')


def fault(command: Sample) -> str:
    """Return what is wrong with a command; '' where all that it names is there."""
    try:
        first, *rest = words(command)
    except ValueError as error:
        return str(error)
    if first == 'ros2':
        return _of_ros2(rest)
    if first == 'test':
        return _missing(word for word in rest if word.startswith('test'))
    if first == 'python':
        return _of_python(rest)
    return '' if first in WS else f'./ws has no {first!r}'


def _of_ros2(given: list[str]) -> str:
    if given[:1] not in (['launch'], ['run']):
        return '' if given and given[0] in VERBS else f'ros2 has no {" ".join(given[:1])!r}'
    if given[1:2] != ['arm_sim'] or len(given) == 2:
        return ''  # of another package, or of none: the verb itself is reported
    _, _, name, *rest = given
    return _of_launch(name, rest) if given[0] == 'launch' else _of_executable(name, rest)


@cache
def launch_arguments(name: str) -> dict[str, list[str]]:
    """Return the arguments of a launch file by name, each with its choices (empty: any)."""
    spec = spec_from_file_location(name.partition('.')[0], ROOT / 'launch' / name)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    actions = module.generate_launch_description().entities
    declared = [each for each in actions if isinstance(each, DeclareLaunchArgument)]
    return {each.name: list(each.choices or ()) for each in declared}


def _of_launch(name: str, given: list[str]) -> str:
    if not (ROOT / 'launch' / name).is_file():
        return f'no launch file {name!r}'
    known = launch_arguments(name)
    for word in given:
        argument, given, value = word.partition(':=')
        if word == '--show-args':
            continue
        if not given or argument not in known:
            return f'{name} has no argument {argument!r}'
        choices = known[argument]
        if choices and not OF_A_USER.search(value) and not {*value.split(' | ')} <= {*choices}:
            return f'{name}: {argument} cannot be {value!r}'
    return ''


def _of_executable(name: str, given: list[str]) -> str:
    if name == 'composed':
        return next((f'{each!r} is no node' for each in given if each not in known_nodes()), '')
    if name in nodes() or name in known_nodes():
        return _of_node(name, given)
    known = commands() | commands('ros')
    if name not in known:
        return '' if OF_A_USER.search(name) else f'no executable {name!r}'
    if not given:
        return ''  # a line of text names it
    if name == 'doctor':
        return '' if given == ['--json'] else f'doctor has no {" ".join(given)!r}'
    try:
        read(import_module(known[name]).Options, name, given)
    except ArmError as error:
        return str(error)
    return ''


def _of_node(name: str, given: list[str]) -> str:
    words = [
        each for each in given if ':=' in each and not each.startswith('__')
    ]  # __node: a remap
    given = [word.partition(':=')[0] for word in words if not OF_A_USER.search(word)]
    if name not in known_nodes():
        return ''
    known = known_parameters(name, ())
    return next((f'{name} has no parameter {each!r}' for each in given if each not in known), '')


def _of_python(given: list[str]) -> str:
    file, *rest = given
    if file == '-m' or OF_A_USER.search(file):
        return ''
    if not (ROOT / file).is_file():
        return f'no file {file!r}'
    text = (ROOT / file).read_text()
    options = (word.partition('=')[0] for word in rest if word.startswith('--'))
    wrong = (each for each in options if not (each in text or _field(each) in text))
    return next((f'{file} has no option {each}' for each in wrong), '')


def _field(option: str) -> str:
    """Return how the field of a dataclass of options begins."""
    return f'\n    {option.removeprefix("--").replace("-", "_")}: '


def _missing(paths: Iterable[str]) -> str:
    return next((f'no file {each!r}' for each in paths if not (ROOT / each).exists()), '')
