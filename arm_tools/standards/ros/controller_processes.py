"""Loaded controllers: one process each, which ends with the controller_manager."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from arm_controllers.gripper import gains_of_arm
from arm_controllers.laws import law_class, law_names
from arm_controllers.parameter_file import sections_text
from arm_dynamics.checks import ArmError, unknown
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_dynamics.temporary_folder import temporary_folder
from arm_sim.parameter_files import as_arguments, parameters_of
from arm_sim.parent_process import LAUNCH
from arm_sim.ros.config import config_file, feedforward_of, sections_of
from arm_tools.standards.hardware import HardwareParameters

_END_TIMEOUT = 10.0  # of a process after SIGINT [s]


class ControllerProcesses:
    """Starts controllers by their names, <law>_controller, and ends those that it has started."""

    def __init__(self, namespace: str, simulator: HardwareParameters):
        """`namespace`: of the controllers, '/' or '/left'; `simulator`: its parameters."""
        self._namespace, self._simulator = namespace, simulator
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str) -> None:
        """Start a controller, unconfigured.

        Raises:
            ArmError: the name is no controller of this package; the robot's files are invalid.
        """
        known = [f'{law}_controller' for law in law_names()]
        if name not in known:
            raise unknown('controller', name, known)
        law, space = name.removesuffix('_controller'), self._namespace.rstrip('/')
        p = self._simulator
        own: dict[str, object] = {
            'robot': p.robot,
            'mode': p.mode,
            'core': p.core,
            'timestep': p.timestep,
            'control_decimation': p.control_decimation,
            'autostart': False,
        }
        if p.joints:
            own |= _of_arm(p, law)
        if feedforward := feedforward_of(law, 'best', p.mode):
            own['feedforward'] = feedforward
        file = temporary_folder() / f'{name}.yaml'
        file.write_text(sections_text({f'{space}/{name}': own}))
        files = Path(config_file(p.robot, p.config, space, law)), file
        words = as_arguments(files)
        words += ['-r', f'__ns:={self._namespace}', '--enclave', f'/arm_sim{space}/{name}']
        self._running[name] = subprocess.Popen(
            [sys.executable, '-m', 'arm_sim.executables', name, '--ros-args', *words],
            env={**os.environ, LAUNCH: str(os.getpid())},
        )

    def code(self, name: str) -> int | None:
        """Return the exit code of a controller that was started here and has ended."""
        return self._running[name].poll() if name in self._running else None

    def end(self, name: str) -> None:
        """End a controller.

        Raises:
            ArmError: the controller was started elsewhere.
        """
        if name not in self._running:
            raise ArmError(f'{name!r} was not loaded by this node: end it where it was started')
        self._end([name])

    def end_all(self) -> None:
        """End all controllers that were started here."""
        self._end(list(self._running))

    def _end(self, names: list[str]) -> None:
        ending = [self._running.pop(name) for name in names]
        for process in ending:
            process.send_signal(signal.SIGINT)
        for process in ending:
            try:
                process.wait(_END_TIMEOUT)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _of_arm(parameters: HardwareParameters, law: str) -> dict[str, object]:
    """Return the joints of an arm whose gripper has a controller of its own, and their gains."""
    model, joints = RobotModel.from_urdf(find_urdf(parameters.robot)), list(parameters.joints)
    given = parameters_of(
        sections_of(parameters.robot, parameters.config, law), f'{law}_controller'
    )
    (gripper,) = set(model.joint_names) - set(joints)
    return gains_of_arm(law_class(law), given, model, gripper) | {'joints': joints}
