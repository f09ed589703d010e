"""All parameters of all nodes, as messages of /parameter_events."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from rcl_interfaces.msg import Parameter, ParameterEvent
from rcl_interfaces.srv import GetParameters, ListParameters
from rclpy.node import Node

from arm_controllers.ros.serialized_messages import serialized

# ROS can lose the first answer to a client: who has not answered is asked again after so long [s],
# and is waited for at most so long [s].
_AGAIN, _LONGEST_WAIT = 1.0, 10.0


class _Question(NamedTuple):
    client: Any
    request: Any
    then: Callable[[Any], None]
    first: float
    last: float


class ParameterSnapshot:
    """Asks every node that tells its parameters for them, until it has answered once."""

    def __init__(self, node: Node, tell: Callable[[bytes], None]):
        """Ask from `node`; `tell` gets a serialised ParameterEvent for each one that answers."""
        self._node, self._tell = node, tell
        own = node.get_fully_qualified_name()
        self._known = {own}
        names = sorted(node.list_parameters([], 0).names)
        self._tell_of(own, [each.to_parameter_msg() for each in node.get_parameters(names)])
        self._waiting: dict[str, Any] = {}
        self._asked: dict[str, _Question] = {}

    @property
    def waits(self) -> bool:
        """Whether a node is asked, and not for so long that it will hardly answer."""
        now = time.monotonic()
        return any(now - each.first < _LONGEST_WAIT for each in self._asked.values())

    def look(self) -> None:
        """Ask the nodes that have come since the last time, and those again that are late."""
        for service, kinds in self._node.get_service_names_and_types():
            full = service.removesuffix('/list_parameters')
            if 'rcl_interfaces/srv/ListParameters' in kinds and full not in self._known:
                self._known.add(full)
                self._waiting[full] = self._node.create_client(ListParameters, service)
        for full, client in list(self._waiting.items()):
            if client.service_is_ready():
                del self._waiting[full]
                self._ask(full, client, ListParameters.Request(depth=0), self._on_names(full))
        now = time.monotonic()
        for full, question in list(self._asked.items()):
            if now - question.last > _AGAIN:
                self._ask(full, *question[:4])

    def close(self) -> None:
        """Wait for nobody any more."""
        asked = (question.client for question in self._asked.values())
        for client in (*self._waiting.values(), *asked):
            self._node.destroy_client(client)
        self._waiting.clear()
        self._asked.clear()

    def _tell_of(self, full: str, parameters: list[Parameter]) -> None:
        event = ParameterEvent(node=full, new_parameters=parameters)
        self._tell(serialized(event))

    def _ask(
        self,
        full: str,
        client: Any,
        request: Any,
        then: Callable[[Any], None],
        first: float | None = None,
    ) -> None:
        def answered(future: Any) -> None:
            question = self._asked.get(full)
            if question is None or question.client is not client:  # answered before
                return
            del self._asked[full]
            self._node.destroy_client(client)
            if future.exception() is None:
                then(future.result())

        now = time.monotonic()
        self._asked[full] = _Question(client, request, then, first or now, now)
        client.call_async(request).add_done_callback(answered)

    def _on_names(self, full: str) -> Callable[[ListParameters.Response], None]:
        def told_names(answer: ListParameters.Response) -> None:
            names = list(answer.result.names)

            def told_values(values: GetParameters.Response) -> None:
                pairs = zip(names, values.values, strict=False)
                self._tell_of(full, [Parameter(name=name, value=value) for name, value in pairs])

            if names:
                client = self._node.create_client(GetParameters, f'{full}/get_parameters')
                self._ask(full, client, GetParameters.Request(names=names), told_values)

        return told_names
