"""Estimates an arm's parameters and their standard errors from recorded torques.

    min |W (tau - Y pi + lag dtau/dt)|^2 + |prior|^2,   every link a body, rotors and friction >= 0

W is one over each joint's noise, estimated from the residuals. The prior is the given model: each
link is expected within a relative distance `prior` of it, in the metric of its pseudo-inertia
(Lee, Wensing, Park, Geometric robot dynamic identification, T-RO 36(2), 2020). It determines the
parameters that the torques do not show.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.parameters import Parameters, parameter
from arm_lab.identification.regressor import BaseParameters, JointRegressor
from arm_lab.identification.signals import MotionSamples, Rows, lacking_rows, rows_of
from arm_lab.identification.solution import Prior, solved, usual_torque
from arm_lab.identification.standard_errors import gradient_root, standard_errors

NOTHING: Mapping[int, str] = MappingProxyType({})
_ROUNDS = 3  # of estimating each joint's noise
_SURE = 3.0  # standard errors below which a torque sensor has no offset
_ROUNDING = 1e-9  # relative, of a share
_CARRYING = 10.0  # relative spread of the link that carries a payload
_MUCH = 0.5  # share of the torque; what explains less is no model


@dataclass(frozen=True, kw_only=True)
class IdentificationParameters(Parameters):
    """Filter, prior and validation share of an identification."""

    cutoff: float = parameter(
        10.0, 'cut-off frequency of the zero-phase filters [Hz]', min=0.1, max=1000
    )
    held_back: float = parameter(
        0.2, 'last share of the recording, which is kept for validation [1]', min=0, max=0.9
    )
    prior: float = parameter(
        0.5,
        "relative standard deviation of each link's inertia about the model [1]",
        above=0,
        max=100,
    )
    payload: bool = parameter(False, 'estimate the payload only, with the links of the URDF')


@dataclass(frozen=True)
class Identified:
    """Identified parameters.

    Attributes:
        regressor: regressor of the arm, with the names of the parameters.
        pi: (14 n,) parameters.
        errors: (14 n,) standard errors of pi, prior included.
        share_left: (14 n,) `errors` over the prior's; near 1: the motion does not show them.
        base: the base parameters.
        base_values, base_errors: (r,) base parameters, and standard errors without the prior.
        lag, lag_error: time by which a torque acted before its stamp [s].
        fit, validation: (n,) RMS of the torque's residual over the torque's RMS, in the used and
            in the held-back part; nan: nothing was held back.
        noise: (n,) standard deviation of the torque after filtering [N.m | N].
        rows: all equations.
        train: (k,) bool, the equations that were used.
        kept: (n,) bool, joints whose held-back torque no estimate explained better: they, and what
            their torque depends on, have the given parameters.
        lacking: by a joint's index, why its torque says nothing; it is among those kept.
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
    kept: NDArray[np.bool_]
    lacking: dict[int, str]

    def predicted(self) -> Array:
        """Return the torques (k, n) that the identified parameters predict at all rows."""
        return self.rows.y @ np.append(self.pi, self.lag)

    def as_given(self) -> Array:
        """Return the torques (k, n) that the given model predicts at all rows.

        Lag and offsets are the identified ones: they are of the sensors, and not of the model.
        """
        given, n = self.regressor.parameters(), self.regressor.model.nv
        given[13 * n :] = self.pi[13 * n :]
        return self.rows.y @ np.append(given, self.lag)

    def validation_as_given(self) -> Array:
        """Return `validation` (n,) of the given model."""
        return _share(self.rows.tau - self.as_given(), self.rows, ~self.train)


@dataclass(frozen=True)
class Payload:
    """Payload of the last link: what it carries beyond its model.

    Attributes:
        mass, mass_error: mass and its standard error [kg].
        center: (3,) centre of mass in the tool frame [m].
        center_error: (3,) standard errors along the axes of the last joint's frame [m].
    """

    mass: float
    mass_error: float
    center: Array
    center_error: Array


