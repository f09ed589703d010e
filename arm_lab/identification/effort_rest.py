"""Delay, friction and offsets of recorded efforts, from a regression with the given model.

    tau_j(t + delay) = s_j model_j + viscous_j v_j + Coulomb_j sgn v_j + c_j + rotor_j a_j

Both sides pass filters so low that the steps of an encoder hardly count: those of 1 mrad make an
acceleration of 10 rad/s^2 in a band of 40 Hz, of 0.2 in one of 10 Hz. The delay makes the least of
the sum over joints of the logarithms of the variances left. How the delay moves when a joint is
left out says how far it is from the true one: the model is never exact.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student

from arm_dynamics.checks import Array
from arm_dynamics.model import STANDSTILL
from arm_lab.identification.signals import CUT_OFF_ENDS, MotionSamples, Piece

_GAIN = 0.3  # log ratio of variances from which on friction or an offset is shown
_LATEST = 0.04  # of the delays that are tried [s]
_FAR = 0.25  # of those tried if none of these fits [s]
_LEAST_LATER = 0.005  # delay from which the efforts are read later [s]
_GAIN_FAR = 1.0  # mean log ratio of variances over those without a delay, of a far one
_STEP, _FINE = 0.004, 0.0005  # between the delays that are tried first, and then [s]
_LOWEST = 4.0  # the cutoff over that of the filters, where the recording is long enough
_LONGEST = 60.0  # part of a recording that is used [s]
_LEAST_LEFT = 1e-12  # share of a variance below which it is rounding
_FEW = 3  # joints: with fewer, thirds of the time are left out instead
_SURE = 0.975  # quantile of both sides of an interval of 95 %
_APART = 1.5  # of a delay's width: so far from those of the other joints it is another one
_LEAST_APART = 0.002  # and at least [s]


class Rest(NamedTuple):
    """Delay, friction and offsets of the efforts.

    Attributes:
        behind: delay of the efforts behind the positions [s]; nan: none fits.
        within: the true one is at most so far from it, with 95 % [s].
        alone: (n,) delay of a joint's effort that is not the one of the others [s]; else nan.
        friction: (n,) whether the efforts show friction.
        offsets: (n,) as recorded; nan: none is shown.
    """

    behind: float
    within: float
    alone: Array
    friction: NDArray[np.bool_]
    offsets: Array

    @property
    def is_late(self) -> bool:
        """Whether the delay is more than an identification with a lag can have."""
        return abs(self.behind) > max(2.0 * self.within, _LEAST_LATER)  # false for nan


def read_later(samples: MotionSamples, later: float) -> MotionSamples:
    """Return samples with the efforts recorded so much later [s]; at both ends the last known.

    Times that go back begin a new piece, with ends of its own.
    """
    effort = np.empty_like(samples.effort)
    begins = np.flatnonzero(np.diff(samples.times) < 0.0) + 1
    for part in np.split(np.arange(len(effort)), begins):
        times = samples.times[part]
        for j, column in enumerate(samples.effort[part].T):
            effort[part, j] = np.interp(times + later, times, column)
    return replace(samples, effort=effort)


def smooth_piece(samples: MotionSamples, cutoff: float) -> Piece:
    """Return the longest piece of a recording, with the lowest filters that its length allows."""
    indices = samples.pieces(cutoff)[0]
    times = samples.times[indices]
    indices = indices[: int(np.searchsorted(times, times[0] + _LONGEST, 'right'))]
    span = float(np.ptp(samples.times[indices]))
    least = 10.0 * CUT_OFF_ENDS / span * (1.0 + 1e-9) if span else cutoff
    return Piece(samples, indices, min(max(cutoff / _LOWEST, least), cutoff))


def effort_rest(
    piece: Piece, of_model: Array, v: Array, a: Array, order: NDArray[np.intp]
) -> Rest:
    """Return what else the efforts have.

    Args:
        piece: of the recording.
        of_model: (m, n) torques of the model at the piece's times.
        v, a: (m, n) velocities and accelerations.
        order: (n,) of the joints in the recorded efforts.
    """
    dry = np.clip(v / STANDSTILL, -1.0, 1.0)
    columns = piece.filtered(np.stack([of_model, v, dry, np.ones_like(dry), a], axis=2))
    n = of_model.shape[1]
    parts = np.array_split(np.arange(len(columns)), 1 if n >= _FEW else 3)
    ends = piece.times[[0, -1]]
    blocks = [(j, rows, columns[rows, j]) for j in range(n) for rows in parts]

    def left(delay: float, keep: list[int]) -> Array:
        tau = piece.filtered(piece.torque(np.clip(piece.times + delay, *ends))[:, order])
        return np.log([share_left(each[:, keep], tau[rows, j])[0] for j, rows, each in blocks])

    everything = [0, 1, 2, 3, 4]
    behind, within, alone = _delay(lambda delay: left(delay, everything), n)
    at = behind if np.isfinite(behind) else 0.0
    whole, without_friction, without_offset = (
        left(at, keep).reshape(n, -1).mean(axis=1)
        for keep in (everything, [0, 3, 4], [0, 1, 2, 4])
    )
    tau = piece.filtered(piece.torque(np.clip(piece.times + at, *ends))[:, order])
    sizes = [share_left(columns[:, j], tau[:, j])[1][3] for j in range(n)]
    shown = without_offset - whole > _GAIN
    friction = without_friction - whole > _GAIN
    return Rest(behind, within, alone, friction, np.where(shown, sizes, np.nan))


def _delay(left: Callable[[float], Array], joints: int) -> tuple[float, float, Array]:
    """Return the delay that leaves least, how far it may be from the true one, and `alone`."""
    tried = np.arange(-_LATEST, _LATEST + 0.5 * _STEP, _STEP)
    coarse = np.array([left(x) for x in tried])
    alone = _alone(tried, np.exp(coarse.reshape(len(tried), joints, -1).mean(axis=2)))
    best = int(np.argmin(coarse.sum(axis=1)))
    if best in (0, len(tried) - 1):
        far = np.arange(-_FAR, _FAR + 0.5 * _STEP, _STEP)
        of_far = np.array([left(x) for x in far])
        best, gain = int(np.argmin(of_far.sum(axis=1))), left(0.0) - of_far.min(axis=0)
        if best in (0, len(far) - 1) or gain.mean() < _GAIN_FAR:
            return np.nan, np.nan, alone
        tried = far
    times = np.arange(tried[best - 1], tried[best + 1] + 0.5 * _FINE, _FINE)
    of_blocks = np.array([left(x) for x in times])
    count = of_blocks.shape[1]
    whole = of_blocks.sum(axis=1)
    each = np.array([_least(times, whole - column) for column in of_blocks.T])
    spread = np.sqrt((count - 1) / count * ((each - each.mean()) ** 2).sum())
    return _least(times, whole), float(spread * student.ppf(_SURE, count - 1)), alone


def _alone(tried: Array, shares: Array) -> Array:
    """Return the delay (n,) of a joint whose effort is apart from those of the others; else nan.

    The shares left (m, n) are r + k (x - delay)^2. What the model lacks moves a delay by up to
    about its width, sqrt(r / k).
    """
    delays, widths = np.full((2, shares.shape[1]), np.nan)
    for j, share in enumerate(shares.T):
        best = int(np.argmin(share))
        if not 2 <= best < len(tried) - 2:
            continue
        part = slice(best - 2, best + 3)
        k, slope, rest = np.polyfit(tried[part] - tried[best], share[part], 2)
        if k > 0.0:
            delays[j] = tried[best] - 0.5 * slope / k
            widths[j] = np.sqrt(max(rest - 0.25 * slope**2 / k, share.min(), 0.0) / k)
    found = np.full(len(delays), np.nan)
    known = np.flatnonzero(np.isfinite(widths) & (widths > 0.0))
    while len(known) >= _FEW:
        weights = 1.0 / widths[known] ** 2
        others = weights.sum() - weights
        usual = ((weights * delays[known]).sum() - weights * delays[known]) / others
        apart = np.abs(delays[known] - usual)
        share = apart / np.sqrt(1.0 / weights + 1.0 / others)
        worst = int(np.argmax(share))
        if share[worst] < _APART or apart[worst] < _LEAST_APART:
            break
        found[known[worst]] = delays[known[worst]]
        known = np.delete(known, worst)
    return found


def _least(times: Array, values: Array) -> float:
    """Return where a curve is least."""
    k = int(np.clip(np.argmin(values), 1, len(times) - 2))
    curve = np.polyfit(times[k - 1 : k + 2] - times[k], values[k - 1 : k + 2], 2)
    if curve[0] <= 0.0:
        return float(times[np.argmin(values)])
    return float(times[k] + np.clip(-0.5 * curve[1] / curve[0], -2.0 * _FINE, 2.0 * _FINE))


def share_left(columns: Array, tau: Array, least: float = _LEAST_LEFT) -> tuple[float, Array]:
    """Return the share of the variance that least squares leave, and the solution.

    Args:
        columns, tau: (m, k) and (m,) of the regression.
        least: share below which the rest is rounding; no smaller one is returned.
    """
    size = np.linalg.norm(columns, axis=0)
    size = np.where(size > 0.0, size, 1.0)
    x = np.linalg.lstsq(columns / size, tau, rcond=1e-10)[0] / size
    variance = float(np.var(tau))
    if variance == 0.0:
        return 1.0, np.zeros(len(size))
    return max(float(np.mean((tau - columns @ x) ** 2)) / variance, least), x
