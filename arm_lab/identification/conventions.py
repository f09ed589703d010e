"""What the numbers of a recording are: one regression with the given model decides each reading.

    tau_j = s_j (dynamics_j + g gravity_j) + rotor_j a_j + viscous_j v_j + Coulomb_j sgn v_j + c_j

g is 1 or 0: efforts with gravity or without it. s_j is the scale: about 1 for N.m or N, negative
for the other sign. The same regression is made with each joint's position reversed or a quarter
turn off, and with two joints exchanged. A reading is better by sum_j log(r_j / r'_j), where r are
the variances that it leaves. Gravity and signs are read with the mass at the tool that leaves
least: a light wrist under an unknown one looks as if it had the other sign. Scales are those of
the arm as given.
"""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from arm_dynamics.checks import Array
from arm_dynamics.model import STANDSTILL, RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_lab.identification.signals import CUT_OFF_ENDS, MotionSamples, curves

_STATES = 400  # at which the model is compared
_GAIN = 0.3  # log ratio of variances from which on a joint shows its scale and sign
_DOUBTFUL = 0.5  # of the sum over joints: below it both readings are possible
_ELSEWHERE = 3.0  # the same for other positions than recorded
_LEAST_LEFT = 1e-6  # share of a variance below which it is rounding
_NEWTONS = 0.4, 2.5  # scales of efforts in N.m or N with a model that is not exact
_LOADS = np.append(0.0, np.geomspace(0.005, 1.0, 9))  # masses at the tool over that of the arm
_STEP = 0.004  # of the delays of the efforts that are tried [s]
_LATER = _STEP * np.arange(-10, 11)
_TURNS = np.pi * np.array([0.5, 1.0, -0.5])


class Reading(NamedTuple):
    """Another reading of the recorded positions.

    Attributes:
        kind: 'reversed' (the other sign), 'turned' (with another zero), or 'exchanged'.
        joints: names of one joint, of two where they are exchanged.
        offset: to be added to the recorded positions where they are turned [rad].
    """

    kind: str
    joints: tuple[str, ...]
    offset: float = 0.0


@dataclass(frozen=True)
class Conventions:
    """What a recording's numbers are.

    Attributes:
        gravity: 'included', 'missing', 'none' (it makes no torque in this motion), 'ambiguous'.
        gravity_gain: by how much the variances say so, see above.
        signs: (n,) 1 or -1: sign of the recorded effort; 0: the motion does not show it.
        scales: (n,) recorded over modelled effort, without the sign; NaN: not shown.
        newtons: whether the efforts are in N.m or N.
        degrees: whether the positions are in degrees.
        positions: changes that make the positions fit, each with those that fit alike.
        hidden_positions: names of joints whose positions fit alike with the other sign.
        left: (n,) share of each effort's variance that is left.
        rest: what else the efforts have.
    """

    gravity: str
    gravity_gain: float
    signs: Array
    scales: Array
    newtons: bool
    degrees: bool
    positions: tuple[tuple[Reading, ...], ...]
    hidden_positions: tuple[str, ...]
    left: Array
    rest: 'Rest'


class Rest(NamedTuple):
    """Delay, friction and offsets of the efforts.

    Attributes:
        behind: delay of the efforts behind the positions [s]; nan: the motion shows none.
        friction: (n,) whether the efforts show friction.
        offsets: (n,) as recorded; nan: none is shown.
    """

    behind: float
    friction: NDArray[np.bool_]
    offsets: Array


@dataclass(frozen=True)
class _States:
    q: Array
    v: Array
    a: Array
    tau: Array
    later: tuple[Array, ...]  # efforts (k, n) at `_LATER` from the times


@dataclass(frozen=True)
class _Fit:
    score: float
    scales: Array
    friction: Array
    left: Array
    gain: Array
    of_friction: Array


