"""A key of the terminal that stops the robot."""

import select
import sys
import termios
import tty
from collections.abc import Callable
from contextlib import suppress

from rclpy.node import Node

_LOOK = 0.02  # period of looking [s]


def watch_keys(node: Node, stop: Callable[[], object]) -> Callable[[], None] | None:
    """Call `stop` when a key is pressed in the terminal of the launch.

    Returns:
        What leaves the terminal as it was; None: the output is not shown in a terminal.
    """
    if not sys.stdout.isatty():
        return None
    with suppress(OSError):
        terminal = open('/dev/tty', 'rb', buffering=0)  # noqa: SIM115  # closed below
        before = termios.tcgetattr(terminal)
        tty.setcbreak(terminal.fileno())

        def look() -> None:
            if not terminal.closed and select.select([terminal], [], [], 0.0)[0]:
                terminal.read(1)
                stop()

        def close() -> None:
            if not terminal.closed:
                termios.tcsetattr(terminal, termios.TCSANOW, before)
                terminal.close()

        node.create_timer(_LOOK, look)
        return close
    return None
