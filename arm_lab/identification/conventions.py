"""What the numbers of a recording are: one regression with the given model decides each reading.

    tau_j = s_j (dynamics_j + g gravity_j) + viscous_j v_j + Coulomb_j sgn v_j + c_j

g is 1 or 0: efforts with gravity or without it. s_j is the scale: about 1 for N.m or N, negative
for the other sign. The same regression is made with each joint's position reversed or a quarter
turn off, with two joints exchanged, and with the efforts in another order. A reading is better by
sum_j log(r_j / r'_j), where r are the variances that it leaves. Gravity and signs are read with
the mass at the tool that leaves least: a light wrist under an unknown one looks as if it had the
other sign. Scales are those of the arm as given. Gravity along another axis of the base is such
a reading, too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from operator import attrgetter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment, minimize_scalar

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_lab.identification.effort_regression import (
    LEAST_LEFT,
    Fit,
    States,
    log_left,
    regression,
    shares_left,
)
from arm_lab.identification.effort_rest import Rest, effort_rest, read_later, smooth_piece
from arm_lab.identification.mounting import other_gravity
from arm_lab.identification.signals import CUT_OFF_ENDS, MotionSamples, curves
from arm_lab.identification.strange_efforts import clipped, of_another_scale

_STATES = 400  # at which the model is compared
_GAIN = 0.3  # log ratio of variances from which on a joint shows its scale and sign
_DOUBTFUL = 0.5  # of the sum over joints: below it both readings are possible
_ELSEWHERE = 3.0  # the same for other positions than recorded
_NEWTONS = 0.4, 2.5  # scales of efforts in N.m or N with a model that is not exact
_LOADS = np.append(0.0, np.geomspace(0.005, 1.0, 9))  # masses at the tool over that of the arm
_TURNS = np.pi * np.array([0.5, 1.0, -0.5])
# Units of one joint's positions, by whether it is prismatic [rad | m]; tried where this share of
# an effort is left.
_UNITS = {False: {'turns': 2.0 * np.pi, 'deg': np.pi / 180.0, 'mrad': 1e-3}, True: {'mm': 1e-3}}
_UNEXPLAINED = 0.1
_OF_ALL = 'deg', 'turns'  # units that all joints may have
_HALVES = 0.62, 1.6  # usual scales of links that are 30 % off, also with a mass at the tool
_STILL = 0.02  # range of a joint that shows nothing [rad | m]
_TINY = 1e-3  # and of its torques, over the largest range
_SEVERAL = 3  # joints that show a usual scale
_WAYS = 3  # independent ways of the joints, from which these show where gravity points
_SPREAD = 0.1  # a shorter way, over the longest one, is none


class Reading(NamedTuple):
    """Another reading of the recorded positions, or of the order of the efforts.

    Attributes:
        kind: 'reversed' (the other sign), 'turned' (with another zero), 'exchanged', 'order',
            'unit' (another one than the other joints).
        joints: names of one joint, of two where they are exchanged; of all in the order of the
            arm: under which name each one's effort is.
        offset: to be added to the recorded positions where they are turned [rad].
        unit: of the recorded positions, a key of a joint's `_UNITS`.
    """

    kind: str
    joints: tuple[str, ...]
    offset: float = 0.0
    unit: str = ''


@dataclass(frozen=True)
class Conventions:
    """What a recording's numbers are.

    Attributes:
        gravity: 'included', 'missing', 'none' (it makes no torque in this motion), 'ambiguous'.
        gravity_gain: by how much the variances say so, see above.
        signs: (n,) 1 or -1: sign of the recorded effort; 0: the motion does not show it.
        scales: (n,) recorded over modelled effort, without the sign; NaN: not shown.
        strange: (n,) whether a joint's effort alone has another scale than the usual one. Where
            weight makes less than most of the modelled effort, a rotor that the model lacks or
            has in vain does that as well: then only above the joint's limit.
        newtons: whether the efforts are in N.m or N.
        factor: usual scale of efforts in N.m where all links seem much lighter or heavier; else 1.
        unit: of all positions, of `_OF_ALL`; '': radians.
        positions: changes that make the positions fit, each with those that fit alike.
        hidden_positions: names of joints whose positions fit alike with the other sign.
        clipped: (n,) whether efforts do not grow at one end, where those of the model do.
        left: (n,) share of each effort's variance that is left.
        rest: what else the efforts have.
        mounted: gravity in the base frame that the efforts show, with which all else is found,
            as of a base on a wall [m/s^2]; empty: the model's.
    """

    gravity: str
    gravity_gain: float
    signs: Array
    scales: Array
    strange: NDArray[np.bool_]
    newtons: bool
    factor: float
    unit: str
    positions: tuple[tuple[Reading, ...], ...]
    hidden_positions: tuple[str, ...]
    clipped: NDArray[np.bool_]
    left: Array
    rest: Rest
    mounted: tuple[float, ...] = ()


def in_time(
    model: RobotModel, samples: MotionSamples, cutoff: float, as_given: bool
) -> tuple[MotionSamples, Conventions, float]:
    """Return samples with efforts at the times of the positions, and what `conventions` has.

    Third is how much later the efforts were read [s]. `as_given`: the base is mounted so.

    Raises:
        ArmError: as `conventions`.
    """
    found = conventions(model, samples, cutoff, as_given)
    if not found.rest.is_late:
        return samples, found, 0.0
    later = found.rest.behind
    samples = read_later(samples, later)
    return samples, conventions(model, samples, cutoff, as_given), later


def conventions(
    model: RobotModel, samples: MotionSamples, cutoff: float = 10.0, as_given: bool = False
) -> Conventions:
    """Return what the numbers of a recording are; `as_given`: the base is mounted so.

    Raises:
        ArmError: too short, not sampled often enough, or no joint moves.
    """
    if len(samples.q) and not np.ptp(samples.q, axis=0).any():
        raise ArmError('no joint moves, so that nothing shows what the numbers are')
    states = _states(samples, cutoff)
    chosen, changed, hidden = _positions(model, states)
    score, unit, factor = _best(model, chosen), '', np.ones(model.nv)
    for name in _OF_ALL if _may_be_better(model, score) else ():
        other = np.where(model.prismatic, 1.0, _UNITS[False][name])
        read = _positions(model, _times(states, other))
        if score - _best(model, read[0]) > _ELSEWHERE:
            (chosen, changed, hidden), unit, factor = read, name, other
            break
    fits = (_fit(model, chosen, gravity) for gravity in (1.0, 0.0))
    if not unit and min(fits, key=attrgetter('score')).left.max() > _UNEXPLAINED:
        mixed = _positions(model, states, units=True)
        if _best(model, chosen) - _best(model, mixed[0]) > _ELSEWHERE:
            chosen, changed, hidden = mixed
    if not as_given and (mounted := _mounted(model, states, _best(model, chosen))):
        found = conventions(
            with_error(model, ModelError(gravity=mounted)), samples, cutoff, as_given=True
        )
        return replace(found, mounted=mounted)
    whole, without = (_loaded_fit(model, chosen, g) for g in (1.0, 0.0))
    gain = whole.score - without.score  # of the reading without gravity
    pull = _pull(model, chosen)
    if not pull.any():
        gravity = 'none'
    elif abs(gain) < _DOUBTFUL:
        gravity = 'ambiguous'
    else:
        gravity = 'missing' if gain > 0.0 else 'included'
    weightless = bool(gain > 0.0 and pull.any())
    best = without if weightless else whole
    idle = np.ptp(chosen.q, axis=0) < _STILL
    range_of = np.ptp(best.torques, axis=0)
    idle &= range_of < _TINY * range_of.max()
    shown = (best.gain > _GAIN) & ~idle
    by_friction = ~shown & ~idle & (best.of_friction > _GAIN)
    signs = np.where(shown, np.sign(best.scales), 0.0)
    signs = np.where(by_friction, np.sign(best.friction), signs)
    bare = _fit(model, chosen, 0.0 if weightless else 1.0)  # without a mass at the tool
    scales = np.where((bare.gain > _GAIN) & ~idle, np.abs(bare.scales), np.nan)
    size = scales[np.isfinite(scales)]
    usual = float(np.median(size)) if len(size) else np.nan
    newtons = not len(size) or _NEWTONS[0] < usual < _NEWTONS[1]
    several = len(size) >= _SEVERAL and shown.any()
    loaded = float(np.median(np.abs(best.scales[shown]))) if several else 1.0
    far = max(usual, loaded) < _HALVES[0] or min(usual, loaded) > _HALVES[1]
    multiple = usual if newtons and far else 1.0
    sizes = (scales, usual), (np.where(shown, np.abs(best.scales), np.nan), loaded)
    whole_torques = _torques(model, chosen, 1.0)
    strange = of_another_scale(
        chosen.tau, pull, whole_torques, weightless, model.effort_limit, sizes
    )
    piece = smooth_piece(samples, cutoff)
    smooth = States(*piece.states, piece.torque(piece.times), states.order)
    smooth = _times(smooth, factor)
    for alike in changed:
        smooth = _read_as(smooth, alike[0], model.joint_names)
    of_model = _torques(model, smooth, 0.0 if weightless else 1.0)
    return Conventions(
        gravity, abs(gain), signs, scales, strange, newtons, multiple, unit, changed, hidden,
        clipped(best.torques, chosen.v, chosen.a, chosen.tau), bare.left,
        effort_rest(piece, of_model, smooth.v, smooth.a, smooth.order),
    )  # fmt: skip


def _mounted(model: RobotModel, states: States, score: float) -> tuple[float, ...]:
    """Return another gravity than the model's that leaves less than any reading; else ().

    Along one way, as of a single goal, friction looks like weight.
    """
    spread = np.linalg.svd(states.q - states.q.mean(axis=0), compute_uv=False)
    ways = int((spread > _SPREAD * spread[0]).sum())
    if ways < min(_WAYS, model.nv) or not (model.gravity.any() and _may_be_better(model, score)):
        return ()
    rest = _torques(model, states, 0.0)
    gravity, own = other_gravity(model, states.q, rest, lambda x: log_left(x, states))
    return tuple(gravity.tolist()) if score - own > _ELSEWHERE else ()


def _states(samples: MotionSamples, cutoff: float) -> States:
    """Return states and efforts at some times of the longest piece."""
    piece = samples.part(samples.pieces(cutoff)[0])
    span = float(np.ptp(piece.times))
    own = cutoff / 2.0 if span > 20.0 * CUT_OFF_ENDS / cutoff else cutoff
    spline, torque = curves(piece, own)
    lost = CUT_OFF_ENDS / cutoff
    times = np.linspace(piece.times[0] + lost, piece.times[-1] - lost, _STATES)
    order = np.arange(samples.q.shape[1])
    return States(spline(times), spline(times, 1), spline(times, 2), torque(times), order)


def _times(states: States, factor: Array) -> States:
    """Return states with positions in another unit."""
    return replace(states, **{x: getattr(states, x) * factor for x in 'qva'})


def _positions(
    model: RobotModel, states: States, units: bool = False
) -> tuple[States, tuple[tuple[Reading, ...], ...], tuple[str, ...]]:
    """Return the states read as the model has them, and the last two of `Conventions`' positions.

    A change is one that leaves least; it comes with those that leave as much, which symmetric arms
    have: reversed about its plane of symmetry, an arm is the same arm. `units`: each joint may
    have a unit of its own.
    """
    changed: list[tuple[Reading, ...]] = []
    score = _best(model, states)
    while True:
        others = _others(model, states, units, score)
        found = [(_best(model, other), what, other) for what, other in others]
        best = min(value for value, *_ in found)
        if score - best < _ELSEWHERE or len(changed) == model.nv:
            break
        alike = [each for each in found if each[0] - best < _DOUBTFUL]
        changed.append(tuple(what for _, what, _ in alike))
        score, _, states = alike[0]
    hidden = [what.joints[0] for value, what, _ in found
              if what.kind == 'reversed' and value - score < _ELSEWHERE]  # fmt: skip
    return states, tuple(changed), tuple(hidden)


def _others(
    model: RobotModel, states: States, units: bool, score: float
) -> list[tuple[Reading, States]]:
    """Return the states in other readings of one or two joints' positions, and of the efforts.

    Where none can be better than `score`, only those of which `Conventions` says that they fit
    alike.
    """
    names = model.joint_names
    readings = [Reading('reversed', (name,)) for name in names]
    if not _may_be_better(model, score):
        return [(each, _read_as(states, each, names)) for each in readings]
    for j in np.flatnonzero(~model.prismatic).tolist():
        readings += [Reading('turned', (names[j],), turn) for turn in _TURNS.tolist()]
    readings += [Reading('exchanged', pair) for pair in combinations(names, 2)]
    orders = {_order(model, states, gravity) for gravity in (1.0, 0.0)}
    readings += [Reading('order', tuple(names[k] for k in order)) for order in sorted(orders)]
    if units:
        pairs = zip(names, model.prismatic.tolist(), strict=True)
        readings += [Reading('unit', (x,), unit=u) for x, slides in pairs for u in _UNITS[slides]]
    return [(each, _read_as(states, each, names)) for each in readings]


def _read_as(states: States, reading: Reading, names: Sequence[str]) -> States:
    """Return the states in another reading."""
    joints, order = [names.index(x) for x in reading.joints], np.arange(len(names))
    first = order == joints[0]
    if reading.kind == 'reversed':
        return _times(states, np.where(first, -1.0, 1.0))
    if reading.kind == 'unit':
        factor = (_UNITS[False] | _UNITS[True])[reading.unit]
        return _times(states, np.where(first, factor, 1.0))
    if reading.kind == 'turned':
        return replace(states, q=states.q + reading.offset * first)
    if reading.kind == 'order':
        return replace(states, tau=states.tau[:, joints])
    order[joints] = joints[::-1]
    parts = {x: getattr(states, x)[:, order] for x in ('q', 'v', 'a', 'tau')}
    return replace(states, **parts, order=states.order[order])


def _order(model: RobotModel, states: States, gravity: float) -> tuple[int, ...]:
    """Return the column of the efforts that fits each joint best, each column once."""
    of_model, joints = _torques(model, states, gravity), range(model.nv)
    repeated = (replace(states, tau=states.tau[:, [k] * model.nv]) for k in joints)
    left = [shares_left(of_model, each) for each in repeated]
    return tuple(linear_sum_assignment(np.log(np.transpose(left)))[1].tolist())


def _best(model: RobotModel, states: States) -> float:
    whole = _torques(model, states, 1.0)
    return min(log_left(x, states) for x in (whole, whole - _pull(model, states)))


def _may_be_better(model: RobotModel, score: float) -> bool:
    return score - model.nv * np.log(LEAST_LEFT) >= _ELSEWHERE


def _pull(model: RobotModel, states: States) -> Array:
    return np.array([model.gravity_torque(q) for q in states.q])


def _torques(model: RobotModel, states: States, gravity: float) -> Array:
    """Return the torques (k, n) of the model, with or without those of gravity."""
    whole = model.torques_along(states.q, states.v, states.a)
    return whole if gravity else whole - _pull(model, states)


def _fit(model: RobotModel, states: States, gravity: float) -> Fit:
    """Return the regression with the given model, with or without gravity."""
    return regression(_torques(model, states, gravity), states)


def _loaded_fit(model: RobotModel, states: States, gravity: float) -> Fit:
    """Return the regression with the mass at the tool that leaves least."""
    of_model = _torques(model, states, gravity)
    unit = _torques(with_error(model, ModelError(payload=1.0)), states, gravity) - of_model

    def left(mass: float) -> float:
        return log_left(of_model + mass * unit, states)

    masses = _LOADS * sum(each.mass for each in model.pin_model.inertias[1:])
    best = int(np.argmin([left(mass) for mass in masses]))
    around = masses[max(best - 1, 0)], masses[min(best + 1, len(masses) - 1)]
    mass = float(minimize_scalar(left, bounds=around, method='bounded').x)
    return regression(of_model + (mass if left(mass) < left(0.0) else 0.0) * unit, states)
