"""All parameters of all nodes, as messages of /parameter_events."""

from collections.abc import Callable
from typing import Any

from rcl_interfaces.msg import Parameter, ParameterEvent
from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.node import Node
from rclpy.serialization import serialize_message


class ParameterSnapshot:
    """Asks every node that tells its parameters once for them."""

    def __init__(self, node: Node, tell: Callable[[bytes], None]):
        """Ask from `node`; `tell` gets a serialised ParameterEvent for each one that answers."""
        self._node, self._tell = node, tell
        own = node.get_fully_qualified_name()
        self._known = {own}
        names = sorted(node.list_parameters([], 0).names)
        self._tell_of(own, [each.to_parameter_msg() for each in node.get_parameters(names)])
        self._waiting: dict[str, Any] = {}

    def look(self) -> None:
        """Ask the nodes that have come since the last time."""
        for service, kinds in self._node.get_service_names_and_types():
            full = service.removesuffix('/list_parameters')
            if 'rcl_interfaces/srv/ListParameters' in kinds and full not in self._known:
                self._known.add(full)
                self._waiting[full] = self._node.create_client(ListParameters, service)
        for full, client in list(self._waiting.items()):
            if client.service_is_ready():
                del self._waiting[full]
                self._ask(full, client, ListParameters.Request(depth=0), self._on_names)

    def _tell_of(self, full: str, parameters: list[Parameter]) -> None:
        event = ParameterEvent(node=full, new_parameters=parameters)
        self._tell(bytes(serialize_message(event)))

    def close(self) -> None:
        """Wait for nobody any more."""
        for client in self._waiting.values():
            self._node.destroy_client(client)
        self._waiting.clear()

    def _ask(self, full: str, client: Any, request: Any, then: Callable[[str, Any], None]) -> None:
        def answered(future: Any) -> None:
            self._node.destroy_client(client)
            if future.exception() is None:
                then(full, future.result())

        client.call_async(request).add_done_callback(answered)

    def _on_names(self, full: str, answer: ListParameters.Response) -> None:
        names = list(answer.result.names)
        client = self._node.create_client(GetParameters, f'{full}/get_parameters')

        def told(_: str, values: GetParameters.Response) -> None:
            pairs = zip(names, values.values, strict=False)
            self._tell_of(full, [Parameter(name=name, value=value) for name, value in pairs])

        if names:
            self._ask(full, client, GetParameters.Request(names=names), told)
