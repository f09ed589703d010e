"""How far two recordings of one motion differ, and what explains the difference of the torques.

    q_real(t + lag_j)_j = q_simulated(t)_j
    tau_real(t + lag_j)_j - tau_simulated(t)_j
        = motion_j + payload_j + friction_j + model_j + rest

motion is the model's torque in the real motion minus that in the simulated one, both measured;
payload, friction and model are those of `difference_causes`. The cross-correlation of the
velocities gives the lag to a sample; Gauss-Newton on v_sim(t) - gain v_real(t + lag) refines it.
The causes are fitted to both sides after equal zero-phase filters, as in `signals`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, CubicSpline
from scipy.signal import correlate, correlation_lags

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import STANDSTILL, RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_lab.identification.difference_causes import causes, columns_of
from arm_lab.identification.signals import CUT_OFF_ENDS, RATE, MotionSamples, curves, lowpass

LATEST = 0.1  # a larger lag is a different start of the recordings [s]
_SAME_MOTION = 0.5  # least correlation of the velocities of one motion
_ROUNDS = 8  # of Gauss-Newton, and of the weights
_TINY = 1e-30
_NOTHING = 1e-9  # relative; a smaller difference is rounding


@dataclass(frozen=True)
class Difference:
    """Difference of two recordings: real minus simulated.

    Attributes:
        times: (k,) times since the simulated recording's first state [s].
        start: a lag above `LATEST` [s], which is no delay; else 0.
        lag: delay of the whole motion beyond `start`, positive if the real arm is later [s].
        joint_lags: (n,) delay of each joint beyond `start` [s]; nan: it does not follow the
            motion, and the delay of the whole is used.
        correlation: of all velocities after the alignment [1].
        q, q_aligned: (k, n) difference of positions as recorded, and without the delays.
        tau, tau_aligned: (k, n) the same of the filtered torques.
        of_motion, of_payload, of_friction, of_model: (k, n) parts of `tau_aligned`.
        mass: additional mass at the tool frame of the real arm [kg].
        viscous, coulomb: (n,) additional friction of the real arm [N.m.s/rad, N.m | N.s/m, N].
        shares: (6, n) of the mean square of `tau`: of delay, motion, payload, friction, model and
            rest, which add up to 1: the mean of part times `tau`, so that their order does not
            count; nan: there is no difference.
        used: share of the states that are compared [1].
        hidden: (n,) whether a joint's torque is not compared: all of it above is 0 or nan.
    """

    times: Array
    start: float
    lag: float
    joint_lags: Array
    correlation: float
    q: Array
    q_aligned: Array
    tau: Array
    tau_aligned: Array
    of_motion: Array
    of_payload: Array
    of_friction: Array
    of_model: Array
    mass: float
    viscous: Array
    coulomb: Array
    shares: Array
    used: float
    hidden: NDArray[np.bool_]


class _Motion:
    """The longest piece of a recording, as functions of the time since its first state."""

    def __init__(self, samples: MotionSamples, cutoff: float):
        piece = samples.part(samples.pieces(cutoff)[0])
        times = piece.times - piece.times[0]
        self.q, self.tau = curves(MotionSamples(times, piece.q, piece.effort), cutoff)
        self.v, self.a = self.q.derivative(1), self.q.derivative(2)
        self.end, self.count = float(times[-1]), len(times)

    def at(self, curve: BSpline | CubicSpline, times: Array, lags: Array) -> Array:
        """Return a curve's values (k, n) at times (k,), of each joint later by its lag."""
        each = (curve(np.clip(times + x, 0.0, self.end))[:, j] for j, x in enumerate(lags))
        return np.column_stack(list(each))


