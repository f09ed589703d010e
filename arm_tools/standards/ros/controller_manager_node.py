"""controller_manager: the services by which tools of ros2_control list and switch controllers."""

import time
from collections.abc import Callable

from arm_controllers.ros.log import Log, shortened
from arm_controllers.ros.nodes import Node
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.ros_types import Request, Response
from arm_controllers.ros.services import serve
from arm_dynamics.checks import ArmError
from arm_tools.standards.hardware import Hardware, HardwareParameters
from arm_tools.standards.ros.controller_clients import TIMEOUT, ControllerClients
from arm_tools.standards.ros.controller_lists import ControllerLists
from arm_tools.standards.ros.controller_processes import ControllerProcesses
from arm_tools.standards.ros.late_service import IsDone, LateService
from arm_tools.standards.switching import INACTIVE, UNCONFIGURED, plan

try:
    from controller_manager_msgs import srv
except ImportError:
    srv = None

_START_TIMEOUT = 120.0  # for a controller that is loaded on a busy machine [s]
_LOOK = 0.25  # period of looking for new controllers on the graph [s]


class ControllerManagerNode(Node):
    """Maps ros2_control's services onto the lifecycle of the controllers of an arm."""

    def __init__(self) -> None:
        """Open the services; raises ArmError where their package is not installed."""
        super().__init__('controller_manager')
        self._log = Log(self)
        self._hardware = Hardware(declare_parameters(self, HardwareParameters))
        self._controllers = ControllerClients(self)
        self._processes = ControllerProcesses(self.get_namespace(), self._hardware.parameters)
        self._lists = ControllerLists(self._controllers, self._hardware)
        self._loads: dict[str, Callable[[], bool | None]] = {}
        if srv is None:
            raise ArmError('controller_manager_msgs is not installed: no service can be offered')
        self._serve_all()
        self.create_timer(_LOOK, self._look)

    def destroy_node(self) -> None:
        """End the controllers that were loaded."""
        self._processes.end_all()
        self._controllers.close()
        super().destroy_node()

    def _look(self) -> None:
        self._controllers.names()  # early clients need no time for an answer
        self._load_service.look()

    def _serve_all(self) -> None:
        load = srv.LoadController
        self._load_service = LateService(self, load, '~/load_controller', self._load, self._look)
        by_name = {
            'configure': self._controllers.configure,
            'cleanup': self._controllers.cleanup,
            'unload': self._unload,
        }
        for verb, do in by_name.items():
            self._serve_by_name(verb, do)
        lists = self._lists
        for kind, name, answer in (
            (srv.ListControllers, 'list_controllers', lists.controllers),
            (srv.ListControllerTypes, 'list_controller_types', lists.types),
            (srv.ListHardwareComponents, 'list_hardware_components', lists.components),
            (srv.ListHardwareInterfaces, 'list_hardware_interfaces', lists.interfaces),
            (srv.SetHardwareComponentState, 'set_hardware_component_state', lists.set_component),
            (srv.ReloadControllerLibraries, 'reload_controller_libraries', self._reload),
            (srv.SwitchController, 'switch_controller', self._switch),
        ):
            serve(self, kind, f'~/{name}', answer)

    def _serve_by_name(self, verb: str, do: Callable[[str], object]) -> None:
        """Open ~/<verb>_controller; `do` takes the name. The log has the reason of a refusal."""

        def answer(request: Request, response: Response) -> None:
            try:
                do(request.name)
                response.ok = True
            except ArmError as error:
                self._log.warning(f'{verb}_controller: {error}')

        serve(self, getattr(srv, f'{verb.title()}Controller'), f'~/{verb}_controller', answer)

    def _load(self, request: Request, response: Response) -> IsDone:
        """Start a controller of this package; a repeated request waits for the same start."""
        name: str = request.name
        if name not in self._loads:
            try:
                if name in self._controllers.names():
                    raise ArmError(f'{name!r} is there already')
                self._processes.start(name)
            except ArmError as error:
                self._log.warning(f'load_controller: {error}')
                return lambda: True
            self._loads[name] = self._start_of(name)
        result = self._loads[name]

        def is_done() -> bool:
            found = result()  # once: a second call may already know more
            response.ok = bool(found)
            return found is not None

        return is_done

    def _start_of(self, name: str) -> Callable[[], bool | None]:
        """Return a function of whether a controller has started; None while it starts."""
        end = time.monotonic() + _START_TIMEOUT
        results: list[bool] = []

        def result() -> bool | None:
            if results:
                return results[0]
            code = self._processes.code(name)
            if name in self._controllers.names():
                results.append(True)
            elif code is not None or time.monotonic() > end:
                self._processes.end(name)
                late = f'does not start within {_START_TIMEOUT:g} s'
                reason = late if code is None else f'ended with {code}'
                self._log.warning(f'load_controller: {name!r} {reason}')
                results.append(False)
            else:
                return None
            del self._loads[name]
            return results[0]

        return result

    def _unload(self, name: str) -> None:
        """End a controller that was loaded here."""
        self._controllers.allow(name, UNCONFIGURED, INACTIVE, 'finalized')
        self._processes.end(name)
        self._controllers.wait(lambda: name not in self._controllers.names(), TIMEOUT)

    def _switch(self, request: Request, response: Response) -> None:
        """Do all of a request or, where its strictness is not BEST_EFFORT, nothing."""
        limit = request.timeout.sec + request.timeout.nanosec * 1e-9
        wanted = (request.activate_controllers, request.deactivate_controllers)
        if request.strictness == 0:
            self._log.warning('switch_controller: strictness is 0, taken as BEST_EFFORT (1)')
        try:
            switch = plan(self._lists.found(), self._lists.offers, *wanted, request.strictness)
            self._controllers.switch(switch, max(limit, 0.0))
            response.ok = not switch.in_vain
            response.message = '; '.join(switch.left_out) or 'switched'
        except ArmError as error:
            response.ok, response.message = False, shortened(str(error))
        if not response.ok or response.message != 'switched':
            self._log.warning(f'switch_controller: {response.message}')

    def _reload(self, request: Request, response: Response) -> None:
        self._log.warning(
            'reload_controller_libraries: refused; a controller loads its law when it starts'
        )
