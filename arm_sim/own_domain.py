"""A ROS domain that no other run on this machine has: nobody else's arm answers there."""

import fcntl
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from arm_dynamics.checks import ArmError

# Linux leaves these to DDS, beside 0 to 101; the default one and the tests' are not among them.
_DOMAINS = range(216, 232)


def own_domain() -> str:
    """Return the number of a domain that is this process's until it ends.

    Raises:
        ArmError: other processes have all of them.
    """
    for number in _DOMAINS:
        path = Path(tempfile.gettempdir(), f'arm_sim_benchmark_domain_{number}.lock')
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o644))
        try:
            file = os.open(path, os.O_RDONLY)  # another user's is read as well
        except PermissionError:
            continue
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            continue
        return str(number)
    raise ArmError(
        f'{len(_DOMAINS)} judgements or benchmarks run already on this machine: wait for one'
    )
