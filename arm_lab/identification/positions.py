"""Parameters of an arm with position servos, from its commands and positions alone.

    M(q) a + b(q, v) + friction = servo_kp (u(t - delay) - q) - servo_kd v

Levenberg-Marquardt over rollouts: each iteration simulates the whole recording with each of the
parameters varied, and then with several steps, as the arms of one batch, and compares positions.
The likelihood is largest with noise as large as what is left of each joint's position, in each
piece of the recording by itself: a joint that sticks where the recorded one did not shall not hide
the other pieces. Divided by servo_kp the equation is linear in 1 / servo_kp and in the other
parameters over servo_kp, so that positions are nearly linear in them, also those of a joint so
light that its four parameters times a factor move it almost alike. The search varies the
logarithms of these numbers, which are positive, and steps by the numbers. The first parameters
come from the linear equation above, with the model's links. Without torques an arm that is
heavier, with gains that are larger by the same factor, moves in the same way; the masses of the
given model decide.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space
from scipy.optimize import least_squares, nnls

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.compiled import SoftFriction
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, parameter
from arm_lab.identification.regressor import JointRegressor
from arm_lab.identification.rollouts import Followed, Rollouts
from arm_lab.identification.servo_fit import ServoFit, servo_names
from arm_lab.identification.signals import MotionSamples, Rows, check_rows, rows_of
from arm_lab.identification.standard_errors import gradient_root

_SPREAD = 3.0  # prior standard deviation of the logarithm of a joint's number, see `_mixing`
_DELAYS = (0.0, 0.005, 0.01, 0.02, 0.04, 0.08)  # to begin with [s]
_DELAY_SPREAD = 0.1  # prior standard deviation of the delay [s]
_LONGEST_DELAY = 0.5  # [s]
_STEP, _DELAY_STEP = 1e-2, 5e-4  # of finite differences [1], [s]
_ITERATIONS = 20  # of Levenberg-Marquardt
_WEIGHTS = (0.0, 1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e3)  # of its damping, all tried
_ENOUGH = 3.0  # decrease of -2 log of the likelihood in the last iteration
_NOTHING = 0.1  # decrease that is not worth an iteration
_LEAST_NOISE = 1e-9  # [rad | m]
_LEAST = 1e-3  # of the mean diagonal of the mass matrix: least rotor inertia to begin with
_LARGEST_STEP = 10.0  # factor by which one iteration changes a number
_PIECE = 250  # samples that have the same noise in the search
_FINER = 8.0  # the estimate is corrected in the end with a step so many times as small
_UNSURE = 0.5  # share of that correction that counts as a standard deviation
_DEPENDENT = 1e-8  # relative singular value of a change that no torque shows
_UNKNOWN = 0.5  # share of the prior's spread from which on a direction is not shown
_PART = 0.25  # of a direction's length: a parameter that is named


@dataclass(frozen=True, kw_only=True)
class PositionParameters(Parameters):
    """Options of an identification from positions."""

    step: float = parameter(
        0.001, 'largest integration step of the simulated arm [s]', above=0, max=0.1
    )
    mass_spread: float = parameter(
        0.1, "relative standard deviation of each link's mass about the model [1]", above=0, max=10
    )


def identify_positions(
    model: RobotModel,
    followed: Followed,
    parameters: PositionParameters,
    cutoff: float = 10.0,
    held_back: float = 0.2,
    friction: SoftFriction | None = None,
    progress: Callable[[str], None] = lambda note: None,
) -> ServoFit:
    """Return the parameters with which the simulated arm follows the commands as recorded.

    Args:
        model: the given arm.
        followed: recording, in one piece.
        parameters: step and prior.
        cutoff: of the filters of the first, linear estimate [Hz].
        held_back: last share of the recording, which is kept for validation.
        friction: see Rollouts; with that of an engine, the step is the engine's, and the estimate
            is not corrected to a continuous arm.
        progress: receives a line about each iteration.

    Raises:
        ArmError: a recording that is too short, or in which the arm hardly moves.
    """
    n, used = model.nv, _first_share(followed, 1.0 - held_back)
    regressor = JointRegressor(model)
    rollouts = Rollouts(model, used, parameters.step, friction)
    center = _linear(regressor, used, cutoff)
    spread = np.full(5 * n + 1, _SPREAD)
    spread[4 * n : 5 * n] = parameters.mass_spread
    spread[-1] = _DELAY_SPREAD
    tried = np.tile(center, (len(_DELAYS), 1))
    tried[:, -1] = _DELAYS
    begin = rollouts.begin
    lefts = used.q[begin:] - rollouts(_values(tried))[:, begin:]
    costs = [_cost(left) for left in lefts]
    if not np.isfinite(costs).any():
        raise ArmError('the simulated arm is unstable with the first estimate of its servos')
    best = int(np.argmin(costs))
    unseen = model.damping, _exchanges(regressor)
    x, left, jacobian = _fitted(
        rollouts, used.q[begin:], tried[best], lefts[best], center, spread, unseen, progress
    )  # fmt: skip
    finer = rollouts.of(used, 1.0 / _FINER if friction is None else 1.0)
    fine = used.q[begin:] - finer(_values(x[np.newaxis]))[0, begin:]
    last, shift = _last_step(jacobian, left, fine, (center - x) / spread**2, spread)
    trials = x + np.array([last, shift, 0.0 * shift])
    trials = np.vstack([trials, [_to_prior(each, center, spread, *unseen) for each in trials]])
    lefts = used.q[begin:] - finer(_values(trials))[:, begin:]
    priors = (((trials - center) / spread) ** 2).sum(axis=1)
    best = int(np.argmin([_cost(each) for each in lefts] + priors))
    x, left = trials[best], lefts[best]
    fit = np.sqrt((left**2).mean(axis=0))
    of_prior, covariance = _covariance(used.times[begin:], jacobian, left, spread)
    rest = _UNSURE * (_mixing(n) @ shift) / of_prior
    share_left = np.sqrt(np.diagonal(covariance) + rest**2)
    whole = finer.of(followed)
    simulated = whole(_values(x[np.newaxis]))[0]
    error, count = followed.q - simulated, len(used.times)
    validation = np.full(n, np.nan)
    if count < len(error):
        validation = np.sqrt((error[count:] ** 2).mean(axis=0))
    names = servo_names(model, regressor.link_names)
    return ServoFit(
        names, _values(x), of_prior * share_left, share_left, _unknown(covariance, names), fit,
        validation, used.q.std(axis=0), rollouts.count + finer.count + whole.count, simulated,
    )  # fmt: skip


def _first_share(followed: Followed, share: float) -> Followed:
    count = max(round(share * len(followed.times)), 3)
    return Followed(*(each[:count] for each in vars(followed).values()))


def _linear(regressor: JointRegressor, followed: Followed, cutoff: float) -> Array:
    """Return a first estimate (p,) from accelerations, without delay."""
    model, n = regressor.model, regressor.model.nv
    lead = MotionSamples(followed.times, followed.q, followed.command - followed.q)
    rows = rows_of(regressor, lead, cutoff, with_noise=False)
    check_rows(rows, model)
    links = rows.y[..., : 10 * n] @ regressor.parameters()[: 10 * n]
    inertia = np.mean(
        [np.diagonal(model.mass_matrix(q)) for q in followed.q[:: max(len(followed.q) // 20, 1)]],
        axis=0,
    )
    found = np.empty((4, n))
    for i in range(n):
        keep = rows.moving[:, i]
        a, v, dry = (rows.y[keep, i, k * n + i] for k in (10, 11, 12))
        columns = np.column_stack([rows.tau[keep, i], -v, -dry, -a])
        scale = np.linalg.norm(columns, axis=0)
        found[:, i] = nnls(columns / scale, links[keep, i])[0] / scale
    usual = np.sqrt((links**2).mean(axis=0))
    kp = np.maximum(found[0], usual / np.sqrt((rows.tau**2).mean(axis=0)))
    least = np.array([kp, 0.02 * kp, 0.02 * usual, _LEAST * inertia])
    logs = np.log(np.maximum(found, least))
    return _mixing(n) @ np.concatenate([logs.ravel(), np.zeros(n), [0.0]])


def _mixing(n: int) -> Array:
    """Return the matrix (p, p), its own inverse, between logarithms (p,) and the search's.

    The search's are those of 1 / servo_kp, and of the joint's other parameters over servo_kp.
    """
    mixing = np.eye(5 * n + 1)
    mixing[:n, :n] *= -1.0
    mixing[n : 4 * n, :n] = -np.tile(np.eye(n), (3, 1))
    return mixing


def _values(x: Array) -> Array:
    """Return parameters (..., p) from what the search varies."""
    logs = x @ _mixing(x.shape[-1] // 5).T
    return np.concatenate([np.exp(logs[..., :-1]), x[..., -1:]], axis=-1)


def _noise(left: Array) -> Array:
    """Return the standard deviation (m, n) of residuals (m, n) in their piece."""
    edges = np.linspace(0, len(left), max(len(left) // _PIECE, 1) + 1).astype(int)
    counts = np.diff(edges)
    squares = np.add.reduceat(left**2, edges[:-1]) / counts[:, np.newaxis]
    return np.repeat(np.maximum(np.sqrt(squares), _LEAST_NOISE), counts, axis=0)


def _cost(left: Array) -> float:
    """Return -2 log of the likelihood of residuals (m, n), the noise being as large as they."""
    with np.errstate(all='ignore'):
        cost = 2.0 * float(np.log(_noise(left)).sum())
    return cost if np.isfinite(cost) else np.inf


def _step(hessian: Array, slope: Array, delay: float) -> Array:
    """Return a step (p,) of Newton's method after which the delay is within its bounds."""
    step = np.linalg.solve(hessian, slope)
    within = np.clip(delay + step[-1], 0.0, _LONGEST_DELAY) - delay
    if within != step[-1]:
        step[-1] = within
        step[:-1] = np.linalg.solve(hessian[:-1, :-1], slope[:-1] - hessian[:-1, -1] * within)
    return step


