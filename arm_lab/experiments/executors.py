"""Jobs on executors of `concurrent.futures`: this process, processes, a Dask scheduler.

`Jobs` are the options of a command for its jobs; `Work` keeps answers, from which `--resume`
continues.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from multiprocessing import forkserver, get_context, parent_process, resource_tracker
from pathlib import Path
from threading import Thread
from typing import IO, Annotated, Any, TypeVar

import numpy as np
from rich.console import Console

from arm_dynamics.checks import ArmError, Array, typed
from arm_dynamics.parameters import Parameters, parameter
from arm_dynamics.plugin_faults import named_faults
from arm_lab.experiments.seeded import seeded
from arm_lab.progress import progress
from arm_sim import standard_output
from arm_sim.loop.report import plain

Job = TypeVar('Job')
Answer = TypeVar('Answer')
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
        first = f'{__package__}.quiet_end'
        here = [each for each in sys.modules if each.startswith('arm_')]
        context.set_forkserver_preload([first, *here])
        resource_tracker.ensure_running()  # which would unblock the signal
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        forkserver.ensure_running()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        pool = ProcessPoolExecutor(workers, context, _end_with_command)
        try:
            yield pool
        except BrokenProcessPool:
            raise ArmError(_broken(pool)) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _broken(pool: ProcessPoolExecutor) -> str:
    """Return how a worker ended that had jobs; the pool ends the other ones by SIGTERM."""
    ended = (each.exitcode for each in (pool._processes or {}).values())
    codes = {code for code in ended if code is not None and code != -signal.SIGTERM}
    first = min(codes, default=0)
    if first < 0:
        reason = ' (out of memory?)' if first == -signal.SIGKILL else ''
        return f'a worker process was ended by {signal.Signals(-first).name}{reason}'
    code = f' with exit code {first}' if first in codes else ''
    return f'a worker process ended{code} before its job did'


def _end_with_command() -> None:
    """Let a worker end at an interrupt, and when the process that has made it ends, however.

    As that process it goes on where nobody reads what a law prints.
    """
    standard_output.keep()
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if command := parent_process():

        def follow() -> None:
            command.join()
            os._exit(1)

        Thread(target=follow, daemon=True).start()


@contextmanager
def _dask_executor(address: str) -> Iterator[Executor]:
    try:
        from distributed import Client
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise ArmError(
            '--scheduler needs Dask: ' + typed("pip install 'distributed>=2025.1'")
        ) from None
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


def _answer(function: Callable[[Job], Answer], job: Job) -> Answer:
    """Return the answer of a job; an error of a plugin crosses processes as an ArmError."""
    with named_faults(), seeded():
        return function(job)


def completed(
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
                running[executor.submit(partial(_answer, function, job))] = number
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()
    finally:
        for future in running:
            future.cancel()


def ordered(
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


@dataclass(frozen=True)
class Work:
    """Where jobs run and where their answers are kept until all jobs are done.

    The file of answers begins with a line of JSON that identifies the run. For each finished job
    follow two arrays as `numpy.save` writes them: the job's number and its answer.

    Attributes:
        executor: runs the jobs.
        file: of the answers; None: no answer is kept.
        resume: whether to continue with the answers in the file.
    """

    executor: Executor = field(default_factory=SerialExecutor)
    file: Path | None = None
    resume: bool = False

    def results(
        self, function: Callable[[Job], Array], jobs: Sequence[Job], run: Mapping[str, object]
    ) -> Iterator[tuple[int, Array]]:
        """Yield each job's number and answer, each once, in any order.

        The file is removed after the last answer, and after an error before the first one.

        Args:
            function: of a job.
            jobs: in order.
            run: identifies the run; JSON takes it. A run continues only its own file.

        Raises:
            ArmError: the file cannot be read or written, or belongs to another run.
        """
        if self.file is None:
            yield from completed(self.executor, function, jobs)
            return
        done = set()
        try:
            with self._opened(json.dumps(plain(run), sort_keys=True)) as file:
                for number, answer in _read(file):
                    if number not in done and number < len(jobs):
                        done.add(number)
                        yield number, answer
                left = [number for number in range(len(jobs)) if number not in done]
                try:
                    for k, answer in completed(self.executor, function, (jobs[k] for k in left)):
                        np.save(file, np.array(left[k]))
                        np.save(file, answer)
                        file.flush()
                        done.add(left[k])
                        yield left[k], answer
                except BaseException:
                    if not done:
                        self.file.unlink()
                    raise
        except OSError as error:  # also of the close, which writes what did not fit on the disk
            raise ArmError(f'{str(self.file)!r} cannot be written: {error.strerror}') from None
        self.file.unlink()

    def _opened(self, run: str) -> IO[bytes]:
        """Return the open file, positioned after the line that identifies the run."""
        assert self.file is not None
        head = f'{run}\n'.encode()
        if not (self.resume and self.file.exists()):
            self.file.write_bytes(head)
        file = self.file.open('r+b')
        if file.readline() != head:
            file.close()
            raise ArmError(
                f'{str(self.file)!r} belongs to another run; repeat its options, or start a new '
                'run without --resume'
            )
        return file


SERIAL = Work()


def _read(file: IO[bytes]) -> Iterator[tuple[int, Array]]:
    """Yield numbers and answers up to the first incomplete one, where the file is cut off."""
    while True:
        end = file.tell()
        try:
            number, answer = int(np.load(file)), np.load(file)
        except (EOFError, OSError, TypeError, ValueError):
            file.seek(end)
            file.truncate()
            return
        yield number, answer


@dataclass(frozen=True)
class Jobs(Parameters):
    """Where jobs run."""

    workers: int = parameter(
        os.cpu_count() or 1, 'number of processes on this machine', min=1, max=1024
    )
    scheduler: Annotated[str, 'ADDRESS'] = parameter(
        '',
        'address of a Dask scheduler, such as tcp://host:8786, whose workers run the jobs instead',
    )

    def executor(self) -> AbstractContextManager[Executor]:
        """Return the executor of the jobs, to be entered."""
        return executor(self.workers, self.scheduler)

    def done(
        self,
        what: str,
        function: Callable[[Job], Answer],
        jobs: Sequence[Job],
        console: Console | None = None,
    ) -> dict[int, Answer]:
        """Return the answers by their job's number; show the progress as a number of `what`.

        After Ctrl-C these are the answers until then; it is raised where there are none.
        """
        answers: dict[int, Answer] = {}
        try:
            with self.executor() as processes, progress(what, len(jobs), console) as advance:
                for number, answer in completed(processes, function, jobs):
                    answers[number] = answer
                    advance(len(answers))
        except KeyboardInterrupt:
            if not answers:
                raise
            print(f'stopped: {len(answers)} of {len(jobs)} {what} are done', file=sys.stderr)
        return dict(sorted(answers.items()))
