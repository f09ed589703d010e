"""How a task waits for others: it says for what, and asks again where an answer is lost."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from rclpy.node import Node

from arm_controllers.ros.commander import neighbours
from arm_controllers.ros.running import wait_until
from arm_dynamics.checks import ArmError

# After so long without an answer a service is asked again [s].
_AGAIN = 10.0
# How often a long wait is told of [s].
_TELL = 10.0


class Waiting:
    """Waits beside a node, so long at most."""

    def __init__(self, node: Node, executor: Any, timeout: float):
        """Take the node, what dispatches it, and the longest time to wait [s]."""
        self._node, self._executor, self._timeout = node, executor, timeout

    def wait_until(self, condition: Callable[[], bool], what: str, of: str = '') -> None:
        """Dispatch callbacks until a condition holds.

        What is waited for is said every ten seconds. There is no timeout while a node named `of`
        is on the graph: it opens what is waited for when it has started, or ends, and may compile
        first, which takes minutes on a busy machine.

        Raises:
            ArmError: it does not hold after the timeout.
        """
        begin, name = time.monotonic(), self._node.get_name()
        while True:
            with suppress(ArmError):
                return wait_until(self._executor, condition, what, min(_TELL, self._timeout))
            waited, starts = time.monotonic() - begin, of in neighbours(self._node)
            if waited >= self._timeout and not starts:
                raise ArmError(f'no {what} within {self._timeout:g} s')
            why = f'; {of} starts, and may compile' if starts else ''
            print(f'{name}: waiting for {what}, {waited:.0f} s so far{why}', flush=True)

    def call(self, client: Any, request: Any, of: str = '') -> Any:
        """Return a service's answer; `of` as for `wait_until`. It may be asked more than once.

        Raises:
            ArmError: there is none within the timeout.
        """
        self.wait_until(client.service_is_ready, f'service {client.srv_name}', of)
        what, asked, begin = f'answer from {client.srv_name}', [], time.monotonic()

        def answered() -> bool:
            return any(each.done() for each in asked)

        while (left := begin + self._timeout - time.monotonic()) > 0.0:
            asked.append(client.call_async(request))  # ROS can lose an answer to a new client
            with suppress(ArmError):
                wait_until(self._executor, answered, what, min(_AGAIN, left), asked[-1])
                return next(each.result() for each in asked if each.done())
        raise ArmError(f'no {what} within {self._timeout:g} s')
