"""How a task waits for other nodes: it logs for what, and repeats a request that was lost."""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from rclpy.node import Node

from arm_controllers.ros.active_controllers import nodes_of_arm
from arm_controllers.ros.running import wait_for, wait_until
from arm_dynamics.checks import ArmError

# A service that has not answered for this time is called again [s].
REPEAT_PERIOD = 10.0
# Period of the log lines during a long wait [s].
_LOG = 10.0


class Waiting:
    """Waits for other nodes while an executor dispatches the callbacks of this one."""

    def __init__(self, node: Node, executor: Any, timeout: float):
        """Take the node, its executor, and the longest wait [s]."""
        self._node, self._executor, self._timeout = node, executor, timeout

    def wait_until(self, condition: Callable[[], bool], what: str, of: str = '') -> None:
        """Dispatch callbacks until a condition holds; print every ten seconds `what` is missing.

        There is no timeout while a node named `of` is on the graph: that node still starts, and
        may compile first, which takes minutes on a busy machine.

        Raises:
            ArmError: the condition does not hold after the timeout.
        """
        begin, name = time.monotonic(), self._node.get_name()
        while True:
            with suppress(ArmError):
                return wait_until(self._executor, condition, what, min(_LOG, self._timeout))
            waited, starts = time.monotonic() - begin, of in nodes_of_arm(self._node)
            if waited >= self._timeout and not starts:
                raise ArmError(f'no {what} within {self._timeout:g} s')
            why = f'; {of} starts, and may compile' if starts else ''
            print(f'{name}: waiting for {what}, {waited:.0f} s so far{why}', flush=True)

    def call(self, client: Any, request: Any, of: str = '') -> Any:
        """Return a service's answer; the request may be sent several times. `of`: see above.

        Raises:
            ArmError: there is no answer within the timeout.
        """
        self.wait_until(client.service_is_ready, f'service {client.srv_name}', of)
        return self.answer(partial(client.call_async, request), client.srv_name)

    def answer(self, send: Callable[[], Any], sender: str) -> Any:
        """Return the answer to a request or goal, which is sent again where no answer comes.

        ROS can lose an answer to a client that has just come. A goal that is sent again replaces
        the one before: only the newest one's answer holds, and each has twice as long to come.

        Args:
            send: sends it, and returns the future of the answer.
            sender: who answers.

        Raises:
            ArmError: there is no answer within the timeout.
        """
        what, end, longest = (
            f'answer from {sender}',
            time.monotonic() + self._timeout,
            REPEAT_PERIOD,
        )
        while (left := end - time.monotonic()) > 0.0:
            with suppress(ArmError):
                return wait_for(self._executor, send(), what, min(longest, left))
            longest *= 2.0
        raise ArmError(f'no {what} within {self._timeout:g} s')
