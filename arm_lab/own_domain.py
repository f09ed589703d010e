"""A ROS domain of one process: no other run of this machine uses the same."""

import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from arm_dynamics.checks import ArmError

# Free for DDS on Linux, as 0 to 101 are; tests and users use those.
DOMAINS = range(216, 232)
_LOOK = 0.5  # period of looking for a free domain [s]


def own_domain() -> str:
    """Return the number of a domain, which belongs to this process until the process ends.

    Raises:
        ArmError: other processes use all of these domains.
    """
    found = _locked()
    if found is None:
        raise ArmError(
            f'{len(DOMAINS)} judgements or benchmarks run already on this machine: wait for one'
        )
    return found[0]


@contextmanager
def lent_domain() -> Iterator[str]:
    """Lend a domain until the end of a `with`; wait for one while other processes use all."""
    while (found := _locked()) is None:
        time.sleep(_LOOK)
    number, file = found
    try:
        yield number
    finally:
        os.close(file)


def _locked() -> tuple[str, int] | None:
    """Return a free domain and its lock: the one that has been free for the longest time.

    Processes that were killed stay on the graph of their domain for some seconds.
    """
    paths = {n: Path(tempfile.gettempdir(), f'arm_sim_benchmark_domain_{n}.lock') for n in DOMAINS}
    for path in paths.values():
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o644))
    for number in sorted(paths, key=lambda n: paths[n].stat().st_mtime_ns):
        try:
            file = os.open(paths[number], os.O_RDONLY)  # a file of another user is readable, too
        except PermissionError:
            continue
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            continue
        with suppress(PermissionError):
            os.utime(file)
        return str(number), file
    return None
