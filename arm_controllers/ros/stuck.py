"""The end of a process whose main thread does not hear SIGINT or SIGTERM, and where it stood."""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Callable
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
    frame = sys._current_frames()[main_thread().ident or 0]
    where = f'{frame.f_code.co_qualname} ({frame.f_code.co_filename}:{frame.f_lineno})'
    text = f'{name} was not heard for {longest:g} s: ended; the main thread stood in {where}'
    print(text, file=sys.stderr, flush=True)
    ctypes.CDLL(None).signal(signal.SIGTERM, None)  # Python sets handlers in the main thread only
    os.kill(os.getpid(), signal.SIGTERM)
