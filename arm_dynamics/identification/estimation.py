"""The parameters that explain recorded torques best, and how well each of them is known.

    min |W (tau - Y pi + lag dtau/dt)|^2 + |prior|^2,   every link a body, rotors and friction >= 0

W is one over each joint's noise, found from what is left over. The prior is the model that was
given: every link within `prior` of it, in the metric of its pseudo-inertia (Lee, Wensing, Park,
Geometric robot dynamic identification, T-RO 36(2), 2020). It decides what the torques do not show.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.identification.consistency import bodies_parameters, deviation, log_cholesky
from arm_dynamics.identification.regressor import BaseParameters, JointRegressor
from arm_dynamics.identification.signals import Rows, Samples, rows_of
from arm_dynamics.parameters import Parameters, parameter

_LAG = 0.02  # spread of what is believed of it [s]
_ROUNDS = 3  # of finding each joint's noise
# How far a log-Cholesky parameter may go: factors e^6 of mass and e^4 of radii; 10 m.
_REACH = np.array([3.0, *[4.0] * 3, *[10.0] * 6])
_LEAST_ROWS = 5  # per unknown


@dataclass(frozen=True, kw_only=True)
class IdentificationParameters(Parameters):
    """How a recording is read."""

    cutoff: float = parameter(10.0, 'of the zero-phase filters [Hz]', min=0.1, max=1000)
    held_back: float = parameter(
        0.2, 'last share of the recording, for validation', min=0, max=0.9
    )
    prior: float = parameter(
        0.5, "relative spread of each link's inertia about the model", above=0, max=100
    )


@dataclass(frozen=True)
class Identified:
    """What was found.

    Attributes:
        regressor: of the arm, with the names of the parameters.
        pi: (13 n,) parameters.
        errors: (13 n,) their standard errors, prior included.
        share_left: (13 n,) these over the prior's; near one: the motion does not show it.
        base: the combinations that torques depend on.
        base_values, base_errors: (r,) of these; errors by the torques alone.
        lag, lag_error: how much earlier than its stamp a torque acted [s].
        fit, validation: (n,) RMS of what is left of the torque, as a share of its RMS.
        noise: (n,) standard deviation of the torque after filtering [N.m | N].
        rows: all equations; `train` (k,) bool tells which of them were used.
    """

    regressor: JointRegressor
    pi: Array
    errors: Array
    share_left: Array
    base: BaseParameters
    base_values: Array
    base_errors: Array
    lag: float
    lag_error: float
    fit: Array
    validation: Array
    noise: Array
    rows: Rows
    train: NDArray[np.bool_]

    def predicted(self) -> Array:
        """Return the torques (k, n) that the parameters predict at all rows."""
        return self.rows.y @ np.append(self.pi, self.lag)


def identify(
    regressor: JointRegressor, samples: Samples, parameters: IdentificationParameters
) -> Identified:
    """Return what explains a recording.

    Raises:
        ArmError: too short, or the arm hardly moves.
    """
    rows = rows_of(regressor, samples.longest_piece(), parameters.cutoff)
    border = rows.times[0] + (1.0 - parameters.held_back) * np.ptp(rows.times)
    train = rows.times <= border
    used = rows.part(train)
    n, moving = regressor.model.nv, used.moving
    for joint in np.flatnonzero(moving.sum(axis=0) < _LEAST_ROWS * 13):
        raise ArmError(
            f'joint {regressor.model.joint_names[joint]!r} hardly moves: it needs '
            f'{_LEAST_ROWS * 13} filtered samples above 0.075 rad/s, it has '
            f'{moving[:, joint].sum()}; drive a motion of `excite`'
        )
    prior = _Prior(regressor, used, parameters.prior)
    usual = np.sqrt((used.tau**2).mean(axis=0))
    noise, x = 0.01 * usual, prior.center
    for _ in range(_ROUNDS):
        triangle = _compressed(used, noise)
        x = _solved(triangle, prior, n)
        left = np.where(moving, used.tau - used.y @ x, 0.0)
        noise = np.sqrt((left**2).sum(axis=0) / moving.sum(axis=0))
        noise = np.maximum(noise, 1e-9 * usual)
    triangle = _compressed(used, noise)[:, :-1]
    spread = np.sqrt(np.diagonal(np.linalg.inv(prior.information)))
    pieces = _pieces(used, noise, x)
    errors = _errors(np.vstack([triangle, prior.root]), np.vstack([pieces, prior.root]))
    base = BaseParameters.of(regressor.random_rows(), regressor.names)
    columns = [*base.columns.tolist(), len(x) - 1]
    base_errors = _errors(triangle[:, columns], pieces[:, columns])
    left = rows.tau - rows.y @ x
    fit, validation = (_share(left, rows, keep) for keep in (train, ~train))
    return Identified(
        regressor, x[:-1], errors[:-1], (errors / spread)[:-1], base, base.matrix() @ x[:-1],
        base_errors[:-1], float(x[-1]), float(errors[-1]), fit, validation, noise, rows, train,
    )  # fmt: skip


def _share(left: Array, rows: Rows, keep: NDArray[np.bool_]) -> Array:
    """Return the RMS of what is left over the torque's RMS, per joint, where it moves."""
    weight = rows.moving & keep[:, np.newaxis]
    squares = [(np.where(weight, x, 0.0) ** 2).sum(axis=0) for x in (left, rows.tau)]
    return np.sqrt(squares[0] / np.maximum(squares[1], 1e-300))