def difference(
    model: RobotModel,
    real: MotionSamples,
    simulated: MotionSamples,
    cutoff: float = 10.0,
    hidden: NDArray[np.bool_] | None = None,
) -> Difference:
    """Return how far two recordings of one motion differ, and what explains it.

    Args:
        model: the arm.
        real, simulated: positions and torques of its joints.
        cutoff: of the filters [Hz].
        hidden: (n,) whether a joint's torque is not known, in one of the recordings.

    Raises:
        ArmError: other joints, another motion, too short, or not sampled often enough.
    """
    n, lost, step = model.nv, CUT_OFF_ENDS / cutoff, 1.0 / (RATE * cutoff)
    for name, samples in (('real', real), ('simulated', simulated)):
        if samples.q.shape[1:] != (n,) or samples.effort.shape != samples.q.shape:
            raise ArmError(f'the {name} recording has not the {n} joints of {model.name!r}')
    ours, theirs = _Motion(real, cutoff), _Motion(simulated, cutoff)
    lag, skip = _coarse_lag(ours, theirs, step), round(lost / step)
    times = np.arange(max(0.0, -lag), min(theirs.end, ours.end - lag), step)
    inner = times[skip:-skip]
    known = np.ones(n) if hidden is None else 1.0 - hidden
    lag, lags, follows, correlation = _lags(ours, theirs, inner, lag, 0.5 * lost)
    start = lag if abs(lag) > LATEST else 0.0

    second, at_start = lowpass(cutoff, 1.0 / step), np.full(n, start)
    q, v, a = (ours.at(curve, times, lags) for curve in (ours.q, ours.v, ours.a))
    tau_simulated, q_simulated = theirs.tau(times), theirs.q(times)
    loaded = with_error(model, ModelError(payload=1.0))
    of_model = model.torques_along(q, v, a)
    of_simulated = model.torques_along(q_simulated, theirs.v(times), theirs.a(times))
    columns = np.stack([v, np.clip(v / STANDSTILL, -1.0, 1.0)], axis=2)
    tau, tau_aligned, of_motion, unit, columns, links = (
        second(x)[skip:-skip]
        for x in (
            known * (ours.at(ours.tau, times, at_start) - tau_simulated),
            known * (ours.at(ours.tau, times, lags) - tau_simulated),
            known * (of_model - of_simulated),
            known * (loaded.torques_along(q, v, a) - of_model),
            known[:, np.newaxis] * columns,
            known[:, np.newaxis] * columns_of(model, q, v, a),
        )
    )
    size = np.sqrt((theirs.tau(inner) ** 2).mean(axis=0))
    least = _NOTHING * np.maximum(size, size.max() + _NOTHING)
    found = causes(model, tau_aligned - of_motion, unit, columns, links, least)
    of_payload, friction = found.mass * unit, found.friction
    of_friction, of_model = np.einsum('kjp,jp->kj', columns, friction), links @ found.delta
    parts = [tau - tau_aligned, of_motion, of_payload, of_friction, of_model]
    each = np.array([(x * tau).mean(axis=0) for x in (*parts, tau - sum(parts))])
    square = (tau**2).mean(axis=0)
    whole = np.where(square > least**2, square, np.nan)
    return Difference(
        inner, start, lag - start, np.where(follows, lags - start, np.nan), correlation,
        (ours.at(ours.q, times, at_start) - q_simulated)[skip:-skip],
        (q - q_simulated)[skip:-skip], tau, tau_aligned, of_motion, of_payload, of_friction,
        of_model, found.mass, friction[:, 0], friction[:, 1], each / whole,
        (ours.count + theirs.count) / (len(real.times) + len(simulated.times)), known == 0.0,
    )  # fmt: skip


def _coarse_lag(ours: _Motion, theirs: _Motion, step: float) -> float:
    """Return the lag [s] with the largest cross-correlation, to a step [s]."""
    v_real, v = (x.v(np.arange(0.0, x.end, step)) for x in (ours, theirs))
    scale = np.maximum(np.sqrt((v**2).mean(axis=0)), STANDSTILL)
    pairs = zip((v_real / scale).T, (v / scale).T, strict=True)
    found = np.sum([correlate(x, y, method='fft') for x, y in pairs], axis=0)
    lags = correlation_lags(len(v_real), len(v))
    shorter = min(len(v_real), len(v))
    common = np.minimum(len(v), len(v_real) - lags) - np.maximum(0, -lags)
    return float(step * lags[np.argmax(np.where(common >= shorter // 2, found, -np.inf))])


def _lags(
    ours: _Motion, theirs: _Motion, times: Array, lag: float, most: float
) -> tuple[float, Array, Array, float]:
    """Return the lag of the whole and of each joint (n,) [s], who follows (n,), correlation."""
    v = theirs.v(times)
    scale = np.sqrt((v**2).mean(axis=0))
    weight = np.where(moves := scale > STANDSTILL, 1.0 / np.maximum(scale, STANDSTILL), 0.0)
    if not moves.any():
        raise ArmError(f'no joint of the simulated recording moves by {STANDSTILL:g} rad/s (RMS)')
    whole = np.full(len(scale), lag)
    for _ in range(_ROUNDS):
        gradient, curvature = weight**2 @ _descent(ours, times, v, whole).T
        whole += gradient / curvature
    v_real = ours.at(ours.v, times, whole)
    both = [(weight * x).ravel() for x in (v, v_real)]
    correlation = float(both[0] @ both[1] / np.prod([np.linalg.norm(x) for x in both]))
    if not correlation >= _SAME_MOTION:
        raise ArmError(
            'the recordings are not of the same motion: the correlation of their velocities is '
            f'{correlation:.2f}; it must be {_SAME_MOTION:g} or more'
        )
    each = whole.copy()
    for _ in range(_ROUNDS):
        gradients, curvatures = _descent(ours, times, v, each)
        each += np.where(moves, gradients / np.maximum(curvatures, _TINY), 0.0)
    follows = moves & (np.abs(each - whole) < most)
    return float(whole[0]), np.where(follows, each, whole), follows, correlation


def _descent(ours: _Motion, times: Array, v: Array, lags: Array) -> Array:
    """Return half the gradient and Gauss-Newton curvature (2, n) of |v - gain v_real(t + lag)|^2.

    With the best gain of each joint the lag has the largest normalised cross-correlation.
    """
    v_real, slope = ours.at(ours.v, times, lags), ours.at(ours.a, times, lags)
    square = np.maximum((v_real**2).sum(axis=0), _TINY)
    gain = (v * v_real).sum(axis=0) / square
    slope = gain * (slope - v_real * ((slope * v_real).sum(axis=0) / square))
    return np.array([(slope * (v - gain * v_real)).sum(axis=0), (slope**2).sum(axis=0)])
