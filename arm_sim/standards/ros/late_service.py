"""A service that answers when what was asked for is done, not when it was understood."""

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.service import Service

from arm_controllers.ros.qos import SERVICE_QOS


class LateService:
    """Answers each request once a function of it has; no callback waits meanwhile."""

    def __init__(
        self,
        node: Node,
        kind: Any,
        name: str,
        begin: Callable[[Any, Any], Callable[[], bool]],
        wake: Callable[[], None],
    ):
        """Open it. `begin(request, response)` returns what tells that the response is filled.

        `wake` is called when there is something to look at: `look` is to be called until it
        returns False.
        """
        self._begin, self._wake = begin, wake
        self._waiting: list[tuple[Any, Any, Callable[[], bool]]] = []
        self._service = node.create_service(kind, name, self._on_request, qos_profile=SERVICE_QOS)
        # rclpy sends what the callback returns: here that is kept until it is due.
        self._service.send_response = self._keep

    def _on_request(self, request: Any, response: Any) -> Any:
        return response, self._begin(request, response)

    def _keep(self, answer: Any, header: Any) -> None:
        response, is_due = answer
        self._waiting.append((response, header, is_due))
        if self.look():
            self._wake()

    def look(self) -> bool:
        """Send the answers that are due; return whether one is not."""
        for each in list(self._waiting):
            response, header, is_due = each
            if is_due():
                self._waiting.remove(each)
                Service.send_response(self._service, response, header)
        return bool(self._waiting)
