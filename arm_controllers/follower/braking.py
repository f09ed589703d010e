"""Braking to rest within limits."""

import numpy as np

from arm_controllers.follower.trajectory import Array, Trajectory, hold, stop
from arm_dynamics.model import RobotModel

_INSTANT = 1e-9  # shorter braking is omitted [s]
# Braking is slowed down by this factor, at most this often, until its torque is within limits.
_STRETCH, _STRETCHES = 1.25, 8


def braking_time(v: Array, max_deceleration: Array) -> float:
    """Return the time [s] in which all joints brake together within (n,) decelerations."""
    return float(np.max(np.abs(v) / max_deceleration, initial=0.0))


def braking(
    model: RobotModel, q: Array, v: Array, effort: Array, max_deceleration: Array
) -> Trajectory:
    """Return the motion from q, v (n,) to rest, all joints together.

    Limits of position come first, then torque limits at the start, then `max_deceleration` (n,).
    A joint whose limit is nearer than its stop, q + v T/2, brakes faster than the others, in
    T = 2 d/|v| over its distance d; a joint at its limit or beyond moves no farther. A joint with
    an infinite deceleration stops at once. The feedforward `effort` (n,) fades out.
    """
    q, v = np.array(q, dtype=float), np.array(v, dtype=float)
    duration = braking_time(v, max_deceleration)
    if duration < _INSTANT:
        return hold(q)
    for _ in range(_STRETCHES):
        torque = model.inverse_dynamics(q, v, -v / duration)
        if (np.abs(torque) <= model.effort_limit).all():
            break
        duration *= _STRETCH
    distance = np.where(v > 0, model.position_upper - q, q - model.position_lower)
    until_limit = np.divide(2 * distance, np.abs(v), out=np.full_like(v, np.inf), where=v != 0)
    durations = np.minimum(duration, until_limit)
    durations[(durations < _INSTANT) | np.isinf(max_deceleration)] = 0.0
    return stop(q, v, durations, effort) if durations.any() else hold(q)


def braking_in_an_instant(
    model: RobotModel, q: Array, v: Array, max_deceleration: Array
) -> Trajectory:
    """Return `braking` from q, v (n,) after an instant at constant velocity."""
    trajectory = braking(model, q + _INSTANT * v, v, np.zeros_like(v), max_deceleration)
    if not v.any():
        return trajectory
    constant = np.zeros((1, 6, len(v)))
    constant[0, 0], constant[0, 1] = q, v
    return Trajectory(np.array([0.0, _INSTANT]), constant).followed_by(trajectory)
