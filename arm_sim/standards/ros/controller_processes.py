"""Controllers that are loaded: a process each, which ends with the one that loaded it."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import yaml

from arm_controllers.laws import law_names
from arm_dynamics.checks import ArmError, unknown
from arm_dynamics.temporary_folder import temporary_folder
from arm_sim.parent_process import LAUNCH

_ENDS = 10.0  # what a process may take for its end [s]


class ControllerProcesses:
    """Starts controllers by their names, <law>_controller, and ends those that it has started."""

    def __init__(self, namespace: str, config: str):
        """Start in a namespace, '/' or '/left'; `config`: the user's parameter file, '': none."""
        self._namespace, self._config = namespace, config
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, told: Mapping[str, Any]) -> None:
        """Start a controller, unconfigured; `told` are the simulator's parameters.

        Raises:
            ArmError: it is none of this package's; the robot's files are not in order.
        """
        known = [f'{law}_controller' for law in law_names()]
        if name not in known:
            raise unknown('controller', name, known)
        from arm_sim.launching import config_file, feedforward_of  # they load launch

        law, space = name.removesuffix('_controller'), self._namespace.rstrip('/')
        own = {key: told[key] for key in told if key != 'actuator'} | {'autostart': False}
        if feedforward := feedforward_of(law, 'best', told['mode']):
            own['feedforward'] = feedforward
        file = temporary_folder() / f'{name}.yaml'
        file.write_text(yaml.safe_dump({f'{space}/{name}': {'ros__parameters': own}}))
        files = (config_file(told['robot'], self._config, space, law), str(file))
        words = [word for each in files for word in ('--params-file', each)]
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
            ArmError: it was started elsewhere.
        """
        if name not in self._running:
            raise ArmError(f'{name!r} was not loaded by this node: end it where it was started')
        self._end([name])

    def end_all(self) -> None:
        """End all that were started here."""
        self._end(list(self._running))

    def _end(self, names: list[str]) -> None:
        ending = [self._running.pop(name) for name in names]
        for process in ending:
            process.send_signal(signal.SIGINT)
        for process in ending:
            try:
                process.wait(_ENDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
