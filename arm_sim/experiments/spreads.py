"""The tracking errors of one law on all arms of a Monte Carlo: percentiles and counts."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import Array

LISTED = 10_000  # arms up to which a report lists each error; beyond, it has a histogram
_BIN = 1e-3  # width of a histogram's bins, relative to their lower ends
_PERCENTILES = (0, 5, 50, 95, 100)


class Spread(NamedTuple):
    """The tracking errors of one law on all arms.

    Attributes:
        law: by name.
        rms_mm: (N,) tracking RMS of the tip [mm]; inf where the loop was unstable.
    """

    law: str
    rms_mm: Array

    @property
    def median(self) -> float:
        """Median tracking RMS [mm]."""
        return float(np.median(self.rms_mm))

    @property
    def percentile_95(self) -> float:
        """95th percentile of the tracking RMS [mm]: the nearest arm's, so inf is possible."""
        return float(np.percentile(self.rms_mm, 95, method='nearest'))

    @property
    def worst(self) -> float:
        """Largest tracking RMS [mm]."""
        return float(self.rms_mm.max())

    @property
    def unstable(self) -> int:
        """Number of arms on which the loop was unstable."""
        return int(np.sum(~np.isfinite(self.rms_mm)))

    @property
    def samples(self) -> int:
        """Number of arms."""
        return len(self.rms_mm)

    def percentiles(self) -> Sequence[float]:
        """Return percentiles 0, 5, 50, 95 and 100 of the stable arms [mm]; empty: none is."""
        finite = self.rms_mm[np.isfinite(self.rms_mm)]
        return np.percentile(finite, _PERCENTILES).tolist() if finite.size else ()

    def row(self) -> dict[str, list[float]]:
        """Return what a report has of the arms: each error, or lower ends [mm] and counts of bins.

        The bins [(1 + _BIN)^k, (1 + _BIN)^(k+1)) are those that are not empty.
        """
        if self.samples <= LISTED:
            return {'tracking_rms_mm': self.rms_mm.tolist()}
        finite = np.maximum(self.rms_mm[np.isfinite(self.rms_mm)], 1e-300)
        bins, counts = np.unique(np.floor(np.log(finite) / np.log1p(_BIN)), return_counts=True)
        return {'bin_from_mm': ((1.0 + _BIN) ** bins).tolist(), 'bin_count': counts.tolist()}
