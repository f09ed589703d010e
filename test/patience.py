"""How long tests wait for what must come: long enough for a machine that is far too busy."""

import math
import time

PATIENCE = 300.0  # [s]
AGAIN = 5.0  # [s] without an answer, after which a question is asked again


def spin_until(executor, condition):
    """Let an executor work until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, 'waited in vain'
        executor.spin_once(timeout_sec=0.01)


def ask(wait, client, request, once=False):
    """Return a service's answer; `wait` waits for a condition.

    ROS can lose the first answer to a client that has just come: it is asked again, if not `once`.
    """
    asked, asked_at = [], -math.inf

    def answered():
        nonlocal asked_at
        if not asked or (not once and time.monotonic() - asked_at > AGAIN):
            asked_at = time.monotonic()
            asked.append(client.call_async(request))
        return [each for each in asked if each.done()]

    wait(client.service_is_ready)
    wait(answered)
    return answered()[0].result()
