"""The processes of a launch: nodes of this package and tasks, and what the end of each causes."""

import copy
import logging
import os
import re
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

from ament_index_python.packages import get_package_prefix
from launch import LaunchContext
from launch.actions import LogInfo, Shutdown
from launch.events.process import ProcessExited
from launch.logging import launch_config
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from arm_sim.parent_process import LAUNCH

_BLOCKED = 'env', '--block-signal=INT'


@cache
def quiet_start() -> tuple[str, LaunchConfiguration]:
    """Return the prefix of this package's executables.

    They take Ctrl-C once Python has started: its start is loud. Only GNU's env can block it.
    """
    try:
        blocks = not subprocess.run([*_BLOCKED, 'true'], capture_output=True).returncode
    except OSError:
        blocks = False
    start = f'{" ".join(_BLOCKED)} ' if blocks else ''
    return start, LaunchConfiguration('launch-prefix', default='')


def node_process(
    name: str,
    parameters: list[object],
    space: str,
    succeeds: bool = False,
    may_end: bool = False,
    **options: object,
) -> Node:
    """Return a process in a namespace; `node`: the node's name, if not that of the process."""
    return Node(
        package='arm_sim',
        name=options.pop('node', name),
        exec_name=name,
        namespace=space or '/',  # so that parameters given here are stronger than a file's section
        parameters=parameters,
        prefix=quiet_start(),
        ros_arguments=['--enclave', f'/arm_sim{space}/{name}'],  # for ROS 2 security
        **{'executable': name, **options},
        **exit_options(name, succeeds, may_end),
    )


_ENDS = signal.SIGINT, signal.SIGTERM
_NAMES: set[str] = set()  # of the processes with `exit_options`


def _shortened(record: logging.LogRecord) -> logging.LogRecord:
    """Return a line of launch as the screen shows it; launch's log file keeps the long line.

    A node that refuses to start prints the reason. launch adds an error with the command line of
    the node, one for the launch, and one for each node that it then ends during Python's start:
    these lines are shortened, with level INFO.
    """
    text = re.sub(r'^Caught exception in launch \(.*?\): ', '', record.getMessage())
    is_known = text.partition(' ended with exit code ')[0] in _NAMES
    died = re.match(r'process has died \[pid \d+, exit code (-?\d+)', text)
    if died and record.name.rpartition('-')[0] in _NAMES:
        is_known = int(died[1]) > 0 or -int(died[1]) in _ENDS
        text = f'{died[0]}]' if is_known else text
    shown = copy.copy(record)
    shown.msg, shown.args = text, None
    if is_known:
        shown.levelno, shown.levelname = logging.INFO, 'INFO'
    return shown


def exit_options(name: str, succeeds: bool, may_end: bool = False) -> dict[str, object]:
    """Return the options of a process that say what its end causes.

    Args:
        name: of the process.
        succeeds: whether exit code 0 ends the launch well; any other end fails the launch.
        may_end: whether the process ends alone, with a log line: a viewer, a recorder, a node
            that serves other nodes. No such process ends the simulator.
    """
    _NAMES.add(name)
    launch_config.get_screen_handler().addFilter(_shortened)

    def end(event: ProcessExited, context: LaunchContext) -> Shutdown | LogInfo | None:
        if context.is_shutdown or (may_end and event.returncode == 0):
            if may_end and -event.returncode in _ENDS:  # a running node catches them
                return LogInfo(msg=f'{name} was ended before it was ready, and has done nothing')
            return None
        if may_end:
            how = f'exit code {event.returncode}'
            if event.returncode < 0:
                how = f'signal {-event.returncode}'
            return LogInfo(msg=f'{name} ended with {how}; the arm goes on')
        if succeeds and event.returncode == 0:
            return Shutdown(reason=f'{name} is done')
        # An exception is the only way to make `ros2 launch` itself end with exit code 1.
        raise RuntimeError(f'{name} ended with exit code {event.returncode}')

    return {
        'output': 'screen',
        'additional_env': {LAUNCH: str(os.getpid())},
        'on_exit': end,
        'sigterm_timeout': '3',
        'sigkill_timeout': '10',  # a busy machine is slow
    }


def is_installed(executable: str) -> bool:
    """Whether the package has an executable of this name; a plugin has none."""
    return Path(get_package_prefix('arm_sim'), 'lib', 'arm_sim', executable).is_file()


def missing(argument: str, package: str, else_: str) -> LogInfo:
    """Return the log line of a launch argument whose package is missing, with the remedy."""
    name = package.replace('_', '-')
    where = f'"sudo apt install ros-jazzy-{name}", {else_}'
    return LogInfo(msg=f'{argument}: {package} is not installed; get it with {where}')


def task_node(task: str, parameters: list[object], space: str = '') -> Node:
    """Return a task, whose end is the end of the launch, with the same exit code."""
    name = f'{task}_task'
    options: dict[str, Any] = {'output_format': '{line}', 'emulate_tty': sys.stdout.isatty()}
    if not is_installed(name):  # a plugin
        options['executable'] = 'comparison_task'
        parameters = [*parameters, {'task': task}]
    return node_process(name, parameters, space, succeeds=True, **options)
