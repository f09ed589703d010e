"""A controller's goals over ROS: topic, action, feedback, results."""

import gc
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from threading import Thread
from typing import Any

import rclpy
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionServer, CancelResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.executors import ExternalShutdownException
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.goal import Array, Goal, GoalError, GoalResult, ResultCode
from arm_controllers.ros.messages import goal_from_action, goal_from_message, set_stamp
from arm_controllers.ros.running import make_executor
from arm_dynamics.errors import ArmError

# Goals of more points than this are checked in slices in real time.
_AT_ONCE = 50
# How long a client may fetch a result [s]: as rcl has it. Each result takes some 5 kB until then.
_RESULT_TIMEOUT = 10
# How long a thread keeps the interpreter when another one waits for it, in real time [s].
_SWITCH_INTERVAL = 2e-4

_NOT_ACTIVE = 'the controller is not active, or has not seen a state yet'


class _ActionServer(ActionServer):
    """An action server without a coroutine per goal: EventsExecutor would poll them for ever."""

    def notify_execute(self, goal_handle: ServerGoalHandle, execute_callback: Any) -> None:
        """Start a goal: the callback only takes it."""
        self._execute_callback(goal_handle)

    def finish(self, handle: ServerGoalHandle, result: FollowJointTrajectory.Result) -> None:
        """Send a goal's result, once its state is terminal."""
        super().notify_execute(handle, lambda _: result)


