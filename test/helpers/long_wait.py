"""How long tests wait for what must come: long enough for a machine that is far too busy."""

import time

LONG_WAIT = 300.0  # [s]
AGAIN = 5.0  # [s] without an answer, after which a question is asked again


def spin_until(executor, condition):
    """Let an executor work until a condition holds."""
    end = time.monotonic() + LONG_WAIT
    while not condition():
        assert time.monotonic() < end, 'waited in vain'
        executor.spin_once(timeout_sec=0.01)


def ask(wait, client, request, again=AGAIN):
    """Return a service's answer; `wait` waits for a condition.

    ROS can lose the first answer to a client that has just come: it is asked again
    where none has come for so long [s].
    """
    asked, asked_at = [], 0.0

    def answers():
        return [each for each in asked if each.done()]

    def answered():
        nonlocal asked_at
        if not asked or (not answers() and time.monotonic() - asked_at > again):
            asked_at = time.monotonic()
            asked.append(client.call_async(request))
        return answers()

    wait(client.service_is_ready)
    wait(answered)
    return answers()[0].result()
