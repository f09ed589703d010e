"""A key of the terminal that stops the robot."""

import select
import sys
import termios
import tty
from collections.abc import Callable
from typing import TextIO

from rclpy.node import Node

_LOOK = 0.02  # period of looking [s]


class StopKey:
    """Calls a function when a key is pressed in the terminal of the launch.

    Attributes:
        there: whether there is a terminal.
    """

    def __init__(self, node: Node, stop: Callable[[], object]):
        """Open the terminal, if there is one, and look for keys from now on."""
        self._stop, self._terminal = stop, _terminal()
        self.there = self._terminal is not None
        if self._terminal is not None:
            self._before = termios.tcgetattr(self._terminal)
            tty.setcbreak(self._terminal)
            node.create_timer(_LOOK, self._look)

    def _look(self) -> None:
        terminal = self._terminal
        if terminal is not None and select.select([terminal], [], [], 0.0)[0]:
            terminal.read(1)
            self._stop()

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._terminal is not None:
            termios.tcsetattr(self._terminal, termios.TCSANOW, self._before)
            self._terminal.close()
            self._terminal = None


def _terminal() -> TextIO | None:
    """Return the controlling terminal; None where the output is not shown in one."""
    if not sys.stdout.isatty():
        return None
    try:
        return open('/dev/tty', 'rb', buffering=0)  # type: ignore[return-value]
    except OSError:
        return None
