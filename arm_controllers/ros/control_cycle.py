"""The control cycle of a controller node: from a state of the arm to a command."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from control_msgs.srv import QueryTrajectoryState
from rclpy.lifecycle import LifecycleNode
from sensor_msgs.msg import JointState

from arm_controllers.cycle_state import CycleState, Event, is_active, next_state
from arm_controllers.cycle_times import CycleTimes
from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.follower.state_sequence import StateOrder, StateSequence
from arm_controllers.laws import State
from arm_controllers.measurement import HOW_TO_MEASURE, Measurement
from arm_controllers.reference import Reference
from arm_controllers.ros.command_messages import FIELD
from arm_controllers.ros.controller_parameters import ControllerParameters
from arm_controllers.ros.goal_server import NOT_ACTIVE, GoalServer
from arm_controllers.ros.in_process import InProcessTransport, TakeCommand
from arm_controllers.ros.log import Log
from arm_controllers.ros.messages import set_numbers, set_stamp, to_ns
from arm_controllers.ros.qos import CONTROL_INPUT_QOS, STATE_QOS
from arm_controllers.ros.serialized_messages import (
    FIELDS,
    JointStateReader,
    JointStateWriter,
    serialized,
    stamp_ns,
)
from arm_controllers.ros.services import serve
from arm_controllers.ros.state_report import StateReport
from arm_dynamics.checks import ArmError, Array, all_finite
from arm_dynamics.model import RobotModel

STATES, COMMANDS = 'joint_states', 'joint_commands'
# The field of a trajectory point that reports a law's output.
_OUTPUT = {'position': 'positions', 'velocity': 'velocities', 'effort': 'effort'}


class ControlCycle:
    """Answers every state with the law's command towards the follower's reference.

    Attributes:
        model, law, follower, goals: the arm, its law, its reference, its goal server.
        state: what the controller does with the next state of the arm.
        received: number of states that were received, repeated ones included.
        overtaken: number of states that came after a newer state, and were not used.
        times: computing times of the cycles; in real time a cycle's deadline is its period.
    """

    def __init__(
        self,
        node: LifecycleNode,
        parameters: ControllerParameters,
        model: RobotModel,
        law: Any,
        follower: TrajectoryFollower,
        goals: GoalServer,
        drop: Callable[[ArmError], None],
        may_begin: Callable[[str], bool],
        transport: InProcessTransport,
    ):
        """Open the endpoints.

        `drop` receives the reason why a state cannot be used. `may_begin` receives the sender of
        a state, and says whether this controller may command the arm.
        """
        p = parameters
        self.follower, self.goals, self._drop = follower, goals, drop
        self._may_begin, self._transport = may_begin, transport
        self.state, self._unanswered = CycleState.INACTIVE, b''
        self._node, self.received, self.overtaken, self._published = node, 0, 0, 0
        self._looked, self._others = -1, False
        self._server: TakeCommand | None = None
        self._period_ns, self._dt = p.period_ns, p.period
        self._log = Log(node, 1.0)
        self.times = CycleTimes(p.period if p.mode == 'realtime' else np.inf)
        self._last_state = time.monotonic()
        self._steps = StateSequence(p.period_ns, p.mode == 'lockstep', model)
        self._collision = ''
        self._law_state: State | None = None
        self._reset: Any = None
        self._set(model, law)

        names = model.joint_names
        field = FIELD[law.command_interface]
        self._command = JointStateWriter(names, (field,), node.get_name())
        self._output = getattr(self._command, field)
        self._zeros, self._answer = np.zeros(len(names)), b''
        self._needs_effort = 'effort' in law.needs
        self._measured = JointStateReader(names, FIELDS[: 3 if self._needs_effort else 2])
        self._output_name = _OUTPUT[field]
        self._command_publisher = node.create_publisher(JointState, COMMANDS, STATE_QOS)
        self._state_publisher = node.create_lifecycle_publisher(
            JointTrajectoryControllerState, '~/controller_state', STATE_QOS
        )
        self._report = StateReport(self._state_publisher, names, p.state_publish_rate)
        self._wrench: Any = None
        self._always_wrench = False
        self._objects: Any = None
        self._without_wrench = b''
        self._listen_to_wrench()
        self._realtime = p.mode == 'realtime'
        self._listen_to_objects()
        self._state_input = node.create_subscription(
            JointState, STATES, self.on_state, CONTROL_INPUT_QOS, raw=True
        )
        self._topics = [node.resolve_topic_name(topic) for topic in (STATES, COMMANDS)]
        transport.subscribe_states(self._topics[0], self.on_state)
        goals.follower = follower
        self._query = serve(node, QueryTrajectoryState, '~/query_state', self._on_query)

    def close(self) -> None:
        """Close the endpoints; a state that the executor still has gets no answer."""
        self.state = CycleState.INACTIVE
        self._transport.unsubscribe_states(self._topics[0], self.on_state)
        self._listen_to_wrench(False)
        self._listen_to_objects(False)
        self._node.destroy_service(self._query)
        if self._reset is not None:
            self._node.destroy_service(self._reset)
        self._node.destroy_subscription(self._state_input)
        self._node.destroy_publisher(self._command_publisher)
        self._node.destroy_lifecycle_publisher(self._state_publisher)

    @property
    def silence(self) -> float:
        """Wall-clock time since the last good state [s]."""
        return time.monotonic() - self._last_state

    @property
    def active(self) -> bool:
        """Whether the controller is active."""
        return is_active(self.state)

    def handle(self, event: Event, reason: str = '') -> None:
        """Go to the state after an event.

        Goals end where the controller stops commanding; `reason` says why, and refuses new ones.
        """
        before, self.state = self.state, next_state(self.state, event)
        if self.state is before:
            return
        self.goals.refusal = reason if self.state is CycleState.REJECTED else NOT_ACTIVE
        if before is CycleState.COMMANDING or self.state is CycleState.REJECTED:
            self.goals.deactivate(reason)
        if self.state is CycleState.RELEASING:
            self.release()

    def try_again(self) -> None:
        """Answer the newest state if the controller may command the arm by now."""
        if self.state is CycleState.WAITING and self._unanswered:
            self.on_state(self._unanswered)

    def release(self) -> None:
        """Send the release message, a command without joints: the simulator brakes and holds."""
        self._answer = b''
        release = JointState()
        release.header.frame_id = self._node.get_name()
        set_stamp(release.header.stamp, max(self._steps.time_ns, 0))
        self._send(serialized(release))

    @property
    def reacts(self) -> bool:
        """Whether the guard has noticed a collision, and has not been reset."""
        return bool(self._collision)

    def use(self, model: RobotModel, law: Any, again: bool, rules: FollowerParameters) -> None:
        """Use another model, law and rules from now on; the reference does not jump.

        `again`: the law begins again; else only thresholds of its guard may be other ones.
        """
        if not again:
            if self._guard is not None:
                self._guard.watch_as(law.guard)
        else:
            state, guard = self._law_state, self._guard
            self._set(model, law)
            same = _kind(guard) == _kind(self._guard)  # else the memory has another form
            if same and self._law_state is None and state is not None:
                self._law_state = law.resumed(state)
        self.follower.set_parameters(rules, model)
        self._listen_to_wrench()
        self._listen_to_objects()

    def set_wrench(self, wrench: Array, from_ns: int, frame: str) -> None:
        """Follow a wrench goal, see TrajectoryFollower.set_wrench.

        Raises:
            ArmError: a goal that is refused; nothing changes.
        """
        if self._wrench is not None and not self._always_wrench and wrench.any():
            topic = self._wrench.topic
            if not self._node.count_publishers(topic):
                raise ArmError(f'no wrench on {topic}: {HOW_TO_MEASURE["wrench"]}')
        self.follower.set_wrench(wrench, from_ns, frame)

    def _listen_to_wrench(self, listens: bool = True) -> None:
        """Subscribe to the wrench where the law, its goals or the end of goals needs one."""
        law = self.law
        self._always_wrench = 'wrench' in law.needs or self.follower.parameters.end_force > 0.0
        needed = self._always_wrench or 'wrench' in law.goal_needs
        if listens and needed and self._wrench is None:
            from arm_controllers.ros.wrench_input import WrenchInput  # most laws need none

            self._wrench = WrenchInput(self._node, self._transport, self._on_wrench, self._drop)
        elif self._wrench is not None and not (listens and needed):
            self._wrench.close()
            self._wrench = None

    def _listen_to_objects(self, listens: bool = True) -> None:
        """Subscribe to the objects around the arm where the follower checks goals against them."""
        needed = listens and self.follower.check is not None
        if needed and self._objects is None:
            from arm_controllers.ros.objects_input import ObjectsInput  # lazily: few need it

            self._objects = ObjectsInput(self._node, self.follower, self._realtime)
        elif self._objects is not None and not needed:
            self._objects.close()
            self._objects = None

    def _set(self, model: RobotModel, law: Any) -> None:
        self.model, self.law, self._guard = model, law, law.guard
        if not self._collision:  # else the reaction goes on
            self._law_state = None  # the law starts with the next state
        if self._guard is None and self._reset is not None:
            self._node.destroy_service(self._reset)
            self._reset = None
        elif self._guard is not None and self._reset is None:
            from std_srvs.srv import Trigger  # most controllers need none

            self._reset = serve(self._node, Trigger, '~/reset_guard', self._on_reset_guard)

    def on_state(self, raw: bytes) -> None:
        """Answer a serialised state; a law that needs a wrench waits for that of the state."""
        feels = self._wrench is not None and self._wants_wrench
        if feels and not self._has_wrench(raw):
            return
        if self.state is not CycleState.COMMANDING and not self._begins(raw):
            return
        state, steps = self._measured, self._steps
        try:
            state.open(raw)
            time_ns = state.time_ns
            sender = state.sender
            commanding = self.state is CycleState.COMMANDING
            if time_ns <= steps.time_ns and commanding and sender == steps.sender:
                if time_ns == steps.time_ns:
                    self.received += 1
                    self._send(self._answer)  # a repeated state: same answer
                    return
                if steps.overtaken(time_ns, self.silence):
                    self.overtaken += 1
                    return
            q, v = state.values('position'), state.values('velocity')
            torque = state.values('effort') if self._needs_effort else None
        except ArmError as error:
            self._drop(error)
            return
        follower, law = self.follower, self.law
        step = steps.take(time_ns, q, v, sender)
        if step is not StateOrder.NEXT or not commanding:
            self._begin(step, time_ns, q, v)
        self._last_state = time.monotonic()
        self.received += 1
        self.times.begin(self._last_state)
        wrench = self._wrench.wrench if feels and self._wants_wrench else None
        reference = follower.update(time_ns, q, v, wrench)
        measured = Measurement(q, v, torque, wrench)
        if self._law_state is None:
            reference.future = self._future
            self._law_state = law.start(measured, reference)
        command, self._law_state = law(self._law_state, measured, reference, self._dt)
        self._output[:] = command
        if not all_finite(self._output, self._zeros):
            self._give_up(q, v)
            return
        self._answer = self._command.serialized(time_ns)
        self._send(self._answer)
        if self.times.end():
            self._warn_of_missed_deadline()
        if self._guard is not None and not self._collision:
            self._watch(self._guard, self._law_state, time_ns, q, v)
        if not self._collision:
            self.goals.after_cycle(time_ns, q, v)
            if self._objects is not None:
                self._objects.after_cycle(time_ns)
        if self._report.is_due(time_ns):
            output, effort = {self._output_name: self._output}, np.empty(0)
            with suppress(ArmError):  # missing or not finite: the control loop does not need it
                effort = state.values('effort')
            self._report.publish(time_ns, follower, q, v, output, effort=effort)

    def _warn_of_missed_deadline(self) -> None:
        """Log that a command came late; the simulator brakes the arm after command_timeout."""
        times = self.times
        self._log.warning(
            f'a cycle took {times.longest * 1e3:.3g} ms, the control period is '
            f'{self._dt * 1e3:.3g} ms: {times.missed} deadlines missed; the simulator brakes the '
            'arm after command_timeout'
        )

    def _watch(self, guard: Any, state: State, time_ns: int, q: Array, v: Array) -> None:
        """End the goals, and refuse further ones, where the guard has noticed a collision."""
        self._collision = guard.collision(state)
        if not self._collision:
            return
        reaction = f'{self._collision}; reaction: {guard.parameters.reaction}'
        self.goals.refusal = f'{reaction}; ~/reset_guard allows goals again'
        if not self.follower.goals:
            Log(self._node).warning(reaction)
        self.follower.activate(time_ns, q, v, reaction)
        self.goals.deactivate(reaction)

    def _on_reset_guard(self, request: Any, response: Any) -> str:
        """End the reaction of the guard: the arm is held where it is, goals are taken again."""
        collision, self._collision = self._collision, ''
        if collision:
            self.handle(Event.LOSE, collision)  # the next state begins again
        return collision or 'there was no collision'

    @property
    def _wants_wrench(self) -> bool:
        """Whether the next command needs a wrench: always, or for a wrench goal."""
        return self._always_wrench or self.follower.has_wrench

    def _has_wrench(self, raw: bytes) -> bool:
        """Whether the wrench of a state is here; otherwise keep the state."""
        try:
            time_ns = stamp_ns(raw)
        except ArmError as error:
            self._drop(error)
            return False
        if time_ns == self._wrench_ns:
            self._without_wrench = b''
            return True
        if raw == self._without_wrench and self._wrench_ns < 0:
            self._drop(ArmError(f'no wrench on {self._wrench.topic}: {HOW_TO_MEASURE["wrench"]}'))
        self._without_wrench = raw
        return False

    def _on_wrench(self) -> None:
        """Answer the state that waits for this wrench."""
        raw = self._without_wrench
        if raw and stamp_ns(raw) == self._wrench_ns:
            self.on_state(raw)

    @property
    def _wrench_ns(self) -> int:
        return -1 if self._wrench is None else self._wrench.time_ns

    def _future(self, periods: int) -> Reference:
        """Return the reference a number of control periods after the newest state."""
        follower = self.follower
        return follower.peek(follower.time_ns + periods * self._period_ns)

    def _send(self, command: bytes) -> None:
        """Publish a command; pass it on directly where the simulator runs in this process."""
        publisher, transport = self._command_publisher, self._transport
        if self._looked != transport.looks:
            self._looked, self._server = transport.looks, transport.command_server(self._topics[1])
            self._others = publisher.get_subscription_count() > 1  # not only the simulator
        if self._server is None:
            publisher.publish(command)
            return
        if self._others:
            self._published += 1
            publisher.publish(command)
        self._server(command, self._published)

    def _begins(self, raw: bytes) -> bool:
        """Whether a state may be answered by a controller that does not command yet."""
        if self.state is CycleState.RELEASING:
            self.release()
        if self.state is CycleState.WAITING:
            self._unanswered = raw
            try:
                self._measured.open(raw)
            except ArmError as error:
                self._drop(error)
                return False
            if self._may_begin(self._measured.sender):
                self.handle(Event.GRANT)
        return self.state is CycleState.READY

    def _give_up(self, q: Array, v: Array) -> None:
        """Release the arm: the law's command is not finite. The next state begins again."""
        k = int(np.isfinite(self._output).argmin())
        reason = (
            f"joint {self.model.joint_names[k]!r}: the law's command is {self._output[k]} at "
            f'position {q[k]:.6g} and velocity {v[k]:.6g}; the arm is braked and held'
        )
        if self._answer:
            self.release()
        self.handle(Event.LOSE, reason)
        self._drop(ArmError(reason))

    def _begin(self, step: StateOrder, time_ns: int, q: Array, v: Array) -> None:
        """Begin again at a state that does not follow from the command before."""
        follower, commanding = self.follower, self.state is CycleState.COMMANDING
        if commanding and step is StateOrder.MISSED and (follower.goals or self._collision):
            return  # the goals or the reaction go on
        if commanding and step is StateOrder.JUMPED:
            follower.activate(time_ns, q, v, f'{self._steps.jump}; the arm holds')
        elif not commanding or step is StateOrder.MISSED:
            follower.activate(time_ns, q, v)
        self._law_state, self._collision = None, ''
        self.goals.activate(time_ns)
        self.handle(Event.BEGIN)
        self._report.begin(time_ns)

    def _on_query(
        self, request: QueryTrajectoryState.Request, response: QueryTrajectoryState.Response
    ) -> None:
        """Give the reference at a future time, by the present goals."""
        follower, time_ns = self.follower, to_ns(request.time)
        past = (follower.time_ns - time_ns) * 1e-9
        if self.state is not CycleState.COMMANDING:
            response.message = self.goals.refusal
        elif past > 0:
            response.message = f'{past:.6g} s before the newest state; what has passed is not kept'
        else:
            reference = follower.peek(time_ns)
            response.success, response.name = True, list(follower.joint_names)
            set_numbers(
                response, position=reference.q, velocity=reference.v, acceleration=reference.a
            )


def _kind(guard: Any) -> Any:
    return None if guard is None else guard.parameters.kind
