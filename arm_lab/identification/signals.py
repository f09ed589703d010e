"""Velocities, accelerations and equations from recorded positions and torques, without delay.

Two Butterworth filters run forwards and backwards (zero phase). Positions and torques pass the
first one, at four times the cutoff; a quintic spline through the positions gives v and a. The
regressor at these states and the torques pass the second one, at the cutoff, so that it acts alike
on both sides of tau = Y pi.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, CubicSpline, make_interp_spline
from scipy.ndimage import maximum_filter1d
from scipy.signal import butter, sosfiltfilt

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import STANDSTILL, RobotModel
from arm_lab.identification.regressor import JointRegressor

FIRST, RATE, _KEPT_RATE = 4.0, 20.0, 2.5  # of the cutoff: first filter, regressor, kept rows
_ORDER = 4
CUT_OFF_ENDS = 3.0  # periods of the cutoff, where the filters have not settled
_MOVING = 1.5  # times STANDSTILL: from there on Coulomb friction has its full size
_SAME = 1e-6  # times nearer than this are one [s]
_SAME_TORQUE = 1e-9  # relative; filtering a constant leaves its rounding
_LEAST_ROWS = 65  # of each joint: five for each of its parameters
_GAP = 5.0  # median periods without a sample, after which a new piece may begin
_OF_NORMAL = 0.6745  # median of the absolute values of a normal distribution
_LEAST_BAND = 0.1  # share of the band above the first filter from which noise is estimated
_HOLE = 0.125  # periods of the cutoff: below this the first filter passes no hole


@dataclass(frozen=True)
class MotionSamples:
    """Measured positions and torques (m, n) at times (m,) [s]."""

    times: Array
    q: Array
    effort: Array

    def part(self, which: NDArray[np.intp]) -> 'MotionSamples':
        """Return the samples with these indices (k,)."""
        return MotionSamples(self.times[which], self.q[which], self.effort[which])

    def pieces(self, cutoff: float) -> list[NDArray[np.intp]]:
        """Return the indices of each piece without a gap, each time once; the longest one first.

        A gap is longer than five usual periods, and than half a period of the first filter, which
        is at four times the `cutoff` [Hz]. A time that goes back, as after a reset, begins a new
        piece.
        """
        which = np.flatnonzero(np.abs(np.diff(self.times, prepend=-np.inf)) > _SAME)
        if len(which) < 2:
            raise ArmError('the recording has fewer than two states')
        steps = np.diff(self.times[which])
        longest = max(_GAP * float(np.median(np.abs(steps))), _HOLE / cutoff)
        found = np.split(which, np.flatnonzero((steps > longest) | (steps < 0.0)) + 1)
        return sorted(found, key=len, reverse=True)


@dataclass(frozen=True)
class Rows:
    """Equations tau = Y pi - lag dtau/dt at times (k,).

    Attributes:
        times: (k,) [s].
        y: (k, n, p + 1) regressor, and minus the torque's derivative as the last column.
        tau: (k, n) measured torque.
        moving: (k, n) whether the joint moves fast enough that its Coulomb friction is known.
        used: share of the recorded states that the equations come from [1].
        noisy: the same equations with more noise, of the sensors' size, and with its opposite.
    """

    times: Array
    y: Array
    tau: Array
    moving: NDArray[np.bool_]
    used: float = 1.0
    noisy: tuple['Rows', ...] = ()

    def part(self, keep: NDArray[np.bool_]) -> 'Rows':
        """Return the rows that a mask (k,) selects."""
        times, y, tau = (each[keep] for each in (self.times, self.y, self.tau))
        noisy = tuple(each.part(keep) for each in self.noisy)
        return Rows(times, y, tau, self.moving[keep], self.used, noisy)

    def without(self, joints: list[int]) -> 'Rows':
        """Return the rows without the equations of some joints."""
        moving = self.moving.copy()
        moving[:, joints] = False
        noisy = tuple(replace(each, moving=moving) for each in self.noisy)
        return replace(self, moving=moving, noisy=noisy)


def rows_of(
    regressor: JointRegressor, samples: MotionSamples, cutoff: float, with_noise: bool = True
) -> Rows:
    """Return the filtered equations of all pieces of a recording that are long enough.

    Args:
        regressor: of the arm.
        samples: of the recording.
        cutoff: of the filters [Hz].
        with_noise: whether `Rows.noisy` is needed.

    Raises:
        ArmError: too short, or not sampled often enough.
    """
    parts = _long_enough(samples, cutoff)
    chosen = [samples.part(piece) for piece in parts]
    rows = replace(
        _joined(regressor, chosen, cutoff), used=sum(map(len, parts)) / len(samples.times)
    )
    if not with_noise:
        return rows
    q_noise, torque_noise = (noise_of(chosen, name, cutoff) for name in ('q', 'effort'))
    rng, noisy = np.random.default_rng(0), []
    drawn = [rng.standard_normal((2, *piece.q.shape)) for piece in chosen]
    for sign in (1.0, -1.0):
        other = [
            MotionSamples(
                x.times, x.q + sign * q_noise * of_q, x.effort + sign * torque_noise * of_tau
            )
            for x, (of_q, of_tau) in zip(chosen, drawn, strict=True)
        ]
        noisy.append(replace(_joined(regressor, other, cutoff), moving=rows.moving))
    return replace(rows, noisy=tuple(noisy))


def _long_enough(samples: MotionSamples, cutoff: float) -> list[NDArray[np.intp]]:
    """Return the indices of the pieces that are used, in their order."""
    pieces = samples.pieces(cutoff)
    good = [piece for piece in pieces if not _lacking(samples.times[piece], cutoff)]
    return sorted(good or pieces[:1], key=lambda piece: piece[0])


class Piece:
    """A piece of a recording.

    Attributes:
        indices: of its samples.
        times, states: (m,) even times, and q, v, a (m, n) then.
        torque: over time.
    """

    def __init__(self, samples: MotionSamples, indices: NDArray[np.intp], cutoff: float):
        self.indices, own = indices, samples.part(indices)
        self._spline, self.torque = curves(own, cutoff)
        (begin, end), rate = own.times[[0, -1]], RATE * cutoff
        self.times: Array = np.arange(begin, end, 1.0 / rate)
        self.states = (
            self._spline(self.times),
            self.velocity(self.times),
            self._spline(self.times, 2),
        )
        self._second = lowpass(cutoff, rate)
        skip = round(CUT_OFF_ENDS / cutoff * rate)
        self.kept = slice(skip, len(self.times) - skip, round(RATE / _KEPT_RATE))

    def velocity(self, times: Array) -> Array:
        """Return velocities (k, n) at times (k,)."""
        return np.asarray(self._spline(times, 1))

    def filtered(self, columns: Array) -> Array:
        """Return columns (m, ...) at the times, after the second filter at the times kept."""
        return np.asarray(self._second(columns)[self.kept])


def pieces_of(samples: MotionSamples, cutoff: float) -> list[Piece]:
    """Return the pieces that `rows_of` uses."""
    return [Piece(samples, each, cutoff) for each in _long_enough(samples, cutoff)]


def _joined(regressor: JointRegressor, pieces: Sequence[MotionSamples], cutoff: float) -> Rows:
    rows = [_rows_of_piece(regressor, piece, cutoff) for piece in pieces]
    times, y, tau, moving = (
        np.concatenate([getattr(each, name) for each in rows])
        for name in ('times', 'y', 'tau', 'moving')
    )
    return Rows(times, y, tau, moving)


def noise_of(pieces: Sequence[MotionSamples], name: str, cutoff: float) -> Array:
    """Return the standard deviation (n,) of white noise with the power above the first filter.

    It is that of a normal distribution with the same median of absolute values. `name` is `q`
    [rad | m] or `effort` [N.m | N].
    """
    passed, squares = [], []
    for piece in pieces:
        rate, even, q, tau = _evenly(piece)
        values = q if name == 'q' else tau
        inner = slice(skip := round(CUT_OFF_ENDS / cutoff * rate), len(even) - skip)
        high = (values - lowpass(FIRST * cutoff, rate)(values))[inner]
        squares.append((np.median(np.abs(high), axis=0) / _OF_NORMAL) ** 2)
        passed.append(max(1.0 - 2.0 * FIRST * cutoff / rate, _LEAST_BAND))
    weights = [len(x.times) for x in pieces]
    return np.sqrt(np.average(squares / np.array(passed)[:, np.newaxis], axis=0, weights=weights))


def _evenly(samples: MotionSamples) -> tuple[float, Array, Array, Array]:
    """Return rate [Hz], even times (m,), positions (m, n) and torques (m, n) at these times."""
    count, (begin, end) = len(samples.times), samples.times[[0, -1]]
    even = np.linspace(begin, end, count)
    q, tau = CubicSpline(samples.times, samples.q)(even), samples.effort
    tau = np.column_stack([np.interp(even, samples.times, column) for column in tau.T])
    return (count - 1) / (end - begin), even, q, tau


def _lacking(times: Array, cutoff: float) -> str:
    """Return why a piece of a recording is not enough for a cutoff [Hz]; empty: it is enough."""
    duration, least = float(np.ptp(times)), 10.0 * CUT_OFF_ENDS / cutoff
    if duration < least:
        return (
            f'the recording lasts {duration:.3g} s; a cutoff of {cutoff:g} Hz needs '
            f'{least:.3g} s or more'
        )
    rate = (len(times) - 1) / duration
    if rate < FIRST * cutoff:
        return (
            f'the recording has {rate:.4g} states per second; a cutoff of {cutoff:g} Hz needs '
            f'{FIRST * cutoff:g}: --cutoff {rate / FIRST:.2g} or lower'
        )
    return ''


def curves(samples: MotionSamples, cutoff: float) -> tuple[BSpline, CubicSpline]:
    """Return positions and torques (n) over time, after the first filter of a cutoff [Hz].

    Raises:
        ArmError: too short, or not sampled often enough.
    """
    lacking = _lacking(samples.times, cutoff)
    if lacking:
        raise ArmError(lacking)
    rate, even, q, tau = _evenly(samples)
    first = lowpass(FIRST * cutoff, rate)
    return make_interp_spline(even, first(q), k=5), CubicSpline(even, first(tau))


def _rows_of_piece(regressor: JointRegressor, samples: MotionSamples, cutoff: float) -> Rows:
    piece = Piece(samples, np.arange(len(samples.times)), cutoff)
    times, v = piece.times, piece.states[1]
    y = np.concatenate(
        [regressor(*piece.states), -piece.torque(times, 1)[..., np.newaxis]], axis=2
    )
    slow = np.abs(v) < _MOVING * STANDSTILL
    slow = maximum_filter1d(slow.astype(np.uint8), round(RATE), axis=0) > 0
    moving = ~slow[piece.kept]
    return Rows(times[piece.kept], piece.filtered(y), piece.filtered(piece.torque(times)), moving)


def lacking_rows(rows: Rows, model: RobotModel) -> dict[int, str]:
    """Return why a joint's torque says nothing, by the joint's index."""
    found = {}
    for i, (moving, tau) in enumerate(zip(rows.moving.T, rows.tau.T, strict=True)):
        name, unit = model.joint_names[i], 'm/s' if model.prismatic[i] else 'rad/s'
        if moving.sum() < _LEAST_ROWS:
            found[i] = (
                f'joint {name!r} hardly moves: it needs {_LEAST_ROWS} filtered samples above '
                f'{_MOVING * STANDSTILL:g} {unit}, it has {moving.sum()}; drive a motion of '
                '`excite`'
            )
        elif np.ptp(tau) <= _SAME_TORQUE * np.abs(tau).max():
            found[i] = (
                f'joint {name!r}: its recorded torque is always {tau[0]:g}; torques are needed'
            )
    return found


def check_rows(rows: Rows, model: RobotModel) -> None:
    """Raise ArmError where a joint hardly moves, or has no torque."""
    for lacking in lacking_rows(rows, model).values():
        raise ArmError(lacking)


def lowpass(cutoff: float, rate: float) -> Callable[[Array], Array]:
    """Return the zero-phase filter of columns (m, n) sampled at a rate; both [Hz]."""
    if cutoff > 0.4 * rate:  # nothing to filter
        return lambda values: values
    sections = butter(_ORDER, cutoff, fs=rate, output='sos')
    return lambda values: sosfiltfilt(sections, values, axis=0)
