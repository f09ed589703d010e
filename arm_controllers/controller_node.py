"""A controller: one lifecycle node around one law and one trajectory follower."""

import sys
from dataclasses import dataclass
from itertools import count

from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.action import ActionServer, CancelResponse
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.task import Future
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from arm_controllers.base_node import (
    CONTROL_INPUT_QOS,
    CONTROL_QOS,
    declare_parameters,
    pin_to_core,
    run_node,
)
from arm_controllers.follower import TrajectoryFollower
from arm_controllers.follower_parameters import FollowerParameters
from arm_controllers.goal import GoalResult, ResultCode
from arm_controllers.laws import LAWS
from arm_controllers.messages import (
    ControllerStateMessage,
    JointMessage,
    JointReader,
    goal_from_action,
    goal_from_message,
    set_stamp,
    to_ns,
)
from arm_dynamics.checks import in_range
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf


@dataclass(frozen=True)
class ControllerParameters:
    """Parameters of every controller node, beside those of its law and its follower.

    Attributes:
        robot: name of a shipped robot, or path of a URDF file: the controller's model.
        gravity: in the base frame [m/s^2].
        timestep: the plant's integration step [s].
        control_decimation: the plant's steps a control period.
        state_publish_rate: rate of ~/controller_state [Hz of simulated time].
        autostart: configure and activate by itself.
        core: run on this CPU core only; -1: on any.
    """

    robot: str = 'ur5e'
    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    timestep: float = 0.002
    control_decimation: int = 1
    state_publish_rate: float = 50.0
    autostart: bool = False
    core: int = -1

    def __post_init__(self):
        """Raises ArmError."""
        in_range('timestep', self.timestep, 0.0, 0.1, exclusive=True)
        in_range('control_decimation', self.control_decimation, 1, 1000)
        in_range('state_publish_rate', self.state_publish_rate, 0.1, 10_000.0)


