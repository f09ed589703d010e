"""How a task waits for other nodes: it logs for what, and repeats a request that was lost."""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from rclpy.client import Client
from rclpy.node import Node
from rclpy.task import Future

from arm_controllers.ros.active_controllers import nodes_of_arm
from arm_controllers.ros.ros_types import AnyMessage, Executor, Request
from arm_controllers.ros.running import wait_until
from arm_dynamics.checks import ArmError

# A service that has not answered for this time is called again [s].
REPEAT_PERIOD = 10.0
# Period of the log lines during a long wait [s].
_LOG = 10.0


class Waiting:
    """Waits for other nodes while an executor dispatches the callbacks of this one."""

    def __init__(self, node: Node, executor: Executor, timeout: float):
        """Take the node, its executor, and the longest wait [s]."""
        self._node, self._executor, self._timeout = node, executor, timeout

    def wait_until(self, condition: Callable[[], bool], what: str, of: str = '') -> None:
        """Dispatch callbacks until a condition holds; print every ten seconds `what` is missing.

        The timeout is ten times as long while a node named `of` is on the graph: that node still
        starts, and may compile first, which takes minutes on a busy machine.

        Raises:
            ArmError: the condition does not hold after the timeout.
        """
        begin, name = time.monotonic(), self._node.get_name()
        while True:
            with suppress(ArmError):
                return wait_until(self._executor, condition, what, min(_LOG, self._timeout))
            waited, starts = time.monotonic() - begin, of in nodes_of_arm(self._node)
            longest = self._timeout * (10.0 if starts else 1.0)
            if waited >= longest:
                raise ArmError(f'no {what} within {longest:g} s')
            why = f'; {of} starts, and may compile' if starts else ''
            print(f'{name}: waiting for {what}, {waited:.0f} s so far{why}', flush=True)

    def call(self, client: Client, request: Request, of: str = '') -> AnyMessage:
        """Return a service's answer; the request may be sent several times. `of`: see above.

        Raises:
            ArmError: there is no answer within the timeout.
        """
        self.wait_until(client.service_is_ready, f'service {client.srv_name}', of)
        return self.answer(partial(client.call_async, request), client.srv_name, replaced=False)

    def answer(self, send: Callable[[], Future], sender: str, replaced: bool = True) -> AnyMessage:
        """Return the answer to a request or goal, which is sent again where no answer comes.

        ROS can lose an answer to a client that has just come. Each time there is twice as long.

        Args:
            send: sends it, and returns the future of the answer.
            sender: who answers.
            replaced: whether what is sent again replaces the one before, as a goal does: only the
                answer to the newest one holds then; otherwise the first one that comes.

        Raises:
            ArmError: there is no answer within the timeout.
        """
        what, begin, longest = f'answer from {sender}', time.monotonic(), REPEAT_PERIOD
        sent: list[Future] = []

        def valid() -> list[Future]:
            return [each for each in (sent[-1:] if replaced else sent) if each.done()]

        while (left := begin + self._timeout - time.monotonic()) > 0.0:
            sent.append(send())
            with suppress(ArmError):
                wait_until(
                    self._executor, lambda: bool(valid()), what, min(longest, left), sent[-1]
                )
                return valid()[0].result()
            longest *= 2.0
        raise ArmError(f'no {what} within {self._timeout:g} s')
