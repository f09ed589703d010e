"""Requests to set parameters: what is refused before any parameter's own check, and its words."""

from functools import partial
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.exceptions import ParameterNotDeclaredException
from rclpy.node import Node
from rclpy.parameter import Parameter

from arm_controllers.ros.log import Log, shortened
from arm_dynamics.checks import ArmError, one_line, unknown

FIXED = 'cannot change while the node runs'


class RequestError(ParameterNotDeclaredException):
    """A request that rclpy answers with these words; its own name no parameter."""

    def __init__(self, text: str):
        Exception.__init__(self, text)


def guard(node: Node) -> None:
    """Refuse requests that change what is fixed, or that remove or invent a parameter."""
    node.add_pre_set_parameters_callback(partial(_known, node))
    node.add_on_set_parameters_callback(partial(_refuse_change, node))


def failed(node: Node, outcome: str, error: Exception) -> SetParametersResult:
    """Return the answer to a request that raised an error; log what is no refusal."""
    if not isinstance(error, ArmError):
        Log(node).error(f'parameters {outcome}: {type(error).__name__}: {error}')
    return SetParametersResult(successful=False, reason=shortened(one_line(error)))


def _known(node: Node, parameters: list[Parameter]) -> list[Parameter]:
    """Return the parameters; raise what rclpy answers with where one is unknown or removed."""
    for parameter in parameters:
        name = parameter.name
        if not node.has_parameter(name):
            text = str(unknown('parameter', name, node.list_parameters([], 0).names))
            raise RequestError(shortened(text))
        if parameter.type_ == Parameter.Type.NOT_SET:  # rclpy would remove it
            raise RequestError(f'{name} cannot be removed while the node runs; set it to a value')
    return parameters


def _refuse_change(node: Node, parameters: list[Parameter]) -> SetParametersResult:
    for parameter in parameters:
        name = parameter.name
        if not node.has_parameter(name):
            continue  # it is being declared
        fixed = node.describe_parameter(name).additional_constraints.endswith(FIXED)
        if fixed and _plain(parameter.value) != _plain(node.get_parameter(name).value):
            reason = f'{name} {FIXED}; set it and start again'
            return SetParametersResult(successful=False, reason=reason)
    return SetParametersResult(successful=True)


def _plain(value: Any) -> object:
    """Return a value that compares: arrays of all kinds as lists, no value as an empty one."""
    if value is None:
        return []
    return value if isinstance(value, bool | int | float | str) else list(value)
