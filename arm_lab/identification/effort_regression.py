"""How much of recorded efforts a model of the arm explains, with friction and an offset.

tau_j = s_j model_j + viscous_j v_j + Coulomb_j sgn v_j + c_j
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_dynamics.model import STANDSTILL
from arm_lab.identification.effort_rest import share_left

LEAST_LEFT = 1e-6  # share of a variance below which it is rounding
_DEPENDENT = 1e-10  # share of a column from which on it is more than rounding of the others


@dataclass(frozen=True)
class States:
    """States of an arm, and its efforts.

    Attributes:
        q, v, a: (k, n) [rad | m], [rad/s | m/s], [rad/s^2 | m/s^2].
        tau: (k, n) in any unit.
        order: (n,) of the joints as recorded.
    """

    q: Array
    v: Array
    a: Array
    tau: Array
    order: NDArray[np.intp]


@dataclass(frozen=True)
class Fit:
    """A regression of all joints.

    Attributes:
        torques: (k, n) of the model.
        score: sum over joints of log(left).
        scales: (n,) s_j.
        friction: (n,) that of the usual speed, with its sign.
        left: (n,) share of each effort's variance that is left.
        gain, of_friction: (n,) by how much model and friction lessen log(left).
    """

    torques: Array
    score: float
    scales: Array
    friction: Array
    left: Array
    gain: Array
    of_friction: Array


def log_left(of_model: Array, states: States) -> float:
    """Return the sum over joints of the logarithms of what `shares_left` returns."""
    return float(np.log(shares_left(of_model, states)).sum())


def shares_left(of_model: Array, states: States) -> Array:
    """Return the share (n,) of each effort's variance that the regression leaves.

    What friction and offset explain is taken from effort and model first; what is left of the
    model then explains the effort as in the whole regression (Frisch and Waugh 1933).
    """
    columns = np.stack([states.v, _dry(states), np.ones_like(states.v)], axis=2).swapaxes(0, 1)
    size = np.linalg.norm(columns, axis=1, keepdims=True)
    u, sigma, _ = np.linalg.svd(columns / np.where(size > 0.0, size, 1.0), full_matrices=False)
    u = u * (sigma > _DEPENDENT * sigma[:, :1])[:, np.newaxis]
    both = np.stack([of_model.T, states.tau.T], axis=2)
    model, tau = np.moveaxis(both - u @ (u.swapaxes(1, 2) @ both), 2, 0)
    own = np.einsum('jk,jk->j', model, model)
    explains = own > _DEPENDENT**2 * np.einsum('kj,kj->j', of_model, of_model)
    scale = np.einsum('jk,jk->j', model, tau) / np.where(explains, own, np.inf)
    variance = np.var(states.tau, axis=0)
    rest = np.mean((tau - scale[:, np.newaxis] * model) ** 2, axis=1)
    share = rest / np.where(variance > 0.0, variance, np.inf)
    return np.where(variance > 0.0, np.maximum(share, LEAST_LEFT), 1.0)


def _dry(states: States) -> Array:
    return np.clip(states.v / STANDSTILL, -1.0, 1.0)


def regression(of_model: Array, states: States) -> Fit:
    """Return the regression of all joints with the torques (k, n) of a model."""
    columns = zip(of_model.T, states.v.T, _dry(states).T, states.tau.T, strict=True)
    numbers = np.array([_of_joint(*joint) for joint in columns])
    left, scales, friction, gain, of_friction = numbers.T
    return Fit(of_model, float(np.log(left).sum()), scales, friction, left, gain, of_friction)


def _of_joint(of_model: Array, v: Array, dry: Array, tau: Array) -> tuple[float, ...]:
    """Return share left, scale, friction, and by how much model and friction lessen the share."""
    columns = np.column_stack([of_model, v, dry, np.ones_like(v)])
    everything, model_out, friction_out = (
        share_left(columns[:, keep], tau, LEAST_LEFT) for keep in ([0, 1, 2, 3], [1, 2, 3], [0, 3])
    )
    left, x = everything
    usual = np.sqrt(np.mean(v**2))
    return (
        left, x[0], x[1] * usual + x[2], float(np.log(model_out[0] / left)),
        float(np.log(friction_out[0] / left)),
    )  # fmt: skip
