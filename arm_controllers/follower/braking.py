"""Braking to rest within limits."""

import numpy as np

from arm_controllers.follower.trajectory import Array, Trajectory, hold, stop
from arm_controllers.stopping import stopping_times
from arm_dynamics.model import RobotModel

_INSTANT = 1e-9  # shorter braking is omitted [s]


def braking_time(v: Array, max_deceleration: Array) -> float:
    """Return the time [s] in which all joints brake together within (n,) decelerations."""
    return float(np.max(np.abs(v) / max_deceleration, initial=0.0))


def braking(
    model: RobotModel, q: Array, v: Array, effort: Array, max_deceleration: Array
) -> Trajectory:
    """Return the motion from q, v (n,) to rest, all joints together.

    It takes `stopping_times` with `max_deceleration` (n,); a joint at its position limit or beyond
    moves no farther. A joint with an infinite deceleration stops at once. The feedforward `effort`
    (n,) fades out.
    """
    q, v = np.array(q, dtype=float), np.array(v, dtype=float)
    if braking_time(v, max_deceleration) < _INSTANT:
        return hold(q)
    durations = stopping_times(model, q, v, max_deceleration)
    durations[(durations < _INSTANT) | np.isinf(max_deceleration)] = 0.0
    return stop(q, v, durations, effort) if durations.any() else hold(q)


def braking_in_an_instant(
    model: RobotModel, q: Array, v: Array, max_deceleration: Array
) -> Trajectory:
    """Return `braking` from q, v (n,) after an instant at constant velocity."""
    trajectory = braking(model, q + _INSTANT * v, v, np.zeros_like(v), max_deceleration)
    constant = np.zeros((1, 6, len(v)))
    constant[0, 0], constant[0, 1] = q, v
    return Trajectory(np.array([0.0, _INSTANT]), constant).followed_by(trajectory)
