"""The simulated arm as other tools see hardware: its joints and what commands it takes."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from rcl_interfaces.srv import GetParameters
from rclpy.node import Node
from rclpy.parameter import parameter_value_to_python
from std_msgs.msg import String

from arm_controllers.laws import law_class
from arm_controllers.ros.active_controllers import nodes_of_arm
from arm_controllers.ros.log import Log
from arm_controllers.ros.qos import LATCHED_QOS
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_sim.simulation.plant import COMMAND_INTERFACE
from arm_sim.standards.ros.controller_clients import ControllerClients

SIMULATOR = 'simulator'
STATES = ('position', 'velocity', 'effort')
_ASKED = ('robot', 'mode', 'actuator', 'core', 'timestep', 'control_decimation')
_ANSWER = 0.4  # [s]


class Hardware:
    """The arm of the simulator, which may start later or restart.

    Attributes:
        joint_names: of the arm; empty before it is there.
        told: parameters of the simulator; empty before they are known.
    """

    def __init__(self, node: Node, clients: ControllerClients):
        """Listen to robot_description; `clients` ask for the rest."""
        self.joint_names: tuple[str, ...] = ()
        self.told: dict[str, Any] = {}
        self._node, self._clients, self._log = node, clients, Log(node)
        node.create_subscription(String, 'robot_description', self._on_arm, LATCHED_QOS)

    @property
    def is_there(self) -> bool:
        """Whether the graph shows a simulator that has shown its arm."""
        return bool(self.joint_names) and SIMULATOR in nodes_of_arm(self._node)

    def ask(self, seconds: float = _ANSWER) -> None:
        """Request the parameters of the simulator, if unknown, within a time [s]."""
        if self.told or not self.is_there:
            return
        request = GetParameters.Request(names=list(_ASKED))
        asked = [(SIMULATOR, GetParameters, 'get_parameters', request)]
        answer = self._clients.ask(asked, seconds).get(SIMULATOR)
        if answer is not None and len(answer.values) == len(_ASKED):
            values = map(parameter_value_to_python, answer.values)
            self.told = dict(zip(_ASKED, values, strict=True))

    @property
    def offers(self) -> tuple[str, ...]:
        """The command interfaces `joint/position` of the arm; none before it is there."""
        if not self.told or not self.is_there:
            return ()
        return self._interfaces((COMMAND_INTERFACE[self.told['actuator']],))

    @property
    def states(self) -> tuple[str, ...]:
        """The state interfaces `joint/velocity` of the arm."""
        return self._interfaces(STATES)

    def required_by(self, controller: str) -> tuple[str, ...]:
        """Return the command interfaces of a controller: of its law, else those of the arm."""
        law = controller.removesuffix('_controller')
        with suppress(ArmError):  # no law of ours, or a plugin that cannot be imported
            return self._interfaces((law_class(law).command_interface,))
        return self.offers

    @property
    def rate(self) -> int:
        """Control periods per second; 0 before it is known."""
        if not self.told:
            return 0
        return round(1.0 / (self.told['timestep'] * self.told['control_decimation']))

    def _interfaces(self, kinds: Sequence[str]) -> tuple[str, ...]:
        return tuple(f'{joint}/{kind}' for joint in self.joint_names for kind in kinds)

    def _on_arm(self, message: String) -> None:
        try:
            self.joint_names = RobotModel.from_urdf(message.data).joint_names
        except ArmError as error:
            self._log.error(f'robot_description: {error}')
        self.told = {}
