"""Chunks of positions, as learned policies send them: times and velocities of a C2 spline.

The rule is that of joint_trajectory_controller's `positions_upsampling` (ros2_controllers#2491 and
#2573): a cubic spline through the start and all points, with continuous acceleration, from the
velocity that is commanded now to rest at the last point.
"""

from dataclasses import replace

import numpy as np

from arm_controllers.follower.goal import Goal
from arm_controllers.follower.parameters import FollowerParameters


def is_chunk(goal: Goal, rules: FollowerParameters) -> bool:
    """Whether the rule applies: a goal from the topic whose points have positions alone."""
    bare = goal.velocities is None and goal.accelerations is None and goal.has_position
    return rules.upsampling and bare and goal.identifier is None and len(goal.times) > 0


def with_policy_times(goal: Goal, rules: FollowerParameters) -> Goal:
    """Return a chunk without times with point i at (i + 1) / policy_frequency."""
    if not (is_chunk(goal, rules) and rules.policy_frequency) or goal.times[1:].any():
        return goal
    return replace(goal, times=np.arange(1, len(goal.times) + 1) / rules.policy_frequency)
