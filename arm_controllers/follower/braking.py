"""Coming to rest within limits."""

import numpy as np

from arm_controllers.follower.trajectory import Array, Trajectory, hold, stop
from arm_dynamics.model import RobotModel

_INSTANT = 1e-9  # a braking shorter than this is none [s]
# Braking is stretched by this factor, so often at most, until its torque is within limits.
_STRETCH, _STRETCHES = 1.25, 8


def braking_time(v: Array, max_deceleration: Array) -> float:
    """Return the time [s] in which all joints brake together within (n,) decelerations."""
    return float(np.max(np.abs(v) / max_deceleration, initial=0.0))


def braking(
    model: RobotModel, q: Array, v: Array, effort: Array, max_deceleration: Array
) -> Trajectory:
    """Return the motion from q, v (n,) to rest, all joints together.

    It stays within position limits first, then within the torque limits at its start, then within
    `max_deceleration` (n,). A joint whose limit is nearer than its way to rest, q + v T/2, brakes
    faster than the others, in T = 2 room/|v|; one that is at its limit or beyond goes no farther.
    A joint with an infinite deceleration stops at once. The feedforward `effort` (n,) fades on the
    way.
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
    room = np.where(v > 0, model.position_upper - q, q - model.position_lower)
    until_limit = np.divide(2 * room, np.abs(v), out=np.full_like(v, np.inf), where=v != 0)
    durations = np.minimum(duration, until_limit)
    durations[(durations < _INSTANT) | np.isinf(max_deceleration)] = 0.0
    return stop(q, v, durations, effort) if durations.any() else hold(q)


def braking_in_an_instant(
    model: RobotModel, q: Array, v: Array, max_deceleration: Array
) -> Trajectory:
    """Return `braking` from q, v (n,), where at first an instant goes on without acceleration."""
    trajectory = braking(model, q + _INSTANT * v, v, np.zeros_like(v), max_deceleration)
    if not v.any():
        return trajectory
    as_it_is = np.zeros((1, 6, len(v)))
    as_it_is[0, 0], as_it_is[0, 1] = q, v
    return Trajectory(np.array([0.0, _INSTANT]), as_it_is).followed_by(trajectory)