def _fitted(
    rollouts: Rollouts,
    q: Array,
    x: Array,
    left: Array,
    center: Array,
    spread: Array,
    unseen: tuple[Array, Array],
    progress: Callable[[str], None],
) -> tuple[Array, Array, Array]:
    """Return the best parameters (p,), their residuals (m, n), the last step's Jacobian (m, n, p).

    Args:
        rollouts: of the recording.
        q: (m, n) positions, once the simulated arm has settled.
        x, left: parameters to begin with, and their residuals.
        center, spread: of the prior.
        unseen: damping (n,) of the model, which no parameter has [N.m.s/rad], and `_exchanges`.
        progress: receives a line about each iteration.
    """
    steps = np.append(np.full(len(x) - 1, _STEP), _DELAY_STEP)

    def cost_of(x: Array, left: Array) -> float:
        return _cost(left) + float((((x - center) / spread) ** 2).sum())

    cost = cost_of(x, left)
    for iteration in range(_ITERATIONS):
        progress(f'iteration {iteration + 1}: {1e3 * np.sqrt((left**2).mean()):.4g} mrad RMS')
        varied = rollouts(_values(x + np.diag(steps)))[:, rollouts.begin :] - (q - left)
        jacobian = np.moveaxis(varied / steps[:, None, None], 0, -1)
        along = _blind(x, *unseen)  # differences of rollouts whose joints stick have noise there
        jacobian -= (jacobian @ along) @ along.T
        noise = _noise(left)
        scaled = (jacobian / noise[..., np.newaxis]).reshape(-1, len(x))
        hessian = scaled.T @ scaled + np.diag(1.0 / spread**2)
        slope = scaled.T @ (left / noise).ravel() + (center - x) / spread**2
        diagonal = np.diag(np.diagonal(hessian))
        found = np.array([_step(hessian + w * diagonal, slope, x[-1]) for w in _WEIGHTS])
        if slope @ found[0] < _NOTHING:
            break
        found[:, :-1] = np.log(np.clip(1.0 + found[:, :-1], 1.0 / _LARGEST_STEP, _LARGEST_STEP))
        trials = x + found
        lefts = q - rollouts(_values(trials))[:, rollouts.begin :]
        costs = [cost_of(*each) for each in zip(trials, lefts, strict=True)]
        best = int(np.argmin(costs))
        decrease = cost - costs[best]
        if decrease > 0.0:
            x, left, cost = trials[best], lefts[best], costs[best]
        if not decrease > _ENOUGH:
            break
    return x, left, jacobian


