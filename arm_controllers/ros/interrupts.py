"""How SIGINT and SIGTERM end the nodes of a process."""

import os
import signal
import sys
import time
from threading import Thread
from types import FrameType

from rclpy.task import Future

_FIRST_REPEAT, _REPEAT = 0.1, 0.5  # times until a lost interrupt is repeated [s]


class Interrupt:
    """Handler of SIGINT and SIGTERM: ends at once, or after the callback that is dispatched.

    rclpy's own handlers would invalidate the context during a callback that is about to publish.
    Only the first signal counts: launch sends SIGTERM 3 s after SIGINT, which on a busy machine
    arrives while the node ends, and a process that leaves threads behind crashes. The handlers are
    set also where the parent ignored SIGINT, as a shell's `&` does.

    Attributes:
        requested: whether a signal has come.
        repeats: whether a lost interrupt is being repeated.
        stop: ends the dispatching of callbacks; None: none are dispatched.
    """

    requested = repeats = False
    stop: Future | None = None

    @classmethod
    def install(cls) -> None:
        """Handle the signals of this process from now on."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, cls._on_signal)
        sys.unraisablehook = cls._on_lost
        from arm_controllers.ros.stuck import end_where_stuck

        end_where_stuck(lambda: cls.requested)

    @classmethod
    def _on_lost(cls, lost: 'sys.UnraisableHookArgs') -> None:
        """Repeat an interrupt that C code has swallowed."""
        if not (cls.requested and issubclass(lost.exc_type, KeyboardInterrupt)):
            sys.__unraisablehook__(lost)
        elif not cls.repeats:
            cls.repeats = True
            Thread(target=cls._repeat, daemon=True).start()

    @classmethod
    def _repeat(cls) -> None:
        """Interrupt until the node ends, since each interrupt may be lost."""
        time.sleep(_FIRST_REPEAT)
        while signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
            cls.requested = False
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(_REPEAT)

    @classmethod
    def _on_signal(cls, number: int, frame: FrameType | None) -> None:
        if cls.requested:
            return
        cls.requested = True
        if cls.stop is None:
            raise KeyboardInterrupt
        # In a thread: the interrupted code may hold the lock of the future.
        Thread(target=cls.stop.set_result, args=(None,)).start()

    @classmethod
    def ignore(cls) -> None:
        """Ignore the signals from now on: the nodes end."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
