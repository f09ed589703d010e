"""Standard output and error whose reader has ended, or that are full or closed.

A command goes on without them: its files and its exit code do not depend on who reads.
"""

import io
import os
import sys
from contextlib import suppress
from errno import EPIPE
from select import select

_NAMES = {1: 'stdout', 2: 'stderr'}
_lost: dict[int, str] = {}  # why, by descriptor
_kept: list[io.TextIOBase] = []


class _File(io.FileIO):
    """Drops what cannot be written, as the null device does."""

    def write(self, data: object, /) -> int:
        """Return how many bytes are written or dropped."""
        try:
            while (written := super().write(data)) is None:  # type: ignore[arg-type]
                select((), (self,), ())  # another program has set O_NONBLOCK on what is full
            return written
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
        if present is not getattr(sys, f'__{name}__') or isinstance(present, _Text):
            continue  # of a test or a notebook, or kept
        settings = {}
        if present is not None:
            present.flush()
            settings = {
                key: getattr(present, key)
                for key in ('encoding', 'errors', 'line_buffering', 'write_through')
            }
        raw = _File(number, 'w', closefd=False)
        _kept.append(_Text(io.BufferedWriter(raw), **settings))
        setattr(sys, name, _kept[-1])
        setattr(sys, f'__{name}__', _kept[-1])


def end(name: str, code: int) -> int:
    """Write what is left; return the exit code: 1 at least where output was lost."""
    for stream in (sys.stdout, sys.stderr, *_kept):
        with suppress(AttributeError, ValueError, OSError):  # other people's code has replaced it
            stream.flush()
    if why := _lost.get(1):
        print(f'{name}: what it printed was lost: {why}', file=sys.__stderr__, flush=True)
    return code or int(bool(why))
