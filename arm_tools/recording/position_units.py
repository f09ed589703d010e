"""The unit of recorded positions: radians, unless they can hardly be."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError, Array

_TURNS = 6.0 * np.pi  # largest position that is taken as radians: three turns


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
        raise ArmError(
            f'joint {joint_names[i]!r}: its recorded position reaches {largest[i]:g}; '
            f'radians beyond {_TURNS:.3g} are unlikely: --units deg reads the file in degrees, '
            '--units rad in radians'
        )
    return q
