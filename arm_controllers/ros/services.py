"""Services of nodes: a request that fails is refused, and does not end the node."""

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.service import Service

from arm_controllers.ros.log import Log
from arm_controllers.ros.qos import SERVICE_QOS


def serve(
    node: Node,
    kind: Any,
    name: str,
    answer: Callable[[Any, Any], None],
    qos: QoSProfile = SERVICE_QOS,
) -> Service:
    """Open a service.

    Args:
        node: its node.
        kind: type of the service.
        name: name of the service, such as '~/reset'.
        answer: fills the response, given request and response. After an exception the client gets
            an empty response, with a `message` where the type has this field, and the node logs
            one line.
        qos: of requests and responses.
    """
    log = Log(node)

    def respond(request: Any, response: Any) -> Any:
        try:
            answer(request, response)
        except Exception as error:
            log.error(f'{name.removeprefix("~/")} failed: {type(error).__name__}: {error}')
            response = kind.Response()
            if hasattr(response, 'message'):
                response.message = f'failed with {type(error).__name__}; the log has the reason'
        return response

    return node.create_service(kind, name, respond, qos_profile=qos)
