"""The observed state of a moving arm: newest state and reference, errors, history and goal."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.object_shapes import ObjectShape
from arm_tools.view.event_log import EventLog
from arm_tools.view.trail import Trail

PAST = 60.0  # simulated time over which moments are kept [s]
_OLD = 1.0  # age at which a reference is no longer shown [s]
_APART = 0.0099  # shortest time between two kept moments [s]
_ROWS = 15_000  # of measurements: five minutes at 50 rows per second


class Moment(NamedTuple):
    """An arm at a past time.

    Attributes:
        t: the time [s].
        q: (n,) positions [rad | m].
        reference: (n,) [rad | m], or None.
        tip_error: [m].
        objects: around the arm.
    """

    t: float
    q: Array
    reference: Array | None
    tip_error: float
    objects: Sequence[ObjectShape]


class PlotData(NamedTuple):
    """Measurements at m times.

    Attributes:
        t: (m,) simulated time, rising [s].
        error: (n, m) of the joints [rad | m]; nan without a reference.
        torque: (n, m) share of the limit; nan without a limit.
        tip: (m,) error of the tip [m].
    """

    t: Array
    error: Array
    torque: Array
    tip: Array


class History:
    """A ring of the newest measurements."""

    def __init__(self, joints: int):
        """Begin empty, for an arm of n joints."""
        self._n = joints
        self._rows = np.full((_ROWS, 2 + 2 * joints), np.nan)
        self._count = 0

    def clear(self) -> None:
        """Remove all measurements."""
        self._count = 0

    def add(self, t: float, error: Array, torque: Array, tip: float) -> None:
        """Add the measurements of a time; see `PlotData`."""
        self._rows[self._count % _ROWS] = np.concatenate([[t, tip], error, torque])
        self._count += 1

    def last(self, seconds: float, most: int) -> PlotData:
        """Return at most `most` evenly chosen times of the last seconds, and the newest.

        With fewer than two rows: two times without values.
        """
        rows = self._rows[: min(self._count, _ROWS)]
        if self._count > _ROWS:
            rows = np.roll(rows, -(self._count % _ROWS), axis=0)
        if len(rows):
            rows = rows[rows[:, 0] >= rows[-1, 0] - seconds]
        if len(rows) < 2:
            rows = np.full((2, rows.shape[1]), np.nan)
            rows[:, 0] = 0.0, 1.0
        chosen = np.unique(np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(int))
        t, tip, *others = rows[chosen].T
        columns = np.array(others).reshape(2, self._n, len(t))
        return PlotData(t, columns[0], columns[1], tip)


@dataclass
class GoalProgress:
    """The progress of a goal.

    Attributes:
        seconds: its duration [s].
        at: time in it [s].
        end: how it ended; empty while it runs.
    """

    seconds: float
    at: float = 0.0
    end: str = ''

    @property
    def share(self) -> float:
        """The share of the goal that is done, 0 to 1."""
        return min(1.0, self.at / self.seconds) if self.seconds > 0.0 else 1.0


class ArmMonitor:
    """Collects what the messages of an arm report; begins again where time goes back.

    Attributes:
        model: the arm.
        t: time of the newest state [s]; nan before the first.
        q: (n,) the newest positions [rad | m].
        start: (n,) the first positions [rad | m], or None.
        reference: (n,) [rad | m], or None.
        torque: (n,) share of the limit; nan without a limit.
        error: (n,) of the joints [rad | m]; nan without a reference.
        tip_error: [m].
        trail, history: path of the tip, measurements for the plots.
        events: what happened.
        goal: the newest one, or None.
        objects: around the arm.
        past: moments of the last minute, at most 100 per second.
    """

    def __init__(self, model: RobotModel):
        """Begin at the model's neutral configuration."""
        self.model, self.q = model, model.neutral()
        limit = model.effort_limit
        self._limit = np.where(np.isfinite(limit), limit, np.nan)
        self.trail, self.history, self.events = Trail(), History(model.nv), EventLog()
        self.torque = np.full(model.nv, np.nan)
        self.objects: Sequence[ObjectShape] = ()
        self.past: deque[Moment] = deque()
        self._begin()

    def _begin(self) -> None:
        self.t = self._state_t = self._report_t = self._added_t = float('nan')
        self._clear_reference()
        self.start: Array | None = None
        self.goal: GoalProgress | None = None
        self.trail.clear()
        self.history.clear()
        self.past.clear()

    def _clear_reference(self) -> None:
        self.reference: Array | None = None
        self.error, self.tip_error = np.full(self.model.nv, np.nan), float('nan')

    def on_state(self, t: float, q: Array, effort: Array | None) -> None:
        """Take a state: positions (n,) [rad | m] and torques (n,) [N.m | N]."""
        if t < self._state_t:
            self._begin()
        self._state_t = t
        if self.start is None:
            self.start = np.array(q)
        if effort is not None:
            self.torque = np.abs(effort) / self._limit
        if t < self.t:  # a report of a newer state came first
            return
        self.t, self.q = t, np.array(q)
        if t > self._report_t + _OLD:
            self._clear_reference()
        if self.reference is None and not t <= self._added_t:
            self._add(t, q, self._tip(q))

    def on_report(self, t: float, q: Array, reference: Array, in_goal: float) -> None:
        """Take a controller's report: state (n,), reference (n,), and time in the goal [s]."""
        if t < self._report_t:
            self._begin()
        tip = self._tip(q)
        self.tip_error = float(np.linalg.norm(self._tip(reference) - tip))
        self.error = np.abs(self.model.difference(q, reference))
        self.reference, self._report_t = np.array(reference), t
        if not t < self.t:
            self.t, self.q = t, np.array(q)
        if self.goal is not None and not self.goal.end:
            self.goal.at = in_goal
        self._add(t, q, tip)

    def _tip(self, q: Array) -> Array:
        return self.model.forward_kinematics(q).translation.copy()

    def _add(self, t: float, q: Array, tip: Array) -> None:
        self._added_t = t
        self.trail.add(tip, self.tip_error)
        self.history.add(t, self.error, self.torque, self.tip_error)
        past = self.past
        if not past or t > past[-1].t + _APART:
            past.append(Moment(t, np.array(q), self.reference, self.tip_error, self.objects))
        while past[0].t < t - PAST:
            past.popleft()

    def on_goal(self, seconds: float) -> None:
        """Take a goal that was accepted, with its duration [s]."""
        self.goal = GoalProgress(seconds)

    def on_result(self, good: bool, reason: str) -> None:
        """Take the end or the refusal of a goal."""
        if not good:
            self.events.refuse('goal', reason, self.time)
        if self.goal is not None and not self.goal.end:
            self.goal.end = 'done' if good else 'ended'
            self.goal.at = self.goal.seconds if good else self.goal.at

    @property
    def time(self) -> float:
        """Time of the newest state [s], 0 before the first."""
        return 0.0 if np.isnan(self.t) else self.t
