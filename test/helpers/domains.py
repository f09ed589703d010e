"""ROS domains that tests share with no other run on this machine, and not soon with each other."""

import fcntl
import gc
import os
import time
from collections import deque
from itertools import count

_NUMBERS, _MOST = range(1, 101), 15
_FOLDER = '/tmp'  # of all runs on this machine; a test may set another one
_held: deque[str] = deque()
_reused = count()


def fresh_domain() -> str:
    """Return a ROS_DOMAIN_ID that only this process has, and has not used for long."""
    while True:
        for k in range(len(_NUMBERS)):
            number = str(_NUMBERS[(os.getpid() + k) % len(_NUMBERS)])
            if len(_held) < _MOST and number not in _held and _take(number):
                _held.append(number)
                return number
        if _held:
            if next(_reused) % max(len(_held) - 1, 1) == 0:
                # An action server stays on the graph until Python removes its node.
                gc.unfreeze()  # what a controller has frozen
                gc.collect()
            _held.rotate(-1)
            return _held[-1]
        time.sleep(1.0)  # other runs hold all of them


def own_domain() -> str:
    """Return one that `fresh_domain` never returns in this process: for what it does itself."""
    while True:
        for number in map(str, _NUMBERS):
            if number not in _held and _take(number):
                return number
        time.sleep(1.0)


def _take(number: str) -> bool:
    """Lock a domain until this process ends; return False where another one has it."""
    path = f'{_FOLDER}/arm_sim_test_domain_{number}.lock'
    file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        return False
    return True
