"""Which way round continuous joints turn from point to point of a goal.

A step of at most half a turn is followed as written. A longer one is followed

1. as written, where the velocities at both its ends lead that way without turning back,
2. by the short way, where they lead that way,
3. by the short way, where its points are angles within half a turn of zero,

and is refused otherwise. The start is the reference, which may count turns: for the first step
only the velocity of the first point counts, and only that point must be an angle. A point at the
start itself is where the arm is, whatever number of turns it counts.
"""

import numpy as np
from numpy.typing import NDArray

from arm_controllers.follower.goal import Array, Goal
from arm_controllers.follower.goal_rules import AT_REST
from arm_controllers.follower.refusals import wrong_turn

_ROUNDED = 1e-3  # angles are often written with three decimals: 3.142 is half a turn [rad]


def unwound(goal: Goal, turning: NDArray[np.intp], q: Array, v: Array, late: float) -> Array:
    """Return the goal's positions (m, n) with each step of continuous joints as it is to be made.

    Args:
        goal: with positions; its points later than `late` [s] count, and one at the start.
        turning: (k,) its columns that are continuous joints.
        q, v: (k,) of these joints at the take-over [rad, rad/s].
        late: time of the take-over from the goal's start [s].

    Raises:
        GoalError: nothing says which way a joint is to turn.
    """
    positions, first = goal.positions.copy(), int(np.searchsorted(goal.times, late, 'right'))
    first -= first == 1 and late == goal.times[0] == 0.0
    written = positions[first:, turning]
    before = np.vstack([q, written])[:-1]
    steps = written - before
    short = np.remainder(steps + np.pi, 2 * np.pi) - np.pi
    h = np.diff(goal.times[first:], prepend=late)[:, np.newaxis]
    way = np.where((np.abs(steps) > np.pi + 1e-9) | (h <= 0.0), short, steps)
    i, j = np.nonzero((way != steps) & (h > 0.0))  # more than half a turn
    if len(i):
        v0, v1 = _velocities(goal, turning, v, first)
        v0, v1, h = v0[i, j], v1[i, j], h[i, 0]
        as_written = leads(v0, v1, steps[i, j], h)
        starts_as_angle = (i == 0) | (np.abs(before[i, j]) <= np.pi + _ROUNDED)
        angles = starts_as_angle & (np.abs(written[i, j]) <= np.pi + _ROUNDED)
        known = as_written | angles | leads(v0, v1, short[i, j], h)
        if not known.all():
            k = known.argmin()
            row, column = i[k], j[k]
            point, joint = first + int(row), int(turning[column])
            raise wrong_turn(goal, point, joint, before[row, column], short[row, column])
        way[i, j] = np.where(as_written, steps[i, j], short[i, j])
    positions[first:, turning] = q + np.cumsum(way, axis=0)
    return positions


def leads(v0: Array, v1: Array, way: Array, h: Array) -> NDArray[np.bool_]:
    """Return whether velocities lead over a way in a time h [s] without turning back.

    Both have its sign, one may be zero, and the cubic between them, whose velocity is
    v0 + b s + a s^2 with s in 0..1, a = 3 (v0 + v1) - 6 way / h and b = -4 v0 - 2 v1 + 6 way / h,
    never has the other sign. NaN: there is no velocity.
    """
    sign = np.sign(way)
    v0, v1, mean = sign * v0, sign * v1, sign * way / h
    a, b = 3.0 * (v0 + v1) - 6.0 * mean, 6.0 * mean - 4.0 * v0 - 2.0 * v1
    with np.errstate(all='ignore'):
        bottom = -b / (2.0 * a)
        least = np.where((a > 0) & (bottom > 0) & (bottom < 1), v0 - b**2 / (4.0 * a), 0.0)
    return (v0 >= 0.0) & (v1 >= 0.0) & (np.maximum(v0, v1) > AT_REST) & (least >= -AT_REST)


def _velocities(
    goal: Goal, turning: NDArray[np.intp], v: Array, first: int
) -> tuple[Array, Array]:
    """Return the velocities at the starts and ends of all steps from point `first` on, or NaN."""
    ends = np.full((len(goal.times), len(turning)), np.nan)
    if goal.velocities is not None:
        given = slice(None) if goal.has_velocity is None else goal.has_velocity
        ends[given] = goal.velocities[given][:, turning]
    ends = ends[first:]
    return np.vstack([np.where(np.abs(ends[0]) > AT_REST, v, np.nan), ends[:-1]]), ends
