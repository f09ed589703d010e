"""The process that started this one: a launch, or a command that runs nodes."""

import ctypes
import signal
from pathlib import Path

# Environment variable: process number of the launch that started a process.
LAUNCH = 'ARM_SIM_LAUNCH'
_PR_SET_PDEATHSIG = 1  # Linux: the signal that a process gets when its parent ends


def end_with_parent() -> None:
    """End this process when the process that started it ends."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def runs(process: str) -> bool:
    """Return whether a process, by its number, still runs; a zombie does not."""
    try:
        state = Path('/proc', process, 'stat').read_text().rpartition(')')[2].split()[0]
    except OSError:
        return False
    return state not in 'ZX'
