"""The package's executables: each imports its node only after Ctrl-C ends it without traceback.

`python -m arm_sim.executables NAME ...` runs one where they are not installed.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path

_MODULES = {
    'simulator': 'arm_sim.ros.simulator_node',
    'controller': 'arm_controllers.ros.controller_node',
    'inverse_kinematics': 'arm_sim.ros.inverse_kinematics_node',
    'viewer': 'arm_sim.viewer.ros.viewer_node',
    'comparison_task': 'arm_sim.ros.task_node',
    'tune_pose_hold': 'arm_sim.commands.tune_pose_hold',
    'replay_inputs': 'arm_sim.commands.replay_inputs',
    'compare_controllers': 'arm_sim.commands.compare_controllers',
    'learn': 'arm_sim.commands.learn',
}
# The environment's variable that tells a process which launch has started it.
LAUNCH = 'ARM_SIM_LAUNCH'
_PR_SET_PDEATHSIG = 1  # Linux: the signal that comes when the parent ends
# The executables of laws and tasks, by how their names end.
_ENDINGS = {'_controller': 'arm_controllers.ros.controller_node', '_task': 'arm_sim.ros.task_node'}


def end_with_parent() -> None:
    """Let the end of the process that started this one, however it comes, end this one too."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _run(module: str, *arguments: str) -> int:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if LAUNCH in os.environ:
        end_with_parent()
        if not Path('/proc', os.environ[LAUNCH]).exists():  # it has ended already
            return 1
    return import_module(module).main(*arguments)


def __getattr__(name: str) -> Callable[[], int]:
    """Return the function that runs an executable, for the entry points in setup.py."""
    if name in _MODULES:
        return partial(_run, _MODULES[name])
    for ending, module in _ENDINGS.items():
        if name.endswith(ending):
            return partial(_run, module, name.removesuffix(ending))
    raise AttributeError(f'no executable {name!r}')


if __name__ == '__main__':
    sys.exit(__getattr__(sys.argv.pop(1))())
