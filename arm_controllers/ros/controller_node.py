"""A controller: one lifecycle node around one law and one trajectory follower."""

import sys
import time
from dataclasses import dataclass, fields
from typing import Any

from control_msgs.msg import JointTrajectoryControllerState
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import JointState

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.laws import law_class
from arm_controllers.ros.command_lock import CommandLock
from arm_controllers.ros.diagnostics import ControllerDiagnostics
from arm_controllers.ros.goal_server import GoalServer
from arm_controllers.ros.live_parameters import OF_JOINTS, LiveParameters
from arm_controllers.ros.messages import ControllerStateMessage, set_stamp
from arm_controllers.ros.parameters import declare_parameters
from arm_controllers.ros.qos import CONTROL_INPUT_QOS, CONTROL_QOS
from arm_controllers.ros.query_state import QueryState
from arm_controllers.ros.running import pin_to_core, run_node
from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader, JointStateWriter
from arm_dynamics.checks import in_range, one_of
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.robots import find_urdf


@dataclass(frozen=True)
class ControllerParameters:
    """Parameters of every controller node, beside those of its law and its follower.

    Attributes:
        robot: name of a shipped robot, or path of a URDF file: the controller's model.
        gravity: in the base frame [m/s^2].
        armature: rotor inertia seen at the joint [kg m^2 | kg].
        damping: viscous friction [N.m.s/rad | N.s/m]; empty: the URDF's.
        friction: Coulomb friction [N.m | N]; empty: the URDF's.
        timestep: the plant's integration step [s].
        control_decimation: the plant's steps a control period.
        mode: the simulator's; in 'realtime' goals are taken in a thread and checked in slices.
        state_publish_rate: rate of ~/controller_state [Hz of simulated time].
        action_monitor_rate: rate of the action's feedback [Hz of simulated time].
        state_timeout: wall-clock time without a state before goals are aborted [s].
        autostart: configure and activate by itself.
        core: run on this CPU core only; -1: on any.
    """

    robot: str = 'ur5e'
    gravity: tuple[float, ...] = (0.0, 0.0, -9.81)
    armature: tuple[float, ...] = (0.0,)
    damping: tuple[float, ...] = ()
    friction: tuple[float, ...] = ()
    timestep: float = 0.002
    control_decimation: int = 1
    mode: str = 'lockstep'
    state_publish_rate: float = 50.0
    action_monitor_rate: float = 20.0
    state_timeout: float = 10.0
    autostart: bool = False
    core: int = -1

    def __post_init__(self):
        """Raises ArmError."""
        in_range('timestep', self.timestep, 0.0, 0.1, exclusive=True)
        in_range('control_decimation', self.control_decimation, 1, 1000)
        one_of('mode', self.mode, ('lockstep', 'realtime'))
        in_range('state_publish_rate', self.state_publish_rate, 0.1, 10_000.0)
        in_range('action_monitor_rate', self.action_monitor_rate, 0.1, 10_000.0)
        in_range('state_timeout', self.state_timeout, 0.1)


_FIXED = (
    *(field.name for field in fields(ControllerParameters) if field.name not in OF_JOINTS),
    *(f'model_error.{field.name}' for field in fields(ModelError)),
)


