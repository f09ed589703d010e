"""What explains a difference of torques: a mass at the tool, friction, and other links.

    tau_j = m p_j + c_j clip(v_j / STANDSTILL, -1, 1) + d_j v_j + Y_j delta + rest

All are fitted together. delta is what the links' parameters and the rotors are beyond the model's;
each has a prior of 30 % of its link's. What a mass at the tool explains is therefore no other
link, though the last link's parameters would explain the same torque.
"""

from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_lab.identification.regressor import JointRegressor

_LEAST_ROTOR = 1e-3  # share of the largest, of a joint that turns a body without inertia
_SPREAD = 0.3  # prior standard deviation of a link's parameters, relative to the link's
_LEAST = 1e-6  # least noise, relative to the difference
_WORTH = 0.01  # least share of the difference that other links explain, where they count
_ROUNDS = 8  # of the weights
_OF_LINK = np.array([0, 1, 1, 1, 2, 2, 2, 2, 2, 2])  # powers of the link's size


class Causes(NamedTuple):
    """What explains a difference of torques.

    Attributes:
        mass: additional mass at the tool [kg].
        friction: (n, 2) additional viscous and Coulomb friction.
        delta: (11 n,) parameters of links and rotors beyond the model's.
    """

    mass: float
    friction: Array
    delta: Array


def columns_of(model: RobotModel, q: Array, v: Array, a: Array) -> Array:
    """Return the torques (k, n, 11 n) of the parameters of links and rotors at states (k, n).

    Those of an arm with joints that follow others are zero: they are not known.
    """
    if model.mimic is not None:
        return np.zeros((*q.shape, 11 * model.nv))
    return JointRegressor(model)(q, v, a)[..., : 11 * model.nv]


def causes(
    model: RobotModel, tau: Array, unit: Array, friction: Array, links: Array, least: Array
) -> Causes:
    """Return the fit; links that explain less than 1 % of the difference are left out.

    Args:
        model: the arm.
        tau: (k, n) difference.
        unit: (k, n) torque of one kilogram at the tool.
        friction: (k, n, 2) of unit viscous and Coulomb friction.
        links: (k, n, 11 n) of `columns_of`.
        least: (n,) RMS of a difference that is rounding.
    """
    whole, rest = _fitted(model, tau, unit, friction, links, least)
    plain, rest_of_plain = _fitted(model, tau, unit, friction, 0.0 * links, least)
    return whole if rest_of_plain - rest > _WORTH else plain


def _fitted(
    model: RobotModel, tau: Array, unit: Array, friction: Array, links: Array, least: Array
) -> tuple[Causes, float]:
    """Return the least-squares fit and the share of the mean square that it leaves.

    The weight of a joint is one over the RMS of its rest.
    """
    n, p = model.nv, links.shape[2]
    size = 1 + 2 * n + p
    matrix, wanted = [], []
    for j in range(n):
        own = np.column_stack([unit[:, j], friction[:, j], links[:, j], tau[:, j]])
        triangle = np.linalg.qr(own, mode='r')
        rows = np.zeros((len(triangle), size))
        rows[:, [0, 1 + 2 * j, 2 + 2 * j, *range(1 + 2 * n, size)]] = triangle[:, :-1]
        matrix.append(rows)
        wanted.append(triangle[:, -1])
    prior = np.zeros((p, size))
    prior[:, 1 + 2 * n :] = np.diag(1.0 / _spreads(model))
    usual = np.sqrt((tau**2).mean(axis=0))
    floor = np.maximum(np.maximum(_LEAST * usual, least), 1e-30)
    noise, x = np.maximum(usual.max(), floor), np.zeros(size)
    for _ in range(_ROUNDS):
        stacked = np.vstack([*(a / s for a, s in zip(matrix, noise, strict=True)), prior])
        target = [*(b / s for b, s in zip(wanted, noise, strict=True)), np.zeros(p)]
        scale = np.maximum(np.linalg.norm(stacked, axis=0), 1e-30)
        x = np.linalg.lstsq(stacked / scale, np.concatenate(target), rcond=1e-14)[0] / scale
        left = [np.sum((a @ x - b) ** 2) for a, b in zip(matrix, wanted, strict=True)]
        noise = np.maximum(np.sqrt(np.array(left) / len(tau)), floor)
    found = Causes(float(x[0]), x[1 : 1 + 2 * n].reshape(n, 2), x[1 + 2 * n :])
    return found, float(np.sum(left) / max(len(tau) * np.sum(usual**2), 1e-30))


def _spreads(model: RobotModel) -> Array:
    """Return the prior standard deviations (11 n,) of parameters of links and rotors."""
    n = model.nv
    links = model.inertial_parameters().reshape(n, 10)
    mass = np.maximum(links[:, 0], 1e-3)
    extent = np.sqrt(np.maximum(links[:, [4, 6, 9]].sum(axis=1) / mass, 1e-4))
    of_links = mass[:, np.newaxis] * extent[:, np.newaxis] ** _OF_LINK
    rotors = np.diagonal(model.mass_matrix(np.zeros(n)))
    rotors = np.maximum(rotors, _LEAST_ROTOR * rotors.max())
    return _SPREAD * np.concatenate([of_links.ravel(), rotors])
