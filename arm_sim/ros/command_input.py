"""Command input of the simulator: which controllers it accepts commands from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rclpy.node import Node, NodeNameNonExistentError
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from arm_controllers.ros.active_controllers import TOPIC, ActiveControllers
from arm_controllers.ros.command_messages import CommandReader
from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.log import Log
from arm_controllers.ros.qos import CONTROL_INPUT_QOS, LATCHED_QOS
from arm_controllers.ros.running import now_and_then
from arm_dynamics.checks import ArmError
from arm_sim.ros.loop_messages import COMMAND, LoopMessages
from arm_sim.simulation.claims import REJECTION_TIME, Claim, CompetingError, Endpoint
from arm_sim.simulation.clock import Clock

# How often the graph is read, and the claims are published if they have changed [s].
_LOOK = 0.25
_CHANGE_STATE = 'lifecycle_msgs/srv/ChangeState'
# Most commands that a controller publishes between two that arrive, in all and per state.
_MOST_LOST, _MOST_PER_STATE = 100, 10


class CommandInput:
    """Gives the clock the `joint_commands` of the controllers that hold claims.

    A controller's first command is its claim: the joints that it names, for the publisher that
    sends it. A command without joints releases the claim. `active_controllers` shows the claims.

    A publisher numbers its messages. A number that does not rise, or that rises by far more than
    the number of states that were published meanwhile, comes from a second publisher that commands
    under the same name: the claim ends, the arm brakes, and the name is rejected
    until one of the publishers is gone or none has commanded for REJECTION_TIME. A controller in
    this process hands its commands over, and no publisher can command under its name.

    Where commands count by their arrival, as those of hardware interfaces of ros2_control, their
    stamps are not read, and a command that is NaN throughout, as before a controller is active, is
    ignored. Such a controller may be silent; the arm brakes when no publisher is left.

    Attributes:
        competing: reason of the newest refusal of a controller that commands claimed joints; the
            reader empties it.
        stale: number of commands to other states than the clock accepts.
    """

    def __init__(
        self,
        node: Node,
        clock: Clock,
        refuse: Callable[[ArmError], None],
        loop: LoopMessages,
        transport: InProcessTransport,
        states: Callable[[], int],
        by_arrival: bool = False,
    ):
        """Subscribe.

        Args:
            node: of the simulator.
            clock: gets the commands.
            refuse: receives why a command is not used.
            loop: receives every command.
            transport: from controllers in this process.
            states: gives the number of states that were published so far.
            by_arrival: whether commands count by their arrival.
        """
        self._loop, self._clock, self._refuse = loop, clock, refuse
        self._claims, self._by_arrival, self._states = clock.claims, by_arrival, states
        self._node, self._log = node, Log(node)
        plant = clock.simulation.plant
        self._names = plant.joint_names
        self._interfaces = dict(zip(self._names, plant.command_interfaces, strict=True))
        self._reader = self._reader_of(self._names)
        self._readers: dict[str, CommandReader] = {}  # of controllers of some joints, by name
        self.competing = ''
        self.stale = 0
        self._spoofed: dict[str, _Spoofed] = {}
        self._publisher = node.create_publisher(String, TOPIC, LATCHED_QOS)
        self._published: ActiveControllers | None = None
        self._input = node.create_subscription(
            JointState, 'joint_commands', self._on_command, CONTROL_INPUT_QOS, raw=True
        )
        # EventsExecutor hands over message and info as one argument, others as two: rclpy would
        # take a function of one or two for one that wants no info.
        self._input._callback_type = Subscription.CallbackType.WithMessageInfo
        transport.serve_commands(self._input.topic_name, self._on_handed_over)
        now_and_then(node, _LOOK, self._look)
        self._publish()

    @property
    def sources(self) -> list[str]:
        """The names of the controllers whose commands are used."""
        return [claim.source for claim in self._claims]

    @property
    def rejection(self) -> str:
        """Why the commands of a name are rejected; '' where none are."""
        return next((each.words for each in self._spoofed.values()), '')

    def _on_command(self, *taken: Any) -> None:
        raw, info = taken if len(taken) == 2 else taken[0]
        self._take(raw, info['publication_sequence_number'] or 0, in_process=False)

    def _on_handed_over(self, raw: bytes, published: int) -> None:
        self._take(raw, published, in_process=True)

    def _take(self, raw: bytes, number: int, in_process: bool) -> None:
        try:
            self._use(raw, number, in_process)
        except ArmError as error:
            self._refuse(error)
        if self._by_arrival:
            self._clock.written()

    def _use(self, raw: bytes, number: int, in_process: bool) -> None:
        """Use a command; raise ArmError where it is refused.

        `number`: the publication sequence number; of a command that is handed over in this
        process, the number of those that its controller has published.
        """
        reader = self._open(raw)
        claim = self._claims.get(reader.sender)
        if claim is not None and claim.endpoint.in_process != in_process:
            if in_process or number > claim.number:
                raise ArmError(f'another publisher commands as {claim.source!r}: not used')
            return  # of a controller in this process, published for other subscribers
        if self._loop.wanted:
            self._loop.add(COMMAND, raw)
        if claim is not None:
            if not in_process:
                states = self._states()
                if number and not self._follows(claim, number, states):
                    self._reject(claim)
                    return
                claim.states = states
            claim.number = number or claim.number
        if self._by_arrival and reader.is_nan():
            return
        if reader.empty:
            self._release(claim)
            return
        clock = self._clock
        now_ns = clock.simulation.time_ns
        stamp_ns = now_ns if self._by_arrival else reader.time_ns
        newest_ns = claim.newest_ns if claim is not None else -1 if self._claims else None
        used = clock.accepts(stamp_ns, newest_ns)
        if claim is None and (used or (self._claims and stamp_ns < now_ns)):
            claim = self._claim(raw, reader, Endpoint(in_process=in_process), number)
            reader = self._readers.get(claim.source, reader)
        if used and claim is not None:
            clock.take_from(claim, stamp_ns, reader.command())
        elif claim is not None and stamp_ns == newest_ns:
            clock.answered_again()
        else:
            self.stale += 1

    def _follows(self, claim: Claim, number: int, states: int) -> bool:
        """Whether a command may come from the publisher that sent the newest one of a claim."""
        most = _MOST_LOST + _MOST_PER_STATE * (states - claim.states)
        rise = number - claim.number
        return rise > 0 and (self._by_arrival or rise <= most)

    def _reader_of(self, names: Sequence[str]) -> CommandReader:
        """Return the reader for the commands of these joints."""
        return CommandReader(names, [self._interfaces[name] for name in names])

    def _open(self, raw: bytes) -> CommandReader:
        """Return the reader that has opened a command: by the joints of its controller's claim."""
        if not self._readers:
            self._reader.open(raw)
            return self._reader
        for reader in self._readers.values():
            if reader.opens(raw):
                return reader
        self._reader.open(raw)
        own = self._readers.get(self._reader.sender)
        if own is None:
            return self._reader
        own.open(raw)
        return own

    def _claim(self, raw: bytes, reader: CommandReader, endpoint: Endpoint, number: int) -> Claim:
        """Grant the claim of a controller's first command, which a reader has opened."""
        claims = self._claims
        source, names = reader.sender, claims.own(reader.joint_names)
        partial = len(names) < len(self._names)
        if partial:
            reader = self._reader_of(names)
            reader.open(raw)
        reader.command()  # a claim begins with a command that can be used
        if not endpoint.in_process:
            endpoint = self._endpoint(source)
        try:
            claim = claims.claim(
                source, names, self._clock.simulation.can_be_claimed, endpoint, number
            )
        except CompetingError as error:
            self.competing = str(error)
            raise
        if partial:
            self._readers[source] = reader
        else:
            self._readers.pop(source, None)
        claim.states = self._states()
        self._clock.yield_to(source)
        self._publish()
        return claim

    def _release(self, claim: Claim | None) -> None:
        if claim is None:
            return  # the controller repeats its release message until it is heard
        self._log.info(f'{claim.source!r} has released the arm: braking, then holding')
        self._clock.release_one(claim)
        self._publish()

    def _reject(self, claim: Claim) -> None:
        """Brake: two publishers command under the name of a claim."""
        source = claim.source
        self._claims.reject(source, f'another publisher commands as {source!r}: the arm brakes')
        self._spoofed[source] = _Spoofed(claim.endpoint, self._publishers())
        self._publish()
        self._clock.release_one(claim)

    # What the graph shows

    def _look(self) -> None:
        """Find publishers that are gone, and rejections that have ended."""
        if self._by_arrival and self._claims:
            self._release_if_gone()
        for source, spoofed in list(self._spoofed.items()):
            if not spoofed.words:
                self._name(source, spoofed)
            elif source not in self._claims.rejections or spoofed.is_over(self._publishers()):
                self._log.info(f'commands as {source!r} are accepted again')
                self._claims.pardon(source)
                del self._spoofed[source]
        self._publish()

    def _release_if_gone(self) -> None:
        """Brake where no publisher is left that could command; such a controller may be silent."""
        if not self._node.count_publishers(self._input.topic_name):
            self._log.warning('no node publishes commands any more: braking, then holding')
            self._clock.release()

    def _publishers(self) -> dict[bytes, str]:
        """Return the node of each publisher of commands, by the publisher's identifier."""
        found = self._node.get_publishers_info_by_topic(self._input.topic_name)
        return {
            bytes(each.endpoint_gid): each.node_namespace.rstrip('/') + '/' + each.node_name
            for each in found
        }

    def _endpoint(self, source: str) -> Endpoint:
        """Return the publisher of the node with a controller's name, where there is just one."""
        own = [each for each in self._publishers().items() if each[1].endswith(f'/{source}')]
        return Endpoint(own[0][1], own[0][0]) if len(own) == 1 else Endpoint()

    def _name(self, source: str, spoofed: '_Spoofed') -> None:
        """Log which nodes may command as `source`: no controller that waits for its activation."""
        publishers = spoofed.publishers | self._publishers()
        if any('_UNKNOWN_' in node for node in publishers.values()):
            return  # the graph does not know all names yet
        suspects = {
            gid: node
            for gid, node in publishers.items()
            if node.endswith(f'/{source}') or not self._waits(node)
        }
        spoofed.publishers = suspects if len(suspects) > 1 else publishers
        spoofed.words = (
            f'more than one publisher commands as {source!r}: braking, no command is used until '
            f'one is left of {", ".join(sorted(spoofed.publishers.values()))}, or none has '
            f'commanded for {REJECTION_TIME:g} s'
        )
        self._log.error(spoofed.words)

    def _waits(self, node: str) -> bool:
        """Whether a node is a controller that can be activated."""
        namespace, name = node.rsplit('/', 1)
        try:
            services = self._node.get_service_names_and_types_by_node(name, namespace or '/')
        except NodeNameNonExistentError:  # it has just gone
            return False
        return any(_CHANGE_STATE in types for _, types in services)

    def _publish(self) -> None:
        """Publish the claims if they have changed."""
        claims = {claim.source: list(claim.joint_names) for claim in self._claims}
        newest = ActiveControllers(claims, self._claims.rejections)
        if newest == self._published:
            return
        self._published = newest
        self._publisher.publish(newest.to_message())


@dataclass
class _Spoofed:
    """A name under which two publishers have commanded.

    Attributes:
        endpoint: what had the claim.
        publishers: the nodes that may have commanded, by their publishers' identifiers.
        words: for the user; '' before the graph shows the names of all nodes.
    """

    endpoint: Endpoint
    publishers: dict[bytes, str]
    words: str = ''

    def is_over(self, publishers: dict[bytes, str]) -> bool:
        """Whether only the endpoint that had the claim is left of the suspects."""
        left = self.publishers.keys() & publishers
        return not left or (len(left) == 1 and self.endpoint.gid in (b'', *left))