def conventions(model: RobotModel, samples: MotionSamples, cutoff: float = 10.0) -> Conventions:
    """Return what the numbers of a recording are.

    Raises:
        ArmError: too short, or not sampled often enough.
    """
    states = _states(samples, cutoff)
    factor = np.where(model.prismatic, 1.0, np.radians(1.0))
    turned = replace(states, **{x: getattr(states, x) * factor for x in 'qva'})
    as_radians, as_degrees = _positions(model, states), _positions(model, turned)
    degrees = _best(model, as_radians[0]) - _best(model, as_degrees[0]) > _ELSEWHERE
    chosen, changed, hidden = as_degrees if degrees else as_radians
    whole, without = (_loaded_fit(model, chosen, g) for g in (1.0, 0.0))
    gain = whole.score - without.score  # of the reading without gravity
    pull = np.array([model.gravity_torque(q) for q in chosen.q])
    if not pull.any():
        gravity = 'none'
    elif abs(gain) < _DOUBTFUL:
        gravity = 'ambiguous'
    else:
        gravity = 'missing' if gain > 0.0 else 'included'
    weightless = gain > 0.0 and pull.any()
    best = without if weightless else whole
    shown = best.gain > _GAIN
    by_friction = ~shown & (best.of_friction > _GAIN)
    signs = np.where(shown, np.sign(best.scales), 0.0)
    signs = np.where(by_friction, np.sign(best.friction), signs)
    bare = _fit(model, chosen, 0.0 if weightless else 1.0)  # without a mass at the tool
    scales = np.where(bare.gain > _GAIN, np.abs(bare.scales), np.nan)
    size = scales[np.isfinite(scales)]
    newtons = not len(size) or bool(_NEWTONS[0] < np.median(size) < _NEWTONS[1])
    return Conventions(
        gravity, abs(gain), signs, scales, newtons, degrees, changed, hidden, bare.left,
        _rest(_torques(model, chosen, 0.0 if weightless else 1.0), chosen),
    )  # fmt: skip


