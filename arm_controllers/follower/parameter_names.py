"""The follower's parameters under the names of joint_trajectory_controller."""

import dataclasses
from collections.abc import Sequence

from arm_controllers.follower.parameters import FollowerParameters

# One number a joint: field -> parameter.
_A_JOINT = {
    'trajectory_tolerance': 'constraints.{}.trajectory',
    'goal_tolerance': 'constraints.{}.goal',
    'start_tolerance': 'constraints.{}.start',
    'max_deceleration_on_cancel': 'constraints.{}.max_deceleration_on_cancel',
    'max_acceleration': 'joint_limits.{}.max_acceleration',
}
_RENAMED = {
    'goal_time': 'constraints.goal_time',
    'stopped_velocity_tolerance': 'constraints.stopped_velocity_tolerance',
}


def parameter_names(joint_names: Sequence[str]) -> dict[str, tuple[str, int | None]]:
    """Return each parameter's field in FollowerParameters, and the joint's number in it."""
    found: dict[str, tuple[str, int | None]] = {}
    for field in dataclasses.fields(FollowerParameters):
        if field.name in _A_JOINT:
            for k, joint in enumerate(joint_names):
                found[_A_JOINT[field.name].format(joint)] = (field.name, k)
        else:
            found[_RENAMED.get(field.name, field.name)] = (field.name, None)
    return found
