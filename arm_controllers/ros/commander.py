"""Who may command the arm: what the simulator says on `commander`, for controllers to keep to."""

import time
from collections.abc import Callable

from rclpy.node import Node
from std_msgs.msg import String

from arm_controllers.ros.qos import LATCHED_QOS

TOPIC = 'commander'
# The word while two publishers command under one name; no node can have this name.
NOBODY = 'nobody, until one publisher is left'
# The word comes within this, and a controller that has just ended is out of it [s].
_PATIENCE = 0.8


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

        Also '' where no simulator is seen: it may be started later.
        """
        return self._name_while(
            lambda: self._seen() and self.name in (None, NOBODY, *neighbours(self._node))
        )

    def heeded(self) -> str:
        """Return whom the simulator heeds, be it a node that the graph does not show yet.

        To be asked after a state has come: a simulator is there then, seen or not.
        """
        return self._name_while(lambda: self.name is None or (self.name != '' and self._seen()))

    def _seen(self) -> bool:
        """Whether the graph shows a simulator."""
        return self._node.count_publishers(TOPIC) > 0

    def _name_while(self, counts: Callable[[], bool]) -> str:
        """Return the name if it counts for longer than a simulator needs to take it back."""
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            while taken := self._words.handle.take_message(String, False):
                self.name = taken[0].data
            if not counts():
                return ''
            time.sleep(0.005)
        return self.name or ''

    def _on_word(self, word: String) -> None:
        self.name = word.data
        self._heard(word.data)
