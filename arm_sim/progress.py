"""How far a long command is: a bar on a terminal, a line a tenth elsewhere."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def progress(
    console: Console, what: str, total: int, begun: int = 0
) -> Iterator[Callable[[int], None]]:
    """Give a function that is told how many are done; `begun` were done before.

    It shows the part that is done, how many per second, and the time that is left.
    """
    start = time.monotonic()

    def rate(done: int) -> float:
        return (done - begun) / max(time.monotonic() - start, 1e-9)

    if console.is_terminal:
        columns = (
            TextColumn(what), BarColumn(), MofNCompleteColumn(), TextColumn('{task.fields[rate]}'),
            TimeRemainingColumn(),
        )  # fmt: skip
        with Progress(*columns, console=console, transient=True) as bar:
            task = bar.add_task('', total=total, completed=begun, rate='')
            yield lambda done: bar.update(task, completed=done, rate=f'{rate(done):.3g}/s')
        return
    tenths = 10 * begun // max(total, 1)

    def show(done: int) -> None:
        nonlocal tenths
        if 10 * done // total > tenths:
            tenths = 10 * done // total
            left = (total - done) / max(rate(done), 1e-9)
            print(
                f'{what}: {done} of {total}, {rate(done):.3g} per second, {left:.0f} s left',
                file=console.file,
                flush=True,
            )

    yield show


@contextmanager
def interruptible(*more: signal.Signals) -> Iterator[None]:
    """Let Ctrl-C raise KeyboardInterrupt, in the main thread; executables begin without.

    `more`: signals that do so as well.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, *more)}
    try:
        for number in before:
            signal.signal(number, signal.default_int_handler)
    except ValueError:  # another thread's
        yield
        return
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
