"""Resources that the process of a node needs: open files, address space, shared memory."""

import os
import resource

# `./ws` checks the first two as well, before any process starts.
_OPEN_FILES = 256
_ADDRESS_SPACE = 4_000_000  # [kB]
_SHARED_MEMORY = 1_000_000  # of one process with ROS 2, which dies in full memory [bytes]


def missing_resource(shared_memory: str = '/dev/shm') -> str:
    """Return which resource is missing, how much there is, and the remedy; '' if none is missing.

    `shared_memory`: folder of the shared memory. ROS goes without one that is absent.
    """
    for limit, option, needed, unit, words in (
        (resource.RLIMIT_NOFILE, '-n', _OPEN_FILES, 1, 'open files'),
        (resource.RLIMIT_AS, '-v', _ADDRESS_SPACE, 1024, 'kB of address space'),
    ):
        allowed = resource.getrlimit(limit)[0]
        if allowed != resource.RLIM_INFINITY and allowed < needed * unit:
            what = f"{needed} {words}, and 'ulimit {option}' allows {allowed // unit}"
            return f'a node needs {what}: raise the limit'
    try:
        folder = os.statvfs(shared_memory)
    except OSError:
        return ''
    free = folder.f_bavail * folder.f_frsize
    if free < _SHARED_MEMORY:
        what = f'{_SHARED_MEMORY / 1e6:g} MB of shared memory, and {shared_memory} has'
        return f'a node needs {what} {free / 1e6:.3g} MB free: make room there'
    return ''
