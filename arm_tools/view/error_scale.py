"""Colours for errors, on a logarithmic scale."""

import numpy as np
from matplotlib import colormaps
from numpy.typing import NDArray

from arm_dynamics.checks import Array

SMALLEST = 1e-12  # an error below this is rounding [mm]
_DECADES = 4  # longest scale below the largest error
_COLOURS = 40


class ErrorScale:
    """Colours for errors, on a logarithmic scale of whole decades.

    Attributes:
        low, high: exponents of ten of the scale's ends [mm].
        palette: (c, 4) colours: red, green, blue and opacity, 0 to 1.
    """

    # From dark blue to orange, which colour-blind eyes tell apart; yellow is not seen on light.
    palette = np.asarray(colormaps['plasma'](np.linspace(0.0, 0.8, _COLOURS)))

    def __init__(self, errors: Array):
        """Fit the scale to errors (k,) [m]."""
        largest = max(float(np.max(errors, initial=0.0)) * 1e3, SMALLEST)
        self.high = int(np.floor(np.log10(largest))) + 1
        sizes = errors[errors * 1e3 > SMALLEST] * 1e3
        least = float(np.percentile(sizes, 2)) if len(sizes) else largest
        self.low = max(int(np.floor(np.log10(least))), self.high - _DECADES)
        self.low = min(self.low, self.high - 1)

    def levels(self, errors: Array) -> NDArray[np.int64]:
        """Return the row of the palette (k,) for each of the errors (k,) [m]."""
        sizes = np.log10(np.maximum(errors * 1e3, SMALLEST))
        share = np.clip((sizes - self.low) / (self.high - self.low), 0.0, 1.0)
        return np.round(share * (len(self.palette) - 1)).astype(np.int64)