class ControllerNode(LifecycleNode):
    """Answers every state with the law's command towards the follower's reference."""

    def __init__(self, law_name: str):
        """Declare the parameters; with `autostart` also configure and activate."""
        self._law_class = law_class(law_name)
        super().__init__(f'{law_name}_controller')
        self._active = False
        self._taken_over = False
        self.parameters = declare_parameters(self, ControllerParameters)
        self._model_error = declare_parameters(self, ModelError, 'model_error.')
        declare_parameters(self, self._law_class.Parameters)
        self._live: LiveParameters | None = None
        self._diagnostics = ControllerDiagnostics(self, self._on_second)
        topic = self.resolve_topic_name('joint_commands')
        self._lock = CommandLock(f'{self.context.get_domain_id()}{topic}', self.get_name())
        if self.parameters.autostart:
            self._build()  # a bad parameter ends the node with one line, not in a dead state
            self.trigger_configure()
            self.trigger_activate()

    def destroy_node(self) -> None:
        """Let another controller have the arm."""
        self._lock.release()
        super().destroy_node()

    # Lifecycle

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Build the model, the law and the follower; open the endpoints."""
        try:
            self._build()
        except ArmError as error:
            self.get_logger().error(str(error))
            return TransitionCallbackReturn.FAILURE
        self._open()
        self._diagnostics.configured = True
        return TransitionCallbackReturn.SUCCESS

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Command from the next state on, holding where the arm is then.

        Refused while another controller is active on the arm.
        """
        other = self._lock.take()
        if other:
            self.get_logger().error(
                f'{other!r} commands this arm; deactivate it before {self.get_name()!r}'
            )
            return TransitionCallbackReturn.FAILURE
        self._set_active(True)
        return super().on_activate(state)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop commanding; goals at hand are aborted and told so, the plant brakes and holds."""
        self._release('the controller was deactivated')
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Close the endpoints."""
        self._close()
        self._diagnostics.configured = False
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop commanding, as for deactivation."""
        if self._active:
            self._release('the controller was shut down')
        return TransitionCallbackReturn.SUCCESS

    def _set_active(self, active: bool) -> None:
        self._active = self._diagnostics.active = active
        self._taken_over = self._diagnostics.taken_over = False

    def _release(self, reason: str) -> None:
        """Abort all goals and tell the plant, by a command without joints, that it has the arm."""
        self._set_active(False)
        self._goals.deactivate(reason)
        release = JointState()
        release.header.frame_id = self.get_name()
        set_stamp(release.header.stamp, max(self._time_ns, 0))
        self._command_publisher.publish(release)
        self._lock.release()

    def _build(self) -> None:
        if self._live is not None:
            self._live.close()
        live = LiveParameters(self, self._model_of, self._law_class, _FIXED, self._apply)
        self._law = self._law_class(live.model, live.law)
        self._follower = TrajectoryFollower(live.model, live.follower)
        self._live, self._model = live, live.model

    def _model_of(self, **of_joints: tuple[float, ...]) -> RobotModel:
        """Return what the controller believes the arm is."""
        p = self.parameters
        model = RobotModel.from_urdf(find_urdf(p.robot), gravity=p.gravity, **of_joints)
        return with_error(model, self._model_error)

    def _apply(self, model: RobotModel, law: Any, follower: FollowerParameters) -> None:
        """Take parameters into use that were set while running."""
        self._model = model
        law.reset(self._follower.reference.q, self._follower.reference.v)
        self._law = law
        self._lookahead_ns = law.lookahead * round(self._dt * 1e9)
        self._follower.set_parameters(follower, model)

    def _open(self) -> None:
        p = self.parameters
        names = self._model.joint_names
        self._dt = p.timestep * p.control_decimation
        self._lookahead_ns = self._law.lookahead * round(self._dt * 1e9)
        self._report_every_ns = round(1e9 / p.state_publish_rate)
        self._next_report_ns = 0
        self._time_ns = -1
        self._step_ns = 0
        # Lock-step: after a longer one the plant's brake has had the arm in between. Where every
        # step is longer, the plant has another period than this controller was told.
        lockstep = p.mode == 'lockstep'
        self._longest_step_ns = round(self._dt * 1e9) if lockstep else sys.maxsize

        field = 'position' if self._law.command_interface == 'position' else 'effort'
        self._command = JointStateWriter(names, (field,), self.get_name())
        self._answer = b''
        self._output = getattr(self._command, field)
        output = 'positions' if field == 'position' else 'effort'
        self._state_message = ControllerStateMessage(names, output)
        self._measured = JointStateReader(names, FIELDS[:2])
        self._command_publisher = self.create_publisher(JointState, 'joint_commands', CONTROL_QOS)
        self._state_publisher = self.create_lifecycle_publisher(
            JointTrajectoryControllerState, '~/controller_state', 10
        )
        self._state_input = self.create_subscription(
            JointState, 'joint_states', self._on_state, CONTROL_INPUT_QOS, raw=True
        )
        self._goals = GoalServer(
            self,
            self._follower,
            round(self._dt * 1e9),
            p.action_monitor_rate,
            realtime=p.mode == 'realtime',
        )
        self._query = QueryState(self, self._follower, lambda: self._taken_over)
        self._diagnostics.goals, self._diagnostics.follower = self._goals, self._follower
        pin_to_core(p.core)

    def _close(self) -> None:
        self._goals.close()
        self._query.close()
        self.destroy_subscription(self._state_input)
        self.destroy_publisher(self._command_publisher)
        self.destroy_lifecycle_publisher(self._state_publisher)

    # The control cycle: state in, command out

    def _on_state(self, raw: bytes) -> None:
        if not self._active:
            return
        state = self._measured
        state.open(raw)
        time_ns = state.time_ns
        if time_ns == self._time_ns and self._taken_over:
            self._command_publisher.publish(self._answer)  # asked again: same answer
            return
        try:
            q, v = state.values('position'), state.values('velocity')
        except ArmError as error:
            self.get_logger().warning(f'state dropped: {error}', throttle_duration_sec=1.0)
            self._diagnostics.drop(str(error))
            return
        follower, law = self._follower, self._law
        step_ns, last_step_ns = time_ns - self._time_ns, self._step_ns
        self._step_ns = step_ns
        missed = self._longest_step_ns < step_ns != last_step_ns and not follower.goals
        if not self._taken_over or step_ns < 0 or missed:
            if not self._taken_over or missed:
                follower.activate(time_ns, q, v)
            law.reset(q, v)
            self._goals.activate(time_ns)
            self._taken_over = self._diagnostics.taken_over = True
            self._next_report_ns = time_ns
        self._time_ns = time_ns
        self._diagnostics.last_state = time.monotonic()
        reference = follower.update(time_ns, q, v)
        if self._lookahead_ns:
            self._output[:] = law(q, v, follower.peek(time_ns + self._lookahead_ns), self._dt)
        else:
            self._output[:] = law(q, v, reference, self._dt)
        self._answer = self._command.serialized(time_ns)
        self._command_publisher.publish(self._answer)
        self._goals.after_cycle(time_ns, q, v)
        if time_ns >= self._next_report_ns:
            self._next_report_ns = time_ns + self._report_every_ns
            if self._state_publisher.get_subscription_count():  # else nobody pays for it
                error = self._model.difference(q, reference.q)
                effort = state.message().effort
                self._state_message.fill(time_ns, reference, q, v, error, effort, self._output)
                self._state_publisher.publish(self._state_message.message)

    # Beside the cycle

    def _on_second(self) -> None:
        """Abort goals that can no longer end because no state comes."""
        silence = self._diagnostics.silence
        if self._active and self._taken_over and silence > self.parameters.state_timeout:
            self._goals.deactivate(f'no state for {silence:.1f} s: the simulator is gone')
            self._taken_over = self._diagnostics.taken_over = False


def main(law_name: str = '') -> int:
    """Run the controller node of a law; without its name, of the one on the command line."""
    if not law_name:
        law_name = next(iter(remove_ros_args(sys.argv)[1:]), '')
    node_name = f'{law_name}_controller' if law_name else 'controller'
    return run_node(node_name, lambda: ControllerNode(law_name))


if __name__ == '__main__':
    sys.exit(main())