def _rest(of_model: Array, states: _States) -> Rest:
    """Return what the regression says of delay, friction and offset, with a rotor's inertia."""
    dry = np.clip(states.v / STANDSTILL, -1.0, 1.0)
    columns = np.stack([of_model, states.v, dry, np.ones_like(dry), states.a], axis=2)
    n = of_model.shape[1]

    def scores(tau: Array, keep: list[int]) -> Array:
        return np.log([_left(columns[:, j][:, keep], tau[:, j])[0] for j in range(n)])

    everything = [0, 1, 2, 3, 4]
    sums = np.array([scores(tau, everything).sum() for tau in states.later])
    k = int(np.clip(np.argmin(sums), 1, len(sums) - 2))
    curve = np.polyfit(_LATER[k - 1 : k + 2], sums[k - 1 : k + 2], 2)
    behind = float(-0.5 * curve[1] / curve[0]) if curve[0] > 0.0 else np.nan
    if not np.ptp(sums) > _DOUBTFUL or abs(behind) > _LATER[-1]:
        behind = np.nan
    at = np.clip(np.nan_to_num(behind) / _STEP + len(_LATER) // 2, 0, len(_LATER) - 1.001)
    part = at % 1.0  # without the delay, which looks like viscous friction
    tau = (1.0 - part) * states.later[int(at)] + part * states.later[int(at) + 1]
    whole = scores(tau, everything)
    friction = scores(tau, [0, 3, 4]) - whole > _GAIN
    offset = scores(tau, [0, 1, 2, 4]) - whole > _GAIN
    sizes = [_left(columns[:, j], tau[:, j])[1][3] for j in range(n)]
    return Rest(behind, friction, np.where(offset, sizes, np.nan))


def _states(samples: MotionSamples, cutoff: float) -> _States:
    """Return states and efforts at some times of the longest piece."""
    piece = samples.part(samples.pieces(cutoff)[0])
    span = float(np.ptp(piece.times))
    own = cutoff / 2.0 if span > 20.0 * CUT_OFF_ENDS / cutoff else cutoff
    spline, torque = curves(piece, own)
    lost = CUT_OFF_ENDS / cutoff
    times = np.linspace(piece.times[0] + lost, piece.times[-1] - lost, _STATES)
    later = tuple(torque(times + x) for x in _LATER)
    return _States(spline(times), spline(times, 1), spline(times, 2), torque(times), later)


def _positions(
    model: RobotModel, states: _States
) -> tuple[_States, tuple[tuple[Reading, ...], ...], tuple[str, ...]]:
    """Return the states read as the model has them, and the last two of `Conventions`' positions.

    A change is one that leaves least; it comes with those that leave as much, which symmetric arms
    have: reversed about its plane of symmetry, an arm is the same arm.
    """
    changed: list[tuple[Reading, ...]] = []
    score = _best(model, states)
    while True:
        found = [(_best(model, other), what, other) for what, other in _others(model, states)]
        best = min(value for value, *_ in found)
        if score - best < _ELSEWHERE or len(changed) == model.nv:
            break
        alike = [each for each in found if each[0] - best < _DOUBTFUL]
        changed.append(tuple(what for _, what, _ in alike))
        score, _, states = alike[0]
    hidden = [what.joints[0] for value, what, _ in found
              if what.kind == 'reversed' and value - score < _ELSEWHERE]  # fmt: skip
    return states, tuple(changed), tuple(hidden)


def _others(model: RobotModel, states: _States) -> list[tuple[Reading, _States]]:
    """Return the states in other readings of one joint's, or of two joints', positions."""
    found: list[tuple[Reading, _States]] = []
    n, names = model.nv, model.joint_names
    for j in range(n):
        sign = np.where(np.arange(n) == j, -1.0, 1.0)
        parts = {x: getattr(states, x) * sign for x in 'qva'}
        found.append((Reading('reversed', (names[j],)), replace(states, **parts)))
    for j in np.flatnonzero(~model.prismatic).tolist():
        for turn in _TURNS.tolist():
            moved = states.q + turn * (np.arange(n) == j)
            found.append((Reading('turned', (names[j],), turn), replace(states, q=moved)))
    for i, j in combinations(range(n), 2):
        order = np.arange(n)
        order[[i, j]] = j, i
        parts = {x: getattr(states, x)[:, order] for x in ('q', 'v', 'a', 'tau')}
        other = replace(states, **parts, later=tuple(x[:, order] for x in states.later))
        found.append((Reading('exchanged', (names[i], names[j])), other))
    return found


def _best(model: RobotModel, states: _States) -> float:
    return min(_fit(model, states, g).score for g in (1.0, 0.0))


def _torques(model: RobotModel, states: _States, gravity: float) -> Array:
    """Return the torques (k, n) of the model, with or without those of gravity."""
    whole = [model.inverse_dynamics(*x) for x in zip(states.q, states.v, states.a, strict=True)]
    pull = [model.gravity_torque(q) for q in states.q]
    return np.array(whole) - (1.0 - gravity) * np.array(pull)


def _fit(model: RobotModel, states: _States, gravity: float) -> _Fit:
    """Return the regression with the given model, with or without gravity."""
    return _regression(_torques(model, states, gravity), states)


def _loaded_fit(model: RobotModel, states: _States, gravity: float) -> _Fit:
    """Return the regression with the mass at the tool that leaves least."""
    of_model = _torques(model, states, gravity)
    unit = _torques(with_error(model, ModelError(payload=1.0)), states, gravity) - of_model

    def left(mass: float) -> float:
        return _regression(of_model + mass * unit, states).score

    masses = _LOADS * sum(each.mass for each in model.pin_model.inertias[1:])
    best = int(np.argmin([left(mass) for mass in masses]))
    around = masses[max(best - 1, 0)], masses[min(best + 1, len(masses) - 1)]
    mass = float(minimize_scalar(left, bounds=around, method='bounded').x)
    return _regression(of_model + (mass if left(mass) < left(0.0) else 0.0) * unit, states)


def _regression(of_model: Array, states: _States) -> _Fit:
    """Return the regression of all joints with the torques (k, n) of a model."""
    dry = np.clip(states.v / STANDSTILL, -1.0, 1.0)
    numbers = np.array([
        _of_joint(of_model[:, j], states.a[:, j], states.v[:, j], dry[:, j], states.tau[:, j])
        for j in range(of_model.shape[1])
    ])  # fmt: skip
    left, scales, friction, gain, of_friction = numbers.T
    return _Fit(float(np.log(left).sum()), scales, friction, left, gain, of_friction)


def _of_joint(of_model: Array, a: Array, v: Array, dry: Array, tau: Array) -> tuple[float, ...]:
    """Return share left, scale, friction, and by how much model and friction lessen the share."""
    columns = np.column_stack([of_model, v, dry, np.ones_like(v), a])
    everything, model_out, friction_out = (
        _left(columns[:, keep], tau) for keep in ([0, 1, 2, 3], [1, 2, 3], [0, 3])
    )
    left, x = everything
    usual = np.sqrt(np.mean(v**2))
    return (
        left, x[0], x[1] * usual + x[2], float(np.log(model_out[0] / left)),
        float(np.log(friction_out[0] / left)),
    )  # fmt: skip


def _left(columns: Array, tau: Array) -> tuple[float, Array]:
    """Return the share of the variance that least squares leave, and the solution."""
    size = np.linalg.norm(columns, axis=0)
    size = np.where(size > 0.0, size, 1.0)
    x = np.linalg.lstsq(columns / size, tau, rcond=1e-10)[0] / size
    variance = float(np.var(tau))
    if variance == 0.0:
        return 1.0, np.zeros(len(size))
    share = float(np.mean((tau - columns @ x) ** 2)) / variance
    return max(share, _LEAST_LEFT), x
