"""Command input of the simulator: which controllers it accepts commands from."""

from collections.abc import Callable, Mapping
from math import inf

from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from arm_controllers.ros.active_controllers import TOPIC, ActiveControllers
from arm_controllers.ros.command_messages import CommandReader
from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.log import Log
from arm_controllers.ros.qos import COMMANDS_QOS, LATCHED_QOS
from arm_controllers.ros.rclpy_internals import subscribe_with_info
from arm_controllers.ros.running import now_and_then
from arm_dynamics.checks import ArmError
from arm_sim.ros.claim_readers import ClaimReaders
from arm_sim.ros.loop_messages import COMMAND, LoopMessages
from arm_sim.ros.spoofed_commands import SpoofedCommands
from arm_sim.simulation.claims import MOST_LOST, Claim, CompetingError, Endpoint
from arm_sim.simulation.clock import Clock

# How often the graph is read, and the claims are published if they have changed [s].
_LOOK = 0.25


class CommandInput:
    """Gives the clock the `joint_commands` of the controllers that hold claims.

    A controller's first command is its claim: the joints that it names, for the publisher that
    sends it. A command without joints releases the claim. `active_controllers` shows the claims.

    A publisher numbers its messages. A number that does not rise, or that rises by far more than
    the number of states that were published since the one that was answered, comes from a second
    publisher that commands under the same name: the claim ends, the arm brakes, and the name is
    rejected until one of the publishers is gone or none has commanded for REJECTION_TIME. Where
    the publisher that had the claim is gone, its controller has opened another one: the claim
    ends. A controller in this process hands its commands over, and no publisher can command under
    its name.

    Where the clock's pacing holds commands, as those of hardware interfaces of ros2_control, a
    command that is NaN throughout, as before a controller is active, is ignored. Such a controller
    may be silent; the arm brakes when no publisher is left.

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
    ):
        """Subscribe.

        Args:
            node: of the simulator.
            clock: gets the commands.
            refuse: receives why a command is not used.
            loop: receives every command.
            transport: from controllers in this process.
            states: gives the number of states that were published so far.
        """
        self._loop, self._clock, self._refuse = loop, clock, refuse
        self._claims, self._pacing, self._states = clock.claims, clock.pacing, states
        self._node, self._log = node, Log(node)
        plant = clock.simulation.plant
        self._readers = ClaimReaders(plant.joint_names, plant.command_interfaces)
        self._most_lost = inf if self._pacing.holds else MOST_LOST
        self.competing, self.stale = '', 0
        self._publisher = node.create_publisher(String, TOPIC, LATCHED_QOS)
        self._published: ActiveControllers | None = None
        self._input = subscribe_with_info(
            node, JointState, 'joint_commands', self._on_command, COMMANDS_QOS
        )
        self._spoofed = SpoofedCommands(node, self._claims, self._input.topic_name)
        transport.serve_commands(
            self._input.topic_name, lambda raw, number: self._take(raw, number, True)
        )
        now_and_then(node, _LOOK, self._look)
        self._publish()

    @property
    def sources(self) -> list[str]:
        """The names of the controllers whose commands are used."""
        return [claim.source for claim in self._claims]

    @property
    def rejection(self) -> str:
        """Why the commands of a name are rejected; '' where none are."""
        return self._spoofed.rejection

    def _on_command(self, raw: bytes, info: Mapping[str, int | None]) -> None:
        self._take(raw, info['publication_sequence_number'] or 0, in_process=False)

    def _take(self, raw: bytes, number: int, in_process: bool) -> None:
        try:
            self._use(raw, number, in_process)
        except ArmError as error:
            self._refuse(error)
        self._pacing.written()

    def _use(self, raw: bytes, number: int, in_process: bool) -> None:
        """Use a command; raise ArmError where it is refused.

        `number`: the publication sequence number; of a command that is handed over in this
        process, the number of those that its controller has published.
        """
        reader = self._readers.open(raw)
        claim = self._claims.get(reader.sender)
        if claim is not None and claim.endpoint.in_process != in_process:
            if in_process or number > claim.number:
                raise ArmError(f'another publisher commands as {claim.source!r}: not used')
            return  # of a controller in this process, published for other subscribers
        if self._loop.wanted:
            self._loop.add(COMMAND, raw)
        if claim is not None and not (in_process or self._follows(claim, number)):
            if not self._spoofed.is_gone(claim):
                self._reject(claim, number)
                return
            self._release(claim, 'has another publisher by now')
            claim = None
        if claim is not None:
            self._hear(claim, number, reader.time_ns)
        if self._pacing.holds and reader.is_nan():
            return
        if reader.empty:
            self._release(claim)
            return
        pacing, clock = self._pacing, self._clock
        state_ns = pacing.state_ns(reader.time_ns)
        newest_ns = claim.newest_ns if claim is not None else -1 if self._claims else None
        used = pacing.accepts(state_ns, newest_ns)
        if claim is None and (used or (self._claims and state_ns < clock.simulation.time_ns)):
            claim = self._claim(raw, reader, Endpoint(in_process=in_process), number)
            reader = self._readers.get(claim.source, reader)
        if used and claim is not None:
            clock.take_from(claim, state_ns, reader.command())
        elif claim is not None and state_ns == newest_ns:
            pacing.answered_again()
        else:
            self.stale += 1

    def _follows(self, claim: Claim, number: int) -> bool:
        """Whether a command may come from the publisher that sent the newest one of a claim."""
        return not number or claim.number < number <= claim.most(self._states(), self._most_lost)

    def _hear(self, claim: Claim, number: int, state_ns: int) -> None:
        """Note a command of a claim that answers the state of a stamp [ns]."""
        simulation = self._clock.simulation
        behind = max(simulation.time_ns - state_ns, 0) // simulation.period_ns
        self._claims.hear(claim, number, state_ns, self._states() - behind)

    def _claim(self, raw: bytes, reader: CommandReader, endpoint: Endpoint, number: int) -> Claim:
        """Grant the claim of a controller's first command, which a reader has opened."""
        claims = self._claims
        source, names = reader.sender, claims.own(reader.joint_names)
        reader = self._readers.reopen(raw, reader, names)
        if reader.strange_fields:
            from arm_sim.ros.strange_commands import refuse

            refuse(claims, source, reader.strange_fields)
        reader.command()  # a claim begins with a command that can be used
        if not endpoint.in_process:
            endpoint = self._spoofed.endpoint(source)
        at_rest = self._clock.simulation.can_be_claimed
        try:
            claim = claims.claim(source, names, at_rest, endpoint, number)
        except CompetingError as error:
            self.competing = str(error)
            raise
        self._readers.keep(source, reader, names)
        self._hear(claim, number, reader.time_ns)
        self._clock.yield_to(source)
        self._publish()
        return claim

    def _release(self, claim: Claim | None, what: str = 'has released the arm') -> None:
        if claim is not None:  # the controller repeats its release message until it is heard
            self._log.info(f'{claim.source!r} {what}: braking, then holding')
            self._clock.release_one(claim)
            self._publish()

    def _reject(self, claim: Claim, number: int) -> None:
        """Brake: two publishers command under the name of a claim, one a message of a number."""
        most, states = claim.most(self._states(), self._most_lost), claim.states
        numbers = f'message {number} came after {claim.number}, not up to {most:.0f}; states: '
        self._spoofed.reject(claim, f'{numbers}{self._states()}, answered up to {states:.0f}')
        self._publish()
        self._clock.release_one(claim)

    def _look(self) -> None:
        """Find publishers that are gone, and rejections that have ended."""
        publishers = self._node.count_publishers(self._input.topic_name)
        if self._pacing.holds and self._claims and not publishers:
            self._log.warning('no node publishes commands any more: braking, then holding')
            self._clock.release()
        self._spoofed.look()
        self._publish()

    def _publish(self) -> None:
        """Publish the claims if they have changed."""
        claims = {claim.source: list(claim.joint_names) for claim in self._claims}
        newest = ActiveControllers(claims, self._claims.rejections)
        if newest != self._published:
            self._published = newest
            self._publisher.publish(newest.to_message())
