"""Goal server of a controller: takes, checks, monitors and ends goals."""

import math
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from control_msgs.action import FollowJointTrajectory
from rclpy.node import Node

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.follower.goal import Array, Goal, GoalError, GoalResult, ResultCode
from arm_controllers.ros.goal_endpoints import GoalEndpoints
from arm_controllers.ros.log import Log, shortened
from arm_controllers.ros.messages import (
    MOST_POINTS,
    MOST_POINTS_LOCKSTEP,
    goal_from_action,
    goal_from_bytes,
    set_numbers,
    set_stamp,
)
from arm_dynamics.checks import ArmError

# Longer messages, of about 50 points, are converted and checked in slices in real time [bytes].
_BYTES_AT_ONCE = 5000
# Number of goals that may wait for their check.
_MOST_WAITING = 10

NOT_ACTIVE = 'the controller is not active, or has not seen a state yet'


class GoalServer:
    """Takes goals for a follower from ~/joint_trajectory and ~/follow_joint_trajectory.

    A refused action goal is accepted by the protocol and then aborted: only then its result can
    give the reason.

    Goals are checked one by one between control cycles, long goals in slices in real time. Waiting
    goals are in `_inbox`, where new goals replace the oldest ones. In lock-step the first goal
    after a cycle is taken at once, so that it starts at the same state in every run. In real time
    goals arrive in another thread; everything else happens in the control loop's thread.

    Attributes:
        follower: follows the goals; it may be replaced while no goal is taken.
        refusal: why goals are refused while none is taken.
        awaited: whether goals wait for the first state, until it comes or `deactivate` is called.
        refused: number of goals refused.
        problem: why the last unsuccessful goal was refused or ended.
        problem_since: the time of that (time.monotonic()).
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

        `period_ns`: the control period; `feedback_rate`: of the action, of the states' time and at
        most of the wall clock [Hz].
        """
        self._node, self._log = node, Log(node)
        self.follower = follower
        self._period_ns, self._realtime = period_ns, realtime
        self._most = MOST_POINTS if realtime else MOST_POINTS_LOCKSTEP
        self._feedback_every_ns, self._next_feedback_ns = round(1e9 / feedback_rate), 0
        self._feedback_sent = -math.inf
        self._inbox: deque[tuple[object, bytes]] = deque()
        self._cancels: deque[object] = deque()
        self._time_ns: int | None = None
        self._check: tuple[object, Iterator[None]] | None = None
        self._converter = ThreadPoolExecutor(1)
        self._scheduled, self._idle, self._node_ends = False, True, False
        self._feedback = FollowJointTrajectory.Feedback()
        self.refused, self.problem, self.problem_since = 0, '', 0.0
        self.refusal, self.awaited = NOT_ACTIVE, False
        self._endpoints = GoalEndpoints(node, realtime, self._on_goal, self._on_cancel)

    def activate(self, time_ns: int) -> None:
        """Take goals from now on; also after a jump of time.

        Goals that came before are refused, unless they waited for this state.
        """
        if not self.awaited:
            self._refuse_waiting(self.refusal)
        self._time_ns = self._next_feedback_ns = time_ns
        self.awaited = False  # the other thread reads it first
        self._schedule_work()

    def deactivate(self, reason: str) -> None:
        """End all goals with `reason` and refuse further ones."""
        self._time_ns, self.awaited = None, False
        self._refuse_waiting(self.refusal)
        if self._check is not None:
            self._end(GoalResult(self._check[0], ResultCode.INVALID_GOAL, reason))
            self._check = None
        self.follower.abort(reason)
        self._send_results()

    def end(self) -> None:
        """Send results at once, and log them without a warning, from now on: the node ends."""
        self._node_ends = True
        self._endpoints.send_at_once()

    def after_repeat(self) -> None:
        """Check and cancel goals in real time, while time is stopped, too."""
        if self._realtime and (self._inbox or self._check or self._cancels):
            self._work()

    def after_cycle(self, time_ns: int, q: Array, v: Array) -> None:
        """Do the work after a control cycle: the next slice of a check, results, feedback."""
        self._time_ns, self._idle = time_ns, not self._inbox
        self.after_repeat()
        if self.follower.results:
            self._send_results()
        if time_ns >= self._next_feedback_ns:
            self._next_feedback_ns = time_ns + self._feedback_every_ns
            now = time.monotonic()  # lock-step may be 50 times as fast
            if 1e9 * (now - self._feedback_sent) >= self._feedback_every_ns:
                self._feedback_sent = now
                self._send_feedback(time_ns, q, v)

    # Goals that arrive, in real time in another thread

    def _on_goal(self, identifier: object, raw: bytes) -> None:
        self._inbox.append((identifier, raw))
        if not self.awaited and self._time_ns is None:
            self._refuse_waiting(self.refusal)
        else:
            self._refuse_waiting(
                f'{_MOST_WAITING} newer goals came before its check', _MOST_WAITING
            )
        # In lock-step at the state for which it was sent.
        if self._idle and self._time_ns is not None and not self._realtime:
            self._work()
            self._idle = False
        self._schedule_work()

    def _on_cancel(self, identifier: object) -> bool:
        if not self.awaited and self._time_ns is None:
            return False
        self._cancels.append(identifier)
        self._schedule_work()
        return True

    def _schedule_work(self) -> None:
        """In lock-step, work after the waiting callbacks; in real time the next cycle does."""
        work = self._cancels or (self._inbox and self._time_ns is not None)
        if work and not (self._realtime or self._scheduled):
            self._scheduled = True
            self._node.executor.create_task(self._work)

    # Goals

    def _work(self) -> None:
        """Do the next piece of work: cancels, then a slice of the checks of one goal."""
        self._scheduled = False
        for _ in range(len(self._cancels)):
            self._cancel(self._cancels.popleft())
        if self._check is not None:
            self._continue(*self._check)
        elif self._inbox and self._time_ns is not None:
            identifier, raw = self._inbox.popleft()
            self.take(raw, identifier)
        self._send_results()
        self._idle = not self._inbox
        self._schedule_work()

    def take(self, raw: bytes, identifier: object = None) -> None:
        """Give a goal to the follower, at once or in slices, or refuse it.

        `raw` is a serialised JointTrajectory, or with an identifier an action goal.
        """
        try:
            if self._time_ns is None:
                raise GoalError(self.refusal)
            if self._realtime and len(raw) > _BYTES_AT_ONCE:
                self._check = identifier, self._accept(raw, identifier)
            else:
                goal = _goal(raw, identifier, self._most)
                self.follower.set_goal(goal, self._time_ns)
                self._publish(raw, identifier, self._time_ns, goal)
        except ArmError as error:
            self._refuse(identifier, error)

    def _accept(self, raw: bytes, identifier: object) -> Iterator[None]:
        """Convert and check a goal in slices, and give it to the follower."""
        converting = self._converter.submit(_goal, raw, identifier, self._most)
        while not converting.done():
            yield
        goal = converting.result()
        assert self._time_ns is not None  # deactivation drops the check
        now_ns, notice_ns = self._time_ns, (8 + len(goal.times) // 25) * self._period_ns
        yield from self.follower.accept(goal, now_ns, notice_ns, self._converter)
        self._publish(raw, identifier, now_ns + notice_ns, goal)

    def _publish(self, raw: bytes, identifier: object, start_ns: int, goal: Goal) -> None:
        """Publish an accepted goal, and log what is probably wrong with it."""
        from arm_controllers.follower.probable_mistakes import doubt

        self._endpoints.publish_goal(raw, identifier, start_ns)
        if text := doubt(goal, self.follower.model):
            self._log.warning(text)

    def _cancel(self, identifier: object) -> None:
        handle = self._endpoints.handle(identifier)
        if handle is None:
            return
        if not handle.is_cancel_requested:  # its state changes only after our answer
            self._cancels.append(identifier)
            self._schedule_work()
            return
        canceled = GoalResult(identifier, ResultCode.SUCCESSFUL, 'canceled', canceled=True)
        waiting = [entry for entry in list(self._inbox) if entry[0] == identifier]
        if waiting:
            self._inbox.remove(waiting[0])
            self._end(canceled)
        elif self._check is not None and self._check[0] == identifier:
            self._check = None
            self._end(canceled)
        elif self._time_ns is not None:
            self.follower.cancel(self._time_ns, identifier)

    def _continue(self, identifier: object, check: Iterator[None]) -> None:
        """Do the next slice of the present check."""
        try:
            next(check)
        except StopIteration:
            self._check = None
        except ArmError as error:
            self._check = None
            self._refuse(identifier, error)

    def _refuse_waiting(self, reason: str, most: int = 0) -> None:
        """Refuse the oldest goals in the inbox until `most` are left."""
        with suppress(IndexError):  # the other thread takes out as well
            while len(self._inbox) > most:
                self._refuse(self._inbox.popleft()[0], GoalError(reason))

    # Results and feedback

    def _refuse(self, identifier: object, error: ArmError) -> None:
        self.refused += 1
        self._report(f'goal refused: {error}')
        code = getattr(error, 'code', ResultCode.INVALID_GOAL)
        self._endpoints.resolve(GoalResult(identifier, code, shortened(str(error))))

    def _end(self, end: GoalResult) -> None:
        if end.code != ResultCode.SUCCESSFUL and not self._node_ends:
            self._report(f'goal ended: {end.message}')
        elif end.message or end.identifier is not None:
            self._log.info(f'goal ended: {end.message}' if end.message else 'goal reached')
        self._endpoints.resolve(end)

    def _report(self, problem: str) -> None:
        self.problem, self.problem_since = shortened(problem), time.monotonic()
        self._log.warning(problem)

    def _send_results(self) -> None:
        while self.follower.results:
            self._end(self.follower.results.popleft())

    def _send_feedback(self, time_ns: int, q: Array, v: Array) -> None:
        goal = self.follower.active_goal
        handle = None if goal is None else self._endpoints.handle(goal.identifier)
        if handle is not None:
            _fill(self._feedback, self.follower, time_ns, q, v)
            handle.publish_feedback(self._feedback)


def _fill(
    feedback: FollowJointTrajectory.Feedback,
    follower: TrajectoryFollower,
    time_ns: int,
    q: Array,
    v: Array,
) -> None:
    """Fill the feedback of a follower's goal at this time, with the measured q, v (n,)."""
    r = follower.reference
    set_stamp(feedback.header.stamp, time_ns)
    feedback.joint_names = list(follower.joint_names)
    error = follower.model.difference(q, r.q)
    set_numbers(feedback.desired, positions=r.q, velocities=r.v, accelerations=r.a)
    set_numbers(feedback.actual, positions=q, velocities=v)
    set_numbers(feedback.error, positions=error, velocities=r.v - v)
    t_ns = round(follower.time_in_goal(time_ns) * 1e9)
    for part in (feedback.desired, feedback.actual, feedback.error):
        set_stamp(part.time_from_start, t_ns)


def _goal(raw: bytes, identifier: object, most: int) -> Goal:
    """Return the goal of a serialised message."""
    if identifier is None:
        return goal_from_bytes(raw, most)
    return goal_from_action(raw, identifier, most)
