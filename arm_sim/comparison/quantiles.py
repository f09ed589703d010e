"""Quantiles of any number of values in little memory: exact counts in bins."""

from collections import Counter

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import Array

WIDTH = 1e-3  # a bin's upper end over its lower one, less 1
ERROR = WIDTH / 2  # of a quantile, over its value: it is given as its bin's middle


class Quantiles:
    """How many values lie in each bin [(1 + WIDTH)^k, (1 + WIDTH)^(k+1)).

    Counts are whole numbers: they add up to the same whatever the order. Memory grows with the
    bins that have something in them, not with the number of values.

    Attributes:
        counts: by k.
        unstable: how many values are not finite.
        largest: of the finite values.
    """

    def __init__(self) -> None:
        self.counts: Counter[int] = Counter()
        self.unstable, self.largest = 0, 0.0

    def add(self, bins: ArrayLike) -> None:
        """Add what `binned` gives of some values."""
        table = np.asarray(bins)
        self.unstable += int(table[0, 0])
        self.largest = max(self.largest, float(table[0, 1]))
        for k, count in table[1:]:
            self.counts[int(k)] += int(count)

    def stable(self) -> 'Quantiles':
        """Return the finite values alone."""
        other = Quantiles()
        other.counts, other.largest = self.counts, self.largest
        return other

    def table(self) -> tuple[list[float], list[int]]:
        """Return the lower ends of the bins that are not empty, in order, and their counts."""
        places = sorted(self.counts)
        return [(1.0 + WIDTH) ** k for k in places], [self.counts[k] for k in places]

    @property
    def count(self) -> int:
        """How many values there are."""
        return self.unstable + sum(self.counts.values())

    def at(self, percent: float) -> float:
        """Return the value nearest to this place in their order, within ERROR; inf is allowed."""
        place = round((self.count - 1) * percent / 100.0)
        for k in sorted(self.counts):
            place -= self.counts[k]
            if place < 0:
                return float((1.0 + WIDTH) ** (k + 0.5))
        return np.inf


def binned(values: ArrayLike) -> Array:
    """Return (1 + bins, 2): how many are not finite, and the largest; then each bin's k and count.

    Values must be positive; 0 counts as 1e-300.
    """
    whole = np.asarray(values, dtype=float)
    finite = whole[np.isfinite(whole)]
    places = np.floor(np.log(np.maximum(finite, 1e-300)) / np.log1p(WIDTH))
    bins, counts = np.unique(places, return_counts=True)
    first = [len(whole) - len(finite), finite.max(initial=0.0)]
    return np.vstack([first, np.column_stack([bins, counts])])