class GoalServer:
    """Takes goals for a follower from ~/joint_trajectory and ~/follow_joint_trajectory.

    A refused action goal is accepted by the protocol and then aborted, because only so its result
    can say why.

    In real time the endpoints are in a thread of their own: rclpy takes 10 us for each point of a
    message, and a long one must not hold up the control cycle. What arrives there is handed over
    by `_inbox` and worked on in `after_cycle`; all else happens in the control loop's thread.

    Attributes:
        refused: number of goals refused.
        trouble: why the last goal that did not succeed was refused or ended.
        trouble_since: when that was (time.monotonic()).
    """

    def __init__(
        self,
        node: Node,
        follower: TrajectoryFollower,
        period_ns: int,
        feedback_rate: float,
        realtime: bool,
    ):
        """Open the topic and the action.

        Args:
            node: the controller.
            follower: follows the goals.
            period_ns: control period [ns].
            feedback_rate: of the action [Hz of the states' time].
            realtime: take goals in another thread, and check long ones slice by slice between
                cycles.
        """
        self._node = node
        self._logger = node.get_logger()
        self._follower = follower
        self._period_ns = period_ns
        self._feedback_every_ns = round(1e9 / feedback_rate)
        self._next_feedback_ns = 0
        self._realtime = realtime
        self._inbox: deque[tuple[object, Callable[[], None]]] = deque()
        self._time_ns: int | None = None
        self._checks: deque[tuple[object, Iterator[None]]] = deque()
        self._handles: dict[object, ServerGoalHandle] = {}
        self._feedback = FollowJointTrajectory.Feedback()
        self.refused = 0
        self.trouble = ''
        self.trouble_since = 0.0
        self._front = _front_of(node) if realtime else node
        prefix = node.get_fully_qualified_name()
        self._topic = self._front.create_subscription(
            JointTrajectory, f'{prefix}/joint_trajectory', self._on_message, 10
        )
        self._action = _ActionServer(
            self._front,
            FollowJointTrajectory,
            f'{prefix}/follow_joint_trajectory',
            execute_callback=self._on_action_goal,
            cancel_callback=self._on_cancel,
            result_timeout=_RESULT_TIMEOUT,
        )
        self._open = True
        if realtime:
            sys.setswitchinterval(_SWITCH_INTERVAL)
            gc.collect()
            gc.freeze()  # a full collection may skip all that stays: it would hold up a cycle
            self._thread = Thread(target=self._spin_front, daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Close the endpoints."""
        self._open = False
        if self._realtime:
            self._thread.join()
        self._action.destroy()
        self._front.destroy_subscription(self._topic)
        if self._realtime:
            self._front.destroy_node()

    def _spin_front(self) -> None:
        executor = make_executor()
        executor.add_node(self._front)
        while self._open and self._front.context.ok():
            try:
                executor.spin_once(timeout_sec=0.1)
            except ExternalShutdownException:
                return
            except rclpy_implementation.RCLError as error:  # as of a cancel that came too late
                self._logger.warning(f'goal server: {error}')
        executor.remove_node(self._front)

    def activate(self, time_ns: int) -> None:
        """Take goals from now on; also after a jump of time. What came before is refused."""
        while self._inbox:
            identifier, _ = self._inbox.popleft()
            self._refuse(identifier, GoalError(_NOT_ACTIVE))
        self._time_ns = time_ns
        self._next_feedback_ns = time_ns

    def deactivate(self, reason: str) -> None:
        """End all goals with `reason` and refuse further ones."""
        self._time_ns = None
        self._empty_inbox()
        for identifier, _ in self._checks:
            self._end(GoalResult(identifier, ResultCode.INVALID_GOAL, reason))
        self._checks.clear()
        self._follower.abort(reason)
        self.send_results()

    def after_cycle(self, time_ns: int, q: Array, v: Array) -> None:
        """Do what is due after a control cycle: a slice of checks, results, feedback."""
        self._time_ns = time_ns
        if self._inbox:
            self._empty_inbox()
        elif self._checks:
            self._check_on()
        if self._follower.results:
            self.send_results()
        if time_ns >= self._next_feedback_ns:
            self._next_feedback_ns = time_ns + self._feedback_every_ns
            goal = self._follower.active_goal
            handle = None if goal is None else self._handles.get(goal.identifier)
            if handle is not None:
                self._send_feedback(handle, time_ns, q, v)

    def send_results(self) -> None:
        """Tell the clients of goals that have ended."""
        results = self._follower.results
        while results:
            self._end(results.popleft())

    # What arrives, in real time in another thread

    def _on_message(self, message: JointTrajectory) -> None:
        try:
            goal = goal_from_message(message)
        except ArmError as error:
            self._hand_over(None, lambda error=error: self._refuse(None, error))
        else:
            self._hand_over(None, lambda: self._take_or_refuse(goal))

    def _on_action_goal(self, handle: ServerGoalHandle) -> None:
        identifier = bytes(handle.goal_id.uuid)
        self._handles[identifier] = handle
        try:
            goal = goal_from_action(handle.request, identifier)
        except ArmError as error:
            self._hand_over(identifier, lambda error=error: self._refuse(identifier, error))
        else:
            self._hand_over(identifier, lambda: self._take_or_refuse(goal))

    def _on_cancel(self, handle: ServerGoalHandle) -> CancelResponse:
        identifier = bytes(handle.goal_id.uuid)
        if self._time_ns is None:
            return CancelResponse.REJECT
        self._inbox.append((identifier, lambda: self._cancel(identifier)))
        return CancelResponse.ACCEPT

    def _hand_over(self, identifier: object, work: Callable[[], None]) -> None:
        """Let the control loop's thread do something: here and now, if this is it."""
        if self._realtime and self._time_ns is None:
            self._refuse(identifier, GoalError(_NOT_ACTIVE))
            return
        self._inbox.append((identifier, work))
        if not self._realtime:
            self._empty_inbox()

    def _empty_inbox(self) -> None:
        for _ in range(len(self._inbox)):
            self._inbox.popleft()[1]()
        self.send_results()

    # Goals

    def _take_or_refuse(self, goal: Goal) -> None:
        try:
            self._take(goal)
        except ArmError as error:
            self._refuse(goal.identifier, error)

    def _cancel(self, identifier: object) -> None:
        handle = self._handles.get(identifier)
        if handle is None:
            return
        if not handle.is_cancel_requested:  # its state changes only after our answer
            self._inbox.append((identifier, lambda: self._cancel(identifier)))
            return
        for check in self._checks:
            if check[0] == identifier:
                self._checks.remove(check)
                self._end(GoalResult(identifier, ResultCode.SUCCESSFUL, 'canceled', canceled=True))
                return
        if self._time_ns is not None:
            self._follower.cancel(self._time_ns, identifier)

    def _take(self, goal: Goal) -> None:
        """Give a goal to the follower, at once or in slices.

        Raises:
            ArmError: it is refused.
        """
        if self._time_ns is None:
            raise GoalError(_NOT_ACTIVE)
        points = len(goal.times)
        if not self._realtime or (points <= _AT_ONCE and not self._checks):
            self._follower.set_goal(goal, self._time_ns)
            return
        notice_ns = (8 + points // 25) * self._period_ns
        check = self._follower.accept(goal, self._time_ns, notice_ns)
        self._checks.append((goal.identifier, check))

    def _check_on(self) -> None:
        """Do the next slice of the checks of the oldest goal that is being checked."""
        identifier, check = self._checks[0]
        try:
            next(check)
        except StopIteration:
            self._checks.popleft()
        except ArmError as error:
            self._checks.popleft()
            self._refuse(identifier, error)

    def _refuse(self, identifier: object, error: ArmError) -> None:
        self.refused += 1
        self._say(f'goal refused: {error}')
        code = getattr(error, 'code', ResultCode.INVALID_GOAL)
        self._resolve(GoalResult(identifier, code, str(error)))

    def _end(self, end: GoalResult) -> None:
        if end.code != ResultCode.SUCCESSFUL:
            self._say(f'goal ended: {end.message}')
        self._resolve(end)

    def _say(self, trouble: str) -> None:
        self.trouble, self.trouble_since = trouble, time.monotonic()
        self._logger.warning(trouble)

    def _resolve(self, end: GoalResult) -> None:
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

    def _send_feedback(self, handle: ServerGoalHandle, time_ns: int, q: Array, v: Array) -> None:
        feedback, reference = self._feedback, self._follower.reference
        set_stamp(feedback.header.stamp, time_ns)
        feedback.joint_names = list(self._follower.joint_names)
        feedback.desired.positions = reference.q.tolist()
        feedback.desired.velocities = reference.v.tolist()
        feedback.desired.accelerations = reference.a.tolist()
        feedback.actual.positions = q.tolist()
        feedback.actual.velocities = v.tolist()
        feedback.error.positions = self._follower.difference(q, reference.q).tolist()
        feedback.error.velocities = (reference.v - v).tolist()
        t_ns = round(self._follower.time_in_goal(time_ns) * 1e9)
        for part in (feedback.desired, feedback.actual, feedback.error):
            part.time_from_start.sec, part.time_from_start.nanosec = divmod(t_ns, 1_000_000_000)
        handle.publish_feedback(feedback)


def _front_of(node: Node) -> Node:
    """Return a node beside a controller that takes its goals."""
    return rclpy.create_node(
        f'{node.get_name()}_goals',
        context=node.context,
        namespace=node.get_namespace(),
        use_global_arguments=False,
        start_parameter_services=False,
    )
