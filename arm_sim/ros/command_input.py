"""Whose commands the simulator heeds, and which of them."""

from collections.abc import Callable

from rclpy.node import Node
from sensor_msgs.msg import JointState

from arm_controllers.ros.qos import CONTROL_INPUT_QOS
from arm_controllers.ros.serialized_messages import JointStateReader
from arm_dynamics.checks import ArmError
from arm_sim.plants.clock import Clock
from arm_sim.ros.own_goals import OwnGoals


class CommandInput:
    """Hands `joint_commands` of one controller at a time to a clock.

    A message without joints is a controller's farewell. Who commands is heeded until then, or
    until the arm brakes because nothing comes.

    Attributes:
        commander: the controller that is heeded.
        rival: one that commands beside it; the reader empties it.
        stale: number of commands to other states than the clock accepts.
    """

    def __init__(
        self, node: Node, clock: Clock, own: OwnGoals | None, refuse: Callable[[ArmError], None]
    ):
        """Listen; `refuse` is told why a command is dropped."""
        self._clock, self._own, self._refuse = clock, own, refuse
        self._logger = node.get_logger()
        plant = clock.simulation.plant
        self._field = 'position' if plant.command_interface == 'position' else 'effort'
        self._command = JointStateReader(plant.joint_names, (self._field,))
        self.commander = self.rival = ''
        self.stale, self._used_ns = 0, -1
        node.create_subscription(
            JointState, 'joint_commands', self._on_command, CONTROL_INPUT_QOS, raw=True
        )

    def _on_command(self, raw: bytes) -> None:
        try:
            self._use(raw)
        except ArmError as error:
            self._refuse(error)

    def _use(self, raw: bytes) -> None:
        """Do what a command asks for; raise ArmError where it is refused."""
        clock, command = self._clock, self._command
        command.open(raw)
        sender = command.sender
        if self._own is not None and self._own.in_charge:
            self._own.give_up(sender)
            clock.forget()
            self.commander = sender
        braking = clock.simulation.braking
        if sender != self.commander and not braking:
            self.rival = sender
            raise ArmError(
                f'two controllers command the arm: {self.commander!r} is heeded,'
                f' {sender!r} is not; deactivate one of them'
            )
        if command.empty and not braking:
            self._logger.info(f'{sender!r} has released the arm: braking, then holding')
            clock.release()
        elif clock.accepts(command.time_ns):
            values = command.values(self._field)
            self.commander, self._used_ns = sender, command.time_ns
            clock.take(command.time_ns, values)
        else:
            self.stale += command.time_ns != self._used_ns  # else it was asked for twice
