"""Parameters of nodes from dataclasses."""

import dataclasses
import re
import typing
from array import array
from typing import Any

from rcl_interfaces.msg import ParameterDescriptor
from rclpy.node import Node

from arm_dynamics.errors import ArmError


def declare_parameters[T](node: Node, parameters: type[T], prefix: str = '') -> T:
    """Declare one parameter a field of a dataclass, read them, and return the dataclass.

    The field's default is the parameter's; its description is the field's line under
    `Attributes:` in the dataclass's docstring. A nested dataclass becomes a dotted prefix.

    Raises:
        ArmError: a value has the wrong type (one line: name, value, what is allowed), or the
            dataclass refuses it.
    """
    hints = typing.get_type_hints(parameters)
    descriptions = _descriptions(parameters)
    values = {}
    for field in dataclasses.fields(parameters):  # type: ignore[arg-type]
        name = prefix + field.name
        kind = hints[field.name]
        if dataclasses.is_dataclass(kind):
            values[field.name] = declare_parameters(node, kind, name + '.')  # type: ignore[arg-type]
            continue
        descriptor = ParameterDescriptor(
            description=descriptions.get(field.name, ''), dynamic_typing=True
        )
        if not node.has_parameter(name):  # two dataclasses of a node may share a fact
            node.declare_parameter(name, as_ros_value(field.default), descriptor)
        value = node.get_parameter(name).value
        values[field.name] = from_ros_value(name, value, kind)
    return parameters(**values)


def as_ros_value(value: Any) -> Any:
    """Return a dataclass field's value as rclpy takes it."""
    return list(value) if isinstance(value, tuple) else value


def from_ros_value(name: str, value: Any, kind: Any) -> Any:
    """Return a parameter's value as the dataclass field has it: 2 is a float where one is due.

    Raises:
        ArmError: wrong type.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if kind is float and number:
        return float(value)
    if kind in (bool, int, str) and type(value) is kind:
        return value
    if typing.get_origin(kind) is tuple:
        item = typing.get_args(kind)[0]
        items = (
            list(value)
            if isinstance(value, list | tuple | array)
            else []
            if value is None
            else [value]
        )
        if item is float and all(type(x) in (int, float) for x in items):
            return tuple(float(x) for x in items)
        if item is str and all(isinstance(x, str) for x in items):
            return tuple(items)
    raise ArmError(f'parameter {name!r} is {value!r}; it must be {_WORDS[str(kind)]}')


_WORDS = {
    str(bool): 'true or false',
    str(int): 'a whole number',
    str(float): 'a number',
    str(str): 'a text',
    str(tuple[float, ...]): 'a number or a list of numbers',
    str(tuple[str, ...]): 'a list of texts',
}


def _descriptions(parameters: type) -> dict[str, str]:
    """Return each field's line in the docstring: `        a, b: text`."""
    found = {}
    for names, text in re.findall(
        r'^ {8}([\w, ]+): (.+)$', parameters.__doc__ or '', re.MULTILINE
    ):
        for name in names.split(', '):
            found[name] = text
    return found
