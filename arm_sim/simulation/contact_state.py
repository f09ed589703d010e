"""What the links of a simulated arm touch, as an engine knows it; here they touch nothing."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import Array


class ContactPoint(NamedTuple):
    """Two shapes that touch.

    Attributes:
        shapes: names of the two shapes.
        position: (3,) of the contact in the base frame [m].
        normal: (3,) from the first shape to the second one.
        force: (3,) on the second shape in the base frame [N].
        penetration: of the shapes [m].
    """

    shapes: tuple[str, ...]
    position: Array
    normal: Array
    force: Array
    penetration: float


class ContactState:
    """The contacts of one arm or of many arms; `arms` are the leading axes."""

    def __init__(self, arms: tuple[int, ...] = ()):
        self._arms = arms

    def facts(self) -> Array:
        """Return what the links touched in the last integration step (..., 3).

        The deepest penetration [mm], the sum of the forces of all contact points [N], and the
        largest slip of a loaded point [mm/s]; nan: the links touch nothing.
        """
        return np.full((*self._arms, 3), np.nan)

    def touched(self, links: Sequence[str]) -> Array:
        """Return which of these links (k,) bool touch something."""
        return np.zeros(len(links), dtype=bool)

    def points(self) -> list[ContactPoint]:
        """Return the contacts with the forces of the last integration step."""
        return []
