"""What the numbers of a recording are: one regression with the given model decides each reading.

    tau_j = s_j (dynamics_j + g gravity_j) + rotor_j a_j + viscous_j v_j + Coulomb_j sgn v_j + c_j

g is 1 or 0: efforts with gravity or without it. s_j is the scale: about 1 for N.m or N, negative
for the other sign. The same regression is made with each joint's position reversed or a quarter
turn off, and with two joints exchanged. A reading is better by sum_j log(r_j / r'_j), where r are
the variances that it leaves. A light wrist under an unknown mass at the tool looks as if its sign
were the other one: signs are only read so where they leave less with a mass at the tool as well.
"""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

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
_WEIGHINGS = 5  # of joints, by what is left of their efforts
_TURNS = np.pi * np.array([0.5, 1.0, -0.5])


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
        reversed_positions: names of joints whose positions have the other sign.
        offsets: offset [rad] to add to a joint's recorded position, by name.
        exchanged: pairs of names that are exchanged.
        left: (n,) share of each effort's variance that is left.
    """

    gravity: str
    gravity_gain: float
    signs: Array
    scales: Array
    newtons: bool
    degrees: bool
    reversed_positions: tuple[str, ...]
    offsets: dict[str, float]
    exchanged: tuple[tuple[str, str], ...]
    left: Array


@dataclass(frozen=True)
class _States:
    q: Array
    v: Array
    a: Array
    tau: Array


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
    parts = states.q * factor, states.v * factor, states.a * factor
    turned = _States(*parts, states.tau)
    as_radians, as_degrees = _positions(model, states), _positions(model, turned)
    degrees = _best(model, as_radians[0]) - _best(model, as_degrees[0]) > _ELSEWHERE
    chosen, changed = as_degrees if degrees else as_radians
    whole, without = (_fit(model, chosen, g) for g in (1.0, 0.0))
    gain = whole.score - without.score  # of the reading without gravity
    pull = np.array([model.gravity_torque(q) for q in chosen.q])
    if not pull.any():
        gravity = 'none'
    elif abs(gain) < _DOUBTFUL:
        gravity = 'ambiguous'
    else:
        gravity = 'missing' if gain > 0.0 else 'included'
    best = without if gain > 0.0 and pull.any() else whole
    shown = best.gain > _GAIN
    by_friction = ~shown & (best.of_friction > _GAIN)
    signs = np.where(shown, np.sign(best.scales), 0.0)
    signs = np.where(by_friction, np.sign(best.friction), signs)
    scales = np.where(shown, np.abs(best.scales), np.nan)
    size = scales[shown]
    newtons = not len(size) or bool(_NEWTONS[0] < np.median(size) < _NEWTONS[1])
    if newtons and (signs < 0.0).any():
        signs = _under_a_mass(model, chosen, 0.0 if gain > 0.0 else 1.0, signs)
    names = model.joint_names
    return Conventions(
        gravity, abs(gain), signs, scales, newtons, degrees,
        tuple(names[j] for kind, j in changed if kind == 'reversed'),
        {names[j]: kind for kind, j in changed if isinstance(kind, float)},
        tuple((names[kind[0]], names[j]) for kind, j in changed if isinstance(kind, tuple)),
        best.left,
    )  # fmt: skip


def _states(samples: MotionSamples, cutoff: float) -> _States:
    """Return states and efforts at some times of the longest piece."""
    piece = samples.part(samples.pieces(cutoff)[0])
    span = float(np.ptp(piece.times))
    own = cutoff / 2.0 if span > 20.0 * CUT_OFF_ENDS / cutoff else cutoff
    spline, torque = curves(piece, own)
    lost = CUT_OFF_ENDS / cutoff
    times = np.linspace(piece.times[0] + lost, piece.times[-1] - lost, _STATES)
    return _States(spline(times), spline(times, 1), spline(times, 2), torque(times))


def _positions(model: RobotModel, states: _States) -> tuple[_States, list[tuple[object, int]]]:
    """Return the states read as the model has them, and what was changed for that."""
    changed: list[tuple[object, int]] = []
    score = _best(model, states)
    while len(changed) < model.nv:
        found = [(_best(model, other), other, what) for other, what in _others(model, states)]
        best, other, what = min(found, key=lambda each: each[0])
        if score - best < _ELSEWHERE:
            break
        score, states = best, other
        changed.append(what)
    return states, changed


def _others(model: RobotModel, states: _States) -> list[tuple[_States, tuple[object, int]]]:
    """Return the states in other readings of one joint's, or of two joints', positions."""
    found: list[tuple[_States, tuple[object, int]]] = []
    n = model.nv
    for j in range(n):
        sign = np.where(np.arange(n) == j, -1.0, 1.0)
        parts = states.q * sign, states.v * sign, states.a * sign
        found.append((_States(*parts, states.tau), ('reversed', j)))
        if not model.prismatic[j]:
            for turn in _TURNS.tolist():
                moved = states.q + turn * (np.arange(n) == j)
                found.append((replace(states, q=moved), (turn, j)))
    for i, j in combinations(range(n), 2):
        order = np.arange(n)
        order[[i, j]] = j, i
        other = _States(*(each[:, order] for each in vars(states).values()))
        found.append((other, ((i,), j)))
    return found


def _best(model: RobotModel, states: _States) -> float:
    return min(_fit(model, states, g).score for g in (1.0, 0.0))


def _torques(model: RobotModel, states: _States, gravity: float) -> Array:
    """Return the torques (k, n) of the model, with or without those of gravity."""
    whole = [model.inverse_dynamics(*x) for x in zip(states.q, states.v, states.a, strict=True)]
    pull = [model.gravity_torque(q) for q in states.q]
    return np.array(whole) - (1.0 - gravity) * np.array(pull)


def _under_a_mass(model: RobotModel, states: _States, gravity: float, signs: Array) -> Array:
    """Return the signs (n,), of which -1 is kept where efforts fit it under some mass at the tool.

    The efforts have scale 1, and one mass serves all joints.
    """
    of_model = _torques(model, states, gravity)
    unit = _torques(with_error(model, ModelError(payload=1.0)), states, gravity) - of_model
    dry = np.clip(states.v / STANDSTILL, -1.0, 1.0)
    variance = np.maximum(states.tau.var(axis=0), 1e-300)
    both = np.stack([of_model, unit, states.tau], axis=2)
    for j in range(model.nv):  # what friction, rotor and offset leave (Frisch and Waugh)
        own = np.column_stack([states.v[:, j], dry[:, j], states.a[:, j], np.ones(len(dry))])
        both[:, j] -= own @ np.linalg.lstsq(own, both[:, j])[0]
    of_model, unit, tau = np.moveaxis(both, 2, 0)

    def score(tried: Array) -> float:
        rest, left = np.where(tried < 0.0, -1.0, 1.0) * tau - of_model, np.ones(model.nv)
        for _ in range(_WEIGHINGS):
            noise = left * variance
            mass = (rest * unit / noise).sum() / max((unit**2 / noise).sum(), 1e-300)
            left = np.maximum(((rest - mass * unit) ** 2).mean(axis=0) / variance, _LEAST_LEFT)
        return float(np.log(left).sum())

    for reversed_joint in np.flatnonzero(signs < 0.0):
        other = np.where(np.arange(model.nv) == reversed_joint, 1.0, signs)
        signs = other if score(other) < score(signs) else signs
    return signs


def _fit(model: RobotModel, states: _States, gravity: float) -> _Fit:
    """Return the regression with the given model, with or without gravity."""
    n = model.nv
    of_model = _torques(model, states, gravity)
    dry = np.clip(states.v / STANDSTILL, -1.0, 1.0)
    numbers = np.array([
        _of_joint(of_model[:, j], states.a[:, j], states.v[:, j], dry[:, j], states.tau[:, j])
        for j in range(n)
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
