"""Where jobs run: in this process, in several, or on the workers of a Dask scheduler."""

import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from multiprocessing import get_context

from arm_dynamics.checks import ArmError


class Farm:
    """Runs jobs in this process, one after the other."""

    def run[Job, Answer](
        self, function: Callable[[Job], Answer], jobs: Iterable[Job]
    ) -> Iterator[tuple[int, Answer]]:
        """Give the number of each job and its answer, as they come in, each once.

        Only a few jobs are under way at a time, so that memory does not grow with their number.

        Raises:
            Whatever `function` raises; the other jobs are dropped.
        """
        for number, job in enumerate(jobs):
            yield number, function(job)


class _Pool(Farm):
    """Runs jobs in processes of this machine."""

    def __init__(self, workers: int):
        context = get_context('forkserver')
        context.set_forkserver_preload(['arm_sim.comparison.cases'])  # imports once
        self._workers = workers
        self.pool = ProcessPoolExecutor(workers, context, _end_at_interrupt)

    def run[Job, Answer](
        self, function: Callable[[Job], Answer], jobs: Iterable[Job]
    ) -> Iterator[tuple[int, Answer]]:
        numbered = iter(enumerate(jobs))
        under_way: dict[Future[Answer], int] = {}

        def start(count: int) -> None:
            for number, job in islice(numbered, count):
                under_way[self.pool.submit(function, job)] = number

        start(2 * self._workers)
        try:
            while under_way:
                for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                    number = under_way.pop(future)
                    answer = future.result()
                    start(1)
                    yield number, answer
        except BrokenProcessPool:
            raise ArmError('a worker process was ended from outside (memory?)') from None
        finally:
            for future in under_way:
                future.cancel()


def _end_at_interrupt() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@contextmanager
def farm(workers: int = 1, scheduler: str = '') -> Iterator[Farm]:
    """Give where jobs run: on `workers` processes, or where the scheduler's address leads.

    Raises:
        ArmError: no scheduler there, or Dask is not installed.
    """
    if scheduler:
        from arm_sim.farm.dask_farm import dask_farm  # an optional part

        with dask_farm(scheduler) as far:
            yield far
    elif workers <= 1:
        yield Farm()
    else:
        near = _Pool(workers)
        try:
            yield near
        finally:
            near.pool.shutdown(wait=False, cancel_futures=True)
