"""The newest measurements of an arm, for the plots."""

from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import Array

_ROWS = 15_000  # five minutes at 50 rows per second


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
