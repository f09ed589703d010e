"""A controller: one lifecycle node around one law and one trajectory follower."""

import sys
from dataclasses import replace
from typing import Any

from control_msgs.msg import SpeedScalingFactor
from lifecycle_msgs.srv import ChangeState
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.node import Node
from rclpy.utilities import remove_ros_args

from arm_controllers.adapted_law import adapted_law
from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.laws import law_class
from arm_controllers.ros.commander import NOBODY, Commander
from arm_controllers.ros.control_cycle import COMMANDS, STATES, ControlCycle
from arm_controllers.ros.controller_parameters import ControllerParameters, without_meaning
from arm_controllers.ros.diagnostics import ControllerDiagnostics
from arm_controllers.ros.goal_server import GoalServer
from arm_controllers.ros.live_parameters import OF_JOINTS, LiveParameters
from arm_controllers.ros.log import Log
from arm_controllers.ros.parameters import (
    declare_parameters,
    declare_unused,
    refuse_unknown_parameters,
)
from arm_controllers.ros.running import pin_to_core, run_node
from arm_dynamics.checks import ArmError, in_range
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error


class ControllerNode(LifecycleNode):
    """Answers every state with the law's command towards the follower's reference."""

    def __init__(self, law_name: str):
        """Declare the parameters; with `autostart` also configure and activate."""
        self._law_class = law_class(law_name)
        super().__init__(f'{law_name}_controller')
        self._log = Log(self)
        for service in self.services:
            if service.srv_type is ChangeState:
                self._change_state, service.callback = service.callback, self._on_change_state
        self.parameters = declare_parameters(self, ControllerParameters, live=OF_JOINTS)
        self._model_error = declare_parameters(self, ModelError, 'model_error.')
        self.cycle: ControlCycle | None = None
        self._neighbour: Any = None
        self._goals: GoalServer | None = None
        # A bad parameter ends the node with one line, not in a state that leads nowhere.
        self._live = LiveParameters(
            self, self._model_of, self._law_class, self._built, self._apply
        )
        self.parameters.check_joints(self._live.model.joint_names)
        self.diagnostics = ControllerDiagnostics(self)
        self._silent = 0
        self.create_timer(1.0, self._on_second)
        self._commander = Commander(self, self._on_commander)
        self.create_subscription(SpeedScalingFactor, '~/speed_scaling_input', self._on_speed, 10)
        unused = declare_unused(self, without_meaning)
        refuse_unknown_parameters(self)  # before it says that it starts
        if unused:
            self._log.warning(f'parameters without meaning here: {", ".join(unused)}')
        if self.parameters.autostart:
            self.trigger_configure()
            self.trigger_activate()

    def meet(self, other: Node) -> None:
        """Give and take commands and states by hand if the other node is the arm's simulator."""
        for topic in (STATES, COMMANDS):
            if self.resolve_topic_name(topic) != other.resolve_topic_name(topic):
                return
        if hasattr(other, 'commands'):
            other.shown.neighbours.append(self)
            self._neighbour = other.commands
            if self.cycle is not None:
                self.cycle.neighbour = self._neighbour

    def _on_change_state(
        self, request: ChangeState.Request, response: ChangeState.Response
    ) -> ChangeState.Response:
        """Refuse a transition that is not allowed now; rclpy lets it end the node."""
        try:
            return self._change_state(request, response)
        except rclpy_implementation.RCLError as error:
            self._log.warning(f'transition {request.transition.id} refused: {error}')
            response.success = False
            return response

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Build the law and the follower; open the endpoints."""
        live, p = self._live, self.parameters
        law = self._built(live.model, live.law)
        follower = TrajectoryFollower(live.model, live.follower)
        if self._goals is None:
            realtime, rate = p.mode == 'realtime', p.action_monitor_rate
            self._goals = GoalServer(self, follower, p.period_ns, rate, realtime)
        core = (live.model, law, follower, self._goals)
        self.cycle = ControlCycle(self, p, *core, self.diagnostics.drop, self._may_begin)
        self.cycle.neighbour = self._neighbour
        pin_to_core(p.core)
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Command from the next state on, holding where the arm is then.

        Refused while another controller is active on the arm.
        """
        other = self._commander.other()
        if other:
            self._refuse_beside(other)
            return TransitionCallbackReturn.FAILURE
        self.cycle.start()
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop commanding; goals at hand are aborted and told so, the plant brakes and holds.

        Ends when the simulator has heard it, so that another controller can be activated.
        """
        if self.cycle.stop('the controller was deactivated'):
            self._commander.take_leave(self.cycle.release)
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the endpoints but those of goals, which go on being refused."""
        self.cycle.close()
        self.cycle = None
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop commanding, as for deactivation."""
        if self.cycle is not None and self.cycle.active:
            self.cycle.stop('the controller was shut down')
        return TransitionCallbackReturn.SUCCESS

    def _may_begin(self) -> bool:
        """Whether nobody else commands, be it a node of the same name; else deactivate."""
        other = self._commander.heeded()
        if other:
            self._refuse_beside(other)
            self.trigger_deactivate()
        return not other

    def _on_speed(self, message: SpeedScalingFactor) -> None:
        """Follow goals at this share of their speed."""
        try:
            in_range('~/speed_scaling_input', message.factor, 0.0, 1.0)
        except ArmError as error:
            self._log.warning(str(error))
            return
        if self.cycle is not None:
            self.cycle.follower.scaling.wanted = message.factor

    def _on_commander(self, name: str) -> None:
        """Keep to whom the simulator heeds: be silent with nobody, make way for another."""
        if self.cycle is None or not self.cycle.active or not self.cycle.asked:
            return
        self.cycle.silent = name == NOBODY
        if self.cycle.silent:
            self.cycle.lose(f'another publisher commands as {self.get_name()!r}: the arm brakes')
        elif name not in ('', self.get_name()):
            self._refuse_beside(name)
            self.trigger_deactivate()

    def _refuse_beside(self, other: str) -> None:
        own = self.get_name()
        reason = f'{other!r} commands this arm; deactivate it before {own!r}'
        if other == NOBODY:
            reason = f'this arm heeds {NOBODY}'
        elif other == own:
            reason = f'another node named {own!r} commands this arm; end one of the two'
        self._log.error(reason)

    def _model_of(self, **of_joints: tuple[float, ...]) -> RobotModel:
        """Return what the controller believes the arm is."""
        return with_error(replace(self.parameters, **of_joints).model(), self._model_error)

    def _apply(self, model: RobotModel, law: Any, rules: FollowerParameters) -> None:
        """Take parameters into use that were set while running."""
        if self.cycle is not None:
            self.cycle.use(model, law, rules)

    def _built(self, model: RobotModel, law: Any) -> Any:
        p = self.parameters
        return adapted_law(self._law_class, model, law, p.friction_velocity, p.reference_motion, p)

    def _on_second(self) -> None:
        """Abort goals that can no longer end because no state comes; report."""
        cycle = self.cycle
        if cycle is not None and cycle.taken_over:
            # Seconds in which this process ran: one that was stopped has heard nobody.
            self._silent = 0 if cycle.heard else self._silent + 1
            cycle.heard = False
            if self._silent >= self.parameters.state_timeout:
                cycle.lose(f'no state for {cycle.silence:.1f} s: the simulator is gone')
        self.diagnostics.report(cycle, self._commander.name)


def main(law_name: str = '') -> int:
    """Run the controller node of a law; without its name, of the one on the command line."""
    if not law_name:
        law_name = next(iter(remove_ros_args(sys.argv)[1:]), '')
    node_name = f'{law_name}_controller' if law_name else 'controller'
    return run_node(node_name, lambda: ControllerNode(law_name))
