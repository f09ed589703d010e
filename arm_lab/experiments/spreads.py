"""The errors of one law on all arms of a Monte Carlo: percentiles and counts."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import Array

LISTED = 10_000  # arms up to which a report lists each error; beyond, it has a histogram
_BIN = 1e-3  # width of a histogram's bins, relative to their lower ends
_PERCENTILES = (0, 5, 50, 95, 100)


class Spread(NamedTuple):
    """The errors of one law on all arms.

    Attributes:
        law: by name.
        errors: (N,) of each arm; inf where the loop was unstable.
        measure: name of the measure that the errors are.
    """

    law: str
    errors: Array
    measure: str = 'tracking_rms_mm'

    @property
    def median(self) -> float:
        """Median."""
        return float(np.median(self.errors))

    @property
    def percentile_95(self) -> float:
        """95th percentile: the nearest arm's, so inf is possible."""
        return float(np.percentile(self.errors, 95, method='nearest'))

    @property
    def worst(self) -> float:
        """Largest error."""
        return float(self.errors.max())

    @property
    def unstable(self) -> int:
        """Number of arms on which the loop was unstable."""
        return int(np.sum(~np.isfinite(self.errors)))

    @property
    def samples(self) -> int:
        """Number of arms."""
        return len(self.errors)

    def percentiles(self) -> Sequence[float]:
        """Return percentiles 0, 5, 50, 95 and 100 of the stable arms; empty: none is."""
        finite = self.errors[np.isfinite(self.errors)]
        return np.percentile(finite, _PERCENTILES).tolist() if finite.size else ()

    def row(self) -> dict[str, list[float]]:
        """Return what a report has of the arms: each error, or lower ends and counts of bins.

        The bins [(1 + _BIN)^k, (1 + _BIN)^(k+1)) are those that are not empty.
        """
        if self.samples <= LISTED:
            return {self.measure: self.errors.tolist()}
        finite = np.maximum(self.errors[np.isfinite(self.errors)], 1e-300)
        bins, counts = np.unique(np.floor(np.log(finite) / np.log1p(_BIN)), return_counts=True)
        unit = self.measure.rpartition('_')[2]
        return {f'bin_from_{unit}': ((1.0 + _BIN) ** bins).tolist(), 'bin_count': counts.tolist()}
