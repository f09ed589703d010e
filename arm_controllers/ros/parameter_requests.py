"""Requests to set parameters: what is refused before any parameter's own check, and its words."""

from contextlib import suppress

from rcl_interfaces.msg import SetParametersResult
from rclpy.exceptions import ParameterNotDeclaredException
from rclpy.node import Node
from rclpy.parameter import Parameter

from arm_controllers.ros.log import Log, shortened
from arm_dynamics.checks import ArmError, one_line, unknown


class RequestError(ParameterNotDeclaredException):
    """A request that rclpy answers with these words; its own name no parameter."""

    def __init__(self, text: str):
        Exception.__init__(self, text)


def failed(node: Node, outcome: str, error: Exception) -> SetParametersResult:
    """Return the answer to a request that raised an error; log what is no refusal."""
    if not isinstance(error, ArmError):
        Log(node).error(f'parameters {outcome}: {type(error).__name__}: {error}')
    return SetParametersResult(successful=False, reason=shortened(one_line(error)))


def known(node: Node, parameters: list[Parameter]) -> list[Parameter]:
    """Return the parameters, numbers that came as text as numbers.

    Raises what rclpy answers with where a parameter is unknown or removed.
    """
    for parameter in parameters:
        name = parameter.name
        if not node.has_parameter(name):
            text = str(unknown('parameter', name, node.list_parameters([], 0).names))
            raise RequestError(shortened(text))
        if parameter.type_ == Parameter.Type.NOT_SET:  # rclpy would remove it
            raise RequestError(f'{name} cannot be removed while the node runs; set it to a value')
    return [_as_number(node, parameter) for parameter in parameters]


def _as_number(node: Node, given: Parameter) -> Parameter:
    """Return a parameter; the text 1e-9 of a number as that number.

    YAML 1.1 takes 1e-9 for a text, and so `ros2 param` sets and loads it as one.
    """
    types = given.type_, node.get_parameter(given.name).type_
    if types == (Parameter.Type.STRING, Parameter.Type.DOUBLE):
        with suppress(ValueError):
            return Parameter(given.name, value=float(given.value))
    return given
