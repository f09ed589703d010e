"""A controller's goals over ROS: taken, checked, watched, ended."""

import time
from collections import deque
from collections.abc import Callable, Iterator

from control_msgs.action import FollowJointTrajectory
from rclpy.node import Node

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.goal import Array, Goal, GoalError, GoalResult, ResultCode
from arm_controllers.ros.goal_endpoints import GoalEndpoints
from arm_controllers.ros.messages import set_numbers, set_stamp
from arm_dynamics.checks import ArmError

# Goals of more points than this are checked in slices in real time.
_AT_ONCE = 50

NOT_ACTIVE = 'the controller is not active, or has not seen a state yet'


class GoalServer:
    """Takes goals for a follower from ~/joint_trajectory and ~/follow_joint_trajectory.

    A refused action goal is accepted by the protocol and then aborted, because only so its result
    can say why.

    In real time goals arrive in another thread. They are handed over by `_inbox` and worked on in
    `after_cycle`, long ones slice by slice; all else happens in the control loop's thread.

    Attributes:
        follower: follows the goals; another one may take its place while none is taken.
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
        """Open the topic and the action, in real time in another thread.

        `period_ns`: the control period; `feedback_rate`: of the action [Hz of the states' time].
        """
        self._logger = node.get_logger()
        self.follower = follower
        self._period_ns = period_ns
        self._feedback_every_ns = round(1e9 / feedback_rate)
        self._next_feedback_ns = 0
        self._realtime = realtime
        self._inbox: deque[tuple[object, Callable[[], None]]] = deque()
        self._time_ns: int | None = None
        self._checks: deque[tuple[object, Iterator[None]]] = deque()
        self._feedback = FollowJointTrajectory.Feedback()
        self.refused = 0
        self.trouble = ''
        self.trouble_since = 0.0
        self._endpoints = GoalEndpoints(node, realtime, self._on_goal, self._on_cancel)

    def activate(self, time_ns: int) -> None:
        """Take goals from now on; also after a jump of time. What came before is refused."""
        while self._inbox:
            identifier, _ = self._inbox.popleft()
            self._refuse(identifier, GoalError(NOT_ACTIVE))
        self._time_ns = time_ns
        self._next_feedback_ns = time_ns

    def deactivate(self, reason: str) -> None:
        """End all goals with `reason` and refuse further ones."""
        self._time_ns = None
        self._empty_inbox()
        for identifier, _ in self._checks:
            self._end(GoalResult(identifier, ResultCode.INVALID_GOAL, reason))
        self._checks.clear()
        self.follower.abort(reason)
        self._send_results()

    def after_cycle(self, time_ns: int, q: Array, v: Array) -> None:
        """Do what is due after a control cycle: a slice of checks, results, feedback."""
        self._time_ns = time_ns
        if self._inbox:
            self._empty_inbox()
        elif self._checks:
            self._check_on()
        if self.follower.results:
            self._send_results()
        if time_ns >= self._next_feedback_ns:
            self._next_feedback_ns = time_ns + self._feedback_every_ns
            self._send_feedback(time_ns, q, v)

    # What arrives, in real time in another thread

    def _on_goal(self, identifier: object, goal: Goal | ArmError) -> None:
        if self._realtime and self._time_ns is None:
            self._refuse(identifier, GoalError(NOT_ACTIVE))
            return
        self._inbox.append((identifier, lambda: self.take(goal, identifier)))
        if not self._realtime:
            self._empty_inbox()

    def _on_cancel(self, identifier: object) -> bool:
        if self._time_ns is None:
            return False
        self._inbox.append((identifier, lambda: self._cancel(identifier)))
        return True

    # Goals

    def take(self, goal: Goal | ArmError, identifier: object = None) -> None:
        """Give a goal to the follower, at once or in slices, or refuse it."""
        try:
            if self._time_ns is None:
                raise GoalError(NOT_ACTIVE)
            if isinstance(goal, ArmError):
                raise goal
            points = len(goal.times)
            if self._realtime and (points > _AT_ONCE or self._checks):
                notice_ns = (8 + points // 25) * self._period_ns
                check = self.follower.accept(goal, self._time_ns, notice_ns)
                self._checks.append((identifier, check))
            else:
                self.follower.set_goal(goal, self._time_ns)
        except ArmError as error:
            self._refuse(identifier, error)

    def _empty_inbox(self) -> None:
        for _ in range(len(self._inbox)):
            self._inbox.popleft()[1]()
        self._send_results()

    def _cancel(self, identifier: object) -> None:
        handle = self._endpoints.handle(identifier)
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
            self.follower.cancel(self._time_ns, identifier)

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

    # What goes out

    def _refuse(self, identifier: object, error: ArmError) -> None:
        self.refused += 1
        self._say(f'goal refused: {error}')
        code = getattr(error, 'code', ResultCode.INVALID_GOAL)
        self._endpoints.resolve(GoalResult(identifier, code, str(error)))

    def _end(self, end: GoalResult) -> None:
        if end.code != ResultCode.SUCCESSFUL:
            self._say(f'goal ended: {end.message}')
        self._endpoints.resolve(end)

    def _say(self, trouble: str) -> None:
        self.trouble, self.trouble_since = trouble, time.monotonic()
        self._logger.warning(trouble)

    def _send_results(self) -> None:
        while self.follower.results:
            self._end(self.follower.results.popleft())

    def _send_feedback(self, time_ns: int, q: Array, v: Array) -> None:
        goal = self.follower.active_goal
        handle = None if goal is None else self._endpoints.handle(goal.identifier)
        if handle is None:
            return
        feedback, r = self._feedback, self.follower.reference
        set_stamp(feedback.header.stamp, time_ns)
        feedback.joint_names = list(self.follower.joint_names)
        error = self.follower.model.difference(q, r.q)
        set_numbers(feedback.desired, positions=r.q, velocities=r.v, accelerations=r.a)
        set_numbers(feedback.actual, positions=q, velocities=v)
        set_numbers(feedback.error, positions=error, velocities=r.v - v)
        t_ns = round(self.follower.time_in_goal(time_ns) * 1e9)
        for part in (feedback.desired, feedback.actual, feedback.error):
            set_stamp(part.time_from_start, t_ns)
        handle.publish_feedback(feedback)
