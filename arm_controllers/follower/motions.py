"""The motion that an arm is in, those that wait for their start, and how goals end."""

from collections import deque
from dataclasses import dataclass

from arm_controllers.follower.goal import Goal, GoalError, GoalResult, ResultCode
from arm_controllers.follower.speed_scaling import SpeedScaling
from arm_controllers.follower.tolerances import GoalTolerances
from arm_controllers.follower.trajectory import Array, Trajectory
from arm_controllers.reference import Reference

_REPLACED = 'replaced by a newer goal'


@dataclass(eq=False)
class Motion:
    """A trajectory on the clock, and the goal it serves (None: holding or braking).

    Stamps of motions are those of states less the lag of `SpeedScaling`.
    """

    start_ns: int  # its time 0
    from_ns: int  # when it takes over: at start_ns or later
    trajectory: Trajectory
    goal: Goal | None = None
    end: float = 0.0  # the goal's last point [s]; the trajectory may brake beyond it
    tolerances: GoalTolerances | None = None
    scaled: bool = False  # it may be played slowly

    def time(self, time_ns: int) -> float:
        """Return the time [s] since the start."""
        return (time_ns - self.start_ns) * 1e-9

    def evaluate(self, time_ns: int, reference: Reference) -> None:
        """Write where it is at a stamp into `reference`."""
        self.trajectory.evaluate(self.time(time_ns), reference)


class Motions:
    """One motion at hand and some that wait; whatever becomes of their goals is a result.

    Attributes:
        now: the motion at hand.
        scaling: how fast motions of goals are played.
        waiting: the others, in order of their start.
        results: ends of goals, oldest first; the reader takes them out.
    """

    def __init__(self, trajectory: Trajectory, scaling: SpeedScaling):
        """Begin with a trajectory at time 0."""
        self.now, self.scaling = Motion(0, 0, trajectory), scaling
        self._peeked = Reference(len(trajectory.last))
        self.waiting: list[Motion] = []
        self.results: deque[GoalResult] = deque()

    @property
    def all(self) -> list[Motion]:
        """The motion at hand and those that wait."""
        return [self.now, *self.waiting]

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The goals that have not ended: the one followed, then those waiting."""
        return tuple(motion.goal for motion in self.all if motion.goal is not None)

    def at(self, time_ns: int) -> Motion:
        """Return the motion that the arm will be in at a stamp."""
        for motion in reversed(self.waiting):
            if time_ns >= motion.from_ns:
                return motion
        return self.now

    def planned(self, motion_ns: int) -> Reference:
        """Return where the motions are at their time, at full speed; the same object each time."""
        self.at(motion_ns).evaluate(motion_ns, self._peeked)
        return self._peeked

    def peek(self, motion_ns: int) -> Reference:
        """Return the same at the speed at hand."""
        reference = self.planned(motion_ns)
        if not self.scaling.idle and self.at(motion_ns).scaled:
            self.scaling.apply(reference)
        return reference

    def slow_down(self, motion_ns: int, step_ns: int, deceleration: Array) -> None:
        """Let a goal's motion take its share of the states' next step, from its time.

        Other motions take theirs at full speed. `deceleration` (n,) bounds the change of speed.
        """
        if self.now.scaled and self.now.time(motion_ns) < self.now.trajectory.end:
            self.now.evaluate(motion_ns, self._peeked)
            self.scaling.advance(step_ns, self._peeked.v, deceleration)
        else:
            self.scaling.rest()

    def go_on(self, trajectory: Trajectory, motion_ns: int) -> None:
        """Take a motion that no goal asked for, at full speed."""
        self.now = Motion(motion_ns, motion_ns, trajectory)
        self.scaling.rest()

    def check_room(self, most: int, replacement: bool) -> None:
        """Raise GoalError where no more may wait, or where one may not replace another."""
        if self.goals and not replacement:
            raise GoalError(
                'a goal has not ended, and allow_trajectory_replacement is false; cancel it first'
            )
        if len(self.waiting) >= most:
            raise GoalError(
                f'{len(self.waiting)} goals are waiting for their start; allowed:'
                f' waiting_goals_limit = {most}'
            )

    def add(self, motion: Motion) -> None:
        """Let a motion wait for its start; goals that would start later are replaced."""
        later = [other for other in self.waiting if other.from_ns >= motion.from_ns]
        for other in later:
            self._end(other, ResultCode.INVALID_GOAL, _REPLACED)
            self.waiting.remove(other)
        self.waiting.append(motion)

    def start(self, time_ns: int) -> None:
        """Let the motions begin whose time has come; each replaces the one before it."""
        while self.waiting and time_ns >= self.waiting[0].from_ns:
            self.end(ResultCode.INVALID_GOAL, _REPLACED)
            self.now = self.waiting.pop(0)

    def end(self, code: ResultCode, message: str) -> None:
        """End the goal that is followed, if any; the motion goes on without it."""
        self._end(self.now, code, message)

    def end_waiting(self, code: ResultCode, message: str) -> None:
        """End the goals that wait."""
        for motion in self.waiting:
            self._end(motion, code, message)
        self.waiting.clear()

    def cancel(
        self,
        identifier: object,
        message: str = 'canceled',
        code: ResultCode = ResultCode.SUCCESSFUL,
    ) -> bool:
        """End a goal on request, or all (None); those that wait behind it have lost their start.

        It is canceled; with another `code` than SUCCESSFUL it is aborted.

        Returns:
            Whether the motion at hand is among them.
        """
        motions = self.all
        asked = identifier is None
        meant = [m for m in motions if asked or (m.goal and m.goal.identifier == identifier)]
        if not meant:
            return False
        first = motions.index(meant[0])
        for motion in motions[first:]:
            if motion in meant:
                self._end(motion, code, message, canceled=code is ResultCode.SUCCESSFUL)
            else:
                self._end(motion, ResultCode.INVALID_GOAL, 'the goal before it was canceled')
        del self.waiting[max(first - 1, 0) :]
        return first == 0

    def _end(self, motion: Motion, code: ResultCode, text: str, canceled: bool = False) -> None:
        if motion.goal is not None:
            self.results.append(GoalResult(motion.goal.identifier, code, text, canceled))
            motion.goal = None
