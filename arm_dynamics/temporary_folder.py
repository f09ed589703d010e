"""Folders for files that only this process needs."""

import atexit
import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path

_PREFIX = 'arm_sim_process_'
_YOUNG = 60.0  # so soon after it is made, a folder may not be locked yet [s]


def temporary_folder() -> Path:
    """Return a new folder that is removed when this process ends.

    That of a process that was killed is removed by the next one. Forked processes use the folder
    of the process that has forked them.
    """
    return Path(tempfile.mkdtemp(prefix='arm_sim_', dir=own_folder()))


@cache
def own_folder() -> Path:
    """Return the folder of this process's temporary folders."""
    _remove_left()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    fcntl.flock(os.open(folder, os.O_RDONLY), fcntl.LOCK_SH)  # as long as this process lives
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # not a fork
        shutil.rmtree(folder, ignore_errors=True)


def _remove_left() -> None:
    """Remove the folders of processes that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f'{_PREFIX}*'):
        with suppress(OSError):  # in use, another user's, or removed meanwhile
            if time.time() - folder.stat().st_mtime > _YOUNG:
                lock = os.open(folder, os.O_RDONLY)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    shutil.rmtree(folder)
                finally:
                    os.close(lock)
