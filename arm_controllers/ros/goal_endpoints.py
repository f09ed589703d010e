"""Where goals come in over ROS, and where their feedback and results go out."""

import gc
import sys
from collections.abc import Callable
from threading import Thread
from typing import Any

import rclpy
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from arm_controllers.follower.goal import Goal, GoalResult, ResultCode
from arm_controllers.ros.messages import goal_from_action
from arm_controllers.ros.qos import ACTION_QOS
from arm_controllers.ros.running import make_executor
from arm_dynamics.checks import ArmError

# How long a client may fetch a result [s]: as rcl has it. Each result takes some 5 kB until then.
_RESULT_TIMEOUT = 10
# How long a thread keeps the interpreter when another one waits for it, in real time [s].
_SWITCH_INTERVAL = 2e-4
# How seldom garbage is looked for: among the points of a long message, which are none, it takes
# 40 ms each time. So many points are freed at a time.
_GARBAGE = (100_000, 50, 100)
_FREED = 1000


class _ActionServer(ActionServer):
    """An action server without a coroutine per goal: EventsExecutor would poll them for ever."""

    async def execute(self, taken_data: Any) -> None:
        """Handle requests; an error would end the process."""
        try:
            await super().execute(taken_data)
        except RuntimeError as error:  # as of a cancel that came too late
            self._logger.warning(f'goal server: {error}')

    def notify_execute(self, goal_handle: ServerGoalHandle, execute_callback: Any) -> None:
        """Start a goal: the callback only takes it."""
        self._execute_callback(goal_handle)

    def finish(self, handle: ServerGoalHandle, result: FollowJointTrajectory.Result) -> None:
        """Send a goal's result, once its state is terminal."""
        answer = self.action_type.Impl.GetResultService.Response(
            status=handle.status, result=result
        )
        self._result_futures[bytes(handle.goal_id.uuid)].set_result(answer)


class GoalEndpoints:
    """The topic ~/joint_trajectory and the action ~/follow_joint_trajectory of a node.

    In real time they are in a thread of their own: rclpy takes 10 us for each point of an action
    goal, and a long one must not hold up the control cycle. They stay as long as the process:
    where an action server goes, EventsExecutor may crash over a goal that is on its way.
    """

    def __init__(
        self,
        node: Node,
        realtime: bool,
        on_goal: Callable[[object, bytes | Goal | ArmError], None],
        on_cancel: Callable[[object], bool],
    ):
        """Open the topic and the action.

        Args:
            node: whose they are.
            realtime: open them in another thread, where the callbacks are then called too.
            on_goal: takes a goal's identifier, and the goal, or its serialised JointTrajectory,
                or why it is none.
            on_cancel: takes the identifier of a goal to cancel; returns whether it may be.
        """
        self._on_goal, self._may_cancel = on_goal, on_cancel
        self._handles: dict[object, ServerGoalHandle] = {}
        self._front = _front_of(node) if realtime else node
        prefix = node.get_fully_qualified_name()
        self._front.create_subscription(
            JointTrajectory, f'{prefix}/joint_trajectory', self._on_message, 10, raw=True
        )
        self._action = _ActionServer(
            self._front,
            FollowJointTrajectory,
            f'{prefix}/follow_joint_trajectory',
            execute_callback=self._on_action_goal,
            cancel_callback=self._on_cancel,
            goal_service_qos_profile=ACTION_QOS,
            result_service_qos_profile=ACTION_QOS,
            cancel_service_qos_profile=ACTION_QOS,
            result_timeout=_RESULT_TIMEOUT,
        )
        if realtime:
            sys.setswitchinterval(_SWITCH_INTERVAL)
            gc.collect()
            gc.freeze()  # a full collection may skip all that stays: it would hold up a cycle
            gc.set_threshold(*_GARBAGE)
            Thread(target=self._spin_front).start()  # the process ends after it, with the context

    def handle(self, identifier: object) -> ServerGoalHandle | None:
        """Return the action's handle of a goal that has not ended."""
        return self._handles.get(identifier)

    def resolve(self, end: GoalResult) -> None:
        """Tell the client how its goal has ended."""
        handle = self._handles.pop(end.identifier, None)
        if handle is None:
            return
        if end.canceled and handle.is_cancel_requested:
            handle.canceled()
        elif end.code == ResultCode.SUCCESSFUL and not end.canceled:
            handle.succeed()
        else:
            handle.abort()
        result = FollowJointTrajectory.Result(error_code=int(end.code), error_string=end.message)
        self._action.finish(handle, result)

    def _spin_front(self) -> None:
        executor = make_executor()
        executor.add_node(self._front)
        while self._front.context.ok():
            try:
                executor.spin_once(timeout_sec=0.1)
            except ExternalShutdownException:
                return

    def _on_message(self, raw: bytes) -> None:
        self._on_goal(None, raw)  # of a flood, those that are pushed out are never read

    def _on_action_goal(self, handle: ServerGoalHandle) -> None:
        identifier = bytes(handle.goal_id.uuid)
        self._handles[identifier] = handle
        request = handle.request  # which lives as long as its result
        try:
            self._on_goal(identifier, goal_from_action(request, identifier))
        except ArmError as error:
            self._on_goal(identifier, error)
        while request.trajectory.points:  # little by little: 100 000 at once take 30 ms
            del request.trajectory.points[-_FREED:]

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        may = self._may_cancel(bytes(handle.goal_id.uuid))
        return CancelResponse.ACCEPT if may else CancelResponse.REJECT


def _front_of(node: Node) -> Node:
    """Return a node beside a controller that takes its goals."""
    return rclpy.create_node(
        f'{node.get_name()}_goals',
        context=node.context,
        namespace=node.get_namespace(),
        use_global_arguments=False,
        start_parameter_services=False,
    )
