"""What a page knows of an arm that moves: the newest state and reference, the past, the goal."""

from dataclasses import dataclass

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_sim.view.history import History
from arm_sim.view.notices import Notices
from arm_sim.view.trail import Trail

_OLD = 1.0  # a reference that is so much older than the state is none [s]


@dataclass
class WatchedGoal:
    """A goal that the arm follows.

    Attributes:
        seconds: that it takes.
        at: time in it [s].
        end: how it ended; empty while it runs.
        bad: whether it failed.
    """

    seconds: float
    at: float = 0.0
    end: str = ''
    bad: bool = False

    @property
    def share(self) -> float:
        """How much of it is done, 0 to 1."""
        return min(1.0, self.at / self.seconds) if self.seconds > 0.0 else 1.0


class Watched:
    """Takes what messages say; forgets the past where time goes back.

    Attributes:
        model: the arm.
        t: of the newest state [s]; nan before the first.
        q: (n,) it.
        reference: (n,) where the arm should be, or None.
        torque: (n,) share of the limit; nan where there is none.
        error: (n,) of the joints [rad | m]; nan where no reference is known.
        tip_error: [m].
        trail, history, notices: the past.
        goal: the newest one, or None.
    """

    def __init__(self, model: RobotModel):
        """Begin at the model's neutral configuration."""
        self.model = model
        limit = model.effort_limit
        self._limit = np.where(np.isfinite(limit), limit, np.nan)
        self.trail, self.history, self.notices = Trail(), History(model.nv), Notices()
        self.q = model.neutral()
        self.torque = np.full(model.nv, np.nan)
        self._forget()

    def _forget(self) -> None:
        self.t = self._stated = self._reported = self._kept = float('nan')
        self.reference: Array | None = None
        self.error = np.full(self.model.nv, np.nan)
        self.tip_error = float('nan')
        self.goal: WatchedGoal | None = None
        self.trail.clear()
        self.history.clear()

    def state(self, t: float, q: Array, effort: Array | None) -> None:
        """Take a state: positions (n,) and torques (n,) [N.m | N]."""
        if t < self._stated:
            self._forget()
        self._stated = t
        if effort is not None:
            self.torque = np.abs(effort) / self._limit
        if t < self.t:  # a controller's word of a newer one was read before
            return
        self.t, self.q = t, np.array(q)
        if t > self._reported + _OLD:
            self.reference, self.error = None, np.full(self.model.nv, np.nan)
            self.tip_error = float('nan')
        if self.reference is None and not t <= self._kept:
            self._keep(t, self.model.forward_kinematics(q).translation.copy())

    def report(self, t: float, q: Array, reference: Array, in_goal: float) -> None:
        """Take what a controller says: state (n,), reference (n,), and time in the goal [s]."""
        if t < self._reported:
            self._forget()
        tip = self.model.forward_kinematics(q).translation.copy()
        told = self.model.forward_kinematics(reference).translation
        self.tip_error = float(np.linalg.norm(told - tip))
        self.error = np.abs(self.model.difference(q, reference))
        self.reference, self._reported = np.array(reference), t
        if not t < self.t:
            self.t, self.q = t, np.array(q)
        if self.goal is not None and not self.goal.end:
            self.goal.at = in_goal
        self._keep(t, tip)

    def _keep(self, t: float, tip: Array) -> None:
        self._kept = t
        self.trail.add(tip, self.tip_error)
        self.history.add(t, self.error, self.torque, self.tip_error)

    def start(self, seconds: float) -> None:
        """Take a goal that was accepted."""
        self.goal = WatchedGoal(seconds)

    def end(self, good: bool, reason: str) -> None:
        """Take how a goal ended, be it that it was refused."""
        if not good:
            self.notices.refuse('goal', reason, self.time)
        if self.goal is not None and not self.goal.end:
            self.goal.end, self.goal.bad = 'done' if good else 'ended', not good
            self.goal.at = self.goal.seconds if good else self.goal.at

    @property
    def time(self) -> float:
        """The newest state's time [s], 0 before the first."""
        return 0.0 if np.isnan(self.t) else self.t
