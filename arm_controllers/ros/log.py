"""What nodes log: no flood of messages makes many warnings, and no sender long lines."""

import re
import time
from collections.abc import Callable

from rclpy.node import Node

_LONGEST, _KINDS = 500, 20


def shortened(text: str) -> str:
    """Return one line of at most 500 characters."""
    line = ' '.join(text.split())
    if len(line) <= _LONGEST:
        return line
    end = f' ... ({len(line)} characters)'
    return line[: _LONGEST - len(end)] + end


class Log:
    """A node's log with a limited number of warnings per second; it counts the other warnings."""

    def __init__(self, node: Node, warnings_per_second: float = 10.0):
        """Log as this node; less than one warning per second is one in a longer time."""
        self._logger = node.get_logger()
        self._many = max(1, round(warnings_per_second))
        self._while = self._many / warnings_per_second
        self._since, self._said, self._left_out = -self._while, 0, 0

    def info(self, text: str) -> None:
        """Log what happens."""
        self._logger.info(shortened(text))

    def error(self, text: str) -> None:
        """Log what has failed."""
        self._logger.error(shortened(text))

    def warning(self, text: str) -> bool:
        """Log a warning, or count it; how many were left out is said with the next one.

        Returns whether it was logged.
        """
        now = time.monotonic()
        if now - self._since >= self._while:
            self._since, self._said = now, 0
        if self._said >= self._many:
            self._left_out += 1
            return False
        many = '1 warning' if self._left_out == 1 else f'{self._left_out} warnings'
        note = f' (and {many} before it)' if self._left_out else ''
        self._logger.warning(shortened(text) + note)
        self._said, self._left_out = self._said + 1, 0
        return True


def once_a_minute(node: Node) -> Callable[[str], None]:
    """Return a function that logs warnings: one of each kind, then one a minute, with its number.

    The kind is the text before its first number; of very many kinds all further ones are one.
    What is left out is in the log at level debug.
    """
    logs: dict[str, Log] = {}

    def warn(text: str) -> None:
        kind = re.split(r'\d', text, maxsplit=1)[0] if len(logs) < _KINDS else ''
        if not logs.setdefault(kind, Log(node, 1.0 / 60.0)).warning(text):
            node.get_logger().debug(shortened(text))

    return warn
