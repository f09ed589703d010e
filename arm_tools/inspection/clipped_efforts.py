"""Efforts that were clipped: named, and not used to identify an arm."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_lab.identification.signals import MotionSamples
from arm_tools.readers.findings import Doubt

_CLIPPED = 0.01  # share of the states at the largest effort, or at the least
_LEVELS = 200  # values of an effort that is recorded finely enough to say so


def efforts_at_limit(
    samples: MotionSamples, names: Sequence[str]
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return whether efforts (n,) stay at their largest or least value, and a line on them."""
    are_clipped = np.zeros(len(names), dtype=bool)
    rows = []
    for j, (name, values) in enumerate(zip(names, samples.effort.T, strict=True)):
        ends = (values == values.max(initial=-np.inf)) | (values == values.min(initial=np.inf))
        at_end = sum(last - first for first, last in runs(ends).T if last - first > 2)
        if at_end > _CLIPPED * len(values) and len(np.unique(values)) > _LEVELS:
            are_clipped[j] = True
            end = max(values.max(), values.min(), key=lambda x: (values == x).sum())
            rows.append((name, f'{abs(end):.4g}', f'{at_end / len(values):.0%}'))
    if not rows:
        return are_clipped, []
    joints, limits, shares = map(', '.join, zip(*rows, strict=True))
    line = f'efforts: {joints}: at their limit {limits} in {shares} of the states'
    return are_clipped, [Doubt(f'{line}; record a slower motion')]


def flat_ends(are_flat: NDArray[np.bool_], names: Sequence[str]) -> list[str]:
    """Return a line on joints (n,) whose efforts have a flat end."""
    joints = ', '.join(name for name, flat in zip(names, are_flat, strict=True) if flat)
    line = f"efforts: {joints}: flat at one end, where the model's grow: were they clipped? "
    return [Doubt(f'{line}Record a slower motion')] if joints else []


def why_clipped(are_clipped: NDArray[np.bool_], names: Sequence[str]) -> dict[int, str]:
    """Return by a joint's index why its efforts are not used."""
    return {
        i: f'joint {names[i]!r}: its efforts are clipped: record a slower motion'
        for i in np.flatnonzero(are_clipped).tolist()
    }


def runs(mask: NDArray[np.bool_]) -> Array:
    """Return the first index (k,) of each run of true values, and the first after it (k,)."""
    edges = np.diff(np.concatenate([[0], mask.astype(np.int8), [0]]))
    return np.array([np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)])
