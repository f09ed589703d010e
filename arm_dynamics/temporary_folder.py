"""Folders for files that only this process needs, and a cache of such files."""

import atexit
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache, wraps
from pathlib import Path

from arm_dynamics.checks import ArmError

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


def cached_by_files(make: Callable[..., Path]) -> Callable[..., Path]:
    """Cache the files that a function makes, until a file among its arguments changes.

    The function gets absolute paths; its arguments are hashable.

    Raises:
        ArmError: a file that cannot be read.
    """
    made: Callable[..., Path] = cache(lambda times, *given, **others: make(*given, **others))

    @wraps(make)
    def cached(*given: object, **others: object) -> Path:
        absolute = [each.absolute() if isinstance(each, Path) else each for each in given]
        try:
            times = tuple(each.stat().st_mtime_ns for each in given if isinstance(each, Path))
        except OSError as error:
            raise ArmError(f'cannot read {str(error.filename)!r}: {error.strerror}') from None
        return made(times, *absolute, **others)

    return cached


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
