"""ROS domains that tests do not share with each other, nor with other runs on this machine."""

import itertools
import os

_numbers = itertools.cycle(range(1, 101))
for _ in range(os.getpid() % 100):
    next(_numbers)


def fresh_domain() -> str:
    """Return a ROS_DOMAIN_ID that this run has not used yet."""
    return str(next(_numbers))
