"""The trajectory that an arm follows, those scheduled after it, and how their goals end."""

from collections import deque
from dataclasses import dataclass
from sys import maxsize
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arm_controllers.follower.goal import Goal, GoalError, GoalResult, ResultCode
from arm_controllers.follower.speed_scaling import SpeedScaling
from arm_controllers.follower.tolerances import GoalTolerances
from arm_controllers.follower.trajectory import Array, Trajectory
from arm_controllers.reference import Reference

_REPLACED = 'replaced by a newer goal'


@dataclass(eq=False)
class Scheduled:
    """A trajectory with its start, and its goal (None: holding or braking).

    All stamps are those of states, minus the lag of `SpeedScaling` [ns].
    """

    start_ns: int  # the trajectory's time 0
    from_ns: int  # when the trajectory takes over: at start_ns or later
    trajectory: Trajectory
    goal: Goal | None = None
    end: float = 0.0  # time of the goal's last point [s]; the trajectory may brake after it
    tolerances: GoalTolerances | None = None
    scaled: bool = False  # whether speed scaling applies
    tool: Array | None = None  # (3,) where the tool was when the goal began [m]
    near: Any = None  # `motion_check.Start`, where motions are checked against objects
    passing: NDArray[np.bool_] | None = None  # (n,) joints that pass the goal's only point

    def time(self, time_ns: int) -> float:
        """Return the time [s] since the start."""
        return (time_ns - self.start_ns) * 1e-9

    def evaluate(self, time_ns: int, reference: Reference) -> None:
        """Write the trajectory's value at a stamp into `reference`."""
        self.trajectory.evaluate(self.time(time_ns), reference)

    def aim(self, t: float, reference: Reference) -> Reference:
        """Return what the state is compared with at t [s]: a passed point, not the way beyond."""
        if self.passing is None or t < self.end:
            return reference
        aim = reference.copy()
        aim.q = np.where(self.passing, self.trajectory.last, reference.q)
        return aim


def passing_joints(
    goal: Goal, trajectory: Trajectory, end: float, joint_names: tuple[str, ...]
) -> NDArray[np.bool_] | None:
    """Return which joints (n,) pass a goal's only point at speed, as part of a stream, and return.

    None: no joint does. `end`: time of the goal's last point [s].
    """
    if len(goal.times) > 1 or goal.velocities is not None or not goal.has_position:
        return None
    at_point = Reference(len(joint_names))
    trajectory.evaluate(end, at_point)
    passing = (at_point.v != 0.0) & np.isin(joint_names, goal.joint_names)
    return passing if passing.any() else None


