"""Recorded positions: in radians, unless they can hardly be, and without jumps of a turn."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError, Array

_TURNS = 6.0 * np.pi  # largest position that is taken as radians: three turns
_FEW = 0.1  # share of states below which they are counted
_NEAR = 0.5  # of a turn, a jump from state to state that is one; and larger than any motion [rad]


def in_radians(
    q: Array, joint_names: Sequence[str], prismatic: Array | NDArray[np.bool_], units: str
) -> Array:
    """Return positions (m, n) of a file in `units`; prismatic joints are in m.

    Args:
        q: as recorded.
        joint_names: of the joints.
        prismatic: (n,) whether each is prismatic.
        units: 'rad', 'deg', or 'auto': rad, unless they can hardly be.

    Raises:
        ArmError: positions that can hardly be in radians.
    """
    if units == 'deg':
        return np.where(prismatic, q, np.radians(q))
    largest = np.where(prismatic, 0.0, np.abs(q).max(axis=0, initial=0.0))
    if units == 'auto' and largest.max() > _TURNS:
        i = int(largest.argmax())
        beyond = int((np.abs(q[:, i]) > _TURNS).sum())
        few = f' in {beyond} of {len(q)} states' if beyond < _FEW * len(q) else ''
        others = np.delete(largest, i).max(initial=0.0)
        few += ', and no other beyond pi, as if its unit were another' * bool(0.0 < others < np.pi)
        unlikely = (
            'neither radians nor degrees reach so far: convert counts of an encoder, remove what '
            'stands for a missing number; --units rad or deg reads the file so'
            if largest[i] > np.degrees(_TURNS)
            else f'radians beyond {_TURNS:.3g} are unlikely: --units deg reads the file in '
            'degrees, --units rad in radians'
        )
        raise ArmError(
            f'joint {joint_names[i]!r}: its recorded position reaches {largest[i]:g}{few}; '
            f'{unlikely}'
        )
    return q


def unwrapped(
    q: Array, joint_names: Sequence[str], prismatic: Array | NDArray[np.bool_]
) -> tuple[Array, list[str]]:
    """Return positions (m, n) [rad | m] without jumps of a turn, and a line on those there were.

    A joint whose steps are all small but for these turned on where its encoder began again.
    """
    steps = np.diff(q, axis=0)
    turns = np.where(prismatic, 0.0, np.rint(steps / (2.0 * np.pi)))
    turns[:, (np.abs(steps - 2.0 * np.pi * turns) > _NEAR).any(axis=0)] = 0.0
    if not turns.any():
        return q, []
    named = ', '.join(joint_names[i] for i in np.flatnonzero(turns.any(axis=0)).tolist())
    line = f'positions: {named}: {int((turns != 0.0).sum())} jumps of a turn, read as going on'
    whole = q.copy()
    whole[1:] -= 2.0 * np.pi * np.cumsum(turns, axis=0)
    return whole, [line]
