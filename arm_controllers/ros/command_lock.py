"""Who may command an arm: one controller at a time."""

import fcntl
import os
import tempfile
from pathlib import Path
from typing import IO


class CommandLock:
    """The right to command an arm, held by at most one controller of this machine.

    A lock of the operating system on a file. Unlike anything that is learnt over topics it is
    known at once: before nodes have discovered each other, while the simulator is paused, and
    when two controllers ask at the same time. It goes with its process, however that ends.
    """

    def __init__(self, arm: str, holder: str):
        """Hold nothing yet; `arm` is what is commanded, `holder` who asks, for messages."""
        file = f'arm_sim_{arm}.lock'.replace('/', '_')
        self._path = Path(tempfile.gettempdir()) / file
        self._holder = holder
        self._file: IO[str] | None = None

    def take(self) -> str:
        """Take the lock; return who else holds it, '' if that is nobody."""
        file = self._file or _open(self._path)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with file:
                return file.read() or 'another controller'
        self._file = file
        file.seek(0)
        file.truncate()
        file.write(self._holder)
        file.flush()
        return ''

    def release(self) -> None:
        """Let others take it; nothing if it is not held."""
        if self._file is not None:
            self._file.close()
            self._file = None


def _open(path: Path) -> IO[str]:
    """Open a file for reading and writing, made for all users where there is none.

    Creating is tried last: Linux forbids it for a file that another user has made in /tmp.
    """
    try:
        return open(path, 'r+')
    except FileNotFoundError:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        os.fchmod(file, 0o666)
        return open(file, 'r+')
