"""Lists of a controller_manager: controllers, their types, the arm as hardware."""

from collections.abc import Collection, Iterable

from lifecycle_msgs.msg import State

from arm_controllers.ros.ros_types import AnyMessage, Request, Response
from arm_tools.standards.hardware import SIMULATOR, Hardware
from arm_tools.standards.ros.controller_clients import ControllerClients
from arm_tools.standards.switching import ACTIVE, Controller

try:
    from controller_manager_msgs import msg
except ImportError:
    msg = None

# The type of all controllers, which rqt_joint_trajectory_controller and MoveIt know.
TYPE = 'joint_trajectory_controller/JointTrajectoryController'
_BASE = 'controller_interface::ControllerInterface'
_ACTIVE = State(id=State.PRIMARY_STATE_ACTIVE, label=ACTIVE)
_MOST_RATE = 2**16 - 1  # of a uint16


class ControllerLists:
    """Fills the responses of the services list_*."""

    def __init__(self, clients: ControllerClients, hardware: Hardware):
        self._clients, self._hardware = clients, hardware

    def found(self) -> dict[str, Controller]:
        """Return the present controllers by name."""
        states, required = self._clients.states(), self._hardware.required_by
        return {name: Controller(state, required(name)) for name, state in states.items()}

    def controllers(self, request: Request, response: Response) -> None:
        """List the controllers, with states and interfaces."""
        for name, each in self.found().items():
            controller = msg.ControllerState(
                name=name,
                state=each.state,
                type=TYPE,
                update_rate=self._rate,
                required_command_interfaces=each.requires,
                required_state_interfaces=self._hardware.states,
            )
            if each.state == ACTIVE:
                controller.claimed_interfaces = self._claimed(name, each)
            response.controller.append(controller)

    def types(self, request: Request, response: Response) -> None:
        """List the one type."""
        response.types, response.base_classes = [TYPE], [_BASE]

    def interfaces(self, request: Request, response: Response) -> None:
        """List the arm's interfaces, and which of them are claimed."""
        response.command_interfaces = self._commands()
        response.state_interfaces = self._interfaces(self._hardware.states)

    def components(self, request: Request, response: Response) -> None:
        """List the simulator as the only hardware, if the graph shows a simulator."""
        commands = self._commands()
        if not self._clients.has_simulator:
            return
        response.component = [
            msg.HardwareComponentState(
                name=SIMULATOR,
                type='system',
                plugin_name='arm_sim/simulator',
                rw_rate=self._rate,
                state=_ACTIVE,
                command_interfaces=commands,
                state_interfaces=self._interfaces(self._hardware.states),
            )
        ]

    def set_component(self, request: Request, response: Response) -> None:
        """Answer that the simulator is active; a request for another state is refused."""
        target, there = request.target_state, self._clients.has_simulator
        wanted = target.label == ACTIVE or target.id == State.PRIMARY_STATE_ACTIVE
        response.ok = there and wanted and request.name == SIMULATOR
        response.state = _ACTIVE if there else State(label='unknown')

    @property
    def offers(self) -> tuple[str, ...]:
        """The command interfaces of the arm; none without a simulator."""
        return self._hardware.offers if self._clients.has_simulator else ()

    @property
    def _rate(self) -> int:
        return min(self._hardware.rate, _MOST_RATE)

    def _commands(self) -> list[AnyMessage]:
        self.found()  # receives the newest claims
        claims = self._clients.claims.claims
        joints = {joint for names in claims.values() for joint in names}
        offers = self.offers
        return self._interfaces(offers, {each for each in offers if _joint(each) in joints})

    def _claimed(self, name: str, controller: Controller) -> list[str]:
        """Return the interfaces of the joints that a controller has claimed."""
        joints = self._clients.claims.claims.get(name, ())
        return [each for each in controller.requires if _joint(each) in joints]

    def _interfaces(self, names: Iterable[str], claimed: Collection[str] = ()) -> list[AnyMessage]:
        there = self._clients.has_simulator
        return [
            msg.HardwareInterface(
                name=name, data_type='double', is_available=there, is_claimed=name in claimed
            )
            for name in names
        ]


def _joint(interface: str) -> str:
    """Return the joint of an interface `joint/position`."""
    return interface.rpartition('/')[0]
