"""When a goal's only point is reached, where its own time cannot be kept, or says nothing."""

import numpy as np

from arm_dynamics.checks import Array

_SHORTEST = 0.02  # motion to a single point at time zero [s]


def quickest(way: Array, velocity_limit: Array, deceleration: Array) -> float:
    """Return the time T [s] of a rest-to-rest cubic over `way` (k,) within these limits (k,).

    Over a distance d its peaks are velocity 1.5 d/T and acceleration 6 d/T^2.
    """
    distance = np.abs(way)
    by_velocity = (1.5 * distance / velocity_limit).max()
    by_acceleration = np.sqrt(6.0 * distance / deceleration).max()
    return max(_SHORTEST, 1.01 * float(max(by_velocity, by_acceleration)))


def at_full_speed(way: Array, v: Array, time: float, velocity_limit: Array, over: float) -> float:
    """Return the time T >= `time` [s] of a cubic over `way` (k,) from velocity v (k,) to rest.

    A slider sends where to be, and the time that the way takes at its speed. The cubic is up to
    half as fast again half-way. Where the mean keeps the limit, but for the share `over`, T is the
    first that lets the cubic keep it everywhere; else it is `time`, and the goal is too fast.
    """
    if (np.abs(way) > time * velocity_limit * (1.0 + over)).any():
        return time
    times = time * np.linspace(1.0, 2.0, 101)
    s = np.linspace(0.01, 1.0, 100)[:, np.newaxis]  # share of T
    mean = way / times[:, np.newaxis, np.newaxis]
    speeds = np.abs((1.0 - 4.0 * s + 3.0 * s**2) * v + 6.0 * (s - s**2) * mean)
    kept = (speeds <= velocity_limit).all(axis=(1, 2))
    return float(times[kept.argmax()])
