"""Services of nodes: a request that fails is refused, and does not end the node."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from rclpy.exceptions import InvalidHandle
from rclpy.node import Node
from rclpy.service import Service

from arm_controllers.ros.log import Log, shortened
from arm_controllers.ros.qos import SERVICE_QOS
from arm_controllers.ros.ros_types import Message, Request, Response, ServiceType
from arm_dynamics.checks import ArmError


class RefusedError(ArmError):
    """A refusal with a code of the interface.

    Attributes:
        code: of the response.
    """

    def __init__(self, code: int, why: object):
        super().__init__(str(why))
        self.code = code


@contextmanager
def refused(code: int) -> Iterator[None]:
    """Give a refusal within a `with` block a code."""
    try:
        yield
    except ArmError as error:
        raise RefusedError(code, error) from None


def serve(
    node: Node, kind: ServiceType, name: str, answer: Callable[[Request, Response], str | None]
) -> Service:
    """Open a service.

    Args:
        node: its node.
        kind: type of the service.
        name: name of the service, such as '~/reset'.
        answer: fills the response, given request and response, or returns the `message` of a
            success. An ArmError refuses the request: it is the `message` of a response with
            `success` and `message`. After any other exception the client gets an empty response,
            with a `message` where the type has this field, and the node logs one line.
    """
    log = Log(node)

    def respond(request: Message, response: Response) -> Message:
        try:
            done = answer(request, response)
            if done is not None:
                response.success, response.message = True, done
        except Exception as error:
            if isinstance(error, ArmError) and hasattr(response, 'success'):
                response.success, response.message = False, shortened(str(error))
                return response
            log.error(f'{name.removeprefix("~/")} failed: {type(error).__name__}: {error}')
            response = kind.Response()
            if hasattr(response, 'message'):
                response.message = f'failed with {type(error).__name__}; the log has the reason'
        return response

    def send(response: Message, header: object) -> None:
        with suppress(InvalidHandle):  # EventsExecutor hands over what came before the end
            send_response(response, header)

    service = node.create_service(kind, name, respond, qos_profile=SERVICE_QOS)
    send_response, service.send_response = service.send_response, send
    return service
