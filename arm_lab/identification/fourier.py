"""Finite Fourier series of joint motion, periodic and at rest where they begin.

    v(t) = sum_l a_l cos(w l t) + b_l sin(w l t),   l = 1 .. harmonics,   w = 2 pi / period

Source: Swevers et al., Optimal robot excitation and identification, IEEE T-RA 13(5), 1997.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import Array


@dataclass(frozen=True)
class FourierSeries:
    """A motion of n joints.

    Attributes:
        start: (n,) positions at time zero [rad | m].
        cosine, sine: (harmonics, n) a and b, of the velocity [rad/s | m/s].
        period: [s].
    """

    start: Array
    cosine: Array
    sine: Array
    period: float

    @property
    def angular_frequencies(self) -> Array:
        """Return w l (harmonics,) [rad/s]."""
        return 2.0 * np.pi / self.period * np.arange(1.0, len(self.cosine) + 1)

    def states(self, times: ArrayLike) -> tuple[Array, Array, Array]:
        """Return q, v, a (m, n) at times (m,) [s]."""
        w = self.angular_frequencies
        angles = np.multiply.outer(np.asarray(times, dtype=float), w)
        c, s, a, b = np.cos(angles), np.sin(angles), self.cosine, self.sine
        q = self.start + (s / w) @ a + ((1.0 - c) / w) @ b
        return q, c @ a + s @ b, -(s * w) @ a + (c * w) @ b

    def scaled(self, factors: Array | float) -> 'FourierSeries':
        """Return the motion made larger about its start, by factors () or (n,)."""
        return FourierSeries(self.start, self.cosine * factors, self.sine * factors, self.period)


def at_rest_at_start(cosine: Array, sine: Array) -> tuple[Array, Array]:
    """Return the nearest coefficients (harmonics, n) with v(0) = 0 and a(0) = 0."""
    order = np.arange(1.0, len(cosine) + 1)[:, np.newaxis]
    sine = sine - order * (order * sine).sum(axis=0) / (order * order).sum()
    return cosine - cosine.mean(axis=0), sine
