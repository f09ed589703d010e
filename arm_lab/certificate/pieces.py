"""Intervals of time within the polynomials of a trajectory, and what bounds the motion there."""

from math import factorial
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from arm_controllers.follower.trajectory import Trajectory
from arm_dynamics.checks import Array

_ORDERS = 8  # of derivatives 0 to 7; a quintic has six that are not zero
_SHIFT = np.array(
    [[1.0 / factorial(k - j) if k >= j else 0.0 for k in range(_ORDERS)] for j in range(_ORDERS)]
)  # derivative j at t + r is sum_k _SHIFT[j, k] r^(k - j) times derivative k at t
_POWERS = np.subtract.outer(np.arange(_ORDERS), np.arange(_ORDERS)).T.clip(0)
_FACTORIALS = np.array([float(factorial(k)) for k in range(6)])


class Pieces(NamedTuple):
    """k intervals, each within one segment of a trajectory.

    Attributes:
        segment: (k,) indices of the segments.
        start: (k,) from the segment's start [s].
        length: (k,) [s].
    """

    segment: NDArray[np.intp]
    start: Array
    length: Array

    @classmethod
    def of(cls, trajectory: Trajectory) -> Self:
        """Return the segments of a trajectory."""
        h = np.diff(trajectory.times)
        return cls(np.arange(len(h)), np.zeros(len(h)), h)

    def some(self, which: NDArray | slice) -> Self:
        """Return those that an index array or mask picks."""
        segment, start, length = self
        return type(self)(segment[which], start[which], length[which])

    def split(self, parts: NDArray[np.intp]) -> Self:
        """Return the intervals, each divided into as many equal parts as `parts` (k,) says."""
        segment, start, length, count = (np.repeat(each, parts) for each in (*self, parts))
        first = np.repeat(np.cumsum(parts) - parts, parts)
        step = length / count
        return type(self)(segment, start + step * (np.arange(len(step)) - first), step)

    def followed_by(self, other: Self) -> Self:
        """Return these and then others."""
        return type(self)(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))

    def time(self, trajectory: Trajectory, piece: int, share: float) -> float:
        """Return the time [s] at a share of one interval, from the trajectory's time 0."""
        start = trajectory.times[self.segment[piece]] + self.start[piece]
        return float(start + share * self.length[piece])

    def derivatives(self, trajectory: Trajectory) -> Array:
        """Return d^j q / dt^j (k, 8, n), j = 0 to 7, in the middle of each interval."""
        c = trajectory.coefficients[self.segment] * _FACTORIALS[:, np.newaxis]
        at = (self.start + 0.5 * self.length)[:, np.newaxis, np.newaxis]
        result = np.zeros((len(c), _ORDERS, c.shape[2]))
        result[:, :6] = (_SHIFT[:6, :6] * at ** _POWERS[:6, :6]) @ c
        return result

    def magnitudes(self, derivatives: Array) -> Array:
        """Return bounds (k, 8, n) of |d^j q / dt^j| anywhere in each interval."""
        half = (0.5 * self.length)[:, np.newaxis, np.newaxis]
        return (_SHIFT * half**_POWERS) @ np.abs(derivatives)
