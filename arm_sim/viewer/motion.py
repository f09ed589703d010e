"""What a film shows of a run: states, the tip's path, and how far it was from its reference."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel


class Pieces(NamedTuple):
    """A path as straight pieces.

    Attributes:
        start, end: (k, 3) [m].
        begun, ended: (k,) when they were drawn [s].
        level: (k,) number of the colour.
    """

    start: Array
    end: Array
    begun: Array
    ended: Array
    level: NDArray[np.int64]

    def until(self, t: float, tip: Array) -> 'Pieces':
        """Return what is drawn at a time [s], up to where the tip (3,) is then."""
        shown = self.begun < t
        end = np.where((self.ended > t)[:, np.newaxis], tip, self.end)
        begun, ended = self.begun[shown], self.ended[shown]
        return Pieces(self.start[shown], end[shown], begun, ended, self.level[shown])


@dataclass(frozen=True)
class Motion:
    """A run of an arm.

    Attributes:
        t: (m,) times, rising [s].
        q: (m, n) states.
        tip: (m, 3) the tool in the base frame [m].
        reference_t: (k,) when a reference is known, rising [s]; may be empty.
        reference_tip: (k, 3) where the tool should be [m].
        error: (k,) how far it was from there [m].
    """

    t: Array
    q: Array
    tip: Array
    reference_t: Array
    reference_tip: Array
    error: Array

    @classmethod
    def of(
        cls, model: RobotModel, t: Array, q: Array, told_t: Array, wanted: Array, were: Array
    ) -> 'Motion':
        """Return the motion of states, and of references with the states of the same moments.

        `told_t` (k,), `wanted` (k, n), `were` (k, n): of the references.
        """

        def tips(states: Array) -> Array:
            places = [model.forward_kinematics(each).translation for each in states]
            return np.array(places, dtype=float).reshape(-1, 3)

        reference = tips(wanted)
        error = np.linalg.norm(tips(were) - reference, axis=1)
        return cls(t, q, tips(q), told_t, reference, error)

    def between(self, start: float, end: float) -> 'Motion':
        """Return the part from start to end [s].

        Raises:
            ArmError: nothing lies there.
        """
        keep = (self.t >= start) & (self.t <= end)
        told = (self.reference_t >= start) & (self.reference_t <= end)
        if not keep.any():
            raise ArmError(
                f'from {start:g} s to {end:g} s there is no state; '
                f'there are states from {self.t[0]:g} s to {self.t[-1]:g} s'
            )
        return replace(
            self,
            t=self.t[keep],
            q=self.q[keep],
            tip=self.tip[keep],
            reference_t=self.reference_t[told],
            reference_tip=self.reference_tip[told],
            error=self.error[told],
        )

    def error_at(self, t: Array) -> Array:
        """Return the error [m] at times; nan where none is known."""
        if not len(self.reference_t):
            return np.full(np.shape(t), np.nan)
        return np.interp(t, self.reference_t, self.error)

    def at(self, t: float) -> tuple[Array, Array]:
        """Return the state (n,) and the tip (3,) at a time."""
        q, tip = (
            np.array([np.interp(t, self.t, column) for column in each.T])
            for each in (self.q, self.tip)
        )
        return q, tip


def pieces(t: Array, path: Array, level: NDArray[np.int64], width: float) -> Pieces:
    """Return a path (m, 3), at times t (m,) in colours `level` (m,), in as few pieces as it needs.

    They are nowhere further from it than a quarter of `width` [m]. A step of more than fifty
    widths is a reset, and nothing that was drawn.
    """
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    moved = np.concatenate([[0.0], np.cumsum(steps)])
    if not len(path):
        return Pieces(path, path, t, t, level)
    # Points that are nearer to each other than a width are one.
    keep = np.unique(np.searchsorted(moved, np.arange(0.0, moved[-1], width)))
    rows = [int(row) for row in [*keep, len(path) - 1]]
    ends: list[tuple[int, int]] = []
    for begin, end in pairwise(rows):
        if end == begin or np.linalg.norm(path[end] - path[begin]) > 50 * width:
            continue
        if ends and _goes_on(path, level, ends[-1], begin, end, width):
            ends[-1] = ends[-1][0], end
        else:
            ends.append((begin, end))
    first, last = np.array(ends, dtype=np.int64).reshape(-1, 2).T
    return Pieces(path[first], path[last], t[first], t[last], level[last])


def _goes_on(
    path: Array,
    level: NDArray[np.int64],
    piece: tuple[int, int],
    begin: int,
    end: int,
    width: float,
) -> bool:
    """Whether a piece may be made longer, to row `end`."""
    first, last = piece
    if last != begin or level[last] != level[end]:
        return False
    chord = path[end] - path[first]
    size = float(np.linalg.norm(chord))
    if size < width:
        return False
    between = path[first : end + 1 : max(1, (end - first) // 20)] - path[first]
    along = between @ chord / size
    across = np.linalg.norm(between - along[:, np.newaxis] * chord / size, axis=1)
    return bool(
        across.max() < 0.25 * width and along.min() > -width and along.max() < size + width
    )
