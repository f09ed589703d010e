"""The end of a process whose main thread does not hear SIGINT or SIGTERM, and where it stood."""

import ctypes
import faulthandler
import os
import signal
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from threading import Thread, main_thread

# Python hears a signal between two of its instructions; a library may wait for ever in between,
# as Fast DDS for its own mutex. Launch sends SIGKILL 8 s after the first signal.
LONGEST = 5.0  # [s]


def end_where_stuck(heard: Callable[[], bool], longest: float = LONGEST) -> None:
    """End this process where a signal is not heard within `longest` [s]; say where it stood.

    To be called in the main thread. A library that also keeps Python's lock stays undisturbed:
    only SIGKILL ends it.
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    # A signal to a process that this one forks is none to this one.
    os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))
    Thread(target=_watch, args=(reading, heard, longest), daemon=True).start()


def _watch(reading: int, heard: Callable[[], bool], longest: float) -> None:
    while number := os.read(reading, 1):
        end = time.monotonic() + longest
        while number[0] in (signal.SIGINT, signal.SIGTERM) and not heard():
            if time.monotonic() > end:
                _end(signal.Signals(number[0]).name, longest)
            time.sleep(0.05)


def _end(name: str, longest: float) -> None:
    """End by SIGTERM itself, without its handler."""
    reading, writing = os.pipe()
    faulthandler.dump_traceback(writing)
    lines = os.read(reading, 1 << 16).decode(errors='replace').splitlines()
    begin = f'0x{main_thread().ident or 0:016x}'
    found = [after for line, after in pairwise(lines) if begin in line]
    where = found[0].strip() if found else 'a place that is not known'
    text = f'{name} was not heard for {longest:g} s: ended; the main thread stood in {where}'
    print(text, file=sys.stderr, flush=True)
    ctypes.CDLL(None).signal(signal.SIGTERM, None)  # Python sets handlers in the main thread only
    os.kill(os.getpid(), signal.SIGTERM)
