"""From trajectory goals to a reference: rules, limits, tolerances, braking."""

from arm_controllers.follower.follower import TrajectoryFollower

__all__ = ['TrajectoryFollower']
