"""Types of ROS that rclpy does not declare."""

from collections.abc import Sequence
from typing import Any, Protocol

from rclpy.node import Node
from rclpy.task import Future

Kind = Any  # a type of messages, services or actions
AnyMessage = Any  # a message, or a part of one, by whose fields it is used
Request = Any  # of a service
Response = Any  # of a service
Header = Any  # of a request: which client gets the response


class Message(Protocol):
    """A message, or a request or response of a service: an object, or its class.

    Attributes:
        SLOT_TYPES: the types of its fields, in the order of its definition.
    """

    SLOT_TYPES: Sequence[object]


class ServiceType(Protocol):
    """The type of a service."""

    def Response(self) -> AnyMessage:  # noqa: N802
        """Return an empty response."""


class Vector(Protocol):
    """A message such as Vector3 or Point."""

    x: float
    y: float
    z: float


class Executor(Protocol):
    """An executor; EventsExecutor does not inherit from rclpy's class Executor."""

    def add_node(self, node: Node) -> bool:
        """Serve the callbacks of a node as well."""

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Dispatch one callback, or wait for a time [s]."""

    def spin_until_future_complete(self, future: Future, timeout_sec: float | None = None) -> None:
        """Dispatch callbacks until a future is done, for at most a time [s]."""

    def shutdown(self) -> object:
        """Release the nodes."""