class ControllerNode(LifecycleNode):
    """Answers every state with the law's command towards the follower's reference."""

    def __init__(self, law_name: str):
        """Declare the parameters; with `autostart` also configure and activate."""
        super().__init__(f'{law_name}_controller')
        self._law_class = LAWS[law_name]
        self._active = False
        self._taken_over = False
        self.parameters = declare_parameters(self, ControllerParameters)
        self._law_parameters = declare_parameters(self, self._law_class.Parameters)
        self._follower_parameters = declare_parameters(self, FollowerParameters)
        if self.parameters.autostart:
            self._build()  # a bad parameter ends the node with one line, not in a dead state
            self.trigger_configure()
            self.trigger_activate()

    # Lifecycle

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Build the model, the law and the follower; open the endpoints."""
        try:
            self._build()
        except ArmError as error:
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        self._open()
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Command from the next state on, holding where the arm is then."""
        self._taken_over = False
        self._active = True
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop commanding; goals at hand are aborted and told so."""
        self._active = False
        self._follower.abort('the controller was deactivated')
        self._settle_ended_goals()
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the endpoints."""
        self._close()
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop commanding."""
        self._active = False
        return TransitionCallbackReturn.SUCCESS

    def _build(self) -> None:
        p = self.parameters
        model = RobotModel.from_urdf(find_urdf(p.robot), gravity=p.gravity)
        self._law = self._law_class(model, self._law_parameters)
        self._follower = TrajectoryFollower(model, self._follower_parameters)
        self._model = model

    def _open(self) -> None:
        p = self.parameters
        names = self._model.joint_names
        self._dt = p.timestep * p.control_decimation
        self._lookahead_ns = self._law.lookahead * round(self._dt * 1e9)
        self._report_every_ns = round(1e9 / p.state_publish_rate)
        self._next_report_ns = 0
        self._time_ns = -1
        self._goal_ids = count()
        self._waiting: dict[int, Future] = {}

        field = 'position' if self._law.command_interface == 'position' else 'effort'
        self._command = JointMessage(names, (field,))
        self._output = getattr(self._command, field)
        self._state_message = ControllerStateMessage(names)
        self._reader = JointReader(names)
        self._command_publisher = self.create_lifecycle_publisher(
            JointState, 'joint_commands', CONTROL_QOS
        )
        self._state_publisher = self.create_lifecycle_publisher(
            JointTrajectoryControllerState, '~/controller_state', 10
        )
        self._inputs = [
            self.create_subscription(JointState, 'joint_states', self._on_state, CONTROL_INPUT_QOS),
            self.create_subscription(JointTrajectory, '~/joint_trajectory', self._on_goal, 10),
        ]
        self._action_server = ActionServer(
            self,
            FollowJointTrajectory,
            '~/follow_joint_trajectory',
            execute_callback=self._execute,
            cancel_callback=lambda goal: CancelResponse.ACCEPT,
        )
        pin_to_core(p.core)

    def _close(self) -> None:
        self._action_server.destroy()
        for subscription in self._inputs:
            self.destroy_subscription(subscription)
        self.destroy_lifecycle_publisher(self._command_publisher)
        self.destroy_lifecycle_publisher(self._state_publisher)

    # The control cycle: state in, command out

    def _on_state(self, message: JointState) -> None:
        if not self._active:
            return
        time_ns = to_ns(message.header.stamp)
        if time_ns == self._time_ns and self._taken_over:
            self._command_publisher.publish(self._command.message)  # asked again: same answer
            return
        try:
            q = self._reader.read(message.name, message.position, 'position')
            v = self._reader.read(message.name, message.velocity, 'velocity')
        except ArmError as error:
            self.get_logger().warning(f'state dropped: {error}', throttle_duration_sec=1.0)
            return
        follower, law = self._follower, self._law
        if not self._taken_over or time_ns < self._time_ns:
            follower.activate(time_ns, q, v)
            law.reset(q, v)
            self._taken_over = True
            self._next_report_ns = time_ns
        self._time_ns = time_ns
        reference = follower.update(time_ns, q, v)
        if self._lookahead_ns:
            self._output[:] = law(q, v, follower.peek(time_ns + self._lookahead_ns), self._dt)
        else:
            self._output[:] = law(q, v, reference, self._dt)
        set_stamp(self._command.message.header.stamp, time_ns)
        self._command_publisher.publish(self._command.message)
        if follower.results:
            self._settle_ended_goals()
        if time_ns >= self._next_report_ns:
            self._next_report_ns = time_ns + self._report_every_ns
            error = self._model.difference(q, reference.q)
            self._state_message.fill(time_ns, reference, q, v, error, message.effort, self._output)
            self._state_publisher.publish(self._state_message.message)

    # Goals

    def _on_goal(self, message: JointTrajectory) -> None:
        try:
            self._require_active()
            self._follower.set_goal(goal_from_message(message), self._time_ns)
        except ArmError as error:
            self.get_logger().error(f'goal refused: {error}')

    def _require_active(self) -> None:
        if not (self._active and self._taken_over):
            raise ArmError('the controller is not active or has seen no state yet')

    async def _execute(self, goal_handle) -> FollowJointTrajectory.Result:
        identifier = next(self._goal_ids)
        ended = self._waiting[identifier] = Future()
        try:
            self._require_active()
            goal = goal_from_action(goal_handle.request, identifier)
            self._follower.set_goal(goal, self._time_ns)
        except ArmError as error:
            del self._waiting[identifier]
            self.get_logger().error(f'goal refused: {error}')
            code = getattr(error, 'code', ResultCode.INVALID_GOAL)
            ended.set_result(GoalResult(identifier, code, str(error)))
        end: GoalResult = await ended
        if end.canceled:
            goal_handle.canceled()
        elif end.code == ResultCode.SUCCESSFUL:
            goal_handle.succeed()
        else:
            goal_handle.abort()
        return FollowJointTrajectory.Result(error_code=int(end.code), error_string=end.message)

    def _settle_ended_goals(self) -> None:
        results = self._follower.results
        while results:
            end = results.popleft()
            if end.code != ResultCode.SUCCESSFUL:
                self.get_logger().error(f'goal ended: {end.message}')
            future = self._waiting.pop(end.identifier, None)
            if future is not None:
                future.set_result(end)


def main(law_name: str) -> int:
    """Run the controller node of a law."""
    return run_node(f'{law_name}_controller', lambda: ControllerNode(law_name))


if __name__ == '__main__':
    sys.exit(main(sys.argv[1]))
