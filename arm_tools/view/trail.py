"""The path of a tip, as straight segments in the colours of its error."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_tools.view.error_scale import ErrorScale

CAPACITY = 6000  # segments
PLAIN = (0.85, 0.2, 0.1)  # colour where no error is known: red, green, blue
_SHORTEST = 0.001  # length of a segment [m]
_JUMP = 0.25  # a longer step is a reset and is not drawn [m]


class Segments(NamedTuple):
    """A path as straight segments.

    Attributes:
        points: (k, 2, 3) start and end of each [m].
        colours: (k, 2, 3) red, green and blue, 0 to 255.
    """

    points: NDArray[np.float32]
    colours: NDArray[np.uint8]


class Trail:
    """The newest segments of a tip's path.

    Attributes:
        scale: the colours of errors; None where no error is known.
    """

    def __init__(self) -> None:
        """Begin with an empty path."""
        self.clear()

    def clear(self) -> None:
        """Remove the path."""
        self._points = np.zeros((CAPACITY, 2, 3), dtype=np.float32)
        self._errors = np.full(CAPACITY, np.nan)
        self._count, self._end = 0, np.full(3, np.nan)
        self._changed = True
        self.scale: ErrorScale | None = None

    def add(self, tip: Array, error: float = float('nan')) -> tuple[Array, Array] | None:
        """Continue the path to a tip (3,) [m], whose error is in [m], nan if unknown.

        Returns:
            Start and end of the new segment; None: the tip is still near the last one, or too far.
        """
        start, length = self._end, float(np.linalg.norm(tip - self._end))
        if length < _SHORTEST:
            return None
        self._end = np.array(tip)
        if not length < _JUMP:  # nan: the first point
            return None
        row = self._count % CAPACITY  # the oldest segment is replaced
        self._points[row] = start, tip
        self._errors[row] = error
        self._count += 1
        self._changed = True
        return start, self._end

    def changes(self) -> Segments | None:
        """Return the whole path; None: it has not changed since the last call."""
        if not self._changed:
            return None
        self._changed = False
        kept = min(self._count, CAPACITY)
        errors = self._errors[:kept]
        colours = np.tile(np.array(PLAIN), (kept, 1))
        known = np.isfinite(errors)
        self.scale = ErrorScale(errors[known]) if known.any() else None
        if self.scale is not None:
            colours[known] = self.scale.palette[self.scale.levels(errors[known]), :3]
        rgb = np.round(255 * colours).astype(np.uint8)
        return Segments(self._points[:kept].copy(), np.repeat(rgb[:, np.newaxis], 2, axis=1))
