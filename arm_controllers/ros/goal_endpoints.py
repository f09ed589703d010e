"""ROS endpoints for goals: the topic and the action of a controller, and their results."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from threading import Thread
from time import monotonic

from control_msgs.action import FollowJointTrajectory
from rclpy.action import CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from rclpy.serialization import deserialize_message, serialize_message
from trajectory_msgs.msg import JointTrajectory

from arm_controllers.follower.goal import GoalResult, ResultCode
from arm_controllers.ros.cdr import stamp_ns, starting_now
from arm_controllers.ros.log import Log
from arm_controllers.ros.nodes import quiet_node
from arm_controllers.ros.process_settings import share_with_threads
from arm_controllers.ros.qos import ACTION_QOS
from arm_controllers.ros.rclpy_internals import EventActionServer
from arm_controllers.ros.running import SPINS, let_clients_return, make_executor

# A client may fetch a result for this time [s], the default of rcl. A result takes 5 kB.
_RESULT_TIMEOUT = 10


class GoalEndpoints:
    """The topic ~/joint_trajectory and the action ~/follow_joint_trajectory of a node.

    For recorders, ~/goals has the accepted goals, and ~/results how each goal has ended.

    In real time the endpoints have a thread of their own: a long goal must not delay the control
    cycle. A goal stays bytes until it is checked: most goals of a flood are dropped before. The
    endpoints stay as long as the process: EventsExecutor may crash when an action server is
    destroyed while a goal is on its way.
    """

    def __init__(
        self,
        node: Node,
        realtime: bool,
        on_goal: Callable[[object, bytes], None],
        on_cancel: Callable[[object], bool],
    ):
        """Open the topic and the action.

        Args:
            node: the controller.
            realtime: whether the endpoints, and the two callbacks, run in another thread.
            on_goal: receives None and a serialised JointTrajectory, or the identifier of an action
                goal and its serialised FollowJointTrajectory.Goal.
            on_cancel: receives the identifier of a goal; returns whether it may be canceled.
        """
        self._on_goal, self._may_cancel, self._log = on_goal, on_cancel, Log(node)
        self._handles: dict[object, ServerGoalHandle] = {}
        self._front = quiet_node(node, f'{node.get_name()}_goals') if realtime else node
        prefix = node.get_fully_qualified_name()
        self._front.create_subscription(
            JointTrajectory, f'{prefix}/joint_trajectory', partial(on_goal, None), 10, raw=True
        )
        self._action = EventActionServer(
            self._front,
            FollowJointTrajectory,
            f'{prefix}/follow_joint_trajectory',
            self._on_action_goal,
            cancel_callback=self._on_cancel,
            result_timeout=_RESULT_TIMEOUT,
        )
        self._goals = node.create_publisher(FollowJointTrajectory.Goal, '~/goals', ACTION_QOS)
        self._results = node.create_publisher(
            FollowJointTrajectory.Result, '~/results', ACTION_QOS
        )
        if realtime:
            share_with_threads()
            Thread(target=self._spin_front, name=SPINS).start()

    def handle(self, identifier: object) -> ServerGoalHandle | None:
        """Return the action's handle of a goal that has not ended."""
        return self._handles.get(identifier)

    def publish_goal(self, raw: bytes, identifier: object, start_ns: int) -> None:
        """Publish an accepted goal for recorders, with the stamp [ns] of its start.

        A goal of the action is logged.
        """
        if identifier is not None:
            self._log.info('goal accepted')
        if not self._goals.get_subscription_count():
            return
        if identifier is None:
            trajectory = deserialize_message(raw, JointTrajectory)
            raw = bytes(serialize_message(FollowJointTrajectory.Goal(trajectory=trajectory)))
        self._goals.publish(raw if stamp_ns(raw) else starting_now(raw, start_ns))

    def resolve(self, end: GoalResult) -> None:
        """Send the result of a goal to its client and to recorders."""
        result = FollowJointTrajectory.Result(error_code=int(end.code), error_string=end.message)
        if self._results.get_subscription_count():
            self._results.publish(result)
        handle = self._handles.pop(end.identifier, None)
        if handle is not None:
            succeeded = end.code == ResultCode.SUCCESSFUL and not end.canceled
            self._action.finish(handle, result, succeeded, end.canceled)

    def send_at_once(self) -> None:
        """Send results without the executor from now on: the node ends."""
        self._action.sends_at_once = True

    def _spin_front(self) -> None:
        executor = make_executor()
        executor.add_node(self._front)
        with suppress(ExternalShutdownException):
            while self._front.context.ok():
                since = monotonic()
                executor.spin_once(timeout_sec=0.1)
                let_clients_return(since)
        executor.shutdown()
        self._action.destroy()
        self._front.destroy_node()

    def _on_action_goal(self, handle: ServerGoalHandle) -> None:
        identifier = bytes(handle.goal_id.uuid)
        self._handles[identifier] = handle
        raw = bytes(serialize_message(handle.request))
        handle.request.trajectory.points.clear()  # the request lives as long as its result
        self._on_goal(identifier, raw)

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        may = self._may_cancel(bytes(handle.goal_id.uuid))
        return CancelResponse.ACCEPT if may else CancelResponse.REJECT
