"""The package's executables: each imports its node only once it can be interrupted in silence."""

import signal
from importlib import import_module


def _run(module: str, *arguments: str) -> int:
    # Until rclpy takes over, Ctrl-C ends the process without a traceback of half-done imports.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return import_module(module).main(*arguments)


def simulator() -> int:
    """Run `simulator`."""
    return _run('arm_sim.simulator_node')


def inverse_kinematics() -> int:
    """Run `inverse_kinematics`."""
    return _run('arm_sim.inverse_kinematics_node')


def cube_task() -> int:
    """Run `cube_task`."""
    return _run('arm_sim.cube_task_node')


def computed_torque_controller() -> int:
    """Run `computed_torque_controller`."""
    return _run('arm_controllers.controller_node', 'computed_torque')


def pd_controller() -> int:
    """Run `pd_controller`."""
    return _run('arm_controllers.controller_node', 'pd')


def servo_controller() -> int:
    """Run `servo_controller`."""
    return _run('arm_controllers.controller_node', 'servo')
