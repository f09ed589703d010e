"""How a launch ends: for certain, and its processes with it."""

import os
import re
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from launch import LaunchContext
from launch.actions import RegisterEventHandler
from launch.event_handlers import OnShutdown
from launch.events import Shutdown

_LOOK = 0.5  # how often the end of a launch is looked for [s]


def certain_end(patience: float = 5.0) -> RegisterEventHandler:
    """Return what ends `ros2 launch` if it waits idly so long [s] after its last process ended.

    Seen once in 40 launches that Ctrl-C reached while they started their processes. On a busy
    machine a launch may need longer to end: it is not idle then. It also passes SIGINT on where
    launch does not.
    """

    def watch(pass_on: bool) -> None:
        if pass_on:
            _interrupt(_own_processes())
        waited, before = 0.0, ''
        while waited < patience:
            time.sleep(_LOOK)
            now = _main_thread()
            waited = 0.0 if now != before or _own_processes() else waited + _LOOK
            before = now
        print('launch: all processes have ended, launch itself has not: ended', file=sys.stderr)
        sys.stderr.flush()
        os._exit(1)

    def begin(event: Shutdown, context: LaunchContext) -> None:
        # launch trusts that Ctrl-C in a terminal reaches its processes without it. Where there is
        # no terminal, nobody tells them, and they would be left to SIGTERM after 3 s.
        pass_on = event.due_to_sigint and not (context.noninteractive or os.isatty(0))
        threading.Thread(target=watch, args=(pass_on,), daemon=True).start()

    return RegisterEventHandler(OnShutdown(on_shutdown=begin))


def _interrupt(processes: list[int]) -> None:
    """Send SIGINT to processes that catch it, SIGTERM to others; not to a Python amid its start.

    That would end with a traceback. Once they run, our nodes catch SIGTERM as well; what does not
    within two seconds gets SIGTERM from launch.
    """
    end, left = time.monotonic() + 2.0, set(processes)
    while left and time.monotonic() < end:
        for process in list(left):
            catches = _catches(process, signal.SIGINT)
            if not catches or _catches(process, signal.SIGTERM):
                left.discard(process)
                with suppress(ProcessLookupError):  # a Python may be about to catch SIGINT
                    os.kill(process, signal.SIGINT if catches else signal.SIGTERM)
        time.sleep(0.01)


def _catches(process: int, number: int) -> bool:
    """Whether a process has a handler of its own for a signal."""
    with suppress(OSError):  # it has just ended
        found = re.search(r'^SigCgt:\s*(\w+)', Path(f'/proc/{process}/status').read_text(), re.M)
        return found is not None and bool(int(found[1], 16) >> (number - 1) & 1)
    return False


def _main_thread() -> str:
    """Return what changes when this process's main thread runs, or wants to."""
    with suppress(OSError):  # a kernel that does not count it
        return Path(f'/proc/self/task/{os.getpid()}/schedstat').read_text()
    return ''


def _own_processes() -> list[int]:
    """Return the processes that this one started and that still run."""
    own, found = str(os.getpid()), []
    for stat in Path('/proc').glob('[0-9]*/stat'):
        try:
            state, parent = stat.read_text().rpartition(')')[2].split()[:2]
        except OSError:  # it has just ended
            continue
        if parent == own and state != 'Z':
            found.append(int(stat.parent.name))
    return found
