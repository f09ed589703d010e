"""controller_manager: the services by which tools of ros2_control list and switch controllers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node

from arm_controllers.ros.log import Log
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.qos import SERVICE_QOS
from arm_controllers.ros.running import run_node
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.standards.ros.controller_clients import ControllerClients
from arm_sim.standards.ros.controller_lists import ControllerLists
from arm_sim.standards.ros.controller_processes import ControllerProcesses
from arm_sim.standards.ros.hardware import Hardware
from arm_sim.standards.ros.transitions import PATIENCE, Transitions
from arm_sim.standards.switching import INACTIVE, UNCONFIGURED, plan

try:
    from controller_manager_msgs import srv
except ImportError:
    srv = None

_STARTS = 120.0  # what a controller may take to start, on a busy machine [s]
_LOOK = 0.5  # how often the graph is looked at for new controllers [s]


@dataclass(frozen=True)
class ControllerManagerParameters(Parameters):
    """Parameters of the controller_manager; the other ones are those of the simulator."""

    config: str = parameter('', "parameter file that overrides the robot's own")


class ControllerManagerNode(Node):
    """Maps ros2_control's services onto the lifecycle of the controllers of an arm."""

    def __init__(self):
        """Offer the services; refuse to run where their package is not installed."""
        super().__init__('controller_manager')
        self._log = Log(self)
        self.parameters = declare_parameters(self, ControllerManagerParameters)
        self._beside = ControllerClients(self)
        self._hardware = Hardware(self, self._beside)
        self._processes = ControllerProcesses(self.get_namespace(), self.parameters.config)
        self._transitions = Transitions(self._beside)
        self._lists = ControllerLists(self._beside, self._hardware)
        if srv is None:
            raise ArmError('controller_manager_msgs is not installed: no service can be offered')
        self._serve_all()
        # Clients that are there before they are asked for cost an answer no time.
        self.create_timer(_LOOK, self._beside.names)

    def destroy_node(self) -> None:
        """End what was loaded."""
        self._processes.end_all()
        self._beside.close()
        super().destroy_node()

    def _serve_all(self) -> None:
        by_name = {
            'load': self._load,
            'configure': self._transitions.configure,
            'cleanup': self._transitions.cleanup,
            'unload': self._unload,
        }
        for verb, do in by_name.items():
            self._serve_by_name(verb, do)
        lists = self._lists
        self._serve(srv.ListControllers, 'list_controllers', lists.controllers)
        self._serve(srv.ListControllerTypes, 'list_controller_types', lists.types)
        self._serve(srv.ListHardwareComponents, 'list_hardware_components', lists.components)
        self._serve(srv.ListHardwareInterfaces, 'list_hardware_interfaces', lists.interfaces)
        set_component = lists.set_component
        self._serve(srv.SetHardwareComponentState, 'set_hardware_component_state', set_component)
        self._serve(srv.ReloadControllerLibraries, 'reload_controller_libraries', self._reload)
        self._serve(srv.SwitchController, 'switch_controller', self._switch)

    def _serve(self, kind: Any, name: str, answer: Callable[[Any, Any], None]) -> None:
        def respond(request: Any, response: Any) -> Any:
            answer(request, response)
            return response

        self.create_service(kind, f'~/{name}', respond, qos_profile=SERVICE_QOS)

    def _serve_by_name(self, verb: str, do: Callable[[str], object]) -> None:
        """Open ~/<verb>_controller; `do` takes the name. Answers have no words: the log has."""

        def answer(request: Any, response: Any) -> None:
            try:
                do(request.name)
                response.ok = True
            except ArmError as error:
                self._log.warning(f'{verb}_controller: {error}')
                response.ok = False

        kind = getattr(srv, f'{verb.title()}Controller')
        self._serve(kind, f'{verb}_controller', answer)

    def _load(self, name: str) -> None:
        """Start a controller of this package for the arm that is there."""
        if name in self._beside.names():
            raise ArmError(f'{name!r} is there already')
        self._hardware.ask(PATIENCE)
        if not self._hardware.told:
            raise ArmError(f'no simulator to load {name!r} for')
        self._processes.start(name, self._hardware.told)
        ended, names = self._processes.code, self._beside.names
        self._beside.wait(lambda: ended(name) is not None or name in names(), _STARTS)
        if name not in names():
            code = ended(name)
            self._processes.end(name)
            how = f'does not start within {_STARTS:g} s' if code is None else f'ended with {code}'
            raise ArmError(f'{name!r} {how}')

    def _unload(self, name: str) -> None:
        """End a controller that was loaded here."""
        self._transitions.allow(name, UNCONFIGURED, INACTIVE, 'finalized')
        self._processes.end(name)
        self._beside.wait(lambda: name not in self._beside.names(), PATIENCE)

    def _switch(self, request: Any, response: Any) -> None:
        """Do all of a request or, where it is not BEST_EFFORT, nothing."""
        limit = request.timeout.sec + request.timeout.nanosec * 1e-9
        wanted = (request.activate_controllers, request.deactivate_controllers)
        if request.strictness == 0:
            self._log.warning('switch_controller: strictness is 0, taken as BEST_EFFORT (1)')
        try:
            found = self._lists.found()
            switch = plan(found, self._hardware.offers, *wanted, request.strictness)
            self._transitions.switch(switch, max(limit, 0.0))
            response.ok = not switch.in_vain
            response.message = '; '.join(switch.left_out) or 'switched'
        except ArmError as error:
            response.ok, response.message = False, str(error)
        if not response.ok or response.message != 'switched':
            self._log.warning(f'switch_controller: {response.message}')

    def _reload(self, request: Any, response: Any) -> None:
        self._log.warning('reload_controller_libraries: a law is loaded as its controller starts')
        response.ok = False


def main() -> int:
    """Run the node."""
    return run_node('controller_manager', ControllerManagerNode)
