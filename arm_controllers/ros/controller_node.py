"""A controller: one lifecycle node around one law and one trajectory follower."""

import sys
import time
from dataclasses import replace
from typing import Any

from control_msgs.msg import SpeedScalingFactor
from rclpy.lifecycle import LifecycleState, TransitionCallbackReturn
from rclpy.utilities import remove_ros_args

from arm_controllers.adapted_law import adapted_law
from arm_controllers.cycle_state import LONGEST_WAIT, CycleState, Event
from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.law import Law
from arm_controllers.laws import law_class
from arm_controllers.ros.active_controllers import (
    ActiveControllers,
    Turn,
    nodes_of_arm,
    watch_active_controllers,
)
from arm_controllers.ros.control_cycle import ControlCycle
from arm_controllers.ros.controller_parameters import (
    ControllerParameters,
    controller_fields,
    without_meaning,
)
from arm_controllers.ros.diagnostics import WHO_SENDS, ControllerDiagnostics
from arm_controllers.ros.goal_server import GoalServer
from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.live_parameters import OF_JOINTS, LiveParameters
from arm_controllers.ros.log import Log
from arm_controllers.ros.messages import components, prefix_of, to_ns
from arm_controllers.ros.nodes import LifecycleNode
from arm_controllers.ros.parameters import (
    declare_parameters,
    declare_unused,
    refuse_unknown_parameters,
)
from arm_controllers.ros.process_settings import pin_to_core
from arm_controllers.ros.ros_types import AnyMessage
from arm_controllers.ros.running import run_node
from arm_controllers.ros.state_input import STATES
from arm_dynamics.checks import ArmError, in_range
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error

_LAST_RESULTS = 0.1  # for which a controller that ends sends the results of its goals [s]


