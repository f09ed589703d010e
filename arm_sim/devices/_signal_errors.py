"""Errors of a sensor's signals: bandwidth, bias, drift, noise, saturation and delay."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import Array
from arm_dynamics.parameters import parameter

_CHUNK = 64  # readings whose random numbers are drawn together


def bandwidth_of(sensor: str) -> Any:
    """Return the parameter of a sensor that is `Errors.bandwidth`."""
    text = 'cut-off frequency of the first-order low-pass filter [Hz]; 0: no filter'
    return parameter(0.0, text, name=f'{sensor}.bandwidth', min=0)


def delay_of(sensor: str) -> Any:
    """Return the parameter of a sensor that is `Errors.delay`."""
    text = 'age of a reading when it is reported [control periods]'
    return parameter(0, text, name=f'{sensor}.delay', min=0, max=1000)


class Errors(NamedTuple):
    """The errors of k signals, in the signals' units.

    Attributes:
        bias: constant offset.
        drift: offset per second.
        noise: standard deviation.
        limit: largest reading; infinite: no limit.
        bandwidth: cut-off frequency of a first-order low-pass filter [Hz]; 0: no filter.
        delay: age of a reading when it is reported [periods].
    """

    bias: ArrayLike = 0.0
    drift: ArrayLike = 0.0
    noise: ArrayLike = 0.0
    limit: ArrayLike = np.inf
    bandwidth: float = 0.0
    delay: int = 0


class SignalErrors:
    """The errors of k signals of N arms; every arm has its own numbers and random stream."""

    def __init__(self, each: Sequence[Errors], k: int, period: float, stream: int = 0):
        """Take the errors of each arm, and the time between two readings [s].

        `stream`: of random numbers, separate from those of other sensors.
        """
        names, self._stream = Errors._fields[:4], stream
        bias, drift, noise, limit = (
            np.array([np.broadcast_to(getattr(own, name), k) for own in each], dtype=float)
            for name in names
        )
        self._bias, self._drift, self._noise, self._limit = bias, drift * period, noise, limit
        rate = np.array([[own.bandwidth] for own in each])
        share = 1.0 - np.exp(-2.0 * np.pi * rate * period)
        self._offset = bool(bias.any() or drift.any())
        self._limited = bool(np.isfinite(limit).any())
        self._share = np.where(rate > 0.0, share, 1.0)
        self._filtered, self._noisy = bool((rate > 0.0).any()), bool(noise.any())
        self._delay, self._arms = np.array([own.delay for own in each]), np.arange(len(each))
        self._kept = np.zeros((1 + int(self._delay.max()), *bias.shape))

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin again, with the random seed of each arm."""
        self._streams = [np.random.default_rng([seed, self._stream]) for seed in seeds]
        self._count = 0
        self._low: Array | None = None

    def mean(self, value: Array, count: int) -> Array:
        """Return the mean (N, k) of a number of readings of a signal that does not change."""
        value = np.broadcast_to(value, self._bias.shape)
        draws = np.array([rng.standard_normal((count, value.shape[1])) for rng in self._streams])
        readings = (value + self._bias)[:, np.newaxis] + self._noise[:, np.newaxis] * draws
        limit = self._limit[:, np.newaxis]
        return np.clip(readings, -limit, limit).mean(axis=1)

    def read(self, value: Array) -> Array:
        """Return the reading (N, k) of a signal, one period after the last reading."""
        return self.late(self.measured(value))

    def measured(self, value: Array) -> Array:
        """Return the reading (N, k) of a signal before its delay."""
        i = self._count
        self._count = i + 1
        if self._filtered:
            before = value if self._low is None else self._low
            self._low = value = before + self._share * (value - before)
        if self._offset:
            value = value + (self._bias + i * self._drift)
        if self._noisy:
            if i % _CHUNK == 0:
                shape = (_CHUNK, value.shape[1])
                self._table = np.array([rng.standard_normal(shape) for rng in self._streams])
            value = value + self._noise * self._table[:, i % _CHUNK]
        return np.clip(value, -self._limit, self._limit) if self._limited else value

    def late(self, reading: Array) -> Array:
        """Return the readings (N, k) that come now: this one was `measured` last.

        Before the first one comes, it is repeated.
        """
        if len(self._kept) == 1:
            return reading
        i = self._count - 1
        self._kept[i % len(self._kept)] = reading
        return self._kept[np.maximum(i - self._delay, 0) % len(self._kept), self._arms]
