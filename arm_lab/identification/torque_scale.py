"""Scales of recorded joint torques: recorded = scale x torque.

    tau_j = s_j Y_j (pi + carried) - lag dtau_j/dt

A joint's scale s_j and its load have the same effect: an arm twice as heavy has torques twice as
large. One thing must therefore be known: the payload in one of the recordings, a joint whose
torque is right (joints share links), or the links themselves. Gauss-Newton estimates pi and s
together, with the payload's centre and inertia. Source: Gautier and Briot, Global identification
of joint drive gains and dynamic parameters of robots, J. Dyn. Sys. Meas. Control 136(5), 2014.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError, Array
from arm_lab.identification.estimation import (
    IdentificationParameters,
    compressed,
    tool_link,
)
from arm_lab.identification.regressor import JointRegressor
from arm_lab.identification.signals import MotionSamples, Rows, lacking_rows, rows_of
from arm_lab.identification.solution import Prior, usual_torque
from arm_lab.identification.standard_errors import gradient_root, standard_errors

_ROUNDS = 30  # of Gauss-Newton, at most
_MOST, _LEAST = 0.5, 1e-7  # change of a scale's logarithm in a round; below it, the last one
_SPREAD = 0.5  # prior standard deviation of a scale's logarithm
_RIGHT = 1e-6  # prior standard deviation where a joint's torque is right
_SHOWN = 0.05  # standard error below which the recordings show a scale
_REACH = 0.2  # prior standard deviation of where the mass of a load is about the tool [m]
_CHANGED = 0.3  # prior share by which friction differs with a load and the temperature
# Entries of a load's pseudo-inertia: mass, first moments, second moments.
_PSEUDO_INERTIA = (3, 3), (0, 3), (1, 3), (2, 3), (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)
_OPEN = 1e-3  # weight of the prior of the links in `TorqueScales.shown`


class Carrying(NamedTuple):
    """A recording, and the mass [kg] that the arm carries in it at its tool beyond its model."""

    samples: MotionSamples
    mass: float = 0.0


@dataclass(frozen=True)
class TorqueScales:
    """Scales of the recorded torques, and the parameters estimated with them.

    Attributes:
        values: (n,) recorded over true torque; near 1 where the recordings do not show it.
        errors: (n,) standard errors of their logarithms.
        shown: (n,) whether the recordings show the scale without the prior of the links.
        pi: (14 n,) parameters of the arm.
        center, center_errors: (3,) centre of the known load in the tool frame [m], and standard
            errors; None: no recording has a load.
    """

    values: Array
    errors: Array
    shown: NDArray[np.bool_]
    pi: Array
    center: Array | None = None
    center_errors: Array | None = None


def carried(regressor: JointRegressor) -> Array:
    """Return what 1 kg at the tool adds to inertial parameters (10 n,), as columns (10 n, 10).

    The load's parameters are 1, its centre c (3,) in the tool frame [m], and the upper triangle
    (6,) of its mean of r r^T [m^2], with r from the origin of the tool frame.
    """
    frame = regressor.model.pin_model.frames[regressor.model.frame_id()]
    place, first = frame.placement.homogeneous, 10 * (frame.parentJoint - 1)
    columns = np.zeros((10 * regressor.model.nv, 10))
    for k, (row, column) in enumerate(_PSEUDO_INERTIA):
        basis = np.zeros((4, 4))
        basis[row, column] = basis[column, row] = 1.0
        moved = pin.PseudoInertia.FromMatrix(place @ basis @ place.T)
        columns[first : first + 10, k] = moved.toDynamicParameters()
    return columns


def torque_scales(
    regressor: JointRegressor,
    recordings: Sequence[Carrying],
    parameters: IdentificationParameters,
    right: int | None = None,
    links_known: bool = False,
    tool_known: bool = True,
    unused: Sequence[int] = (),
) -> TorqueScales:
    """Return the scales of all joints' torques.

    Args:
        regressor: of the arm.
        recordings: of one arm, for example without and with a known payload.
        parameters: filter and prior.
        right: index of a joint whose recorded torque is the true torque; None: no joint.
        links_known: whether the inertias of the links are those of the model.
        tool_known: whether this is so of the tool's link too; else it may carry anything.
        unused: indices of joints whose torques say nothing; their scales are not shown.

    Raises:
        ArmError: a recording that is too short, or of which no joint's torque says anything.
    """
    n = regressor.model.nv
    cutoff = parameters.cutoff
    read = [rows_of(regressor, each.samples, cutoff, with_noise=False) for each in recordings]
    for k, rows in enumerate(read):
        lacking = lacking_rows(rows, regressor.model)
        if len(lacking) == n:
            raise ArmError('; '.join(lacking.values()))
        read[k] = rows.without([*lacking, *unused])
    links, spread = [] if links_known else list(range(n)), parameters.prior
    if links_known and not tool_known:
        masses = regressor.parameters()[: 10 * n : 10]
        links = [tool_link(regressor)]
        spread = float(masses.sum() / masses[links[0]])  # as heavy as the arm
    prior = Prior(regressor, read[0], links, spread)
    loaded = any(each.mass for each in recordings)
    last = 3 * n + 9  # scales, the load per kilogram, and changes of the friction with it
    free = np.concatenate([prior.free, np.ones(n, dtype=bool), np.full(2 * n + 9, loaded)])
    size = len(free)
    root, belief = np.zeros((size, size)), np.full(last, 1.0 / _SPREAD)
    belief[n : n + 3], belief[n + 3 : n + 9] = 1.0 / _REACH, 1.0 / _REACH**2
    belief[n + 9 :] = np.diagonal(prior.root)[11 * n : 13 * n] / _CHANGED
    if right is not None:
        belief[right] = 1.0 / _RIGHT
    root[:-last, :-last], root[-last:, -last:] = prior.root, np.diag(belief)
    scales, places = slice(-last, -2 * n - 9), slice(-2 * n - 9, -2 * n)
    one = carried(regressor)
    usual = np.sqrt(np.mean([usual_torque(rows) ** 2 for rows in read], axis=0))
    noise, x, log, place = 0.01 * usual, prior.center, np.zeros(n), np.zeros(9)
    for _ in range(_ROUNDS):
        linear = [_scaled(rows, each.mass * one, x, log, place)
                  for rows, each in zip(read, recordings, strict=True)]  # fmt: skip
        triangle = np.vstack([compressed(rows, noise) for rows in linear])
        center = np.concatenate([prior.center, -log, -place, np.zeros(2 * n)])
        z = center.copy()
        matrix = np.vstack([triangle[:, :-1], root])
        wanted = np.concatenate([triangle[:, -1], root @ center]) - matrix @ (z * ~free)
        scale = np.linalg.norm(matrix[:, free], axis=0)
        z[free] = np.linalg.lstsq(matrix[:, free] / scale, wanted, rcond=1e-15)[0] / scale
        change = np.clip(z[scales], -_MOST, _MOST)
        x, log, place = z[:-last], log + change, place + z[places]
        noise = np.maximum(_noise(linear, z), 1e-9 * usual)
        if np.abs(change).max() < _LEAST:
            break
    gradients = [gradient_root(rows, noise, z)[:, free] for rows in linear]
    errors = np.zeros(size)
    errors[free] = standard_errors(matrix[:, free], np.vstack([*gradients, root[:, free]]))
    weight = np.append(np.full(size - last, _OPEN), np.ones(last))
    open_root = (root * weight)[:, free]
    open_matrix = np.vstack([triangle[:, :-1][:, free], open_root])
    alone = np.zeros(size)
    alone[free] = standard_errors(open_matrix, np.vstack([*gradients, open_root]))
    shown = (alone[scales] < _SHOWN) & (np.abs(change) < _SHOWN)  # the second: it has converged
    found = np.exp(log), errors[scales], shown, x[:-1]
    if not loaded:
        return TorqueScales(*found)
    return TorqueScales(*found, place[:3], errors[places][:3])


def _noise(recordings: Sequence[Rows], z: Array) -> Array:
    """Return the RMS (n,) of the torque's residual, where joints move."""
    left = [np.where(rows.moving, rows.tau - rows.y @ z, 0.0) for rows in recordings]
    squares = np.sum([(each**2).sum(axis=0) for each in left], axis=0)
    moving = np.sum([rows.moving.sum(axis=0) for rows in recordings], axis=0)
    return np.asarray(np.sqrt(squares / np.maximum(moving, 1)))


def _scaled(rows: Rows, extra: Array, x: Array, log: Array, place: Array) -> Rows:
    """Return the equations, linear in parameters, lag, and changes of scales' logs and load."""
    scale, links, n = np.exp(log)[:, np.newaxis], len(extra), len(log)
    y = rows.y.copy()
    y[..., :-1] *= scale
    moved = y[..., :links] @ extra
    load = moved[..., 0] + moved[..., 1:] @ place
    whole = load + y[..., :-1] @ x[:-1]
    each = whole[..., np.newaxis] * np.eye(n)
    friction = y[..., 11 * n : 13 * n] * float(extra.any())
    columns = [y, each, moved[..., 1:], friction]
    return replace(rows, y=np.concatenate(columns, axis=2), tau=rows.tau - load)
