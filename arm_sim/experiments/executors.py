"""Executors of `concurrent.futures`: this process, processes of this machine, a Dask scheduler."""

import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from itertools import islice
from multiprocessing import get_context
from typing import Any

from arm_dynamics.checks import ArmError

DASK_TIMEOUT = 20.0  # for the scheduler, and for its first worker [s]
_WINDOW = 1000  # jobs that are submitted and not yet finished, at most


class SerialExecutor(Executor):
    """Runs each job in this process when the job is submitted; its exceptions are raised there."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run `function` and return its finished future."""
        future: Future[Any] = Future()
        future.set_result(function(*args, **kwargs))
        return future


@contextmanager
def executor(workers: int = 1, scheduler: str = '') -> Iterator[Executor]:
    """Give the executor with `workers` processes, or that of the Dask scheduler at an address.

    Raises:
        ArmError: no scheduler or no worker answers, Dask is not installed, or a worker process
            was killed.
    """
    if scheduler:
        with _dask_executor(scheduler) as remote:
            yield remote
    elif workers <= 1:
        yield SerialExecutor()
    else:
        context = get_context('forkserver')
        # Workers are forked from a process that has imported what this process has.
        context.set_forkserver_preload([each for each in sys.modules if each.startswith('arm_')])
        pool = ProcessPoolExecutor(workers, context, _end_at_interrupt)
        try:
            yield pool
        except BrokenProcessPool:
            raise ArmError('a worker process was killed (out of memory?)') from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _end_at_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def _dask_executor(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise ArmError("--scheduler needs Dask: ./ws pip install 'distributed>=2025.1'") from None
    try:
        client = Client(address, timeout=DASK_TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ArmError(f'scheduler {address!r}: {reason}') from None
    with client:
        try:
            client.wait_for_workers(1, timeout=DASK_TIMEOUT)
        except TimeoutError:
            raise ArmError(f'scheduler {address!r} has no worker') from None
        try:
            yield client.get_executor(pure=False)  # two runs at one scheduler share nothing
        except KilledWorker as error:
            raise ArmError(f'a job killed several workers, one after the other: {error}') from None


def completed[Job, Answer](
    executor: Executor, function: Callable[[Job], Answer], jobs: Iterable[Job]
) -> Iterator[tuple[int, Answer]]:
    """Yield each job's number and answer as jobs finish, each once.

    Jobs are taken from the iterable and submitted as others finish, so that memory does not grow
    with their number.

    Raises:
        Whatever `function` raises; the remaining jobs are cancelled.
    """
    numbered = enumerate(jobs)
    window = 1 if isinstance(executor, SerialExecutor) else _WINDOW
    running: dict[Future[Answer], int] = {}
    try:
        while True:
            for number, job in islice(numbered, window - len(running)):
                running[executor.submit(partial(function, job))] = number
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    finally:
        for future in running:
            future.cancel()


def ordered[Job, Answer](
    executor: Executor,
    function: Callable[[Job], Answer],
    jobs: Sequence[Job],
    progress: Callable[[int], None] = lambda done: None,
) -> list[Answer]:
    """Return the answers of all jobs in order; `progress` is called with the number of answers."""
    answers: dict[int, Answer] = {}
    for number, answer in completed(executor, function, jobs):
        answers[number] = answer
        progress(len(answers))
    return [answers[k] for k in range(len(jobs))]
