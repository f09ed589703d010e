"""Durations of trajectories to a single point, where the goal's time is 0 or too short."""

import numpy as np

from arm_dynamics.checks import Array

_SHORTEST = 0.02  # for a point at time zero [s]


def shortest_time(way: Array, velocity_limit: Array, deceleration: Array) -> float:
    """Return the time T [s] of a rest-to-rest cubic over `way` (k,) within limits (k,).

    Over a distance d its peaks are velocity 1.5 d/T and acceleration 6 d/T^2.
    """
    distance = np.abs(way)
    by_velocity = (1.5 * distance / velocity_limit).max()
    by_acceleration = np.sqrt(6.0 * distance / deceleration).max()
    return max(_SHORTEST, 1.01 * float(max(by_velocity, by_acceleration)))


def time_within_limit(
    way: Array, v: Array, time: float, velocity_limit: Array, over: float
) -> float:
    """Return the time T >= `time` [s] of a cubic over `way` (k,) from velocity v (k,) to rest.

    A slider sends a position, and the time to it at constant speed; the peak of the cubic is up
    to 1.5 times faster. Where the mean velocity is within the limit times (1 + `over`), T is the
    shortest time with the peak within the limit; else T is `time`, and the goal is too fast.
    """
    if (np.abs(way) > time * velocity_limit * (1.0 + over)).any():
        return time
    times = time * np.linspace(1.0, 2.0, 101)
    s = np.linspace(0.01, 1.0, 100)[:, np.newaxis]  # share of T
    mean = way / times[:, np.newaxis, np.newaxis]
    speeds = np.abs((1.0 - 4.0 * s + 3.0 * s**2) * v + 6.0 * (s - s**2) * mean)
    kept = (speeds <= velocity_limit).all(axis=(1, 2))
    return float(times[kept.argmax()])
