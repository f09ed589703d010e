"""Warnings in the log that no flood of messages makes many, and no sender long."""

import time

from rclpy.node import Node

_LONGEST = 500
_PER_SECOND = 10


def shortened(text: str) -> str:
    """Return one line of at most 500 characters."""
    line = ' '.join(text.split())
    if len(line) <= _LONGEST:
        return line
    end = f' ... ({len(line)} characters)'
    return line[: _LONGEST - len(end)] + end


class Warnings:
    """Logs at most ten lines a second; how many were left out is said with the next one."""

    def __init__(self, node: Node):
        """Log as this node."""
        self._logger = node.get_logger()
        self._since, self._said, self._left_out = 0.0, 0, 0

    def __call__(self, text: str) -> None:
        """Log a text, or count it."""
        now = time.monotonic()
        if now - self._since >= 1.0:
            self._since, self._said = now, 0
        if self._said >= _PER_SECOND:
            self._left_out += 1
            return
        note = f' (and {self._left_out} warnings before it)' if self._left_out else ''
        self._logger.warning(shortened(text) + note)
        self._said, self._left_out = self._said + 1, 0
