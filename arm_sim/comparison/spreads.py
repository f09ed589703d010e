"""One law over all samples: every number of some, counts in bins of many."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import Array
from arm_sim.comparison.quantiles import Quantiles

_SHOWN = (0, 5, 50, 95, 100)


class Spread(NamedTuple):
    """One law over all samples."""

    law: str
    rms_mm: Array  # (N,) tracking RMS of the tip [mm]; inf where the loop was unstable
    joint_rms_rad: Array  # (N,) over all joints [rad | m]; likewise

    @property
    def median(self) -> float:
        """Median tracking RMS [mm]."""
        return float(np.median(self.rms_mm))

    @property
    def percentile_95(self) -> float:
        """95th percentile of the tracking RMS [mm]; the nearest sample, so inf is allowed."""
        return float(np.percentile(self.rms_mm, 95, method='nearest'))

    @property
    def worst(self) -> float:
        """Largest tracking RMS [mm]."""
        return float(self.rms_mm.max())

    @property
    def unstable(self) -> int:
        """How many samples left the finite numbers."""
        return int(np.sum(~np.isfinite(self.rms_mm)))

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return len(self.rms_mm)

    def shown(self) -> Sequence[float]:
        """Return percentiles 0, 5, 50, 95 and 100 of the stable samples, if there are any."""
        finite = self.rms_mm[np.isfinite(self.rms_mm)]
        return np.percentile(finite, _SHOWN).tolist() if finite.size else ()

    def row(self) -> dict:
        """Return what a report has of each sample."""
        return {'tracking_rms_mm': self.rms_mm.tolist()}


class CountedSpread(NamedTuple):
    """The same of so many samples that only their counts in bins are kept; see Quantiles.ERROR."""

    law: str
    rms_mm: Quantiles

    @property
    def median(self) -> float:
        """Median tracking RMS [mm]."""
        return self.rms_mm.at(50)

    @property
    def percentile_95(self) -> float:
        """95th percentile of the tracking RMS [mm]."""
        return self.rms_mm.at(95)

    @property
    def worst(self) -> float:
        """Largest tracking RMS [mm], exactly."""
        return np.inf if self.unstable else self.rms_mm.largest

    @property
    def unstable(self) -> int:
        """How many samples left the finite numbers."""
        return self.rms_mm.unstable

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return self.rms_mm.count

    def shown(self) -> Sequence[float]:
        """Return what Spread does."""
        stable = self.rms_mm.stable()
        return [stable.at(percent) for percent in _SHOWN] if stable.count else ()

    def row(self) -> dict:
        """Return the bins that are not empty: lower ends [mm] and counts."""
        lower, counts = self.rms_mm.table()
        return {'bin_from_mm': lower, 'bin_count': counts}
