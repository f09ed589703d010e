"""A ROS domain of one process: no other run of this machine uses the same."""

import fcntl
import os
import tempfile
from contextlib import suppress
from pathlib import Path

from arm_dynamics.checks import ArmError

# Free for DDS on Linux, as 0 to 101 are; tests and users use those.
DOMAINS = range(216, 232)


def own_domain() -> str:
    """Return the number of a domain, which belongs to this process until the process ends.

    Raises:
        ArmError: other processes use all of these domains.
    """
    for number in DOMAINS:
        path = Path(tempfile.gettempdir(), f'arm_sim_benchmark_domain_{number}.lock')
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o644))
        try:
            file = os.open(path, os.O_RDONLY)  # a file of another user is readable, too
        except PermissionError:
            continue
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            continue
        return str(number)
    raise ArmError(
        f'{len(DOMAINS)} judgements or benchmarks run already on this machine: wait for one'
    )