def _last_step(
    jacobian: Array, left: Array, finer: Array, of_prior: Array, spread: Array
) -> Array:
    """Return Newton's last step to the estimate (p,), and what of this the finer integration does.

    Where a joint sticks and slips, rollouts err by the first power of their step. The search ends
    where little is left to gain, by which the prior alone may still move some parameters.

    Args:
        jacobian: (m, n, p).
        left, finer: residuals (m, n) with the step of the search and with a part of it.
        of_prior: (p,) slope of the prior.
        spread: (p,) standard deviations of the prior.
    """
    noise = _noise(finer)
    scaled = (jacobian / noise[..., np.newaxis]).reshape(-1, len(spread))
    hessian = scaled.T @ scaled + np.diag(1.0 / spread**2)
    slopes = [scaled.T @ (each / noise).ravel() for each in (finer, finer - left)]
    return np.linalg.solve(hessian, np.array([slopes[0] + of_prior, slopes[1]]).T).T


def _exchanges(regressor: JointRegressor) -> Array:
    """Return the changes (2 n, k) of rotor inertias and links' mass factors that no torque shows.

    The first link of most arms, for example, turns about one axis only, with the first rotor.
    """
    n, rows = regressor.model.nv, regressor.random_rows()
    links = rows[:, : 10 * n] * regressor.parameters()[: 10 * n]
    columns = np.hstack([rows[:, 10 * n : 11 * n], links.reshape(-1, n, 10).sum(axis=-1)])
    size = np.linalg.norm(columns, axis=0)
    size[size == 0.0] = 1.0
    return null_space(columns / size, rcond=_DEPENDENT) / size[:, np.newaxis]


