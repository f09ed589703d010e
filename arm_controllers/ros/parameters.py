"""Parameters of nodes from dataclasses."""

from typing import Any

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node

from arm_controllers.parameter_values import (
    as_ros_value,
    is_family,
    parameter_fields,
    read_fields,
)


def declare_parameters[T](node: Node, parameters: type[T], prefix: str = '') -> T:
    """Declare one parameter per field of a dataclass, read them, and return the dataclass.

    The field's default is the parameter's. A nested dataclass becomes a dotted prefix.

    Raises:
        ArmError: what `read_fields` refuses.
    """
    values: dict[str, Any] = {}
    for name, default, kind, description in parameter_fields(parameters, prefix):
        descriptor = ParameterDescriptor(description=description, dynamic_typing=True)
        given = {name: as_ros_value(default)}
        if is_family(kind):
            overrides = node._parameter_overrides  # rclpy has no public way to list them
            given = {each: None for each in overrides if each.startswith(f'{name}.')}
        for each, value in given.items():
            if not node.has_parameter(each):  # two dataclasses of a node may share a fact
                node.declare_parameter(each, value, descriptor)
            values[each] = node.get_parameter(each).value
    return read_fields(parameters, values, prefix)
