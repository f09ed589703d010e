"""Least squares of identification: the prior, and the best parameters of physical bodies."""

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_lab.identification.consistency import barrier, deviation, pseudo_inertia, thick_body
from arm_lab.identification.regressor import JointRegressor
from arm_lab.identification.signals import Rows

_LAG = 0.02  # prior standard deviation of the lag [s]
_LEAST_INERTIA = 1e-3  # share of torque over acceleration below which a URDF has no inertia
_STILL = 1e-6  # least RMS velocity and acceleration of a joint
_OFFSET = 0.1  # and of an offset, of the joint's RMS torque
# The objective is at most this far from its least value; one standard error of one parameter
# changes it by 0.5.
_GAP = 1e-4
_STEEPER = 10.0  # factor between two weights of the barrier
_CENTERED = 1e-6  # squared Newton decrement at which the weight changes
_MOST_STEPS = 100  # of Newton's method for one weight
_CAUSE = (
    'the recording hardly determines the arm, or its torques are no torques (inspect_recording '
    'says what the efforts are)'
)
_SUFFICIENT, _SHORTER, _SHORTEST = 0.1, 0.5, 1e-9  # of Armijo's rule


class Prior:
    """Prior distribution of the parameters: a Gaussian about the given model.

    Attributes:
        links: number of links to identify.
        names: (p,) of the parameters.
        center: (p,) mean; other links have the given model's parameters.
        free: (p,) bool, the parameters to identify.
        root: (p, p) square root of the information matrix.
    """

    def __init__(self, regressor: JointRegressor, rows: Rows, links: list[int], relative: float):
        model, n = regressor.model, regressor.model.nv
        self.links, self.names = len(links), (*regressor.names, 'lag')
        self._signed = slice(10 * n, 13 * n)
        self.center = np.append(regressor.parameters(), 0.0)
        self.free = np.arange(len(self.center)) >= 10 * n
        rng = np.random.default_rng(0)
        inertia = np.mean(
            [np.diagonal(model.mass_matrix(model.random_configuration(rng))) for _ in range(20)],
            axis=0,
        )
        usual = usual_torque(rows)
        joint = np.arange(n)
        acceleration, speed = (
            np.maximum(np.sqrt((rows.y[:, joint, k * n + joint] ** 2).mean(axis=0)), _STILL)
            for k in (10, 11)
        )
        most = usual / acceleration
        inertia = np.where(inertia > _LEAST_INERTIA * most, inertia, most)
        spreads = np.concatenate([0.5 * inertia, usual / speed, usual, _OFFSET * usual, [_LAG]])
        self.root = np.zeros((len(self.center), len(self.center)))
        for i in links:
            part = slice(10 * i, 10 * i + 10)
            self.free[part], self.center[part] = True, thick_body(self.center[part])
            self.root[part, part] = deviation(self.center[part]) / relative
        rest = np.arange(10 * n, len(self.center))
        self.root[rest, rest] = 1.0 / spreads

    @property
    def not_negative(self) -> int:
        """Return how many free parameters behind those of the links must not be negative."""
        return int(self.free[self._signed].sum())


def usual_torque(rows: Rows) -> Array:
    """Return the RMS torque (n,) [N.m | N]; 1 of a joint without any, which has no equations."""
    usual = np.sqrt((rows.tau**2).mean(axis=0))
    return np.where(usual > 0.0, usual, 1.0)


def solved(triangle: Array, prior: Prior) -> Array:
    """Return the best parameters (p,) of which every link is a physical body.

    Where the unconstrained optimum is not physical, the constrained one is within `_GAP`.

    Raises:
        ArmError: the optimum was not found.
    """
    matrix, x, free = np.vstack([triangle[:, :-1], prior.root]), prior.center.copy(), prior.free
    wanted = np.concatenate([triangle[:, -1], prior.root @ x]) - matrix[:, ~free] @ x[~free]
    matrix = matrix[:, free]
    scale = np.linalg.norm(matrix, axis=0)
    best = np.linalg.lstsq(matrix / scale, wanted, rcond=1e-15)[0] / scale
    if not _physical(best, prior):
        best = _solved_as_bodies(matrix, wanted, prior, best)
    x[free] = best
    return x


