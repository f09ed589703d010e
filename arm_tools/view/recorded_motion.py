"""The motion that a film shows: states, the tip's path, and the error from its reference."""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel

_LONGEST_STEP = 50  # widths; a longer step is a reset and is not drawn


class TimedSegments(NamedTuple):
    """A path as straight segments.

    Attributes:
        start, end: (k, 3) [m].
        begun, ended: (k,) times at which the tip was there [s].
        level: (k,) number of the colour.
    """

    start: Array
    end: Array
    begun: Array
    ended: Array
    level: NDArray[np.int64]

    def until(self, t: float, tip: Array) -> 'TimedSegments':
        """Return the part that is drawn at t [s], which ends at the tip (3,) of that time."""
        shown = self.begun < t
        end = np.where((self.ended > t)[:, np.newaxis], tip, self.end)
        begun, ended = self.begun[shown], self.ended[shown]
        return TimedSegments(self.start[shown], end[shown], begun, ended, self.level[shown])


@dataclass(frozen=True)
class RecordedMotion:
    """A recorded motion of an arm.

    Attributes:
        t: (m,) times, rising [s].
        q: (m, n) joint positions [rad | m].
        tip: (m, 3) the tool frame in the base frame [m].
        reference_t: (k,) times of references, rising [s]; may be empty.
        reference_tip: (k, 3) the tool frame of the reference [m].
        error: (k,) distance of the tool frame from its reference [m].
    """

    t: Array
    q: Array
    tip: Array
    reference_t: Array
    reference_tip: Array
    error: Array

    @classmethod
    def of(
        cls,
        model: RobotModel,
        t: Array,
        q: Array,
        reference_t: Array,
        reference_q: Array,
        measured_q: Array,
        exaggerate: float = 1.0,
    ) -> 'RecordedMotion':
        """Return the motion of states t (m,), q (m, n) and of a controller's reports.

        Args:
            model: the arm.
            t, q: the states.
            reference_t: (k,) times of the reports [s].
            reference_q, measured_q: (k, n) reference and state in each report.
            exaggerate: the arm is shown at its reports, this many times as far from the reference
                in each joint; `error` remains the true one.

        Raises:
            ArmError: there is nothing to exaggerate, because there are no reports.
        """

        def tips(states: Array) -> Array:
            places = [model.forward_kinematics(each).translation for each in states]
            return np.array(places, dtype=float).reshape(-1, 3)

        reference = tips(reference_q)
        error = np.linalg.norm(tips(measured_q) - reference, axis=1)
        if exaggerate != 1.0:
            if not len(reference_t):
                raise ArmError('no controller published a reference, whose errors are exaggerated')
            t, q = (
                reference_t,
                reference_q + exaggerate * model.difference(reference_q, measured_q),
            )
        return cls(t, q, tips(q), reference_t, reference, error)

    def between(self, start: float, end: float) -> 'RecordedMotion':
        """Return the part from start to end [s].

        Raises:
            ArmError: no state lies between them.
        """
        states = (self.t >= start) & (self.t <= end)
        references = (self.reference_t >= start) & (self.reference_t <= end)
        if not states.any():
            raise ArmError(
                f'from {start:g} s to {end:g} s there is no state; '
                f'there are states from {self.t[0]:g} s to {self.t[-1]:g} s'
            )
        parts = {name: getattr(self, name)[states] for name in ('t', 'q', 'tip')}
        for name in ('reference_t', 'reference_tip', 'error'):
            parts[name] = getattr(self, name)[references]
        return replace(self, **parts)

    def error_at(self, t: Array) -> Array:
        """Return the error [m] at times [s]; nan without a reference."""
        if not len(self.reference_t):
            return np.full(np.shape(t), np.nan)
        return np.interp(t, self.reference_t, self.error)

    def at(self, t: float) -> tuple[Array, Array]:
        """Return the joint positions (n,) and the tip (3,) at t [s]."""
        q, tip = (
            np.array([np.interp(t, self.t, column) for column in rows.T])
            for rows in (self.q, self.tip)
        )
        return q, tip


def timed_segments(t: Array, path: Array, level: NDArray[np.int64], width: float) -> TimedSegments:
    """Return a path (m, 3), at times t (m,) in colours `level` (m,), as few straight segments.

    No segment is farther from the path than a quarter of `width` [m].
    """
    if not len(path):
        return TimedSegments(path, path, t, t, level)
    steps = np.linalg.norm(np.diff(path, axis=0), axis=1)
    moved = np.concatenate([[0.0], np.cumsum(steps)])
    # Points that are nearer to each other than a width count as one.
    keep = np.unique(np.searchsorted(moved, np.arange(0.0, moved[-1], width)))
    segments: list[tuple[int, int]] = []
    for begin, end in pairwise([*keep.tolist(), len(path) - 1]):
        if end == begin or np.linalg.norm(path[end] - path[begin]) > _LONGEST_STEP * width:
            continue
        first, last = segments[-1] if segments else (begin, -1)
        if last == begin and level[last] == level[end] and _straight(path[first : end + 1], width):
            segments[-1] = first, end
        else:
            segments.append((begin, end))
    starts, ends = np.array(segments, dtype=np.int64).reshape(-1, 2).T
    return TimedSegments(path[starts], path[ends], t[starts], t[ends], level[ends])


def _straight(path: Array, width: float) -> bool:
    """Return whether a path (m, 3) is within a quarter of `width` of its chord."""
    chord = path[-1] - path[0]
    size = float(np.linalg.norm(chord))
    if size < width:
        return False
    some = path[:: max(1, (len(path) - 1) // 20)] - path[0]
    along = some @ chord / size
    across = np.linalg.norm(some - along[:, np.newaxis] * chord / size, axis=1)
    return bool(
        across.max() < 0.25 * width and along.min() > -width and along.max() < size + width
    )
