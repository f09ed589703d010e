"""Chunks of positions, as learned policies send them: times and velocities of a C2 spline.

The rule is that of joint_trajectory_controller's `positions_upsampling` (ros2_controllers#2491 and
#2573): a cubic spline through the start and all points, with continuous acceleration, from the
velocity that is commanded now to rest at the last point.
"""

from dataclasses import replace

import numpy as np

from arm_controllers.follower.goal import Goal
from arm_controllers.follower.parameters import FollowerParameters
from arm_dynamics.checks import Array


def is_chunk(goal: Goal, rules: FollowerParameters) -> bool:
    """Whether the rule applies: a goal from the topic whose points have positions alone."""
    bare = goal.velocities is None and goal.accelerations is None and goal.has_position
    return rules.upsampling and bare and goal.identifier is None and len(goal.times) > 0


def with_policy_times(goal: Goal, rules: FollowerParameters) -> Goal:
    """Return a chunk without times with point i at (i + 1) / policy_frequency."""
    if not (is_chunk(goal, rules) and rules.policy_frequency) or goal.times[1:].any():
        return goal
    return replace(goal, times=np.arange(1, len(goal.times) + 1) / rules.policy_frequency)


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
    found = np.zeros_like(q)
    found[0] = v
    upper = np.zeros(len(q))
    for i in range(1, len(q) - 1):
        before, after = h[i - 1], h[i]
        pivot = 2.0 * (before + after) - after * upper[i - 1]
        upper[i] = before / pivot
        right = 3.0 * (after * slope[i - 1] + before * slope[i])
        found[i] = (right - after * found[i - 1]) / pivot
    for i in range(len(q) - 2, 0, -1):
        found[i] -= upper[i] * found[i + 1]
    return found
