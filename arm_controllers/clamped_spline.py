"""The cubic spline with continuous acceleration through points, from a velocity to rest."""

import numpy as np

from arm_dynamics.checks import Array


def knot_velocities(h: Array, q: Array, v: Array) -> Array:
    """Return the velocities (m, n) of a cubic spline at its knots, from v (n,) to rest.

    Equal accelerations on both sides of each inner knot (de Boor, A Practical Guide to Splines,
    ch. IV): h_i v_{i-1} + 2 (h_{i-1} + h_i) v_i + h_{i-1} v_{i+1} = 3 (h_i d_{i-1} + h_{i-1} d_i)
    with the slopes d_i = (q_{i+1} - q_i) / h_i; solved by elimination.

    Args:
        h: (m - 1,) times between the knots [s].
        q: (m, n) positions of the knots [rad | m].
        v: (n,) velocity of the first knot [rad/s | m/s].
    """
    slope = np.diff(q, axis=0) / h[:, np.newaxis]
    velocities = np.zeros_like(q)
    velocities[0] = v
    upper = np.zeros(len(q))
    for i in range(1, len(q) - 1):
        before, after = h[i - 1], h[i]
        pivot = 2.0 * (before + after) - after * upper[i - 1]
        upper[i] = before / pivot
        right = 3.0 * (after * slope[i - 1] + before * slope[i])
        velocities[i] = (right - after * velocities[i - 1]) / pivot
    for i in range(len(q) - 2, 0, -1):
        velocities[i] -= upper[i] * velocities[i + 1]
    return velocities
