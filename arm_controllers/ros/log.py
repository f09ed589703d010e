"""What nodes log: no flood of messages makes many warnings, and no sender long lines."""

import time

from rclpy.node import Node

_LONGEST = 500


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

    def warning(self, text: str) -> None:
        """Log a warning, or count it; how many were left out is said with the next one."""
        now = time.monotonic()
        if now - self._since >= self._while:
            self._since, self._said = now, 0
        if self._said >= self._many:
            self._left_out += 1
            return
        many = '1 warning' if self._left_out == 1 else f'{self._left_out} warnings'
        note = f' (and {many} before it)' if self._left_out else ''
        self._logger.warning(shortened(text) + note)
        self._said, self._left_out = self._said + 1, 0
