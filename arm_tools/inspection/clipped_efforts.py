"""Efforts that stay at their limit: named, and not used to identify an arm."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_lab.identification.signals import MotionSamples
from arm_tools.readers.findings import Doubt

_CLIPPED, _LEVELS = 0.01, 200  # share of states at the largest effort; values of one that is fine
_AT_LIMIT, _FLAT = 'at their limit', 'flat at one end'


def at_limit(samples: MotionSamples, names: Array) -> tuple[MotionSamples, list[str]]:
    """Return the samples, and a line on efforts that stay at their largest or least value."""
    found = []
    for name, values in zip(names, samples.effort.T, strict=True):
        ends = (values == values.max(initial=-np.inf)) | (values == values.min(initial=np.inf))
        at_end = sum(last - first for first, last in runs(ends).T if last - first > 2)
        if at_end > _CLIPPED * len(values) and len(np.unique(values)) > _LEVELS:
            end = max(values.max(), values.min(), key=lambda x: (values == x).sum())
            found.append((name, f'{abs(end):.4g}', f'{at_end / len(values):.0%}'))
    if not found:
        return samples, []
    joints, most, shares = map(', '.join, zip(*found, strict=True))
    line = f'efforts: {joints}: {_AT_LIMIT} {most} in {shares} of the states'
    return samples, [f'{line}; record a slower motion']


def flat_ends(
    are_flat: NDArray[np.bool_], names: Sequence[str], lines: Sequence[str]
) -> list[Doubt]:
    """Return a line on efforts with a flat end, of joints (n,) that none of the lines has."""
    known = clipped(names, lines)
    joints = ', '.join(names[i] for i in np.flatnonzero(are_flat).tolist() if i not in known)
    line = f"efforts: {joints}: {_FLAT}, where the model's grow: were they clipped? "
    return [Doubt(f'{line}Record a slower motion')] if joints else []


def clipped(names: Sequence[str], lines: Sequence[str]) -> dict[int, str]:
    """Return by a joint's index that these lines have its efforts as clipped."""
    parts = [x.split(': ', 2) for x in lines if x.startswith('efforts: ') and x.count(': ') > 1]
    of_ends = [of for _, of, what in parts if what.startswith((_FLAT, _AT_LIMIT))]
    found = {name for of in of_ends for name in of.split(', ')}
    return {
        i: f'joint {name!r}: its efforts are clipped: record a slower motion'
        for i, name in enumerate(names)
        if name in found
    }


def runs(mask: NDArray[np.bool_]) -> Array:
    """Return the first index (k,) of each run of true values, and the first after it (k,)."""
    edges = np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))
    return np.array([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)])
