"""How long tests wait for what must come: long enough for a machine that is far too busy."""

import time

PATIENCE = 300.0  # [s]


def spin_until(executor, condition):
    """Let an executor work until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, 'waited in vain'
        executor.spin_once(timeout_sec=0.01)
