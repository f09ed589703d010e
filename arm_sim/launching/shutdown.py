"""The end of a launch, and of its screen: every launch ends, and its processes end with it."""

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
from launch.logging import launch_config

from arm_sim import standard_output

_LOOK = 0.5  # period of looking whether the launch has ended [s]


def restore_interrupt() -> None:
    """Let SIGINT end this process also where its parent ignored SIGINT, as a shell's `&` does."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def keep_screen() -> None:
    """Let this launch go on where nobody reads what it prints any more."""
    standard_output.keep()
    launch_config.get_screen_handler().stream.stream = sys.stdout


def shutdown_guard(timeout: float = 5.0) -> RegisterEventHandler:
    """Return the action that ends a `ros2 launch` which idles after its last process has ended.

    That happened once in 40 launches that Ctrl-C reached while they started their processes. The
    action also passes SIGINT on to the processes where launch does not.

    Args:
        timeout: idle time after which the launch ends [s]; a busy launch has not ended yet.
    """

    def watch(pass_on: bool) -> None:
        if pass_on:
            _interrupt(_children())
        idle, before = 0.0, ''
        while idle < timeout:
            time.sleep(_LOOK)
            now = _main_thread()
            idle = 0.0 if now != before or _children() else idle + _LOOK
            before = now
        print('launch: all processes have ended, launch itself has not: ended', file=sys.stderr)
        sys.stderr.flush()
        os._exit(1)

    def begin(event: Shutdown, context: LaunchContext) -> None:
        # launch relies on the terminal, which sends Ctrl-C to all processes. Without a terminal
        # the processes would only receive SIGTERM, 3 s later.
        pass_on = event.due_to_sigint and not (context.noninteractive or os.isatty(0))
        threading.Thread(target=watch, args=(pass_on,), daemon=True).start()

    return RegisterEventHandler(OnShutdown(on_shutdown=begin))


def _interrupt(processes: list[int]) -> None:
    """Send SIGINT to processes that catch it, SIGTERM to others; to a starting Python later.

    A Python that starts would end with a traceback. Our running nodes catch SIGTERM as well. A
    process that does not within two seconds receives SIGTERM from launch.
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
    """Whether a process has a handler for a signal."""
    with suppress(OSError):  # the process has just ended
        found = re.search(r'^SigCgt:\s*(\w+)', Path(f'/proc/{process}/status').read_text(), re.M)
        return found is not None and bool(int(found[1], 16) >> (number - 1) & 1)
    return False


def _main_thread() -> str:
    """Return a text that changes when this process's main thread runs, or wants to run."""
    with suppress(OSError):  # a kernel that does not count
        return Path(f'/proc/self/task/{os.getpid()}/schedstat').read_text()
    return ''


def _children() -> list[int]:
    """Return the running processes that this one started."""
    own, found = str(os.getpid()), []
    for stat in Path('/proc').glob('[0-9]*/stat'):
        try:
            state, parent = stat.read_text().rpartition(')')[2].split()[:2]
        except OSError:  # the process has just ended
            continue
        if parent == own and state != 'Z':
            found.append(int(stat.parent.name))
    return found