def _blind(x: Array, damping: Array, exchanges: Array) -> Array:
    """Return the directions (p, k), orthonormal, in which parameters change and no motion does.

    Where everything that moves or holds the arm is larger by one factor, the motion is the same;
    so it is along `exchanges`. `damping` (n,) is the model's, which no parameter has.
    """
    n, values = len(damping), _values(x)
    along = np.zeros((5 * n + 1, 1 + exchanges.shape[1]))
    along[: 5 * n, 0] = 1.0
    along[n : 2 * n, 0] += damping / values[n : 2 * n]
    along[3 * n : 5 * n, 1:] = exchanges / values[3 * n : 5 * n, np.newaxis]
    return np.asarray(np.linalg.qr(_mixing(n) @ along)[0])


def _to_prior(x: Array, center: Array, spread: Array, damping: Array, exchanges: Array) -> Array:
    """Return the parameters (p,) with the motion of x (p,) that are most likely by the prior.

    See `_blind`; beyond a limit of an effort, their motion is another one.
    """
    n, values = len(damping), _values(x)

    def moved(by: Array) -> Array:
        changed, factor = values.copy(), np.exp(by[0])
        changed[3 * n : 5 * n] += exchanges @ by[1:]
        changed[: 5 * n] *= factor
        changed[n : 2 * n] += (factor - 1.0) * damping
        with np.errstate(invalid='ignore'):  # of a mass below 0
            logs = np.log(changed[:-1])
        return _mixing(n) @ np.append(logs, changed[-1])

    start = np.zeros(1 + exchanges.shape[1])
    return moved(least_squares(lambda by: (moved(by) - center) / spread, start).x)


def _covariance(times: Array, jacobian: Array, left: Array, spread: Array) -> tuple[Array, Array]:
    """Return the prior's standard deviations (p,), and the covariance (p, p) in units of them.

    Both are of the logarithms of the parameters, and of the delay.

    Args:
        times: (m,) [s].
        jacobian, left: (m, n, p) and residuals (m, n).
        spread: (p,) prior standard deviations of what the search varies.
    """
    mixing = _mixing(left.shape[1])
    of_prior = np.linalg.norm(mixing * spread, axis=1)
    mixing *= of_prior
    jacobian, prior = jacobian @ mixing, mixing / spread[:, np.newaxis]
    noise = np.maximum(np.sqrt((left**2).mean(axis=0)), _LEAST_NOISE)
    rows = Rows(times, jacobian, left, np.ones(left.shape, dtype=bool))
    gradient = np.vstack([gradient_root(rows, noise, np.zeros(len(spread))), prior])
    scaled = (jacobian / noise[:, np.newaxis]).reshape(-1, len(spread))
    spreads = gradient @ np.linalg.inv(scaled.T @ scaled + prior.T @ prior)
    return of_prior, spreads.T @ spreads


def _unknown(covariance: Array, names: tuple[str, ...]) -> list[str]:
    """Return the directions whose spread is hardly less than the prior's, in words."""
    values, vectors = np.linalg.eigh(covariance)
    lines = []
    for value, vector in zip(values[::-1], vectors.T[::-1], strict=True):
        if value < _UNKNOWN**2:
            break
        order = np.argsort(-np.abs(vector))
        named = [i for i in order if abs(vector[i]) > _PART]
        signs = ['' if vector[i] * vector[named[0]] > 0.0 else 'against ' for i in named]
        lines.append(', '.join(s + names[i] for s, i in zip(signs, named, strict=True)))
    return lines
