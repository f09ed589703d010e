"""How fast an arm can brake within its limits."""

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel

# Braking is slowed down by this factor, at most this often, until its torque is within limits.
_STRETCH, _STRETCHES = 1.25, 8


def stopping_times(model: RobotModel, q: Array, v: Array, deceleration: Array) -> Array:
    """Return the times (..., n) [s] in which the joints brake at constant decelerations to rest.

    All joints of an arm brake together, within decelerations (n,) [rad/s^2 | m/s^2] and slower
    where the torque at the start q, v (..., n) would be beyond its limits. A joint whose position
    limit is nearer than its stop brakes faster, in 2 d/|v| over its distance d.
    """
    longest = np.max(np.abs(v) / deceleration, axis=-1, keepdims=True, initial=0.0)
    for _ in range(_STRETCHES):
        rate = np.divide(-v, longest, out=np.zeros_like(v), where=longest > 0)
        torque = np.abs(model.inverse_dynamics(q, v, rate))
        allowed = (torque <= model.effort_limit).all(axis=-1, keepdims=True)
        if allowed.all():
            break
        longest = np.where(allowed, longest, longest * _STRETCH)
    distance = np.where(v > 0, model.position_upper - q, q - model.position_lower)
    limit = np.divide(2 * distance, np.abs(v), out=np.full_like(v, np.inf), where=v != 0)
    times: Array = np.minimum(longest, limit)
    return times
