"""Standard output and error whose reader has ended, or that are full or closed.

A command goes on without them: its files and its exit code do not depend on who reads.
"""

import io
import os
import sys
from errno import EPIPE

_NAMES = {1: 'stdout', 2: 'stderr'}
_lost: dict[int, str] = {}  # why, by descriptor


class _File(io.FileIO):
    """Drops what cannot be written, as the null device does."""

    def write(self, data: object, /) -> int:
        """Return how many bytes are written or dropped."""
        try:
            return super().write(data)  # type: ignore[arg-type]
        except OSError as error:
            if error.errno != EPIPE:
                _lost[self.fileno()] = error.strerror or str(error)
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return len(memoryview(data))  # type: ignore[arg-type]


class _Text(io.TextIOWrapper):
    """Text that other people's code cannot close for those who write after it."""

    def close(self) -> None:
        """Write what is left."""
        self.flush()


def keep() -> None:
    """Let this process write to stdout and stderr, whatever becomes of them."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:  # closed: the next file or socket would have this number
            os.open(os.devnull, os.O_RDWR)
    for number, name in _NAMES.items():
        present = getattr(sys, name)
        if present is not getattr(sys, f'__{name}__'):
            continue  # of a test or a notebook
        settings = {}
        if present is not None:
            present.flush()
            settings = {
                key: getattr(present, key)
                for key in ('encoding', 'errors', 'line_buffering', 'write_through')
            }
        raw = _File(number, 'w', closefd=False)
        setattr(sys, name, _Text(io.BufferedWriter(raw), **settings))


def end(name: str, code: int) -> int:
    """Write what is left; return the exit code: 1 at least where output was lost."""
    sys.stdout.flush()
    if why := _lost.get(1):
        print(f'{name}: what it printed was lost: {why}', file=sys.stderr)
    sys.stderr.flush()
    return code or int(bool(why))
