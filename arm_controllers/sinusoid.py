"""Sinusoids in joint space."""

from math import cos, sin

import numpy as np
from numpy.typing import ArrayLike

from arm_controllers.reference import Reference


class Sinusoid:
    """q_r(t) = center + amplitude sin(2 pi f t), with its derivatives."""

    def __init__(self, amplitude: ArrayLike, frequency: float = 0.5, center: ArrayLike = 0.0):
        """Take amplitude (n,) and center (n,) [rad | m], and one frequency f [Hz]."""
        self.amplitude, self.center = np.asarray(amplitude), np.asarray(center)
        self.frequency = frequency

    def evaluate(self, t: float, reference: Reference) -> None:
        """Write the reference at t [s] into `reference`."""
        w = 2.0 * np.pi * self.frequency
        sine, cosine = sin(w * t), cos(w * t)
        np.multiply(self.amplitude, sine, out=reference.q)
        np.multiply(self.amplitude, w * cosine, out=reference.v)
        np.multiply(self.amplitude, -w * w * sine, out=reference.a)
        reference.q += self.center
