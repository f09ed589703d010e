"""The gripper controller: goals of a gripper's actions, and the effort of its joint."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from control_msgs.action import GripperCommand, ParallelGripperCommand
from control_msgs.msg import GripperCommand as GripperCommandMessage
from rclpy.action import CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from sensor_msgs.msg import JointState

from arm_controllers.cycle_state import AWAITING, LONGEST_WAIT, CycleState, Event, next_state
from arm_controllers.gripper import (
    GripperGoal,
    GripperLaw,
    GripperMonitor,
    GripperOutcome,
    GripperParameters,
    gripper_goal,
    gripper_joint,
)
from arm_controllers.law import State
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_controllers.ros.active_controllers import (
    ActiveControllers,
    Turn,
    watch_active_controllers,
)
from arm_controllers.ros.command_output import CommandOutput
from arm_controllers.ros.diagnostics import WAITING, WHO_SENDS, why_still
from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.log import Log, once_a_minute
from arm_controllers.ros.messages import set_stamp, to_ns
from arm_controllers.ros.nodes import LifecycleNode
from arm_controllers.ros.parameters import declare_parameters, declare_unused
from arm_controllers.ros.process_settings import pin_to_core
from arm_controllers.ros.qos import CONTROL_INPUT_QOS
from arm_controllers.ros.rclpy_internals import EventActionServer
from arm_controllers.ros.serialized_messages import JointStateReader
from arm_controllers.ros.state_input import STATES
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import Stepping, parameter
from arm_dynamics.robots import ArmParameters

_Goal: TypeAlias = ParallelGripperCommand.Goal | GripperCommand.Goal
_Answer: TypeAlias = (
    ParallelGripperCommand.Result
    | ParallelGripperCommand.Feedback
    | GripperCommand.Result
    | GripperCommand.Feedback
)
_ACTIONS = {'parallel_gripper_command': ParallelGripperCommand, 'gripper_command': GripperCommand}
_MOST_WAITING = 10  # goals that begin later
_LATEST_NS = 3600 * 10**9  # from the acceptance of a goal to its begin
_SILENCE = 10  # without a state, after which goals are aborted [s]
# Parameters of ros2_controllers that say what is always so here.
_WITHOUT_MEANING = ('state_interfaces', 'max_effort_interface', 'max_velocity_interface')


@dataclass(frozen=True)
class GripperNodeParameters(ArmParameters, Stepping, GripperParameters):
    """Parameters of the gripper controller's node."""

    joint: str = parameter(
        '', 'joint of the gripper; empty: the only joint that does not move the tool link'
    )
    action: str = parameter(
        'parallel_gripper_command',
        'type of the action ~/gripper_cmd: control_msgs/ParallelGripperCommand or GripperCommand',
        one_of=tuple(_ACTIONS),
    )
    action_monitor_rate: float = parameter(
        20.0, "rate of the action's feedback [Hz of simulated time]", min=0.1, max=10_000.0
    )
    autostart: bool = parameter(False, 'if true, the node activates itself')
    core: int = parameter(-1, 'CPU core to run on; -1: any core')


