"""The input stage of a control cycle: topics in, complete states of the arm out."""

import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import JointState

from arm_controllers.cycle_state import CycleState
from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.state_sequence import StateOrder, StateSequence
from arm_controllers.law import Law
from arm_controllers.measurement import Measurement
from arm_controllers.ros.controller_parameters import ControllerParameters
from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.inputs import INPUTS
from arm_controllers.ros.qos import CONTROL_INPUT_QOS
from arm_controllers.ros.running import stood_still
from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader
from arm_dynamics.checks import ArmError, Array

STATES = 'joint_states'
# Time in which old states arrive that were sent while this process stood still [s].
_BACKLOG = 0.3
_NONE = np.empty(0)
# Time is stopped where the newest state comes again, and none after it, for this time [s].
STILL = 1.0


class StateUser(Protocol):
    """What answers the states: a control cycle.

    Attributes:
        state: what it does with the next state of the arm.
    """

    state: CycleState

    def awaits_state(self) -> bool:
        """Whether it may begin to command at the next state."""

    def may_begin(self, sender: str, time_ns: int) -> bool:
        """Whether it begins to command the arm of a state with this sender and stamp [ns]."""

    def answer(self, time_ns: int, measured: Measurement, order: StateOrder) -> None:
        """Answer a state: its stamp [ns], and how it follows the one before it."""

    def answer_again(self) -> None:
        """Send the newest answer again."""


class StateInput:
    """Hands over each joint state once, complete: with its wrench where one is needed.

    A repeated state gets the same answer. A state that was overtaken on its way gets none.

    Attributes:
        sequence: stamp and sender of the newest state, and how it follows the one before it.
        received: number of states that were used, repeated ones included.
        overtaken: number of states that came after a newer state, and were not used.
        objects: the objects around the arm; None where goals are not checked against them.
    """

    def __init__(
        self,
        node: Node,
        parameters: ControllerParameters,
        law: Law,
        follower: TrajectoryFollower,
        transport: InProcessTransport,
        user: StateUser,
        drop: Callable[[ArmError], None],
    ):
        """Subscribe; `user` gets the states, `drop` the reason why one cannot be used."""
        p, model = parameters, follower.model
        self._node, self._transport, self._drop = node, transport, drop
        self._user, self._follower, self._realtime = user, follower, p.mode == 'realtime'
        self.sequence = StateSequence(p.period_ns, p.mode == 'lockstep', model)
        self.received = self.overtaken = 0
        self._arrived = self._repeated = time.monotonic()
        self._unanswered = b''  # the newest state for which the user may not begin yet
        self._has_effort = 'effort' in law.needs
        self._reader = JointStateReader(model.joint_names, FIELDS[: 3 if self._has_effort else 2])
        self._wrench: Any = None  # of the registry INPUTS
        self._always_wrench = False
        self.objects: Any = None
        self.listen(law)
        self._input = node.create_subscription(
            JointState, STATES, self.take, CONTROL_INPUT_QOS, raw=True
        )
        transport.subscribe_states(self._input.topic_name, self.take)

    def close(self) -> None:
        """Unsubscribe."""
        self._transport.unsubscribe_states(self._input.topic_name, self.take)
        self._node.destroy_subscription(self._input)
        self._listen_to_wrench(False)
        self._listen_to_objects(False)

    @property
    def silence(self) -> float:
        """Wall-clock time since the last good state [s]."""
        return time.monotonic() - self._arrived

    @property
    def time_is_stopped(self) -> bool:
        """Whether the sender lives and repeats the newest state: a pause, or it waits itself."""
        return self.silence > STILL > time.monotonic() - self._repeated

    def take(self, raw: bytes) -> None:
        """Take a serialised state; hand it over, or keep it until its wrench is here."""
        if self._realtime and stood_still(self._follower.parameters.time_jump_limit):
            time.sleep(_BACKLOG)  # then comes the newest state
            return
        wrench = None
        if self._wrench is not None and (self._always_wrench or self._follower.has_wrench):
            wrench = self._wrench.of_state(raw)
            if wrench is None:
                return
        user, reader, sequence = self._user, self._reader, self.sequence
        commanding = user.state is CycleState.COMMANDING
        if not commanding:
            if not user.awaits_state():
                return
            self._unanswered = raw
        try:
            reader.open(raw)
            time_ns, sender = reader.time_ns, reader.sender
            if not commanding:
                if not user.may_begin(sender, time_ns):
                    return
                self._unanswered = b''
            elif time_ns <= sequence.time_ns and sender == sequence.sender:
                if time_ns == sequence.time_ns:
                    self.received += 1
                    self._repeated = time.monotonic()
                    user.answer_again()
                    return
                if sequence.overtaken(time_ns, self.silence):
                    self.overtaken += 1
                    return
            q, v = reader.values('position'), reader.values('velocity')
            effort = reader.values('effort') if self._has_effort else None
        except ArmError as error:
            self._drop(error)
            return
        order = sequence.take(time_ns, q, v, sender)
        self._arrived = time.monotonic()
        self.received += 1
        user.answer(time_ns, Measurement(q, v, effort, wrench), order)

    def take_again(self) -> None:
        """Take the state again for which the user could not begin."""
        if self._unanswered:
            self.take(self._unanswered)

    def effort(self) -> Array:
        """Return the effort (n,) in the newest state; (0,) where it has none that is finite."""
        try:
            return self._reader.values('effort')
        except ArmError:
            return _NONE

    def listen(self, law: Law) -> None:
        """Subscribe to what a law and the rules of goals need besides the joint states."""
        follower = self._follower
        self._always_wrench = 'wrench' in law.needs or follower.parameters.end_force > 0.0
        self._listen_to_wrench(self._always_wrench or 'wrench' in law.goal_needs)
        self._listen_to_objects(follower.check is not None)

    def expect_wrench(self) -> None:
        """Check that a wrench may come which only goals need.

        Raises:
            ArmError: no node publishes it.
        """
        if self._wrench is not None and not self._always_wrench:
            self._wrench.check_publisher()

    def _listen_to_wrench(self, needed: bool) -> None:
        if needed and self._wrench is None:
            made = INPUTS.load('wrench')
            self._wrench = made(self._node, self._transport, self.take, self._drop)
        elif not needed and self._wrench is not None:
            self._wrench.close()
            self._wrench = None

    def _listen_to_objects(self, needed: bool) -> None:
        if needed and self.objects is None:
            self.objects = INPUTS.load('objects')(self._node, self._follower, self._realtime)
        elif not needed and self.objects is not None:
            self.objects.close()
            self.objects = None
