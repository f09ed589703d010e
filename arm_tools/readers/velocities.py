"""Recorded velocities compared with those of the positions: late ones are filtered."""

from collections.abc import Sequence

import numpy as np

from arm_dynamics.checks import Array
from arm_tools.readers.findings import Doubt, OtherUnit

_MOST = 40  # states by which velocities may be late
_LEAST = 200  # states from which on a delay is looked for
_NOTHING = 0.2  # of a period: less is no delay
_FITS = 0.5  # share of the variance; what leaves more is no velocity of these positions
_OTHER = 0.8  # correlation with its own joint below which a velocity is another's
_ALIKE = 0.95  # correlation from which on velocities differ by their unit alone
# What such velocities are over those of the positions, and why.
_UNITS = {
    2.0 * np.pi: ': the positions are probably turns, convert them to rad',
    np.pi / 180.0: ': the positions are probably degrees, --units deg reads them',
}


def lines_on_velocities(times: Array, q: Array, v: Array, names: Sequence[str]) -> list[str]:
    """Return a line on velocities (m, n) recorded with positions at times (m,) [s]."""
    recorded = np.isfinite(v).any(axis=0)
    q, v = q[:, recorded], v[:, recorded]
    joints = [name for name, has in zip(names, recorded, strict=True) if has]
    whole = np.isfinite(np.hstack([q, v])).all(axis=1) & (np.diff(times, prepend=-np.inf) > 0.0)
    times, q, v = times[whole], q[whole], v[whole]
    if len(times) < max(_LEAST, 4 * _MOST) or not v.any():
        return [
            'velocities: all are 0; not used'
            if v.size and not v.any()
            else 'velocities: not recorded'
        ]
    wanted = np.gradient(q, times, axis=0)
    if under := _exchanged(wanted, v, joints):
        return [Doubt(f'velocities: {under}; not used')]
    end = len(times) - _MOST
    moved = wanted[:end] / np.maximum(wanted.std(axis=0), 1e-9)
    given = v / np.maximum(wanted.std(axis=0), 1e-9)
    errors = np.array([((given[k : k + end] - moved) ** 2).sum() for k in range(_MOST)])
    best = int(np.argmin(errors))
    if errors[best] > _FITS * (moved**2).sum():
        return [_of_another_unit(wanted, v)]
    k = int(np.clip(best, 1, _MOST - 2))
    before, middle, after = errors[k - 1 : k + 2]
    curve = before - 2.0 * middle + after
    late = k + (0.5 * (before - after) / curve if best and curve > 0.0 else float(best - k))
    period = float(np.median(np.diff(times)))
    if late < _NOTHING:
        return ['velocities: those of the positions']
    what = f'about {1e3 * late * period:.1f} ms behind the derivative of the positions'
    return [f'velocities: the recorded ones are filtered, {what}; not used']


def _exchanged(wanted: Array, v: Array, names: Sequence[str]) -> str:
    """Return which velocities (m, n) are those of another joint; '' where each is its own."""
    size = np.linalg.norm(wanted, axis=0), np.linalg.norm(v, axis=0)
    like = wanted.T @ v / np.maximum(np.outer(*size), 1e-9)
    theirs = like.argmax(axis=0)
    other = (like.max(axis=0) > _ALIKE) & (np.diagonal(like) < _OTHER)
    said = ', '.join(
        f'under {names[k]} is that of {names[int(theirs[k])]}'
        for k in np.flatnonzero(other).tolist()
    )
    return said and f'{said}, by their positions: joints are exchanged in one of them'


def _of_another_unit(wanted: Array, v: Array) -> str:
    """Return a line on velocities (m, n) that are not those of the positions."""
    product, squares = float((v * wanted).sum()), float((wanted**2).sum())
    if product**2 < _ALIKE**2 * squares * float((v**2).sum()):
        return 'velocities: the recorded ones are not those of the positions; not used'
    times = product / squares
    line = f'velocities: {times:.4g} times those of the positions, not used'
    why = (x for of, x in _UNITS.items() if np.isclose(times, of, rtol=0.05))
    return next((OtherUnit(line + x) for x in why), Doubt(line))
