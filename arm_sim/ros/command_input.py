"""Whose commands the simulator heeds, and which of them."""

from collections.abc import Callable
from typing import Any

from rclpy.node import Node, NodeNameNonExistentError
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from arm_controllers.ros.commander import NOBODY, TOPIC
from arm_controllers.ros.log import Log
from arm_controllers.ros.qos import CONTROL_INPUT_QOS, LATCHED_QOS
from arm_controllers.ros.running import now_and_then
from arm_controllers.ros.serialized_messages import JointStateReader
from arm_dynamics.checks import ArmError
from arm_sim.plants.clock import Clock
from arm_sim.recording.ros.loop_messages import COMMAND, LoopMessages
from arm_sim.ros.own_goals import OwnGoals

# How often it is looked at who is still there [s].
_LOOK = 0.25
_CHANGE_STATE = 'lifecycle_msgs/srv/ChangeState'


class CommandInput:
    """Hands `joint_commands` of one controller at a time to a clock.

    A message without joints is a controller's farewell, said until it is heard. Who commands is
    heeded until then, or until the arm brakes because nothing comes; its name stands on
    `commander`.

    A publisher numbers its messages. A number that does not rise comes from a second publisher
    that commands under the same name: the arm brakes, and nobody is heeded until one of them has
    gone or `confirm` is called.

    A controller on the same executor hands its commands over while nobody else hears them; what
    comes under its name then has another sender.

    Where commands count by their arrival, as those of hardware interfaces of ros2_control, their
    stamps are not read, and one that is NaN throughout, as before a controller is active, is none.
    Who commands may then be silent; the arm brakes when no publisher is left.

    Attributes:
        commander: the controller that is heeded.
        rival: one that commands beside it; the reader empties it.
        imitated: why nobody is heeded, or ''.
        stale: number of commands to other states than the clock accepts.
        published: number of commands that controllers on this executor have published.
    """

    def __init__(
        self,
        node: Node,
        clock: Clock,
        own: OwnGoals | None,
        refuse: Callable[[ArmError], None],
        loop: LoopMessages,
        by_arrival: bool = False,
    ):
        """Listen; `refuse` is told why a command is dropped, `loop` of each one that comes."""
        self._loop = loop
        self._clock, self._own, self._refuse = clock, own, refuse
        self._by_arrival = by_arrival
        self._node, self._log = node, Log(node)
        plant = clock.simulation.plant
        self._field = 'position' if plant.command_interface == 'position' else 'effort'
        self._command = JointStateReader(plant.joint_names, (self._field,))
        self.commander = self.rival = self.imitated = ''
        self.stale, self._used_ns, self._number = 0, -1, 0
        self.published, self._told = 0, ''
        self._near: str | None = None  # who handed the newest command over
        self._there_then: dict[bytes, str] = {}
        self._suspects: dict[bytes, str] = {}
        self._words = node.create_publisher(String, TOPIC, LATCHED_QOS)
        self._input = node.create_subscription(
            JointState, 'joint_commands', self._on_command, CONTROL_INPUT_QOS, raw=True
        )
        # EventsExecutor hands over message and info as one argument, others as two: rclpy would
        # take a function of one or two for one that wants no info.
        self._input._callback_type = Subscription.CallbackType.WithMessageInfo
        now_and_then(node, _LOOK, self._look)
        self._tell('')

    def _on_command(self, *taken: Any) -> None:
        raw, info = taken if len(taken) == 2 else taken[0]
        self._hear(raw, info['publication_sequence_number'] or 0)

    def hand_over(self, raw: bytes) -> None:
        """Take a command of a controller on this executor, which has not published it."""
        self._hear(raw, 0)
        self._near = self._command.sender

    def _hear(self, raw: bytes, number: int) -> None:
        if self._loop.wanted:
            self._loop.add(COMMAND, raw)
        if self.imitated:
            return
        try:
            self._use(raw, number)
        except ArmError as error:
            self._refuse(error)

    def _use(self, raw: bytes, number: int) -> None:
        """Do what a command asks for; raise ArmError where it is refused."""
        clock, command = self._clock, self._command
        command.open(raw)
        if self._by_arrival and command.is_nan(self._field):
            return
        sender = command.sender
        if command.empty and (clock.simulation.braking or sender != self.commander):
            return  # heard already
        time_ns = clock.simulation.time_ns if self._by_arrival else command.time_ns
        if self._own is not None and self._own.in_charge:
            self._own.give_up(sender)
            clock.forget()
            self.commander, self._number = sender, 0
        if clock.simulation.braking:
            self._near = None  # anybody may begin
        else:
            if sender != self.commander:
                self.rival = sender
                raise ArmError(
                    f'two controllers command the arm: {self.commander!r} is heeded,'
                    f' {sender!r} is not; deactivate one of them'
                )
            if 0 < number <= self._number or (sender == self._near and number > self.published):
                self._stop_all()
                return
        if command.empty:
            self._log.info(f'{sender!r} has released the arm: braking, then holding')
            clock.release()
            self._tell('')
        elif clock.accepts(time_ns):
            values = command.values(self._field)
            if number or sender != self.commander:
                self._number = number
            self.commander, self._used_ns = sender, time_ns
            if sender != self._told:
                self._tell(sender)
            clock.take(time_ns, values)
        elif time_ns == self._used_ns:
            clock.answered_again()
        else:
            self.stale += 1

    def confirm(self) -> str:
        """Heed the next controller that commands, whoever else can publish commands."""
        if not self.imitated:
            raise ArmError('nothing to confirm: no controller is imitated')
        self.imitated = ''
        self._suspects = {}
        self._tell('')
        return 'the controller that commands next is heeded'

    def _stop_all(self) -> None:
        """Brake: two publishers command under one name."""
        self.imitated = f'two publishers command as {self.commander!r}: braking, heeding neither'
        self._there_then = self._publishers()
        self._tell(NOBODY)
        self._clock.release()

    def _look(self) -> None:
        """See who has gone since the last look, and who imitates."""
        if not self.imitated:
            if self._told and self._clock.abandoned:
                self._tell('')
            if self._by_arrival and not self._clock.simulation.braking:
                self._release_if_gone()
            return
        publishers = self._publishers()
        if not self._suspects:
            publishers = self._there_then | publishers
            if not any('_UNKNOWN_' in node for node in publishers.values()):
                self._name(publishers)  # else the graph does not know all names yet
        elif len(self._suspects.keys() & publishers) <= 1:
            self._log.info(f'one publisher that commands as {self.commander!r} is left')
            self.confirm()

    def _release_if_gone(self) -> None:
        """Brake where nobody is left who could command; silence says nothing of that."""
        if not self._node.count_publishers(self._input.topic_name):
            self._log.warning('nobody publishes commands any more: braking, then holding')
            self._clock.release()
            self._tell('')

    def _publishers(self) -> dict[bytes, str]:
        """Return the node of each publisher of commands, by the publisher's identifier."""
        found = self._node.get_publishers_info_by_topic(self._input.topic_name)
        return {
            bytes(each.endpoint_gid): each.node_namespace.rstrip('/') + '/' + each.node_name
            for each in found
        }

    def _name(self, publishers: dict[bytes, str]) -> None:
        """Say who may have imitated the commander: not a controller that waits for its turn."""
        suspects = {
            gid: node
            for gid, node in publishers.items()
            if node.endswith('/' + self.commander) or not self._waits(node)
        }
        self._suspects = suspects if len(suspects) > 1 else publishers
        nodes = ', '.join(sorted(self._suspects.values()))
        self.imitated = (
            f'more than one publisher commands as {self.commander!r}: the arm brakes until only '
            f'one is left of {nodes}, or ~/confirm_commander is called'
        )
        self._log.error(self.imitated)

    def _waits(self, node: str) -> bool:
        """Whether a node is a controller that can be activated."""
        namespace, name = node.rsplit('/', 1)
        try:
            services = self._node.get_service_names_and_types_by_node(name, namespace or '/')
        except NodeNameNonExistentError:  # it has just gone
            return False
        return any(_CHANGE_STATE in types for _, types in services)

    def _tell(self, name: str) -> None:
        """Say whom the simulator heeds."""
        self._told = name
        self._words.publish(String(data=name))