def tool_link(regressor: JointRegressor) -> int:
    """Return the index of the link that the tool frame is fixed to."""
    model = regressor.model
    return model.pin_model.frames[model.frame_id()].parentJoint - 1


def payload_of(found: Identified) -> Payload:
    """Return the payload: what the tool's link has beyond the given model.

    Raises:
        ArmError: the payload's mass is below twice its standard error.
    """
    model, first = found.regressor.model, 10 * tool_link(found.regressor)
    part = slice(first, first + 4)
    mass, *moment = found.pi[part] - found.regressor.parameters()[part]
    error, *moment_error = found.errors[part]
    if mass <= 2.0 * error:
        raise ArmError(f'no payload: {mass:.3g} kg were found, with an error of {error:.2g} kg')
    tool = model.pin_model.frames[model.frame_id()].placement
    center = tool.actInv(np.array(moment) / mass)
    return Payload(float(mass), float(error), center, np.array(moment_error) / mass)


def identify(
    regressor: JointRegressor,
    samples: MotionSamples,
    parameters: IdentificationParameters,
    without: Mapping[int, str] = NOTHING,
) -> Identified:
    """Return the parameters that explain a recording best, and no joint worse than the given ones.

    Where a joint's held-back torque is explained worse than by the given parameters, its own
    parameters are those given, and if need be those of all links that its torque depends on.
    A torque of which half the held-back part is left by every estimate is not used, the worst one
    first. `without` says by a joint's index why its torque is not used.

    Raises:
        ArmError: a recording that is too short, without torques, or in which the arm hardly moves;
            torques that no estimate explains.
    """
    rows = rows_of(regressor, samples, parameters.cutoff)
    count, n = len(rows.times), regressor.model.nv
    train = np.arange(count) <= (1.0 - parameters.held_back) * (count - 1)
    lacking = lacking_rows(rows.part(train), regressor.model) | dict(without)
    links = [tool_link(regressor)] if parameters.payload else list(range(n))
    kept = np.zeros(n, dtype=bool)
    while True:
        if len(lacking) == n:
            others = '; nor can another joint be identified' * (n > 1)
            raise ArmError(f'{next(iter(lacking.values()))}{others}')
        rows = rows.without(list(lacking))
        kept[list(lacking)] = True
        found = _identified(regressor, rows, train, parameters, links, kept, lacking)
        left = np.nan_to_num(found.validation)
        if left.max() > _MUCH:
            i = int(left.argmax())
            lacking[i] = (
                f'joint {regressor.model.joint_names[i]!r}: {left[i]:.0%} of its held-back torque '
                'is not explained by any estimate (coupled joints, another sign or unit, or noise '
                'larger than the torque: inspect_recording says what it is)'
            )
            continue
        given = found.validation_as_given()
        unproven = np.isnan(found.validation) & ~kept & bool((~train).any())
        if unproven.any():
            kept |= unproven
            continue
        worse = np.flatnonzero(found.validation > (1.0 + _ROUNDING) * given)
        if not len(worse):
            return found
        new = worse[~kept[worse]]
        if len(new):
            kept[new] = True
        elif links and links[-1] >= worse[-1]:
            links = [i for i in links if i < worse[-1]]
        else:
            return found  # rounding alone