def _physical(x: Array, prior: Prior) -> bool:
    """Whether all links are bodies, and nothing is negative that must not be."""
    links = 10 * prior.links
    if links and np.linalg.eigvalsh(pseudo_inertia(x[:links].reshape(-1, 10))).min() <= 0.0:
        return False
    return bool((x[links : links + prior.not_negative] > 0.0).all())


def _solved_as_bodies(matrix: Array, wanted: Array, prior: Prior, best: Array) -> Array:
    """Return the optimum of a convex problem, by a barrier and Newton's method.

    Minimised is |matrix x - wanted|^2 / 2 - mu (sum of log det P + sum of log x_j), for a falling
    weight mu; the minimum is within 4 mu per link and mu per x_j of the constrained optimum
    (Boyd and Vandenberghe, Convex Optimization, 2004, sections 9.5 and 11.3).
    """
    links = 10 * prior.links
    limited = np.arange(links, links + prior.not_negative)
    x = np.append(prior.center[prior.free][:links], best[links:])
    x[limited] = np.maximum(best[limited], 0.1 / np.diagonal(prior.root)[prior.free][limited])
    hessian, left = matrix.T @ matrix, matrix @ best - wanted
    order = 4.0 * prior.links + prior.not_negative

    def value(z: Array, mu: float) -> float:
        if not _physical(z, prior):
            return np.inf
        logs = np.log(z[limited]).sum()
        logs += np.linalg.slogdet(pseudo_inertia(z[:links].reshape(-1, 10)))[1].sum()
        return float(0.5 * ((matrix @ (z - best) + left) ** 2).sum() - mu * logs)

    mu = max(0.5 * ((matrix @ (x - best)) ** 2).sum() / order, _GAP / order)
    while True:
        for _ in range(_MOST_STEPS):
            gradient = matrix.T @ (matrix @ (x - best) + left)
            curved = hessian.copy()
            of_links, of_pairs = barrier(x[:links].reshape(-1, 10))
            gradient[:links] += mu * of_links.ravel()
            for i, block in enumerate(of_pairs):
                part = slice(10 * i, 10 * i + 10)
                curved[part, part] += mu * block
            gradient[limited] -= mu / x[limited]
            curved[limited, limited] += mu / x[limited] ** 2
            step, scale = _newton_step(curved, gradient)
            slope = float(gradient @ step)
            if -slope < _CENTERED * mu:
                break
            if not np.isfinite(slope):
                raise ArmError(f'identification did not converge: {_CAUSE}')
            length, before = 1.0, value(x, mu)
            while (
                length > _SHORTEST
                and value(x + length * step, mu) > before + _SUFFICIENT * length * slope
            ):
                length *= _SHORTER
            x = x + length * step
        else:
            of = np.flatnonzero(prior.free)[np.argmax(np.abs(step / scale))]
            raise ArmError(
                f'identification did not converge in {_MOST_STEPS} steps; {prior.names[of]} '
                f'still changed most: {_CAUSE}'
            )
        if order * mu <= _GAP:
            return x
        mu /= _STEEPER


def _newton_step(curved: Array, gradient: Array) -> tuple[Array, Array]:
    """Return Newton's step (p,), nan where there is none, and the scale of the parameters (p,)."""
    size = np.diagonal(curved)
    if not (np.isfinite(curved).all() and (size > 0.0).all()):
        return np.full_like(gradient, np.nan), np.ones_like(gradient)
    scale = 1.0 / np.sqrt(size)
    even = curved * scale * scale[:, np.newaxis]
    return -scale * np.linalg.solve(even, scale * gradient), scale
