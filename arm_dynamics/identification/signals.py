"""Velocities, accelerations and equations from recorded positions and torques, without delay.

Two Butterworth filters run forwards and backwards (zero phase). Positions and torques pass the
first one, at four times the cutoff; a quintic spline through the positions gives v and a. The
regressor at these states and the torques pass the second one, at the cutoff, so that it acts alike
on both sides of tau = Y pi.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline, make_interp_spline
from scipy.ndimage import maximum_filter1d
from scipy.signal import butter, sosfiltfilt

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.identification.regressor import JointRegressor
from arm_dynamics.model import STANDSTILL

FIRST, _RATE, _KEPT_RATE = 4.0, 20.0, 2.5  # of the cutoff: first filter, regressor, kept rows
_ORDER = 4
_CUT_OFF_ENDS = 3.0  # periods of the cutoff, where the filters have not settled
_MOVING = 1.5  # times STANDSTILL: from there on Coulomb friction has its full size
_SAME = 1e-6  # times nearer than this are one [s]
_SAME_TORQUE = 1e-9  # relative; filtering a constant leaves its rounding
_LEAST_ROWS = 65  # of each joint: five for each of its parameters
_GAP = 5.0  # median periods without a sample, after which a new piece begins


@dataclass(frozen=True)
class Samples:
    """Measured positions and torques (m, n) at times (m,) [s]."""

    times: Array
    q: Array
    effort: Array

    def part(self, which: NDArray[np.intp]) -> 'Samples':
        """Return the samples with these indices (k,)."""
        return Samples(self.times[which], self.q[which], self.effort[which])

    def longest_piece(self) -> NDArray[np.intp]:
        """Return the indices (k,) of the longest piece without a gap, each time once.

        A time that goes back, as after a reset, begins a new piece.
        """
        which = np.flatnonzero(np.abs(np.diff(self.times, prepend=-np.inf)) > _SAME)
        if len(which) < 2:
            raise ArmError('the recording has fewer than two states')
        steps = np.diff(self.times[which])
        ends = np.flatnonzero((steps > _GAP * np.median(np.abs(steps))) | (steps < 0.0)) + 1
        edges = [0, *ends.tolist(), len(which)]
        first, last = max(pairwise(edges), key=lambda both: both[1] - both[0])
        return which[first:last]


@dataclass(frozen=True)
class Rows:
    """Equations tau = Y pi - lag dtau/dt at times (k,).

    Attributes:
        times: (k,) [s].
        y: (k, n, p + 1) regressor, and minus the torque's derivative as the last column.
        tau: (k, n) measured torque.
        moving: (k, n) whether the joint moves fast enough that its Coulomb friction is known.
    """

    times: Array
    y: Array
    tau: Array
    moving: NDArray[np.bool_]

    def part(self, keep: NDArray[np.bool_]) -> 'Rows':
        """Return the rows that a mask (k,) selects."""
        return Rows(self.times[keep], self.y[keep], self.tau[keep], self.moving[keep])


def rows_of(regressor: JointRegressor, samples: Samples, cutoff: float) -> Rows:
    """Return the filtered equations of a recording's longest piece; `cutoff` [Hz].

    Raises:
        ArmError: too short, or not sampled often enough.
    """
    samples = samples.part(samples.longest_piece())
    count = len(samples.times)
    begin, end = samples.times[[0, -1]]
    lost = _CUT_OFF_ENDS / cutoff
    if end - begin < 10.0 * lost:
        raise ArmError(
            f'the recording lasts {end - begin:.3g} s; a cutoff of {cutoff:g} Hz needs '
            f'{10.0 * lost:.3g} s or more'
        )
    rate = (count - 1) / (end - begin)
    if rate < FIRST * cutoff:
        raise ArmError(
            f'the recording has {rate:.4g} states per second; a cutoff of {cutoff:g} Hz needs '
            f'{FIRST * cutoff:g}: choose a lower one'
        )
    even = np.linspace(begin, end, count)
    q, tau = CubicSpline(samples.times, samples.q)(even), samples.effort
    tau = np.column_stack([np.interp(even, samples.times, column) for column in tau.T])
    first = lowpass(FIRST * cutoff, rate)
    spline = make_interp_spline(even, first(q), k=5)
    torque = CubicSpline(even, first(tau))
    times = np.arange(begin, end, 1.0 / (_RATE * cutoff))
    states = spline(times), spline(times, 1), spline(times, 2)
    second = lowpass(cutoff, _RATE * cutoff)
    y = np.concatenate([regressor(*states), -torque(times, 1)[..., np.newaxis]], axis=2)
    slow = np.abs(states[1]) < _MOVING * STANDSTILL
    slow = maximum_filter1d(slow.astype(np.uint8), round(_RATE), axis=0) > 0
    step, skip = round(_RATE / _KEPT_RATE), round(lost * _RATE * cutoff)
    kept = slice(skip, len(times) - skip, step)
    return Rows(times[kept], second(y)[kept], second(torque(times))[kept], ~slow[kept])


def check_rows(rows: Rows, names: Sequence[str]) -> None:
    """Raise ArmError where the joints of these names hardly move, or have no torque."""
    for name, moving, tau in zip(names, rows.moving.T, rows.tau.T, strict=True):
        if moving.sum() < _LEAST_ROWS:
            raise ArmError(
                f'joint {name!r} hardly moves: it needs {_LEAST_ROWS} filtered samples above '
                f'{_MOVING * STANDSTILL:g} rad/s, it has {moving.sum()}; drive a motion of '
                '`excite`'
            )
        if np.ptp(tau) <= _SAME_TORQUE * np.abs(tau).max():
            raise ArmError(
                f'joint {name!r}: its recorded torque is always {tau[0]:g}; torques are needed'
            )


def lowpass(cutoff: float, rate: float) -> Callable[[Array], Array]:
    """Return the zero-phase filter of columns (m, n) sampled at a rate; both [Hz]."""
    if cutoff > 0.4 * rate:  # nothing to filter
        return lambda values: values
    sections = butter(_ORDER, cutoff, fs=rate, output='sos')
    return lambda values: sosfiltfilt(sections, values, axis=0)