def _identified(
    regressor: JointRegressor,
    rows: Rows,
    train: NDArray[np.bool_],
    parameters: IdentificationParameters,
    links: list[int],
    kept: NDArray[np.bool_],
    lacking: dict[int, str],
) -> Identified:
    """Return the estimate of these links, and of the joints that are not kept."""
    used, n = rows.part(train), regressor.model.nv
    prior = Prior(regressor, used, links, _CARRYING if parameters.payload else parameters.prior)
    prior.free[10 * n : 14 * n] &= ~np.tile(kept, 4)
    noise, x, triangle, gradient, errors = _estimated(used, prior)
    offsets = slice(13 * n, 14 * n)
    prior.free[offsets] &= np.abs(x[offsets]) > _SURE * errors[offsets]
    with_offsets = errors
    noise, x, triangle, gradient, errors = _estimated(used, prior)
    errors[offsets] = with_offsets[offsets]
    spread, free = np.full(len(x), np.inf), prior.free
    root = prior.root[:, free]
    spread[free] = np.sqrt(np.diagonal(np.linalg.inv(root.T @ root)))
    base = BaseParameters.of(regressor.random_rows(), regressor.names)
    estimated = np.append(free[base.columns], True)
    columns = np.append(base.columns, len(x) - 1)[estimated]
    base_errors = np.append(errors[base.columns], 0.0)
    base_errors[estimated] = standard_errors(triangle[:, columns], gradient[:, columns])
    left = rows.tau - rows.y @ x
    fit, validation = (_share(left, rows, keep) for keep in (train, ~train))
    return Identified(
        regressor, x[:-1], errors[:-1], (errors / spread)[:-1], base, base.matrix() @ x[:-1],
        base_errors[:-1], float(x[-1]), float(errors[-1]), fit, validation, noise, rows, train,
        kept.copy(), lacking,
    )  # fmt: skip


def _estimated(used: Rows, prior: Prior) -> tuple[Array, Array, Array, Array, Array]:
    """Return the noise (n,), parameters (p,), R factor, gradients, and standard errors (p,)."""
    usual, count = usual_torque(used), np.maximum(used.moving.sum(axis=0), 1)
    noise, x = 0.01 * usual, prior.center
    for _ in range(_ROUNDS):
        triangle = compressed(used, noise)
        x = solved(triangle, prior)
        left = np.where(used.moving, used.tau - used.y @ x, 0.0)
        noise = np.sqrt((left**2).sum(axis=0) / count)
        noise = np.maximum(noise, 1e-9 * usual)
    triangle = compressed(used, noise)[:, :-1]
    gradient, free = gradient_root(used, noise, x), prior.free
    errors, root = np.zeros(len(x)), prior.root[:, free]
    both = [np.vstack([part[:, free], root]) for part in (triangle, gradient)]
    errors[free] = standard_errors(*both)
    return noise, x, triangle, gradient, errors


def _share(left: Array, rows: Rows, keep: NDArray[np.bool_]) -> Array:
    """Return the residual's RMS over the torque's RMS (n,), where joints move; nan: no rows."""
    weight = rows.moving & keep[:, np.newaxis]
    squares = [(np.where(weight, x, 0.0) ** 2).sum(axis=0) for x in (left, rows.tau)]
    of = np.where(squares[1] > 0.0, squares[1], np.nan)
    return np.asarray(np.sqrt(squares[0] / of))


def compressed(rows: Rows, noise: Array) -> Array:
    """Return a root (p + 2, p + 2) of the moments of [Y tau], each row over its joint's noise.

    Noise in Y makes its moments too large, and what is estimated from them too small. The same
    amount of noise added again makes them too large by the same amount, which is subtracted
    (Carroll et al., Measurement Error in Nonlinear Models, 2006, chapters 3 and 5).
    """
    root = _triangle(rows, noise)
    if not rows.noisy:
        return root
    scale = np.linalg.norm(root, axis=0)
    scale = np.where(scale > 0.0, scale, 1.0)
    once, *twice = (
        (each / scale).T @ (each / scale)
        for each in (root, *(_triangle(each, noise) for each in rows.noisy))
    )
    values, vectors = np.linalg.eigh(2.0 * once - np.mean(twice, axis=0))
    return np.sqrt(np.maximum(values, 0.0))[:, np.newaxis] * vectors.T * scale


def _triangle(rows: Rows, noise: Array) -> Array:
    both = np.concatenate([rows.y, rows.tau[..., np.newaxis]], axis=2) / noise[:, np.newaxis]
    return np.linalg.qr(both[rows.moving], mode='r')
