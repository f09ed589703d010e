"""States of a recording that were not measured when they say: left out, with a line on each kind.

Drivers repeat a state until the next one comes, send zeros for what they have not read, and go on
after an encoder was set to zero.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError, Array
from arm_lab.identification.signals import MotionSamples
from arm_tools.inspection.clipped_efforts import runs
from arm_tools.readers.findings import Doubt

_SPIKE = 10.0  # a jump over the usual steps
_LEAST = 0.02  # and a jump at least [rad | m]
_ACCELERATION = 300.0  # that no arm has; a jump that stays has more [rad/s^2 | m/s^2]
_REGULAR = 0.8  # share of the repetitions that are equally long
_LARGE = 0.5  # of the usual effort: one that does not become 0 from state to state
_NEAR_ZERO = 0.02  # of the largest effort
_TOUCHES = 3  # times that an effort without a sign is so near zero
_BEYOND = 10.0  # times the usual largest effort: no effort
_FEW = 0.01  # share of the states that are beyond the usual largest effort
# A joint that has moved by this share of its range in this time [s] has another effort.
_MOVED = 0.02
_LONG = 0.3
_LEVELS = 100  # values of an effort in coarse steps, or fewer
_REPEATED = 0.3  # and share of its states that repeat the one before


def measured_states_of(
    samples: MotionSamples, names: Sequence[str]
) -> tuple[MotionSamples, list[str]]:
    """Return the samples that were measured, and lines on the others.

    Args:
        samples: with positions without jumps of a turn [rad | m].
        names: of the joints.

    Raises:
        ArmError: efforts without a sign.
    """
    lines: list[str] = []
    if len(samples.times) < 2:
        return samples, lines
    steps = (_renewed, _continuous, _with_efforts, _moving_efforts, _usual_efforts, _in_one_frame)
    for step in (*steps, _signed):
        samples, said = step(samples, np.array(names))
        lines += [Doubt(line) for line in said]
    return samples, lines


def _every(values: Array) -> int:
    """Return after how many states all columns (m, n) are new; 1: after each, or irregularly."""
    changed = np.diff(values, axis=0) != 0.0
    new = np.flatnonzero(changed.any(axis=1))
    if len(new) < 2 or changed[new].mean() < _LARGE:
        return 1
    gaps = np.diff(new)
    every = int(np.median(gaps))
    return every if np.mean(np.abs(gaps - every) <= 1) > _REGULAR else 1


def _renewed(samples: MotionSamples, _: Array) -> tuple[MotionSamples, list[str]]:
    """Leave out the states whose positions repeat those before them."""
    lines = []
    if (every := _every(samples.effort)) > 1:
        lines = [f'efforts: new in about one of {every} states, and repeated in the others']
    if (every := _every(samples.q)) == 1:
        return samples, lines
    new = np.append(True, (np.diff(samples.q, axis=0) != 0.0).any(axis=1))
    line = f'positions: new in about one of {every} states; the others repeat them, not read'
    return samples.part(np.flatnonzero(new)), [line]


def _jumps(q: Array) -> NDArray[np.bool_]:
    """Return which steps (m - 1, n) between positions are none of a motion."""
    steps = np.abs(np.diff(q, axis=0))
    return steps > np.maximum(_SPIKE * np.quantile(steps, 0.9, axis=0), _LEAST)


def spikes(q: Array) -> NDArray[np.bool_]:
    """Return which positions (m, n) leave those around them for one state alone."""
    steps, found = np.diff(q, axis=0), np.zeros(q.shape, dtype=bool)
    if len(steps) > 2:
        jumps = _jumps(q)
        found[1:-1] = jumps[:-1] & jumps[1:] & (steps[:-1] * steps[1:] < 0.0)
    return found


def _continuous(samples: MotionSamples, names: Array) -> tuple[MotionSamples, list[str]]:
    """Leave out positions of their own, and those that stand still up to a jump."""
    q = samples.q
    found = spikes(q)
    lines, wrong = [], found.any(axis=1)
    if wrong.any():
        joints = ', '.join(names[found.any(axis=0)])
        lines = [f'positions: {joints} jump there and back in {wrong.sum()} of {len(q)} states']
    still = np.zeros(len(q), dtype=bool)
    jumps = _jumps(q) if len(q) > 2 else np.zeros((0, q.shape[1]), dtype=bool)
    held = []
    for name, same, far in zip(names, (np.diff(q, axis=0) == 0.0).T, jumps.T, strict=True):
        for first, last in runs(same).T:
            if (last < len(far) and far[last]) or (first > 0 and far[first - 1]):
                still[first : last + 1] = True
                held.append(name)
    if still.any():
        joints = ', '.join(dict.fromkeys(held))
        lines.append(
            f'positions: {joints} stand still up to a jump in {still.sum()} of {len(q)} states'
        )
    return samples.part(np.flatnonzero(~wrong & ~still)), [f'{x}, not read' for x in lines]


def _with_efforts(samples: MotionSamples, _: Array) -> tuple[MotionSamples, list[str]]:
    """Leave out the states whose efforts are all zero, where those around them are large."""
    effort = samples.effort[:, np.ptp(samples.effort, axis=0) > 0.0]
    none = (effort == 0.0).all(axis=1)
    if not effort.size or not none.any():
        return samples, []
    usual = np.sqrt((effort[~none] ** 2).mean(axis=0))
    large = np.concatenate([[True], (np.abs(effort) > _LARGE * usual).any(axis=1), [True]])
    sudden = [large[first] and large[last + 1] for first, last in runs(none).T]
    if np.mean(sudden) < _LARGE:
        return samples, []
    line = f'efforts: all are 0 between large ones in {none.sum()} of {len(none)} states, not read'
    return samples.part(np.flatnonzero(~none)), [line]


def in_coarse_steps(efforts: Array) -> NDArray[np.bool_]:
    """Return whether efforts (m, n) of a joint have so few values that they often repeat (n,)."""
    few = np.array([1 < len(np.unique(each)) < _LEVELS for each in efforts.T])
    return few & ((np.diff(efforts, axis=0) == 0.0).mean(axis=0) > _REPEATED)


def _moving_efforts(samples: MotionSamples, names: Array) -> tuple[MotionSamples, list[str]]:
    """Leave out the states in which a joint moves, and its effort alone stands still."""
    q, effort, times = samples.q, samples.effort, samples.times
    lost, found = np.zeros(len(q), dtype=bool), []
    moving = (np.ptp(effort, axis=0) > 0.0) & ~in_coarse_steps(effort)
    for j in np.flatnonzero(moving).tolist():
        own = np.zeros(len(q), dtype=bool)
        same = np.diff(effort[:, j]) == 0.0
        ends = np.isin(effort[:, j], (effort[:, j].min(), effort[:, j].max()))  # of a clipped one
        for first, last in runs(same).T:
            part = slice(first, last + 1)
            others = (np.diff(np.delete(effort[part], j, axis=1), axis=0) != 0.0).any(axis=1)
            long = times[last] - times[first] > _LONG and others.mean() > _REGULAR
            if long and not ends[first] and np.ptp(q[part, j]) > _MOVED * np.ptp(q[:, j]):
                own[part] = True
        if own.any() and np.mean(own) < _LARGE:
            lost |= own
            found.append((names[j], str(own.sum())))
    if not found:
        return samples, []
    joints, counts = map(', '.join, zip(*found, strict=True))
    line = f'efforts: {joints}: the same in {counts} of {len(q)} states while it moves, not read'
    return samples.part(np.flatnonzero(~lost)), [line]


def _usual_efforts(samples: MotionSamples, names: Array) -> tuple[MotionSamples, list[str]]:
    """Leave out the few states in which an effort is many times as large as usual."""
    size = np.abs(samples.effort)
    usual = np.quantile(size, 1.0 - _FEW, axis=0) if len(size) else np.zeros(len(names))
    wrong = (size > _BEYOND * usual) & (usual > 0.0)
    of_joints = zip(names, size.max(axis=0, initial=0.0), wrong.sum(axis=0), strict=True)
    found = [(name, f'{most:.3g}', str(count)) for name, most, count in of_joints if count]
    if not found:
        return samples, []
    joints, most, counts = map(', '.join, zip(*found, strict=True))
    line = f'efforts: {joints}: up to {most} in {counts} of {len(size)} states, over '
    part = samples.part(np.flatnonzero(~wrong.any(axis=1)))
    return part, [f'{line}{_BEYOND:.0f} times all others, not read']


def _in_one_frame(samples: MotionSamples, names: Array) -> tuple[MotionSamples, list[str]]:
    """Leave out what is before or after a jump that stays, whichever is shorter."""
    times, q = samples.times, samples.q
    if len(times) < 3:
        return samples, []
    dt = np.diff(times)
    alike = (dt > 0.0) & (dt < 2.5 * np.median(np.abs(dt)))
    far = np.abs(np.diff(q, axis=0)) > _ACCELERATION * dt[:, np.newaxis] ** 2
    jumps = _jumps(q) & far & alike[:, np.newaxis]
    if not jumps.any():
        return samples, []
    cuts = np.flatnonzero(jumps.any(axis=1)) + 1
    part = max(np.split(np.arange(len(q)), cuts), key=len)
    joints = ', '.join(names[jumps.any(axis=0)])
    return samples.part(part), [
        f'positions: {joints} jump and stay (was a zero set?): read from {times[part[0]]:.10g} to '
        f'{times[part[-1]]:.10g} s alone'
    ]


def _signed(samples: MotionSamples, names: Array) -> tuple[MotionSamples, list[str]]:
    """Set efforts to zero that are magnitudes: never of one sign, and often near zero."""
    size, top = np.abs(samples.effort), np.abs(samples.effort).max(axis=0, initial=0.0)
    one_sign = (samples.effort >= 0.0).all(axis=0) | (samples.effort <= 0.0).all(axis=0)
    touches = [len(runs(x).T) for x in (size < _NEAR_ZERO * top).T]
    bare = one_sign & (top > 0.0) & (np.array(touches) >= _TOUCHES)
    if not bare.any():
        return samples, []
    what = f'efforts: {", ".join(names[bare])}: magnitudes without a sign'
    if bare.all():
        raise ArmError(f'{what}; record efforts with a sign, as of the measured current')
    effort = np.where(bare, 0.0, samples.effort)
    return MotionSamples(samples.times, samples.q, effort), [f'{what}, not read']
