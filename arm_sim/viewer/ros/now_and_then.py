"""What a node does every now and then, by one timer for all of it.

rclpy's EventsExecutor looks at every timer of a node whenever one of them is due, and from the
eighth on it complains of their number on the terminal.
"""

import time
from collections.abc import Callable

from rclpy.node import Node

_OFTEN = 0.02  # how often it is looked what is due [s]


def now_and_then(node: Node, period: float, do: Callable[[], None]) -> None:
    """Call `do` every `period` [s], to 0.02 s, as long as the node lives."""
    for timer in node.timers:
        if isinstance(timer.callback, _Several):
            timer.callback.add(period, do)
            return
    several = _Several()
    several.add(period, do)
    node.create_timer(_OFTEN, several)


class _Several:
    """Calls several functions, each at its own period."""

    def __init__(self) -> None:
        self._due: list[tuple[float, float, Callable[[], None]]] = []

    def add(self, period: float, do: Callable[[], None]) -> None:
        """Call `do` as well, first after one period [s]."""
        self._due.append((time.monotonic() + period, period, do))

    def __call__(self) -> None:
        """Call those whose time has come; where calls were missed they are not made up for."""
        now = time.monotonic()
        for k, (due, period, do) in enumerate(self._due):
            if now >= due:
                following = due + period
                self._due[k] = following if following > now else now + period, period, do
                do()