class GripperControllerNode(LifecycleNode):
    """Answers every state with the effort of the gripper's joint.

    A goal of the action ~/gripper_cmd begins at its stamp, or at once without one; before the
    first state it waits for that. A new goal replaces the running one, which is aborted.
    """

    Parameters = GripperNodeParameters

    def __init__(self, transport: InProcessTransport | None = None):
        """Declare the parameters; with `autostart` also configure and activate.

        `transport`: to a simulator in the same process.
        """
        super().__init__('gripper_controller')
        self._log, self._waits = Log(self), once_a_minute(self)
        self.parameters = p = declare_parameters(self, self.Parameters)
        declare_unused(self, lambda name: name in _WITHOUT_MEANING)
        self.model = model = p.model()
        self.joint = gripper_joint(model, p.joint)
        self.law = GripperLaw(model, p, self.joint)
        self.law.check_period(p.period)
        self._reader = JointStateReader([self.joint], ('position', 'velocity'))
        self._transport = transport or InProcessTransport()
        self._command = CommandOutput(self, self._transport, [self.joint], 'effort')
        self._reference, self._monitor = Reference(1), GripperMonitor(p, 0.0)
        self._state = CycleState.INACTIVE
        self._turn = Turn(self, [self.joint], self._reject, lambda _: self.trigger_deactivate())
        self._time_ns, self._sender, self._silent, self._still = -1, '', 0, 0
        self._law_state: State = ()
        self._goals: list[tuple[int, ServerGoalHandle, GripperGoal]] = []  # that begin later
        self._running: ServerGoalHandle | None = None
        self._next_feedback_ns, self._latest = 0, (0.0, 0.0)
        self.create_timer(1.0, self._on_second)
        options = JointState, STATES, self.on_state, CONTROL_INPUT_QOS
        self._topic = self.create_subscription(*options, raw=True).topic_name
        self._transport.subscribe_states(self._topic, self.on_state)
        watch_active_controllers(self, self._on_claims)
        self._kind = _ACTIONS[p.action]
        self._action = EventActionServer(
            self,
            self._kind,
            '~/gripper_cmd',
            self._on_goal,
            goal_callback=self._on_request,
            cancel_callback=self._on_cancel,
        )
        if p.autostart:
            self.trigger_configure()
            self.trigger_activate()

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Use the CPU core."""
        pin_to_core(self.parameters.core)
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Command from the next state on, holding where the gripper is then."""
        self._turn.begin()
        self._handle(Event.ACTIVATE)
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop commanding: goals are aborted, and the simulator brakes and holds."""
        self._handle(Event.DEACTIVATE)
        return super().on_deactivate(state)

    def destroy_node(self) -> None:
        """Stop commanding before the node ends; goals get their results."""
        self._action.sends_at_once = True
        self._handle(Event.DEACTIVATE)
        self._transport.unsubscribe_states(self._topic, self.on_state)
        super().destroy_node()

    def _handle(self, event: Event) -> None:
        before, self._state = self._state, next_state(self._state, event)
        awaiting = self._state in AWAITING and before is not CycleState.COMMANDING
        if not awaiting and self._state not in (before, CycleState.COMMANDING):
            self._end_all()
        if self._state is CycleState.RELEASING:
            self._command.release(max(self._time_ns, 0))

    def _on_claims(self, claims: ActiveControllers) -> None:
        """Follow the simulator: wait while another controller has claimed the joint."""
        self._turn.claims, own = claims, self.get_name()
        if own in claims.rejected:
            self._reject(claims.rejected[own])
        else:
            self._handle(Event.ACCEPT)
        if own not in claims.claims:
            self._handle(Event.RELEASED)

    def _reject(self, why: str) -> None:
        self._log.error(why)
        self._handle(Event.REJECT)

    # The control cycle

    def on_state(self, raw: bytes) -> None:
        """Answer a serialised state."""
        self._silent = 0
        if self._state is CycleState.RELEASING:
            self._command.release(max(self._time_ns, 0))
        if self._state not in (*AWAITING, CycleState.COMMANDING):
            return
        try:
            self._reader.open(raw)
            time_ns, sender = self._reader.time_ns, self._reader.sender
            if self._state is CycleState.WAITING and self._turn.comes(sender, time_ns):
                self._handle(Event.GRANT)
            if self._state not in (CycleState.READY, CycleState.COMMANDING):
                return
            commanding = self._state is CycleState.COMMANDING and sender == self._sender
            if commanding and time_ns == self._time_ns:
                self._command.send_again()  # a repeated state: same answer
                self._end_canceled(self._latest[0])
                return
            q, v = (self._reader.values(name) for name in ('position', 'velocity'))
        except ArmError as error:
            self._log.warning(f'state dropped: {error}')
            return
        p, reference = self.parameters, self._reference
        if not commanding or time_ns < self._time_ns:  # also after a reset
            if self._state is CycleState.COMMANDING:
                self._end_all()
            self._monitor.hold(float(q[0]))
            self._law_state, self._next_feedback_ns = (), time_ns
            self._handle(Event.BEGIN)
            self._goals = [each for each in self._goals if self._is_in_time(*each[:2], time_ns)]
        self._time_ns, self._sender, self._still = time_ns, sender, 0
        while self._goals and self._goals[0][0] <= time_ns:
            self._begin(*self._goals.pop(0)[1:])
        goal = self._monitor.goal
        reference.q[:], reference.v[:], reference.effort[:] = goal[0], goal[2], goal[1]
        measured = Measurement(q, v)
        if not self._law_state:
            self._law_state = self.law.start(measured, reference)
        effort, self._law_state = self.law(self._law_state, measured, reference, p.period)
        if not self._command.send(effort, time_ns):
            self._log.warning(f'no command: the effort is {float(effort[0])}')
            return
        self._latest = float(q[0]), float(effort[0])
        self._after_cycle(time_ns, float(q[0]))

    def _after_cycle(self, time_ns: int, q: float) -> None:
        outcome = self._monitor.update(time_ns, q)
        self._end_canceled(q)
        running = self._running
        if running is None:
            return
        if outcome is not None:
            self._running = None
            self._finish(running, outcome)
        elif time_ns >= self._next_feedback_ns:
            self._next_feedback_ns = time_ns + round(1e9 / self.parameters.action_monitor_rate)
            newest = self.joint, time_ns, *self._latest
            running.publish_feedback(_filled(self._kind.Feedback(), *newest))

    # Goals

    def _end_canceled(self, q: float) -> None:
        """End goals whose cancel the client knows of; the gripper holds at `q` [rad or m]."""
        for each in [each for each in self._goals if each[1].is_cancel_requested]:
            self._goals.remove(each)
            self._finish(each[1])
        running = self._running
        if running is not None and running.is_cancel_requested:
            self._monitor.hold(q)
            self._running = None
            self._finish(running)

    def _on_request(self, request: _Goal) -> GoalResponse:
        """Refuse a goal that this gripper cannot do; the log says why."""
        try:
            if self._state not in (*AWAITING, CycleState.COMMANDING):
                raise ArmError(self._turn.rejection or 'the controller is not active')
            if len(self._goals) >= _MOST_WAITING:
                raise ArmError(f'{_MOST_WAITING} goals wait for their begin')
            self._goal_of(request.command)
        except ArmError as error:
            self._log.warning(f'goal refused: {error}')
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _goal_of(self, command: GripperCommandMessage | JointState) -> GripperGoal:
        """Return the goal of a message; raises ArmError as `gripper_goal` does."""
        values = _values(command, self.joint)
        return gripper_goal(self.model, self.joint, self.parameters, *values)

    def _on_goal(self, handle: ServerGoalHandle) -> None:
        """Begin a goal, or keep it until its stamp."""
        command = handle.request.command
        start_ns = to_ns(command.header.stamp) if self._kind is ParallelGripperCommand else 0
        goal, commanding = self._goal_of(command), self._state is CycleState.COMMANDING
        if commanding and not self._is_in_time(start_ns, handle, self._time_ns):
            return
        if start_ns > self._time_ns or not commanding:
            self._goals.append((start_ns, handle, goal))
            self._goals.sort(key=lambda each: each[0])
        else:
            self._begin(handle, goal)

    def _is_in_time(self, start_ns: int, handle: ServerGoalHandle, now_ns: int) -> bool:
        """Return whether a goal begins soon enough after a time [ns]; else it is aborted."""
        text = _too_late(start_ns, now_ns)
        if not text:
            return True
        self._log.warning(f'goal refused: {text}')
        self._finish(handle)
        return False

    def _on_second(self) -> None:
        """End goals that can no longer end because no state comes; say where time is stopped."""
        has_goals = bool(self._goals) or self._running is not None
        # A stopped process has received nothing, and counts nothing.
        self._silent, self._still = self._silent + 1, (self._still + 1) * has_goals
        if self._still > WAITING > self._silent:
            self._waits(f'goals wait: {why_still(self, self._time_ns)}')
        waits = self._state in AWAITING and time.monotonic() - self._turn.began > LONGEST_WAIT
        if waits or (self._state is CycleState.COMMANDING and self._silent > _SILENCE):
            if has_goals:
                self._log.warning(f'goals ended: no state for {self._silent} s: {WHO_SENDS}')
            self._end_all()

    def _begin(self, handle: ServerGoalHandle, goal: GripperGoal) -> None:
        before, self._running = self._running, handle
        if before is not None:
            self._finish(before)
        self._monitor.set_goal(goal, self._time_ns)

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        """Accept: the next state ends the goal; the gripper holds if the goal was running."""
        known = handle is self._running or any(handle is each for _, each, _ in self._goals)
        return CancelResponse.ACCEPT if known else CancelResponse.REJECT

    def _end_all(self) -> None:
        """End all goals."""
        running, self._running = self._running, None
        for handle in (running, *(each for _, each, _ in self._goals)):
            if handle is not None:
                self._finish(handle)
        self._goals.clear()

    def _finish(self, handle: ServerGoalHandle, outcome: GripperOutcome | None = None) -> None:
        """Send the result of a goal; without an outcome the goal is canceled or aborted."""
        result = _filled(self._kind.Result(), self.joint, self._time_ns, *self._latest)
        if outcome is not None:
            result.stalled, result.reached_goal = outcome.stalled, outcome.reached_goal
        succeeded = outcome is not None and outcome.succeeded
        self._action.finish(handle, result, succeeded, canceled=outcome is None)


def _values(
    command: GripperCommandMessage | JointState, joint: str
) -> tuple[float, float | None, float | None]:
    """Return position, effort and velocity of a goal's message, None where it has none.

    Raises:
        ArmError: another joint, or other than one position.
    """
    if isinstance(command, GripperCommandMessage):
        return command.position, command.max_effort or None, None
    if list(command.name) not in ([], [joint]):
        raise ArmError(f'name is {list(command.name)}; allowed: [{joint!r}] or none')
    if len(command.position) != 1:
        raise ArmError(f'position has {len(command.position)} values; allowed: 1')
    others = _one('effort', command.effort), _one('velocity', command.velocity)
    return command.position[0], *others


def _filled(message: _Answer, joint: str, time_ns: int, q: float, effort: float) -> _Answer:
    """Return a result or a feedback with the newest state of a gripper's joint."""
    if hasattr(message, 'state'):
        set_stamp(message.state.header.stamp, max(time_ns, 0))
        message.state.name = [joint]
        message.state.position, message.state.effort = [q], [effort]
    else:
        message.position, message.effort = q, effort
    return message


def _too_late(start_ns: int, now_ns: int) -> str:
    """Return why a goal that begins at a stamp [ns] is refused at a time [ns]; '': it is not."""
    if start_ns - now_ns <= _LATEST_NS:
        return ''
    from arm_controllers.follower.refusals import another_clock

    begin = f'the goal begins in {(start_ns - now_ns) * 1e-9:.6g} s'
    return f'{begin}; allowed: {_LATEST_NS * 1e-9:g} s{another_clock(start_ns, now_ns)}'


def _one(name: str, values: Sequence[float]) -> float | None:
    """Return the only value of a field, None where there is none; raises ArmError for more."""
    if len(values) > 1:
        raise ArmError(f'{name} has {len(values)} values; allowed: 1 or none')
    return float(values[0]) if len(values) else None
