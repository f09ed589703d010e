"""All parameters of all nodes, as messages of /parameter_events."""

import time
from collections.abc import Callable
from typing import NamedTuple

from rcl_interfaces.msg import Parameter, ParameterEvent
from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future

from arm_controllers.ros.cdr import serialized
from arm_controllers.ros.ros_types import Request, Response

# ROS can lose the first answer to a client. Time until a request is repeated, and longest wait for
# its answer [s].
_REPEAT, _LONGEST_WAIT = 1.0, 10.0


class _Request(NamedTuple):
    client: Client
    request: Request
    then: Callable[[Response], None]
    first: float
    last: float


class ParameterSnapshot:
    """Requests the parameters of every node that serves them, until the node has answered.

    Attributes:
        true: nodes, and names of their parameters that are true.
    """

    def __init__(self, node: Node, take: Callable[[bytes], None]):
        """Request from `node`; call `take` with a serialised ParameterEvent of each node."""
        self._node, self._take = node, take
        self.true: set[tuple[str, str]] = set()
        own = node.get_fully_qualified_name()
        self._known = {own}
        names = sorted(node.list_parameters([], 0).names)
        self._report(own, [each.to_parameter_msg() for each in node.get_parameters(names)])
        self._starting: dict[str, Client] = {}
        self._requests: dict[str, _Request] = {}

    @property
    def waits(self) -> bool:
        """Whether a node may still answer."""
        now = time.monotonic()
        return any(now - each.first < _LONGEST_WAIT for each in self._requests.values())

    def look(self) -> None:
        """Send requests to new nodes, and late ones again."""
        for service, kinds in self._node.get_service_names_and_types():
            full = service.removesuffix('/list_parameters')
            if 'rcl_interfaces/srv/ListParameters' in kinds and full not in self._known:
                self._known.add(full)
                self._starting[full] = self._node.create_client(ListParameters, service)
        for full, client in list(self._starting.items()):
            if client.service_is_ready():
                del self._starting[full]
                self._send(full, client, ListParameters.Request(depth=0), self._on_names(full))
        now = time.monotonic()
        for full, each in list(self._requests.items()):
            if now - each.last > _REPEAT:
                self._send(full, *each[:4])

    def close(self) -> None:
        """Wait for no node any more."""
        clients = (each.client for each in self._requests.values())
        for client in (*self._starting.values(), *clients):
            self._node.destroy_client(client)
        self._starting.clear()
        self._requests.clear()

    def _report(self, full: str, parameters: list[Parameter]) -> None:
        self.true |= {(full, each.name) for each in parameters if each.value.bool_value}
        self._take(serialized(ParameterEvent(node=full, new_parameters=parameters)))

    def _send(
        self,
        full: str,
        client: Client,
        request: Request,
        then: Callable[[Response], None],
        first: float | None = None,
    ) -> None:
        def answered(future: Future) -> None:
            sent = self._requests.get(full)
            if sent is None or sent.client is not client:  # answered before
                return
            del self._requests[full]  # not the client: further answers may be on their way
            if future.exception() is None:
                then(future.result())

        now = time.monotonic()
        self._requests[full] = _Request(client, request, then, first or now, now)
        client.call_async(request).add_done_callback(answered)

    def _on_names(self, full: str) -> Callable[[ListParameters.Response], None]:
        def take_names(answer: ListParameters.Response) -> None:
            names = list(answer.result.names)

            def take_values(values: GetParameters.Response) -> None:
                pairs = zip(names, values.values, strict=False)
                self._report(full, [Parameter(name=name, value=value) for name, value in pairs])

            if names:
                client = self._node.create_client(GetParameters, f'{full}/get_parameters')
                self._send(full, client, GetParameters.Request(names=names), take_values)

        return take_names
