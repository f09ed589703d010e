"""The package's executables: each imports its node only after Ctrl-C ends it without traceback.

`python -m arm_sim NAME ...` runs one where they are not installed.
"""

import atexit
import gc
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from itertools import takewhile
from re import fullmatch

from arm_sim import standard_output
from arm_sim.cut_bytecode import cut_file, deleted
from arm_sim.extras import missing
from arm_sim.parent_process import LAUNCH, end_with_parent, runs
from arm_sim.process_limits import missing_resource
from arm_sim.registered import class_name, commands, executables, node_of, nodes

_OF_ROS = 'rclpy', 'builtin_interfaces', 'control_msgs', 'arm_interfaces'
# The nodes that one process may run together, as a pattern and in words.
_OF_AN_ARM = r'simulator|inverse_kinematics|\w+_controller'
_WORDS = 'simulator, <law>_controller, inverse_kinematics'
_PARAMETER = '--ros-args -p robot:=ur5e'


def _run(name: str, start: Callable[[], int]) -> int:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])  # a launch has blocked it
    standard_output.keep()
    if lacking := missing_resource():
        print(f'{name}: {lacking}', file=sys.stderr)
        return 1
    if LAUNCH in os.environ:
        end_with_parent()
        if not runs(os.environ[LAUNCH]):  # it ended before this one asked
            return 1
    code = 0

    def end() -> None:
        """End at once: to unload the libraries takes Python as long as to load them."""
        os._exit(standard_output.end(name, code))

    atexit.register(end)  # called last
    try:
        code = _started(name, start)
    except BaseException:  # SystemExit as well, which has a code of its own
        atexit.unregister(end)
        raise
    return code


def _started(name: str, start: Callable[[], int]) -> int:
    """Run what an executable starts; a package that is missing or cut off is one line."""
    try:
        return start()
    except ModuleNotFoundError as error:
        needs = missing(error)
        if error.name in _OF_ROS:
            needs = f'needs ROS 2; no module {error.name!r} is installed'
        if not needs:
            raise
        print(f'{name} {needs}', file=sys.stderr)
        return 1
    except Exception as error:
        if not (file := cut_file(error)):
            raise
        print(f'{name}: {deleted(file)}', file=sys.stderr)
        return 1


def _imported(module: str) -> object:
    """Return a module; collect no garbage while it is imported, nor among its objects later."""
    gc.disable()
    try:
        return import_module(module)
    finally:
        gc.freeze()
        gc.enable()


def _main(name: str, module: str, *arguments: str) -> int:
    """Run the `main` of a module, or else its node under a name."""
    stray = [*takewhile(lambda word: word != '--ros-args', sys.argv[1:])]
    if stray and node_of(name) and name != 'controller':  # this has the name of a law
        print(f'{name}: {stray[0]!r}; a node has parameters only: {_PARAMETER}', file=sys.stderr)
        return 2
    if name.endswith('controller') and (file := _left_out(sys.argv)):
        print(
            f'{name}: the arm is its URDF alone, without what launch files add, such as rotors: '
            f'--params-file {file}',
            file=sys.stderr,
        )
    imported = _imported(module)
    if '.ros.' in module:
        import_module('arm_sim.ros.fast_dds').use_udp()
    if hasattr(imported, 'main'):
        return imported.main(*arguments)
    return import_module('arm_controllers.ros.running').run_node(name, partial(_made, module))


def _left_out(words: Sequence[str]) -> str:
    """Return the parameter file of a robot, where a node's words have no file, or ''."""
    from arm_dynamics.robots import ArmParameters
    from arm_sim.parameter_files import files_of

    robots = [word.removeprefix('robot:=') for word in words if word.startswith('robot:=')]
    with suppress(ValueError):  # the node says what is wrong with its robot
        files = files_of(robots[-1] if robots else ArmParameters.robot)
        return str(files[-1]) if files and '--params-file' not in words else ''
    return ''


def _composed() -> int:
    """Run the nodes of an arm that the command line names in one process, on one executor."""
    names = list(takewhile(lambda word: not word.startswith('-'), sys.argv[1:]))
    wrong = [name for name in names if not fullmatch(_OF_AN_ARM, name)]
    if wrong or not names:
        given = repr(wrong[0]) if wrong else 'without names'
        print(f'composed: {given}; allowed: {_WORDS}', file=sys.stderr)
        return 2
    import_module('arm_sim.ros.fast_dds').use_udp()
    transport = import_module('arm_controllers.ros.in_process').InProcessTransport()
    makers = {name: partial(_made, *_module(name), transport=transport) for name in names}
    return import_module('arm_controllers.ros.running').run_nodes(makers)


def _made(module: str, *arguments: str, **options: object) -> object:
    """Return the node of a module, some_node.py with a class SomeNode."""
    return getattr(_imported(module), class_name(module))(*arguments, **options)


def _module(name: str) -> list[str]:
    """Return the module of an executable, and what its `main` takes."""
    if node := node_of(name):
        of_one = [name.removesuffix(f'_{node}')] if name != node else []
        return [nodes()[node], *of_one]
    for folder in ('commands', 'ros'):
        if name in commands(folder):
            return [commands(folder)[name]]
    raise AttributeError(f'no executable {name!r}')


def __getattr__(name: str) -> Callable[[], int]:
    """Return the function that runs an executable, for the entry points in setup.py."""
    start = _composed if name == 'composed' else partial(_main, name, *_module(name))
    return partial(_run, name, start)


def main() -> int:
    """Run the executable that the first word of the command line names."""
    name = sys.argv.pop(1) if len(sys.argv) > 1 else ''
    try:
        start = __getattr__(name)
    except AttributeError as error:
        known = [*executables(), *commands()]
        near = get_close_matches(name, known, n=1, cutoff=0.0) if name else []
        hint = f'; nearest known: {near[0]!r}' if near else ''
        print(f'{error}{hint}; commands: {", ".join(commands())}', file=sys.stderr)
        return 2
    return start()


if __name__ == '__main__':
    sys.exit(main())