class ControllerNode(LifecycleNode):
    """Answers every state with the law's command towards the follower's reference.

    Attributes:
        live: the parameters that may change while the node runs.
    """

    fields_of = staticmethod(controller_fields)

    def __init__(self, law_name: str, transport: InProcessTransport | None = None):
        """Declare the parameters; with `autostart` also configure and activate.

        `transport`: to a simulator in the same process.
        """
        self._law_class = law_class(law_name)
        super().__init__(f'{law_name}_controller')
        self._log = Log(self)
        self.parameters = declare_parameters(self, ControllerParameters, live=OF_JOINTS)
        self._model_error = declare_parameters(self, ModelError, 'model_error.')
        self.cycle: ControlCycle | None = None
        self._transport = transport or InProcessTransport()
        self._goals: GoalServer | None = None
        # A bad parameter ends the node with one line, not in a state that leads nowhere.
        self.live = LiveParameters(self, self._model_of, self._law_class, self._built, self._apply)
        self.diagnostics = ControllerDiagnostics(self)
        self._silent = self._received = 0
        self._turn = Turn(self, self.live.model.joint_names, self._reject, self._give_way)
        self.create_timer(1.0, self._on_second)
        watch_active_controllers(self, self._on_claims)
        self.create_subscription(SpeedScalingFactor, '~/speed_scaling_input', self._on_speed, 10)
        if self._law_class.wrench_goal:
            from geometry_msgs.msg import WrenchStamped  # most laws take none

            self.create_subscription(WrenchStamped, '~/wrench_goal', self._on_wrench, 10)
        declare_unused(self, lambda name: without_meaning(name, self._law_class.Parameters))
        refuse_unknown_parameters(self)  # before it says that it starts
        if self.parameters.autostart:
            self.trigger_configure()
            self.trigger_activate()

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Build the law and the follower; open the endpoints."""
        live, p = self.live, self.parameters
        law = self._built(live.model, live.law, live.guard)
        self._warn_of_gains(law)
        follower = TrajectoryFollower(live.model, live.follower)
        if self._goals is None:
            realtime, rate = p.mode == 'realtime', p.action_monitor_rate
            self._goals = GoalServer(self, follower, p.period_ns, rate, realtime)
            self._goals.awaited = p.autostart  # in real time goals have a thread of their own
        core = (live.model, law, follower, self._goals)
        self.cycle = ControlCycle(
            self, p, *core, self.diagnostics.drop, self._turn.comes, self._transport
        )
        pin_to_core(p.core)
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Command from the next state on, holding where the arm is then.

        Refused while another controller commands joints of this one.
        """
        holder = self._turn.holder
        if holder != self.get_name() and holder in nodes_of_arm(self):
            self._log.error(self._turn.why_not(holder))
            return TransitionCallbackReturn.FAILURE
        self._turn.begin()
        assert self.cycle is not None  # configured
        self.cycle.handle(Event.ACTIVATE)
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop commanding: goals are aborted with this reason, the simulator brakes and holds."""
        self._stop('the controller was deactivated and is not active')
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the endpoints but those of goals, which go on being refused."""
        assert self.cycle is not None  # configured
        self.cycle.close()
        self.cycle = None
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop commanding, as for deactivation."""
        self._stop('the controller was shut down')
        return TransitionCallbackReturn.SUCCESS

    def destroy_node(self) -> None:
        """Stop commanding, and answer open goals, before the node ends."""
        if self._goals is not None:
            self._goals.end()
        goals = self.cycle is not None and self.cycle.follower.goals
        end = time.monotonic() + (_LAST_RESULTS if goals else 0.0)
        self._stop('the controller ends')
        while self.executor is not None and time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.02)  # until the client has the results
        super().destroy_node()

    def _stop(self, reason: str) -> None:
        if self.cycle is None or not self.cycle.active:
            return
        self.cycle.handle(Event.DEACTIVATE, reason)
        claims = self._turn.claims
        if claims is None or self.get_name() not in claims.claims:
            self.cycle.handle(Event.RELEASED)

    def _reject(self, why: str) -> None:
        if self.cycle is not None:
            self.cycle.handle(Event.REJECT, why)

    def _give_way(self, why: str) -> None:
        self._stop(why)
        self.trigger_deactivate()

    def _on_claims(self, claims: ActiveControllers) -> None:
        """Follow the simulator: wait while it rejects this controller, release to another one."""
        self._turn.claims, cycle, own = claims, self.cycle, self.get_name()
        if cycle is None:
            return
        holder = self._turn.holder
        if own in claims.rejected:
            cycle.handle(Event.REJECT, claims.rejected[own])
        else:
            cycle.handle(Event.ACCEPT)
        if own not in claims.claims:
            cycle.handle(Event.RELEASED)
        if cycle.state in (CycleState.COMMANDING, CycleState.READY) and holder not in ('', own):
            self._turn.give_way(holder)
        cycle.try_again()

    def _on_speed(self, message: SpeedScalingFactor) -> None:
        """Follow goals at this share of their speed."""
        try:
            in_range('~/speed_scaling_input', message.factor, 0.0, 1.0)
        except ArmError as error:
            self._log.warning(str(error))
            return
        if self.cycle is not None:
            self.cycle.follower.scaling.wanted = message.factor

    def _on_wrench(self, message: AnyMessage) -> None:
        """Follow a wrench in the axes of its frame, from its stamp on."""
        frame = message.header.frame_id.removeprefix(prefix_of(self))
        wrench = components(message.wrench.force, message.wrench.torque)
        try:
            if self.cycle is None or self.cycle.state is not CycleState.COMMANDING:
                raise ArmError('the controller does not command the arm')
            if wrench[3:].any() and 'torque' not in self._law_class.wrench_goal:
                law, torque = self._law_class.__name__, wrench[3:].tolist()
                raise ArmError(f'torque is {torque}; the law {law} takes no torque')
            self.cycle.set_wrench(wrench, to_ns(message.header.stamp), frame)
        except ArmError as error:
            self._log.warning(f'wrench goal refused: {error}')

    def _model_of(self, **of_joints: Any) -> RobotModel:
        """Return what the controller believes the arm is."""
        return with_error(replace(self.parameters, **of_joints).model(), self._model_error)

    def _apply(self, model: RobotModel, law: Law, again: bool, rules: FollowerParameters) -> None:
        """Take parameters into use that were set while running."""
        if again:
            self._warn_of_gains(law)
        if self.cycle is not None:
            self.cycle.use(model, law, again, rules)

    def _warn_of_gains(self, law: Law) -> None:
        from arm_controllers.carried_gains import why_not_carried  # no part of the cycle

        if why := why_not_carried(law, self.parameters.period_ns * 1e-9):
            self._log.warning(why)

    def _built(self, model: RobotModel, law: object, guard: GuardParameters) -> Law:
        p, made = self.parameters, self._law_class
        if self.cycle is not None and self.cycle.reacts and guard.kind != self.live.guard.kind:
            raise ArmError(
                f'guard.reaction {self.live.guard.reaction!r} is under way: ~/reset_guard ends '
                'it, then the guard may change'
            )
        friction, motion = p.friction_velocity, p.reference_motion
        built = adapted_law(made, model, law, friction, motion, p, guard)
        built.check_period(p.period_ns * 1e-9)
        return built

    def _on_second(self) -> None:
        """Abort goals that can no longer end because no state comes; report."""
        cycle, goals = self.cycle, self._goals
        waited = time.monotonic() - self._turn.began
        if goals is not None and goals.awaited and waited > LONGEST_WAIT:
            came = f'no state came on {self.resolve_topic_name(STATES)} within {LONGEST_WAIT:g} s'
            goals.refusal = f'{came}: is the simulator running?'
            goals.deactivate(goals.refusal)
        if cycle is not None and cycle.state is CycleState.COMMANDING:
            # Seconds in which this process ran: a stopped process has received nothing.
            self._silent = 0 if cycle.states.received != self._received else self._silent + 1
            self._received = cycle.states.received
            if self._silent >= self.parameters.state_timeout:
                silence = f'no state for {cycle.states.silence:.1f} s: {WHO_SENDS}'
                cycle.handle(Event.LOSE, f'{silence} If it is, restart this controller')
        self.diagnostics.report(cycle, self._turn.claims)


def main(law_name: str = '') -> int:
    """Run the controller node of a law; without its name, of the one on the command line."""
    if not law_name:
        law_name = next(iter(remove_ros_args(sys.argv)[1:]), '')
    node_name = f'{law_name}_controller' if law_name else 'controller'
    return run_node(node_name, lambda: ControllerNode(law_name))
