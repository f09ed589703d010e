"""The package's executables: each imports its node only once it can be interrupted in silence."""

import signal
from collections.abc import Callable
from functools import partial
from importlib import import_module

_MODULES = {
    'simulator': 'arm_sim.ros.simulator_node',
    'controller': 'arm_controllers.ros.controller_node',
    'inverse_kinematics': 'arm_sim.ros.inverse_kinematics_node',
    'cube_task': 'arm_sim.ros.cube_task_node',
    'pose_hold_task': 'arm_sim.ros.pose_hold_task_node',
    'sinusoid_task': 'arm_sim.ros.sinusoid_task_node',
    'comparison_task': 'arm_sim.ros.comparison_task_node',
    'tune_pose_hold': 'arm_sim.commands.tune_pose_hold',
    'replay_inputs': 'arm_sim.commands.replay_inputs',
    'compare_controllers': 'arm_sim.commands.compare_controllers',
}
_CONTROLLER = '_controller'


def _run(module: str, *arguments: str) -> int:
    # Until rclpy takes over, Ctrl-C ends the process without a traceback of half-done imports.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return import_module(module).main(*arguments)


def __getattr__(name: str) -> Callable[[], int]:
    """Return the function that runs an executable, for the entry points in setup.py."""
    if name in _MODULES:
        return partial(_run, _MODULES[name])
    if name.endswith(_CONTROLLER):
        law = name.removesuffix(_CONTROLLER)
        return partial(_run, _MODULES['controller'], law)
    raise AttributeError(f'no executable {name!r}')
