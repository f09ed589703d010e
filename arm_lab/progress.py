"""Progress of long work: a bar on a terminal or in a notebook, else a line per tenth; Ctrl-C."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib.util import find_spec
from threading import Event, Thread
from types import FrameType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from arm_sim.notebook import in_notebook

SAID_EVERY = 15.0  # period of the lines on work that goes on, where there is no terminal [s]


def new_console(stderr: bool = False) -> Console:
    """Return a console as wide as the terminal; 160 characters wide where there is none."""
    wide = not (sys.stdout.isatty() or in_notebook())
    return Console(width=160 if wide else None, highlight=False, stderr=stderr)


@contextmanager
def progress(
    what: str, total: int, console: Console | None = None
) -> Iterator[Callable[..., None]]:
    """Give a function of the number of `total` that are done, and optionally of a note.

    The function shows the number, at most `total`, the number per second, the note, and the time
    that is left. Without a terminal a line also comes after SAID_EVERY seconds without one.
    """
    console, begin = console or new_console(), time.monotonic()
    columns = (
        TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn('{task.fields[rate]}'),
        TimeRemainingColumn(),
    )  # fmt: skip
    on_terminal, tenth, reached, said = console.is_terminal, 0, 0, begin
    if console.is_jupyter:  # rich's bar there is a widget
        on_terminal = find_spec('ipywidgets') is not None
    with Progress(*columns, console=console, transient=True, disable=not on_terminal) as bar:
        number = bar.add_task(what, total=total, rate='')

        def wait() -> None:
            nonlocal said
            if (now := time.monotonic()) - said >= SAID_EVERY:
                said = now
                text = f'{what}: {reached} of {total}, {now - begin:.0f} s so far'
                print(text, file=console.file, flush=True)

        def show(done: int, note: str = '') -> None:
            nonlocal tenth, reached, said
            reached = done = min(done, total)
            rate = done / max(bar.tasks[0].elapsed or 0.0, 1e-9)
            bar.update(number, completed=done, rate=f'{rate:.3g}/s {note}')
            if not on_terminal and 10 * done // total > tenth:
                tenth = 10 * done // total
                left = (total - done) / max(rate, 1e-9)
                facts = [
                    f'{done} of {total}',
                    f'{rate:.3g} per second',
                    note,
                    f'{left:.0f} s left',
                ]
                text = f'{what}: {", ".join(filter(None, facts))}'
                print(text, file=console.file, flush=True)
                said = time.monotonic()

        with nullcontext() if on_terminal else _repeated(wait, SAID_EVERY / 4.0):
            yield show


@contextmanager
def _repeated(say: Callable[[], None], period: float) -> Iterator[None]:
    """Call a function each `period` [s], in a thread of its own."""
    done = Event()

    def repeat() -> None:
        with suppress(OSError):  # its reader has ended, which the work itself will see
            while not done.wait(period):
                say()

    Thread(target=repeat, daemon=True).start()
    try:
        yield
    finally:
        done.set()


@contextmanager
def status(what: str) -> Iterator[Callable[[str], None]]:
    """Show what a command does, and give a function that takes what it does next.

    On a terminal the line goes when the work is done; elsewhere it is written to standard error
    each SAID_EVERY seconds.
    """
    console = new_console(stderr=True)
    if console.is_terminal:
        with console.status(what) as shown:
            yield shown.update
        return
    now, begin = [what], time.monotonic()

    def say() -> None:
        print(f'{now[0]}: {time.monotonic() - begin:.0f} s so far', file=sys.stderr, flush=True)

    with _repeated(say, SAID_EVERY):
        yield lambda text: now.__setitem__(0, text)


@contextmanager
def interruptible(*more: signal.Signals) -> Iterator[None]:
    """Let Ctrl-C, and the signals `more`, raise KeyboardInterrupt in the main thread.

    Executables start with Ctrl-C ending the process without a traceback.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *more)}
    try:
        for number in before:
            signal.signal(number, signal.default_int_handler)
    except ValueError:  # not in the main thread
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class WrittenError(KeyboardInterrupt):
    """Ctrl-C came while files were written, which are whole."""


@contextmanager
def writing() -> Iterator[None]:
    """Let Ctrl-C wait until the files that are written here are whole; a second one does not wait.

    Raises:
        WrittenError: Ctrl-C came.
    """
    came: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        if came:
            raise KeyboardInterrupt
        came.append(number)

    raising = [
        number
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) is signal.default_int_handler
    ]
    with suppress(ValueError):  # not in the main thread
        for number in raising:
            signal.signal(number, note)
    try:
        yield
    finally:
        with suppress(ValueError):
            for number in raising:
                signal.signal(number, signal.default_int_handler)
    if came:
        raise WrittenError


def printable(text: str) -> str:
    """Return a text with spaces for characters that a terminal may take for a command."""
    return ''.join(x if x.isprintable() else ' ' for x in text)
