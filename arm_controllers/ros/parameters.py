"""Parameters of nodes from dataclasses: declared, described, fixed while the node runs."""

import sys
from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any
from weakref import WeakSet

from rcl_interfaces.msg import ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from arm_controllers.parameter_file import read_parameter_file
from arm_controllers.parameter_values import (
    ParameterField,
    as_ros_value,
    is_family,
    parameter_fields,
    read_fields,
)
from arm_controllers.ros.log import Log
from arm_controllers.ros.rclpy_internals import parameter_overrides
from arm_dynamics.checks import T, unknown

_FIXED = 'cannot change while the node runs'
_guarded: WeakSet[Node] = WeakSet()


def declare_parameters(
    node: Node,
    parameters: type[T],
    prefix: str = '',
    live: Collection[str] = (),
    joint_names: Sequence[str] = (),
) -> T:
    """Declare one parameter per field of a dataclass, read them, and return the dataclass.

    The field's default is the parameter's.

    Args:
        node: whose parameters they are.
        parameters: the dataclass.
        prefix: of the names.
        live: names of those that may change while the node runs.
        joint_names: of the arm, where parameters are named after joints.

    Raises:
        ArmError: what `read_fields` refuses.
    """
    values: dict[str, object] = {}
    for field in parameter_fields(parameters, prefix, joint_names):
        names = [field.name]
        if is_family(field.kind):
            field = field._replace(default=())
            names = [
                each for each in parameter_overrides(node) if each.startswith(f'{field.name}.')
            ]
        for name in names:
            values[name] = declare_parameter(node, field._replace(name=name), name in live)
    return read_fields(parameters, values, prefix, joint_names)


def declare_parameter(node: Node, field: ParameterField, live: bool = False) -> Any:
    """Return the value of a parameter, declared unless the node has it: dataclasses may share it.

    `live`: it may change while the node runs.
    """
    name = field.name
    if not node.has_parameter(name):
        # Ranges are words: ROS's own would refuse 2 for a float, in other words than ours.
        words = [field.allowed and f'allowed: {field.allowed}', '' if live else _FIXED]
        descriptor = ParameterDescriptor(
            description=field.description,
            dynamic_typing=True,
            additional_constraints='; '.join(filter(None, words)),
        )
        given = parameter_overrides(node).get(name)
        empty = given is not None and given.value is None  # how ROS reads `[]` in a file
        value = [] if empty else as_ros_value(field.default)
        node.declare_parameter(name, value, descriptor, ignore_override=empty)
        if node not in _guarded:
            _guarded.add(node)
            node.add_pre_set_parameters_callback(partial(_check_names, node))
            node.add_on_set_parameters_callback(partial(_refuse_change, node))
    return node.get_parameter(name).value


def declare_unused(node: Node, unused: Callable[[str], bool]) -> None:
    """Declare parameters that are given and admitted, but not used; log their names."""
    names = sorted(filter(unused, parameter_overrides(node)))
    for name in names:
        declare_parameter(node, ParameterField(name, '', str, 'parameter without effect here'))
    if names:
        Log(node).warning(f'parameters without meaning here: {", ".join(names)}')


def on_change(
    node: Node, check: Callable[[dict[str, object]], T], apply: Callable[[T], None]
) -> None:
    """Let parameters take effect when they are set.

    Args:
        node: has them declared.
        check: receives the new values by name; raises ArmError, or returns what `apply` needs.
        apply: is called after the parameters are set.
    """
    ready: list[T] = []

    def refuse(parameters: list[Parameter]) -> SetParametersResult:
        try:
            ready[:] = [check({each.name: each.value for each in parameters})]
        except Exception as error:  # no request ends a node
            from arm_controllers.ros.parameter_requests import failed

            return failed(node, 'refused', error)
        return SetParametersResult(successful=True)

    def use(parameters: list[Parameter]) -> None:
        try:
            apply(ready.pop())
        except Exception as error:
            from arm_controllers.ros.parameter_requests import failed

            failed(node, 'set, but not all in use: restart this node', error)

    node.add_on_set_parameters_callback(refuse)
    node.add_post_set_parameters_callback(use)


def on_change_of(
    node: Node, kinds: Sequence[type], check: Callable[..., T], apply: Callable[[T], None]
) -> None:
    """Let the live parameters of dataclasses take effect; `check` receives the dataclasses."""
    names = [field.name for kind in kinds for field in parameter_fields(kind)]

    def read(changed: dict[str, object]) -> T:
        values = {name: node.get_parameter(name).value for name in names} | changed
        return check(*(read_fields(kind, values) for kind in kinds))

    on_change(node, read, apply)


def refuse_unknown_parameters(node: Node, arguments: Sequence[str] = sys.argv) -> None:
    """Refuse what the command line gives to a node that has declared all its parameters.

    What a file gives to all nodes (`/**`) may be another node's and is not refused.

    Raises:
        ArmError: names the parameter and the nearest known one.
    """
    strange = [name for name in parameter_overrides(node) if not node.has_parameter(name)]
    if not strange:
        return
    own = set()
    for flag, value in pairwise(arguments):
        if flag in ('-p', '--param'):
            own.add(value.partition(':=')[0].rpartition(':')[2])
        elif flag == '--params-file':
            own |= read_parameter_file(Path(value)).get(node.get_name(), {}).keys()
    for name in strange:
        if name in own:
            raise unknown('parameter', name, node.list_parameters([], 0).names)


def _check_names(node: Node, parameters: list[Parameter]) -> list[Parameter]:
    from arm_controllers.ros.parameter_requests import known

    return known(node, parameters)


def _refuse_change(node: Node, parameters: list[Parameter]) -> SetParametersResult:
    for parameter in parameters:
        name = parameter.name
        if not node.has_parameter(name):
            continue  # it is being declared
        fixed = node.describe_parameter(name).additional_constraints.endswith(_FIXED)
        if fixed and _plain(parameter.value) != _plain(node.get_parameter(name).value):
            reason = f'{name} {_FIXED}; set it and start again'
            return SetParametersResult(successful=False, reason=reason)
    return SetParametersResult(successful=True)


def _plain(value: Any) -> object:
    """Return a value that compares: arrays of all kinds as lists, no value as an empty one."""
    if value is None:
        return []
    return value if isinstance(value, bool | int | float | str) else list(value)
