"""The follower's parameters under the names of joint_trajectory_controller."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.parameter_values import (
    ParameterField,
    from_ros_value,
    parameter_fields,
    read_fields,
)

# One number per joint: field -> parameter.
_PER_JOINT = {
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


def follower_fields(joint_names: Sequence[str]) -> Iterator[ParameterField]:
    """Yield the follower's parameters for an arm with these joints."""
    for name, default, kind, description in parameter_fields(FollowerParameters):
        description = description.rpartition('`, ')[2]  # what follows the parameter's name
        if name in _PER_JOINT:
            for joint in joint_names:
                own = _PER_JOINT[name].format(joint)
                yield ParameterField(own, default[0], float, description)
        else:
            yield ParameterField(_RENAMED.get(name, name), default, kind, description)


def read_follower_parameters(
    values: Mapping[str, Any], joint_names: Sequence[str]
) -> FollowerParameters:
    """Return the follower's parameters from the values of `follower_fields`, by name.

    Raises:
        ArmError: a value of a wrong type or out of range.
    """
    right = {
        name: from_ros_value(name, values[name], kind)
        for name, _, kind, _ in follower_fields(joint_names)
    }
    right |= {field: right[name] for field, name in _RENAMED.items()}
    for field, name in _PER_JOINT.items():
        right[field] = tuple(right[name.format(joint)] for joint in joint_names)
    return read_fields(FollowerParameters, right)
