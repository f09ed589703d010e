"""Motions checked against the objects around an arm, before and while they run."""

from collections.abc import Sequence

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.clearance import Clearance, Surroundings
from arm_dynamics.model import RobotModel
from arm_sim.planning.scene_clearance import OWN, scene_clearance
from arm_sim.simulation.object_shapes import ObjectShape

_STEP = 0.01  # largest motion of a link between two checked configurations [m]


class MotionCheck:
    """Checks of joint motions: links keep a distance from objects and from each other.

    Pairs that are nearer at the start of a motion, such as the fingers of a gripper and what they
    hold, are left out.

    Attributes:
        objects: around the arm, as they are now.
    """

    def __init__(self, model: RobotModel, least: float, own: float = OWN):
        """Take the distances that links keep.

        Args:
            model: the arm.
            least: from objects [m]; negative: nothing is checked.
            own: from each other at most [m].
        """
        self._model, self._least, self._own = model, least, own
        self.objects: tuple[ObjectShape, ...] = ()
        self._clearance: Clearance | None = None
        self._start: Array | None = None  # of the motion that was checked last (n,)

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
        if self._least >= 0.0:
            self._start = q[0]
            self._known().leave_out_near(q[0], self._least)
            self.check(times, q)

    def check(self, times: Array, q: Array) -> None:
        """Check the rest of the motion that `begin` has checked. Raises as `begin`."""
        if self._least < 0.0 or len(q) < 2:
            return
        clearance = self._known()
        moved = np.abs(np.diff(q, axis=0)) @ clearance.reach()
        length = np.append(0.0, np.cumsum(moved))
        at = np.linspace(0.0, length[-1], int(np.ceil(length[-1] / _STEP)) + 2)
        columns = [np.interp(at, length, column) for column in (times, *q.T)]
        clearance.check(columns[0], np.column_stack(columns[1:]), self._least)

    def _known(self) -> Clearance:
        if self._clearance is None:
            around = Surroundings(floor=False)
            self._clearance = scene_clearance(self._model, self.objects, around)
            self._clearance.own = self._own
            if self._start is not None:
                self._clearance.leave_out_near(self._start, self._least)
        return self._clearance
