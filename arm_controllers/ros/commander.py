"""Who may command the arm: what the simulator says on `commander`, for controllers to keep to."""

import time
from collections.abc import Callable

from rclpy.node import Node
from std_msgs.msg import String

from arm_controllers.ros.qos import LATCHED_QOS

TOPIC = 'commander'
# The word while two publishers command under one name; no node can have this name.
NOBODY = 'nobody, until one publisher is left'
# A simulator takes back the name of a controller that has ended within this [s].
_PATIENCE = 0.8
# The graph of a busy machine shows a node, or a simulator that is seen speaks, or takes back the
# name of a controller that begins anew, within this [s].
LATE = 5.0
_LOOK = 0.01  # how often it is looked what the simulator says [s]
_AGAIN = 10  # so many looks later a farewell is said again


def neighbours(node: Node) -> list[str]:
    """Return the names of all nodes in a node's namespace, which are those of its arm."""
    own = node.get_namespace()
    return [name for name, other in node.get_node_names_and_namespaces() if other == own]


class Commander:
    """The name of the controller that the simulator heeds; '' where any may begin.

    Attributes:
        name: as the simulator said last; None before it has said anything.
    """

    def __init__(self, node: Node, heard: Callable[[str], None]):
        """Listen; `heard` is told of each change."""
        self.name: str | None = None
        self._node, self._heard = node, heard
        self._words = node.create_subscription(String, TOPIC, self._on_word, LATCHED_QOS)

    def other(self) -> str:
        """Return who commands the arm, so that nobody else may begin; '' if no living node.

        Also '' where no simulator is seen: it may be started later. A name that the graph does
        not show is waited for: its node has ended, or is new to this one.
        """

        def is_there() -> bool:
            return self.name in (NOBODY, *neighbours(self._node))

        name = self._name_while(self._seen, lambda: self._patience(not is_there()))
        return name if is_there() else ''

    def heeded(self) -> str:
        """Return whom the simulator heeds, be it a node that the graph does not show yet.

        To be asked after a state has come: a simulator is there then, seen or not.
        """
        return self._name_while(
            lambda: self.name is None or self._seen(),
            lambda: self._patience(self.name is None and self._seen()),
        )

    def take_leave(self, say_again: Callable[[], None]) -> None:
        """Wait until the simulator has heard this node's farewell, which may be lost.

        Not where both run on one executor: it hears nothing while this one waits.
        """
        executor = self._node.executor
        if executor is not None and len(executor.get_nodes()) > 1:
            return
        for look in range(1, round(LATE / _LOOK)):
            self._read()
            if self.name != self._node.get_name() or not self._seen():
                return
            if look % _AGAIN == 0:
                say_again()
            time.sleep(_LOOK)

    def _patience(self, late: bool) -> float:
        """Return how long a word is waited for [s]; this node's name may be of its last turn."""
        return LATE if late or self.name == self._node.get_name() else _PATIENCE

    def _seen(self) -> bool:
        """Whether the graph shows a simulator."""
        return self._node.count_publishers(TOPIC) > 0

    def _name_while(self, counts: Callable[[], bool], patience: Callable[[], float]) -> str:
        """Return the name if it counts for so long [s]; '' as soon as it does not."""
        start = time.monotonic()
        while True:
            now = time.monotonic()  # before reading: a process that stood still reads once more
            self._read()
            if self.name == '' or not counts():
                return ''
            if now - start > patience():
                return self.name or ''
            time.sleep(_LOOK)

    def _read(self) -> None:
        """Take what has come, also within a callback."""
        while taken := self._words.handle.take_message(String, False):
            self.name = taken[0].data

    def _on_word(self, word: String) -> None:
        self.name = word.data
        self._heard(word.data)
