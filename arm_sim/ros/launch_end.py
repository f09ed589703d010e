"""The end of a launch, also of one that waits for a process that it was starting when it ended."""

import os
import sys
import threading
import time
from pathlib import Path

from launch.actions import RegisterEventHandler
from launch.event_handlers import OnShutdown

_LOOK = 0.5  # [s]


def certain_end(patience: float = 5.0) -> RegisterEventHandler:
    """Return what ends `ros2 launch` if it waits on so long [s] after its last process ended.

    Seen once in 40 launches that Ctrl-C reached while they started their processes.
    """

    def watch() -> None:
        waited = 0.0
        while waited < patience:
            time.sleep(_LOOK)
            waited = 0.0 if _has_processes() else waited + _LOOK
        print('launch: all processes have ended, launch itself has not: ended', file=sys.stderr)
        sys.stderr.flush()
        os._exit(1)

    def begin(*_: object) -> None:
        threading.Thread(target=watch, daemon=True).start()

    return RegisterEventHandler(OnShutdown(on_shutdown=begin))


def _has_processes() -> bool:
    """Whether a process that this one started still runs."""
    own = str(os.getpid())
    for stat in Path('/proc').glob('[0-9]*/stat'):
        try:
            state, parent = stat.read_text().rpartition(')')[2].split()[:2]
        except OSError:  # it has just ended
            continue
        if parent == own and state != 'Z':
            return True
    return False