def _compressed(rows: Rows, noise: Array) -> Array:
    """Return the triangle (p + 2, p + 2) of [Y tau], each row over its joint's noise."""
    both = np.concatenate([rows.y, rows.tau[..., np.newaxis]], axis=2) / noise[:, np.newaxis]
    return np.linalg.qr(both[rows.moving], mode='r')


def _pieces(rows: Rows, noise: Array, x: Array) -> Array:
    """Return the gradient (pieces, p) of each second of the recording at its best parameters."""
    left = np.where(rows.moving, rows.tau - rows.y @ x, 0.0) / noise**2
    gradient = np.einsum('kn,knp->kp', left, rows.y)
    begins = np.flatnonzero(np.diff(np.floor(rows.times), prepend=-np.inf))
    return np.add.reduceat(gradient, begins)


def _errors(root: Array, pieces: Array) -> Array:
    """Return standard errors (p,) where what is left over is alike within a second.

    The sandwich H^-1 (sum of g g^T) H^-1 with H = root^T root (White; Liang and Zeger 1986).
    """
    spread = np.linalg.lstsq(root.T @ root, pieces.T, rcond=1e-15)[0]
    return np.sqrt((spread**2).sum(axis=1))


class _Prior:
    """What is believed before: a centre (p,) and the information (p, p) that it carries."""

    def __init__(self, regressor: JointRegressor, rows: Rows, relative: float):
        model, n = regressor.model, regressor.model.nv
        pi = regressor.parameters()
        self.theta = np.array([log_cholesky(pi[10 * i : 10 * i + 10]) for i in range(n)])
        links = [bodies_parameters(theta)[0] for theta in self.theta]
        self.center = np.concatenate([*links, pi[regressor.links.stop :], [0.0]])
        rng = np.random.default_rng(0)
        inertia = np.mean(
            [np.diagonal(model.mass_matrix(model.random_configuration(rng))) for _ in range(20)],
            axis=0,
        )
        usual = np.sqrt((rows.tau**2).mean(axis=0))
        speed = np.sqrt((rows.y[:, np.arange(n), 11 * n + np.arange(n)] ** 2).mean(axis=0))
        spreads = np.concatenate([0.5 * inertia, usual / speed, usual, [_LAG]])
        self.root = np.zeros((len(self.center), len(self.center)))
        for i, link in enumerate(links):
            part = slice(10 * i, 10 * i + 10)
            self.root[part, part] = deviation(link) / relative
        rest = np.arange(10 * n, len(self.center))
        self.root[rest, rest] = 1.0 / spreads

    @property
    def information(self) -> Array:
        return self.root.T @ self.root


def _solved(triangle: Array, prior: _Prior, n: int) -> Array:
    """Return the best parameters (p,) with every link a body, by log-Cholesky parameters."""
    matrix = np.vstack([triangle[:, :-1], prior.root])
    wanted = np.concatenate([triangle[:, -1], prior.root @ prior.center])
    size, links = 13 * n + 1, 10 * n

    def thetas(z: Array) -> Array:  # a trial step may be wild
        return np.clip(z[:links].reshape(n, 10), prior.theta - _REACH, prior.theta + _REACH)

    def parameters(z: Array) -> Array:
        return np.concatenate([*(bodies_parameters(theta)[0] for theta in thetas(z)), z[links:]])

    def jacobian(z: Array) -> Array:
        inner = np.eye(size)
        for i, theta in enumerate(thetas(z)):
            part = slice(10 * i, 10 * i + 10)
            inner[part, part] = bodies_parameters(theta)[1]
        return matrix @ inner

    lower = np.full(size, -np.inf)
    lower[links:-1] = 0.0
    start = np.concatenate([prior.theta.ravel(), prior.center[links:]])
    start[links:-1] = np.maximum(start[links:-1], 1e-6)  # within the bounds
    found = least_squares(
        lambda z: matrix @ parameters(z) - wanted, start, jacobian, (lower, np.inf), x_scale='jac'
    )
    return parameters(found.x)
