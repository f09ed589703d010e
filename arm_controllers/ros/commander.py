"""Who may command the arm: what the simulator says on `commander`, for controllers to keep to."""

import time
from collections.abc import Callable

from rclpy.node import Node
from std_msgs.msg import String

from arm_controllers.ros.qos import LATCHED_QOS

TOPIC = 'commander'
# The word while two publishers command under one name; no node can have this name.
NOBODY = 'nobody, until one publisher is left'
# A controller that has just been deactivated is out of the word within this [s].
_PATIENCE = 0.8


class Commander:
    """The name of the controller that the simulator heeds; '' where any may begin.

    Attributes:
        name: as the simulator said last.
    """

    def __init__(self, node: Node, heard: Callable[[str], None]):
        """Listen; `heard` is told of each change."""
        self.name = ''
        self._node, self._heard = node, heard
        self._words = node.create_subscription(String, TOPIC, self._on_word, LATCHED_QOS)

    def other(self) -> str:
        """Return who commands the arm, so that nobody else may begin; '' if nobody does."""
        end = time.monotonic() + _PATIENCE
        while self._somebody_is_there() and time.monotonic() < end:
            taken = self._words.handle.take_message(String, False)
            if taken:
                self.name = taken[0].data
            else:
                time.sleep(0.005)
        return self.name if self._somebody_is_there() else ''

    def _somebody_is_there(self) -> bool:
        """Whether there is a name, of a node that lives, and a simulator that says it."""
        living = self.name in (NOBODY, *self._node.get_node_names())
        return living and self._node.count_publishers(TOPIC) > 0

    def _on_word(self, word: String) -> None:
        self.name = word.data
        self._heard(word.data)
