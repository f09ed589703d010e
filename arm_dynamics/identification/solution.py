"""Least squares of identification: the prior, and the best parameters of physical bodies."""

import numpy as np
from scipy.optimize import least_squares

from arm_dynamics.checks import Array
from arm_dynamics.identification.consistency import (
    bodies_parameters,
    deviation,
    log_cholesky,
    pseudo_inertia,
)
from arm_dynamics.identification.regressor import JointRegressor
from arm_dynamics.identification.signals import Rows

_LAG = 0.02  # prior standard deviation of the lag [s]
# Bounds of the log-Cholesky parameters' changes: factors e^6 of mass and e^4 of radii; 10 m.
_REACH = np.array([3.0, *[4.0] * 3, *[10.0] * 6])


class Prior:
    """Prior distribution of the parameters: a Gaussian about the given model.

    Attributes:
        theta: (links, 10) log-Cholesky parameters of the links to identify.
        center: (p,) mean; other links have the given model's parameters.
        free: (p,) bool, the parameters to identify.
        root: (p, p) square root of the information matrix.
    """

    def __init__(self, regressor: JointRegressor, rows: Rows, links: list[int], relative: float):
        model, n = regressor.model, regressor.model.nv
        pi = regressor.parameters()
        self.theta = np.array([log_cholesky(pi[10 * i : 10 * i + 10]) for i in links])
        self.center = np.append(pi, 0.0)
        self.free = np.arange(len(self.center)) >= 10 * n
        rng = np.random.default_rng(0)
        inertia = np.mean(
            [np.diagonal(model.mass_matrix(model.random_configuration(rng))) for _ in range(20)],
            axis=0,
        )
        usual = np.sqrt((rows.tau**2).mean(axis=0))
        speed = np.sqrt((rows.y[:, np.arange(n), 11 * n + np.arange(n)] ** 2).mean(axis=0))
        spreads = np.concatenate([0.5 * inertia, usual / speed, usual, [_LAG]])
        self.root = np.zeros((len(self.center), len(self.center)))
        for i, theta in zip(links, self.theta, strict=True):
            part = slice(10 * i, 10 * i + 10)
            self.free[part], self.center[part] = True, bodies_parameters(theta)[0]
            self.root[part, part] = deviation(self.center[part]) / relative
        rest = np.arange(10 * n, len(self.center))
        self.root[rest, rest] = 1.0 / spreads


def solved(triangle: Array, prior: Prior) -> Array:
    """Return the best parameters (p,) of which every link is a physical body.

    Where the unconstrained optimum is not physical, log-Cholesky parameters constrain it.
    """
    matrix, x, free = np.vstack([triangle[:, :-1], prior.root]), prior.center.copy(), prior.free
    wanted = np.concatenate([triangle[:, -1], prior.root @ x]) - matrix[:, ~free] @ x[~free]
    matrix = matrix[:, free]
    scale = np.linalg.norm(matrix, axis=0)
    best = np.linalg.lstsq(matrix / scale, wanted, rcond=1e-15)[0] / scale
    links = prior.theta.size
    bodies = pseudo_inertia(best[:links].reshape(-1, 10))
    if np.linalg.eigvalsh(bodies).min() <= 0.0 or best[links:-1].min() < 0.0:
        best = _solved_as_bodies(matrix, wanted, prior, best[links:])
    x[free] = best
    return x


def _solved_as_bodies(matrix: Array, wanted: Array, prior: Prior, joints: Array) -> Array:
    links = prior.theta.size
    size = links + len(joints)

    def thetas(z: Array) -> Array:  # a trial step may be wild
        return np.clip(z[:links].reshape(-1, 10), prior.theta - _REACH, prior.theta + _REACH)

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
    start = np.concatenate([prior.theta.ravel(), joints])
    start[links:-1] = np.maximum(start[links:-1], 1e-6)  # within the bounds
    found = least_squares(
        lambda z: matrix @ parameters(z) - wanted, start, jacobian, (lower, np.inf), x_scale='jac'
    )
    return parameters(found.x)
