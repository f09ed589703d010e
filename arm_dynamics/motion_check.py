"""Motions checked against the objects around an arm, before and while they run."""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.clearance import Clearance
from arm_dynamics.model import RobotModel
from arm_dynamics.object_shapes import ObjectShape
from arm_dynamics.scene_clearance import OWN, scene_clearance
from arm_dynamics.surroundings import Surroundings

_STEP = 0.01  # largest motion of a link between two checked configurations [m]
_AT_ONCE = 20  # configurations of a slice


class Start:
    """Where a motion starts: pairs that are near there are checked otherwise.

    See `Clearance.most_at`.
    """

    def __init__(self, q: Array):
        """Take the configuration (n,)."""
        self._q = q.copy()
        self._of: Clearance | None = None
        self._least, self._most = np.nan, np.empty(0)

    def apply(self, clearance: Clearance, least: float) -> None:
        """Let `clearance` be that of this motion, where `least` [m] is allowed."""
        if self._of is not clearance or self._least != least:
            self._of, self._least = clearance, least
            self._most = clearance.most_at(self._q, least)
        clearance.most = self._most


class MotionCheck:
    """Checks of joint motions: links keep a distance from objects and from each other.

    Attributes:
        objects: around the arm, as they are now.
        least: distance from objects [m]; negative: nothing is checked.
        look: called before a motion is checked that is to begin; may call `update`.
    """

    def __init__(self, model: RobotModel, least: float, own: float = OWN):
        """Take the distances that links keep.

        Args:
            model: the arm.
            least: from objects [m]; negative: nothing is checked.
            own: from each other at most [m].
        """
        self._model, self.least, self._own = model, least, own
        self.objects: tuple[ObjectShape, ...] = ()
        self.look: Callable[[], None] = lambda: None
        self._clearance: Clearance | None = None
        self._start: Start | None = None  # of the motion that `begin` has checked

    def update(self, objects: Sequence[ObjectShape]) -> bool:
        """Take the objects as they are now; return whether one of them has moved or changed."""
        found, before = tuple(objects), self.objects
        if found == before:
            return False
        self.objects = found
        if [each._replace(pose=()) for each in found] != [x._replace(pose=()) for x in before]:
            self._clearance = None
        elif self._clearance is not None:
            self._clearance.place(found)
        return True

    def begin(self, times: Array, q: Array) -> None:
        """Check a motion that is to begin: times (m,) [s], configurations q (m, n).

        Raises:
            ArmError: with link, object, place, time and distance.
        """
        self.look()
        self._start = Start(q[0])
        self.check(times, q)

    def check(self, times: Array, q: Array) -> None:
        """Check the rest of the motion that `begin` has checked. Raises as `begin`."""
        for _ in self.slices(times, q, self._start):
            pass

    def slices(self, times: Array, q: Array, start: Start | None) -> Iterator[None]:
        """Do what `check` does, in slices of about a millisecond, for the motion with this start.

        Between slices objects may move, and other motions may be checked.
        """
        if self.least < 0.0 or len(q) < 2:
            return
        moved = np.abs(np.diff(q, axis=0)) @ self._known().reach()
        length = np.append(0.0, np.cumsum(moved))
        at = np.linspace(0.0, length[-1], int(np.ceil(length[-1] / _STEP)) + 2)
        t, *columns = [np.interp(at, length, column) for column in (times, *q.T)]
        configurations = np.column_stack(columns)
        for k in range(0, len(t), _AT_ONCE):
            clearance, now = self._known(), slice(k, k + _AT_ONCE)
            if start is None:
                clearance.most[:] = np.inf
            else:
                start.apply(clearance, self.least)
            clearance.check(t[now], configurations[now], self.least)
            yield

    def _known(self) -> Clearance:
        if self._clearance is None:
            around = Surroundings(floor=False)
            self._clearance = scene_clearance(self._model, self.objects, around)
            self._clearance.own = self._own
        return self._clearance