class Schedule:
    """The present trajectory and the waiting ones; each goal that ends becomes a result.

    Attributes:
        now: the present trajectory.
        scaling: the speed at which trajectories of goals are followed.
        waiting: the others, in order of their start.
        results: ends of goals, oldest first; the reader takes them out.
    """

    def __init__(self, trajectory: Trajectory, scaling: SpeedScaling):
        """Begin with a trajectory at time 0."""
        self.now, self.scaling = Scheduled(0, 0, trajectory), scaling
        self._planned = Reference(len(trajectory.last))
        self._shown = self._planned.read_only()
        self.waiting: list[Scheduled] = []
        self.results: deque[GoalResult] = deque()

    @property
    def all(self) -> list[Scheduled]:
        """The present trajectory and the waiting ones."""
        return [self.now, *self.waiting]

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The goals that have not ended: the followed one, then the waiting ones."""
        return tuple(each.goal for each in self.all if each.goal is not None)

    def at(self, time_ns: int) -> Scheduled:
        """Return the trajectory of a stamp."""
        for each in reversed(self.waiting):
            if time_ns >= each.from_ns:
                return each
        return self.now

    def planned(self, time_ns: int) -> Reference:
        """Return the value at a stamp, at full speed; the same object each time."""
        self.at(time_ns).evaluate(time_ns, self._planned)
        return self._planned

    def peek(self, time_ns: int) -> Reference:
        """Return the value at a stamp, at the present speed; one read-only object each time."""
        reference = self.planned(time_ns)
        if not self.scaling.idle and self.at(time_ns).scaled:
            self.scaling.apply(reference)
        return self._shown

    def slow_down(self, time_ns: int, step_ns: int, deceleration: Array) -> None:
        """Advance speed scaling by the next step between states; braking goes at full speed.

        `deceleration` (n,) limits the change of speed.
        """
        if self.now.scaled and self.now.time(time_ns) < self.now.trajectory.end:
            self.now.evaluate(time_ns, self._planned)
            self.scaling.advance(step_ns, self._planned.v, deceleration)
        else:
            self.scaling.rest()

    def replace(self, trajectory: Trajectory, time_ns: int) -> None:
        """Follow a trajectory without a goal from a stamp on, at full speed."""
        self.now = Scheduled(time_ns, time_ns, trajectory)
        self.scaling.rest()

    def check_capacity(self, most: int) -> None:
        """Raise GoalError where no more goals may wait."""
        if len(self.waiting) >= most:
            raise GoalError(
                f'{len(self.waiting)} goals are waiting for their start; allowed:'
                f' waiting_goals_limit = {most}'
            )

    def add(self, scheduled: Scheduled) -> None:
        """Add a trajectory that waits for its start; it replaces those that start later."""
        for other in [each for each in self.waiting if each.from_ns >= scheduled.from_ns]:
            self._end(other, ResultCode.INVALID_GOAL, _REPLACED)
            self.waiting.remove(other)
        self.waiting.append(scheduled)

    def start(self, time_ns: int) -> None:
        """Start the waiting trajectories whose time has come; each replaces the one before it."""
        while self.waiting and time_ns >= self.waiting[0].from_ns:
            self.end(ResultCode.INVALID_GOAL, _REPLACED)
            self.now = self.waiting.pop(0)

    def end(self, code: ResultCode, message: str) -> None:
        """End the followed goal, if any; its trajectory continues."""
        self._end(self.now, code, message)

    def end_waiting(self, code: ResultCode, message: str) -> None:
        """End the waiting goals."""
        for each in self.waiting:
            self._end(each, code, message)
        self.waiting.clear()

    def cancel(
        self,
        identifier: object,
        message: str = 'canceled',
        code: ResultCode = ResultCode.SUCCESSFUL,
    ) -> bool:
        """End a goal on request, or all (None), and the goals that wait after it.

        With the code SUCCESSFUL the goal is canceled, with another code aborted.

        Returns:
            Whether the followed goal is among them.
        """
        every = identifier is None
        chosen = [x for x in self.all if every or (x.goal and x.goal.identifier == identifier)]
        if not chosen:
            return False
        first = self.all.index(chosen[0])
        for each in self.all[first:]:
            if each in chosen:
                self._end(each, code, message, canceled=code is ResultCode.SUCCESSFUL)
            else:
                self._end(each, ResultCode.INVALID_GOAL, 'the goal before it was canceled')
        del self.waiting[max(first - 1, 0) :]
        return first == 0

    def _end(self, each: Scheduled, code: ResultCode, text: str, canceled: bool = False) -> None:
        if each.goal is not None:
            self.results.append(GoalResult(each.goal.identifier, code, text, canceled))
            each.goal = None


def trajectory_time(schedule: Schedule, now_ns: int, ahead_ns: int) -> int:
    """Return the trajectories' time [ns] when the states' time is `ahead_ns` from now.

    Goals are taken to be followed at the wanted speed, all else at full speed; `now_ns` is the
    trajectories' time now.
    """
    speed = schedule.scaling.wanted
    ends_ns = [*(each.from_ns for each in schedule.waiting), maxsize]
    for each, end_ns in zip(schedule.all, ends_ns, strict=True):
        begin_ns = max(now_ns, each.from_ns)
        slow_ns = min(end_ns, each.start_ns + int(1e9 * each.trajectory.end)) - begin_ns
        if each.scaled and slow_ns > 0 and now_ns + ahead_ns > begin_ns:
            ahead_ns -= begin_ns - now_ns
            if speed * ahead_ns < slow_ns:
                return begin_ns + round(speed * ahead_ns)
            now_ns, ahead_ns = begin_ns + slow_ns, ahead_ns - round(slow_ns / speed)
    return now_ns + ahead_ns
