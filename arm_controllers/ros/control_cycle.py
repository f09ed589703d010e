"""The control cycle of a controller node: from a complete state of the arm to a command."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.lifecycle import LifecycleNode

from arm_controllers.cycle_state import CycleState, Event, is_active, next_state
from arm_controllers.cycle_times import CycleTimes
from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.follower.state_sequence import StateOrder
from arm_controllers.law import Law, State
from arm_controllers.measurement import Measurement
from arm_controllers.reference import Reference
from arm_controllers.ros.command_output import CommandOutput
from arm_controllers.ros.controller_parameters import ControllerParameters
from arm_controllers.ros.goal_server import NOT_ACTIVE, GoalServer
from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.log import Log
from arm_controllers.ros.qos import STATE_QOS
from arm_controllers.ros.reference_service import serve_reference
from arm_controllers.ros.state_input import StateInput
from arm_controllers.ros.state_report import StateReport
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel

if TYPE_CHECKING:  # loads SciPy; most laws have no guard
    from arm_controllers.ros.guard_watch import GuardWatch

# The field of a trajectory point that reports a law's output.
_OUTPUT = {
    'position': 'positions',
    'velocity': 'velocities',
    'effort': 'effort',
    'voltage': 'effort',
}

_NOT_TAKING = (CycleState.INACTIVE, CycleState.REJECTED)


class ControlCycle:
    """Answers every state with the law's command towards the follower's reference.

    `states` hands over complete states. The command is sent first; then guard, goals, objects and
    report observe the cycle.

    Attributes:
        model, law, follower, goals: the arm, its law, its reference, its goal server.
        state: what the controller does with the next state of the arm.
        states: the input stage.
        times: computing times of the cycles; in real time a cycle's deadline is its period.
    """

    def __init__(
        self,
        node: LifecycleNode,
        parameters: ControllerParameters,
        model: RobotModel,
        law: Law,
        follower: TrajectoryFollower,
        goals: GoalServer,
        drop: Callable[[ArmError], None],
        allowed: Callable[[str, int], bool],
        transport: InProcessTransport,
    ):
        """Open the endpoints.

        `drop` receives the reason why a state cannot be used. `allowed` receives sender and
        stamp [ns] of a state, and says whether this controller may command the arm.
        """
        p = parameters
        self.follower, self.goals, self._drop, self._allowed = follower, goals, drop, allowed
        self.state, self._node, self._log = CycleState.INACTIVE, node, Log(node, 1.0)
        self._period_ns, self._dt = p.period_ns, p.period
        self.times = CycleTimes(p.period if p.mode == 'realtime' else np.inf)
        self._guard: GuardWatch | None = None
        self._law_state: State | None = None  # the law starts with the next state
        self._set(model, law)
        names, interface = model.joint_names, law.command_interface
        self._command = CommandOutput(node, transport, names, interface)
        self._output = {_OUTPUT[interface]: self._command.values}
        self._state_publisher = node.create_lifecycle_publisher(
            JointTrajectoryControllerState, '~/controller_state', STATE_QOS
        )
        self._report = StateReport(self._state_publisher, names, p.state_publish_rate)
        self.states = StateInput(node, p, law, follower, transport, self, drop)
        goals.follower = follower
        self._query = serve_reference(node, follower, self._why_no_reference)

    def close(self) -> None:
        """Close the endpoints; a state that the executor still has gets no answer."""
        self.state = CycleState.INACTIVE
        self.states.close()
        self._node.destroy_service(self._query)
        if self._guard is not None:
            self._guard.close()
        self._command.close()
        self._node.destroy_lifecycle_publisher(self._state_publisher)

    # The state of the cycle

    @property
    def active(self) -> bool:
        """Whether the controller is active."""
        return is_active(self.state)

    @property
    def reacts(self) -> bool:
        """Whether the guard has noticed a collision, and has not been reset."""
        return self._guard is not None and bool(self._guard.collision)

    def handle(self, event: Event, reason: str = '') -> None:
        """Go to the state after an event.

        Goals end where the controller stops commanding; `reason` says why, and refuses new ones
        until it is activated again.
        """
        before, self.state = self.state, next_state(self.state, event)
        if self.state is before:
            return
        if event is not Event.RELEASED:  # which changes nothing for goals
            self.goals.refusal = reason or NOT_ACTIVE
        if before is CycleState.COMMANDING or self.state in _NOT_TAKING:
            self.goals.deactivate(reason)
        self.goals.awaited |= event is Event.ACTIVATE  # goals wait for the first state
        if self.state is CycleState.RELEASING:
            self._release()

    def try_again(self) -> None:
        """Answer the newest state if the controller may command the arm by now."""
        if self.state is CycleState.WAITING:
            self.states.take_again()

    def awaits_state(self) -> bool:
        """Whether it may begin to command at the next state; a lost release is sent again."""
        if self.state is CycleState.RELEASING:
            self._release()
        return self.state in (CycleState.WAITING, CycleState.READY)

    def may_begin(self, sender: str, time_ns: int) -> bool:
        """Whether it begins to command the arm of a state with this sender and stamp [ns]."""
        if self.state is CycleState.WAITING and self._allowed(sender, time_ns):
            self.handle(Event.GRANT)
        return self.state is CycleState.READY

    # From a state to a command

    def answer(self, time_ns: int, measured: Measurement, order: StateOrder) -> None:
        """Answer a state: its stamp [ns], and how it follows the one before it."""
        q, v, _, wrench, _ = measured
        if order is not StateOrder.NEXT or self.state is not CycleState.COMMANDING:
            self._begin(order, time_ns, q, v)
        self.times.begin(time.monotonic())
        follower, law = self.follower, self.law
        follower.update(time_ns, q, v, wrench)
        reference = follower.shown
        if self._law_state is None:
            follower.reference.future = self._future
            self._law_state = law.start(measured, reference)
        command, self._law_state = law(self._law_state, measured, reference, self._dt)
        if not self._command.send(command, time_ns):
            self._give_up(q, v)
            return
        if self.times.end():
            self._warn_of_missed_deadline()
        self._observe(self._law_state, time_ns, q, v)

    def answer_again(self) -> None:
        """Send the newest answer again."""
        self._command.send_again()
        self.goals.after_repeat()

    def _begin(self, order: StateOrder, time_ns: int, q: Array, v: Array) -> None:
        """Begin again at a state that does not follow from the command before."""
        follower, commanding = self.follower, self.state is CycleState.COMMANDING
        if commanding and order is StateOrder.MISSED and (follower.goals or self.reacts):
            return  # the goals or the reaction go on
        if commanding and order is not StateOrder.MISSED:  # goals that waited are refused
            self.goals.refusal = f'{self.states.sequence.jump}; the arm holds'
        if commanding and order is StateOrder.JUMPED:
            follower.activate(time_ns, q, v, self.goals.refusal)
        elif not commanding or order is StateOrder.MISSED:
            follower.activate(time_ns, q, v)
        self._law_state = None
        if self._guard is not None:
            self._guard.collision = ''
        self.goals.activate(time_ns)
        self.handle(Event.BEGIN)
        self._report.begin(time_ns)

    def _observe(self, state: State, time_ns: int, q: Array, v: Array) -> None:
        """Do what a cycle leads to, after its command: that must not wait."""
        objects, report = self.states.objects, self._report
        if self._guard is None or not self._guard.after_cycle(state, time_ns, q, v):
            self.goals.after_cycle(time_ns, q, v)
            if objects is not None:
                objects.after_cycle(time_ns)
        if report.is_due(time_ns):
            effort = self.states.effort()
            report.publish(time_ns, self.follower, q, v, self._output, effort=effort)

    def _give_up(self, q: Array, v: Array) -> None:
        """Release the arm: the law's command is not finite. The next state begins again."""
        command = self._command
        k = int(np.isfinite(command.values).argmin())
        reason = (
            f"joint {self.model.joint_names[k]!r}: the law's command is {command.values[k]} at "
            f'position {q[k]:.6g} and velocity {v[k]:.6g}; the arm is braked and held'
        )
        if command.answered:
            self._release()
        self.handle(Event.LOSE, reason)
        self._drop(ArmError(reason))

    def _release(self) -> None:
        """Send the release message: the simulator brakes and holds the arm."""
        self._command.release(max(self.states.sequence.time_ns, 0))

    def _future(self, periods: int) -> Reference:
        """Return the reference a number of control periods after the newest state."""
        follower = self.follower
        return follower.peek(follower.time_ns + periods * self._period_ns)

    def _warn_of_missed_deadline(self) -> None:
        """Log, once a minute, how many commands came late."""
        missed, longest = self.times.news()
        if missed:
            cycles = '1 cycle' if missed == 1 else f'{missed} cycles'
            self._log.warning(
                f'{cycles} took longer than the control period of {self._dt * 1e3:.3g} ms, up to '
                f'{longest * 1e3:.3g} ms; a few do no harm: the arm brakes only where no command '
                'comes for command_timeout and command_wait (next report in a minute)'
            )

    # What changes while the controller runs

    def use(self, model: RobotModel, law: Law, again: bool, rules: FollowerParameters) -> None:
        """Use another model, law and rules from now on; the reference does not jump.

        `again`: the law begins again; else only thresholds of its guard may be other ones.
        """
        if again:
            state, same = self._law_state, _kind(law) == _kind(self.law)
            self._set(model, law)
            if not self.reacts:  # else the reaction goes on
                # Where the guard is another one, the memory has another form.
                self._law_state = law.resumed(state) if same and state is not None else None
        elif self._guard is not None:
            self._guard.guard.watch_as(law.guard)
        self.follower.set_parameters(rules, model)
        self.states.listen(self.law)

    def set_wrench(self, wrench: Array, from_ns: int, frame: str) -> None:
        """Follow a wrench goal, see TrajectoryFollower.set_wrench.

        Raises:
            ArmError: a goal that is refused; nothing changes.
        """
        if wrench.any():
            self.states.expect_wrench()
        self.follower.set_wrench(wrench, from_ns, frame)

    def _set(self, model: RobotModel, law: Law) -> None:
        self.model, self.law = model, law
        if law.guard is None:
            if self._guard is not None:
                self._guard.close()
            self._guard = None
        elif self._guard is not None:
            self._guard.guard = law.guard
        else:
            from arm_controllers.ros.guard_watch import GuardWatch

            self._guard = GuardWatch(
                self._node, law.guard, self.follower, self.goals, self._on_reset
            )

    def _on_reset(self, collision: str) -> None:
        """Begin again at the next state, after the reaction to a collision."""
        self.handle(Event.LOSE, collision)

    def _why_no_reference(self) -> str:
        return '' if self.state is CycleState.COMMANDING else self.goals.refusal


def _kind(law: Law) -> object:
    """Return what the memory of a law's guard depends on."""
    return None if law.guard is None else law.guard.parameters.kind
