"""The path that a tip has drawn, in colours of its error."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_sim.viewer.caption import ErrorScale

MOST = 6000  # pieces that are kept
_PIECE = 0.001  # a piece is no shorter [m]
_JUMP = 0.25  # a longer step is a reset, and nothing that was drawn [m]
_PLAIN = (0.85, 0.2, 0.1)  # where no error is known


class Pieces(NamedTuple):
    """A path as straight pieces.

    Attributes:
        points: (k, 2, 3) where each begins and ends [m].
        colours: (k, 2, 3) red, green and blue, 0 to 255.
    """

    points: NDArray[np.float32]
    colours: NDArray[np.uint8]


class Trail:
    """Takes where the tip is, time after time.

    Attributes:
        scale: the colours of errors; None where no error is known.
    """

    def __init__(self) -> None:
        """Begin with nothing drawn."""
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        self._points = np.zeros((MOST, 2, 3), dtype=np.float32)
        self._errors = np.full(MOST, np.nan)
        self._count, self._end = 0, np.full(3, np.nan)
        self._changed = True
        self.scale: ErrorScale | None = None

    def add(self, tip: Array, error: float) -> None:
        """Draw to a tip (3,) [m], whose error [m] is nan where no reference is known."""
        length = float(np.linalg.norm(tip - self._end))
        if length < _PIECE:
            return
        if length < _JUMP:
            place = self._count % MOST  # the oldest piece makes room
            self._points[place] = self._end, tip
            self._errors[place] = error
            self._count += 1
            self._changed = True
        self._end = np.array(tip)

    def news(self) -> Pieces | None:
        """Return the path, or None where it is as at the last time."""
        if not self._changed:
            return None
        self._changed = False
        kept = min(self._count, MOST)
        errors = self._errors[:kept]
        colours = np.tile(np.array(_PLAIN), (kept, 1))
        known = np.isfinite(errors)
        self.scale = ErrorScale(errors[known]) if known.any() else None
        if self.scale is not None:
            colours[known] = self.scale.palette[self.scale.levels(errors[known]), :3]
        bytes_of = np.round(255 * colours).astype(np.uint8)
        return Pieces(self._points[:kept].copy(), np.repeat(bytes_of[:, np.newaxis], 2, axis=1))
