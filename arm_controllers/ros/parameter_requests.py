"""Requests to set parameters: what is refused before any parameter's own check, and its words."""

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
    """Return the parameters; raise what rclpy answers with where one is unknown or removed."""
    for parameter in parameters:
        name = parameter.name
        if not node.has_parameter(name):
            text = str(unknown('parameter', name, node.list_parameters([], 0).names))
            raise RequestError(shortened(text))
        if parameter.type_ == Parameter.Type.NOT_SET:  # rclpy would remove it
            raise RequestError(f'{name} cannot be removed while the node runs; set it to a value')
    return parameters
