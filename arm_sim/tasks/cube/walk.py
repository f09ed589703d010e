"""The cube and a walk along it: corners, strokes, straight edges in time."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arm_dynamics.checks import Array
from arm_dynamics.parameters import Parameters, parameter

# Corners 0-3 at the bottom: (-,-), (+,-), (+,+), (-,+) in (x, y); 4-7 above them.
_SIGNS = np.array(
    [(x, y, z) for z in (-1, 1) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))], dtype=float
)

# The published walk: 12 strokes, but a cube has eight corners of odd degree, so that 12 strokes
# cover at most 10 of its 12 edges. Ours covers all of them in 15.
WALKS = {
    'edges': (0, 1, 2, 3, 0, 4, 5, 1, 5, 6, 2, 6, 7, 3, 7, 4),
    'published': (0, 1, 2, 3, 0, 4, 5, 1, 6, 2, 7, 3, 4),
}


@dataclass(frozen=True)
class CubeWalk(Parameters):
    """A cube and a walk along it."""

    path: str = parameter(
        'edges',
        "path of the tip: 'edges' (all twelve, straight) or 'published' (joint-space strokes)",
        one_of=tuple(WALKS),
    )
    center: tuple[float, ...] = parameter(
        (0.3, 0.2, 0.55), 'centre of the cube [m], base frame', length=3
    )
    side: float = parameter(0.1, 'edge length of the cube [m]', min=0.001, max=10)
    edge_time: float = parameter(2.0, 'duration of a stroke [s]', min=0.05, max=1000)

    @property
    def walk(self) -> tuple[int, ...]:
        """The corners in the order of the walk."""
        return WALKS[self.path]

    @property
    def strokes(self) -> int:
        """How many strokes the walk has."""
        return len(self.walk) - 1

    @property
    def duration(self) -> float:
        """Time of the whole walk [s]."""
        return self.strokes * self.edge_time

    @property
    def corners(self) -> Array:
        """The eight corners (8, 3) [m]."""
        return np.array(self.center) + 0.5 * self.side * _SIGNS

    @property
    def waypoints(self) -> Array:
        """The corners along the walk (strokes + 1, 3) [m]."""
        return self.corners[list(self.walk)]

    def sample_times(self, period: float) -> Array:
        """Return times (m,) [s], at most `period` apart, that hold the instant of every corner."""
        per_stroke = int(np.ceil(self.edge_time / period - 1e-9))
        samples = np.arange(self.strokes * per_stroke + 1, dtype=np.float64)
        return samples * float(self.edge_time / per_stroke)

    def strokes_at(self, t: ArrayLike) -> NDArray[np.intp]:
        """Return the stroke (k,) that is being drawn at times t (k,) [s] since the start."""
        return np.clip((np.asarray(t) / self.edge_time).astype(int), 0, self.strokes - 1)

    def distance_from_strokes(self, t: ArrayLike, positions: Array) -> Array:
        """Return how far positions (k, 3) are from the straight stroke of their time (k,) [m]."""
        stroke = self.strokes_at(t)
        start = self.waypoints[stroke]
        line = self.waypoints[stroke + 1] - start
        offset = positions - start
        along = np.einsum('ij,ij->i', offset, line) / np.einsum('ij,ij->i', line, line)
        return np.linalg.norm(offset - np.clip(along, 0.0, 1.0)[:, np.newaxis] * line, axis=1)
