"""Sinusoids in joint space."""

from math import cos, sin

import numpy as np
from numpy.typing import ArrayLike

from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array, in_range


class Sinusoid:
    """q_r(t) = center + amplitude sin(2 pi f t), with its derivatives.

    Attributes:
        amplitude: (n,) [rad | m].
        frequency: f [Hz].
        center: (n,) [rad | m].
    """

    def __init__(
        self, amplitude: ArrayLike, frequency: float = 0.5, center: ArrayLike | None = None
    ):
        """Take amplitudes, one frequency, and a center (zero if left out).

        Raises:
            ArmError: not finite, shapes that do not fit, a frequency that is not positive.
        """
        in_range('frequency', frequency, 0.0, 1000.0, exclusive=True)
        self.frequency = frequency
        self.amplitude: Array = np.array(amplitude, dtype=float)
        self.center: Array = np.zeros(len(self.amplitude)) if center is None else np.array(center)
        if self.amplitude.ndim != 1 or self.center.shape != self.amplitude.shape:
            raise ArmError(
                f'amplitude has shape {self.amplitude.shape}, center {self.center.shape}; '
                'they must be one number per joint'
            )
        if not (np.isfinite(self.amplitude).all() and np.isfinite(self.center).all()):
            raise ArmError('amplitude and center must be finite numbers')

    def evaluate(self, t: float, reference: Reference) -> None:
        """Write the reference at t [s] into `reference`."""
        w = 2.0 * np.pi * self.frequency
        sine, cosine = sin(w * t), cos(w * t)
        np.multiply(self.amplitude, sine, out=reference.q)
        np.multiply(self.amplitude, w * cosine, out=reference.v)
        np.multiply(self.amplitude, -w * w * sine, out=reference.a)
        reference.q += self.center
