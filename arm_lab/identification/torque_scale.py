"""Scales of recorded joint torques: recorded = scale x torque.

    tau_j = s_j Y_j (pi + carried) - lag dtau_j/dt

A joint's scale s_j and its load have the same effect: an arm twice as heavy has torques twice as
large. One thing must therefore be known: the payload in one of the recordings, a joint whose
torque is right (joints share links), or the links themselves. Gauss-Newton estimates pi and s
together. Source: Gautier and Briot, Global identification of joint drive gains and dynamic
parameters of robots, J. Dyn. Sys. Meas. Control 136(5), 2014.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_dynamics.model_error import ModelError, with_error
from arm_lab.identification.estimation import IdentificationParameters, compressed
from arm_lab.identification.regressor import JointRegressor
from arm_lab.identification.signals import MotionSamples, Rows, check_rows, rows_of
from arm_lab.identification.solution import Prior
from arm_lab.identification.standard_errors import gradient_root, standard_errors

_ROUNDS = 6  # of Gauss-Newton
_SPREAD = 0.5  # prior standard deviation of a scale's logarithm
_RIGHT = 1e-6  # prior standard deviation where a joint's torque is right
_SHOWN = 0.05  # standard error below which the recordings show a scale
_OPEN = 1e-3  # weight of the prior of the links in `TorqueScales.shown`


class Carrying(NamedTuple):
    """A recording, and what the arm carries in it beyond its model: (10 n,), see `carried`."""

    samples: MotionSamples
    extra: Array


@dataclass(frozen=True)
class TorqueScales:
    """Scales of the recorded torques, and the parameters estimated with them.

    Attributes:
        values: (n,) recorded over true torque; near 1 where the recordings do not show it.
        errors: (n,) standard errors of their logarithms.
        shown: (n,) whether the recordings show the scale without the prior of the links.
        pi: (14 n,) parameters of the arm.
        pi_errors: (14 n,) standard errors of the parameters.
    """

    values: Array
    errors: Array
    shown: NDArray[np.bool_]
    pi: Array
    pi_errors: Array


def carried(regressor: JointRegressor, mass: float) -> Array:
    """Return what a payload [kg], as ModelError has it, adds to inertial parameters (10 n,)."""
    model = regressor.model
    loaded = with_error(model, ModelError(payload=mass))
    return loaded.inertial_parameters() - model.inertial_parameters()


def torque_scales(
    regressor: JointRegressor,
    recordings: Sequence[Carrying],
    parameters: IdentificationParameters,
    right: int | None = None,
    links_known: bool = False,
) -> TorqueScales:
    """Return the scales of all joints' torques.

    Args:
        regressor: of the arm.
        recordings: of one arm, for example without and with a known payload.
        parameters: filter and prior.
        right: index of a joint whose recorded torque is the true torque; None: no joint.
        links_known: whether the inertias of the links are those of the model.

    Raises:
        ArmError: a recording that is too short, or what `check_rows` refuses of the first.
    """
    n = regressor.model.nv
    cutoff = parameters.cutoff
    read = [rows_of(regressor, each.samples, cutoff, with_noise=False) for each in recordings]
    check_rows(read[0], regressor.model.joint_names)
    prior = Prior(regressor, read[0], [] if links_known else list(range(n)), parameters.prior)
    free = np.append(prior.free, np.ones(n, dtype=bool))
    size = len(free)
    root, belief = np.zeros((size, size)), np.full(n, 1.0 / _SPREAD)
    if right is not None:
        belief[right] = 1.0 / _RIGHT
    root[:-n, :-n], root[-n:, -n:] = prior.root, np.diag(belief)
    usual = np.sqrt(np.mean([(rows.tau**2).mean(axis=0) for rows in read], axis=0))
    noise, x, log = 0.01 * usual, prior.center, np.zeros(n)
    for _ in range(_ROUNDS):
        linear = [_scaled(rows, each.extra, x, log)
                  for rows, each in zip(read, recordings, strict=True)]  # fmt: skip
        triangle = np.vstack([compressed(rows, noise) for rows in linear])
        center = np.concatenate([prior.center, -log])
        z = center.copy()
        matrix = np.vstack([triangle[:, :-1], root])
        wanted = np.concatenate([triangle[:, -1], root @ center]) - matrix @ (z * ~free)
        scale = np.linalg.norm(matrix[:, free], axis=0)
        z[free] = np.linalg.lstsq(matrix[:, free] / scale, wanted, rcond=1e-15)[0] / scale
        x, log = z[:-n], log + z[-n:]
        noise = np.maximum(_noise(linear, z), 1e-9 * usual)
    gradients = [gradient_root(rows, noise, z)[:, free] for rows in linear]
    errors = np.zeros(size)
    errors[free] = standard_errors(matrix[:, free], np.vstack([*gradients, root[:, free]]))
    weight = np.append(np.full(size - n, _OPEN), np.ones(n))
    open_root = (root * weight)[:, free]
    open_matrix = np.vstack([triangle[:, :-1][:, free], open_root])
    alone = standard_errors(open_matrix, np.vstack([*gradients, open_root]))[-n:]
    return TorqueScales(np.exp(log), errors[-n:], alone < _SHOWN, x[:-1], errors[: len(x) - 1])


def _noise(recordings: Sequence[Rows], z: Array) -> Array:
    """Return the RMS (n,) of the torque's residual, where joints move."""
    left = [np.where(rows.moving, rows.tau - rows.y @ z, 0.0) for rows in recordings]
    squares = np.sum([(each**2).sum(axis=0) for each in left], axis=0)
    moving = np.sum([rows.moving.sum(axis=0) for rows in recordings], axis=0)
    return np.asarray(np.sqrt(squares / np.maximum(moving, 1)))


def _scaled(rows: Rows, extra: Array, x: Array, log: Array) -> Rows:
    """Return the equations, linear in parameters, lag and changes of the scales' logarithms."""
    scale, links, n = np.exp(log)[:, np.newaxis], len(extra), len(log)
    y = rows.y.copy()
    y[..., :-1] *= scale
    load = y[..., :links] @ extra
    whole = load + y[..., :-1] @ x[:-1]
    each = whole[..., np.newaxis] * np.eye(n)
    return replace(rows, y=np.concatenate([y, each], axis=2), tau=rows.tau - load)
