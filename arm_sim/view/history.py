"""What was measured of an arm over the last time, as plots take it."""

from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import Array

_MOST = 15_000  # rows that are kept: five minutes at 50 per second


class Courses(NamedTuple):
    """Time courses of the same moments.

    Attributes:
        t: (m,) simulated time, rising [s].
        error: (n, m) of the joints [rad | m]; nan where no reference is known.
        torque: (n, m) share of the limit; nan where there is no limit.
        tip: (m,) error of the tip [m].
    """

    t: Array
    error: Array
    torque: Array
    tip: Array


class History:
    """Keeps the last rows, and hands out as many of them as a plot has room for."""

    def __init__(self, joints: int):
        """Begin empty, for an arm of n joints."""
        self._n = joints
        self._rows = np.full((_MOST, 2 + 2 * joints), np.nan)
        self._count = 0

    def clear(self) -> None:
        """Forget all."""
        self._count = 0

    def add(self, t: float, error: Array, torque: Array, tip: float) -> None:
        """Keep a row; see `Courses`."""
        row = self._rows[self._count % _MOST]
        row[0], row[1] = t, tip
        row[2 : 2 + self._n], row[2 + self._n :] = error, torque
        self._count += 1

    def last(self, seconds: float, most: int) -> Courses:
        """Return the last seconds, at most so many moments, evenly chosen, the newest among them.

        Nothing but two moments that hold nothing where there are not two rows.
        """
        kept = min(self._count, _MOST)
        rows = self._rows[:kept]
        if self._count > _MOST:
            rows = np.roll(rows, -(self._count % _MOST), axis=0)
        if kept:
            rows = rows[rows[:, 0] >= rows[-1, 0] - seconds]
        if len(rows) < 2:
            rows = np.full((2, rows.shape[1]), np.nan)
            rows[:, 0] = 0.0, 1.0
        chosen = np.unique(np.linspace(0, len(rows) - 1, min(most, len(rows))).astype(int))
        t, tip, *others = rows[chosen].T
        columns = np.array(others).reshape(2, self._n, len(t))
        return Courses(t, columns[0], columns[1], tip)
