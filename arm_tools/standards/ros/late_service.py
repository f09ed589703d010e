"""A service that answers when the requested work has ended; other callbacks run meanwhile."""

from collections.abc import Callable

from rclpy.node import Node
from rclpy.service import Service

from arm_controllers.ros.ros_types import Header, Kind, Request, Response
from arm_controllers.ros.services import serve

IsDone = Callable[[], bool]


class LateService:
    """Answers each request when its work has ended."""

    def __init__(
        self,
        node: Node,
        kind: Kind,
        name: str,
        begin: Callable[[Request, Response], IsDone],
        wake: Callable[[], None],
    ):
        """Open the service.

        Args:
            node, kind, name: as for `serve`.
            begin: begins the work of a request; the returned function fills the response and
                returns True when the work has ended.
            wake: is called when `look` must be called until it returns False.
        """
        self._wake = wake
        self._begun: dict[int, IsDone] = {}  # by the identity of the response
        self._waiting: list[tuple[Response, Header, IsDone]] = []

        def answer(request: Request, response: Response) -> None:
            self._begun[id(response)] = begin(request, response)

        self._service = serve(node, kind, name, answer)
        # rclpy sends the response that the callback returns: it is kept until the work has ended.
        self._service.send_response = self._keep

    def _keep(self, response: Response, header: Header) -> None:
        is_done = self._begun.pop(id(response), lambda: True)  # True: `begin` has failed
        self._waiting.append((response, header, is_done))
        if self.look():
            self._wake()

    def look(self) -> bool:
        """Send the responses whose work has ended; return whether others wait."""
        for each in list(self._waiting):
            response, header, is_done = each
            if is_done():
                self._waiting.remove(each)
                Service.send_response(self._service, response, header)
        return bool(self._waiting)
