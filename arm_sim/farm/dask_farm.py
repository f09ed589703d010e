"""Jobs on the workers of a Dask scheduler. Dask is imported here only."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any

from arm_dynamics.checks import ArmError
from arm_sim.farm.farm import Farm

_WAIT = 20.0  # for the scheduler, and for its first worker [s]


@contextmanager
def dask_farm(address: str) -> Iterator[Farm]:
    """Give the farm of the scheduler at `address`, as tcp://host:8786.

    Raises:
        ArmError: Dask is not installed, or there is no scheduler or worker.
    """
    try:
        from distributed import Client
    except ImportError:
        raise ArmError("--scheduler needs Dask: ./ws pip install 'distributed>=2025.1'") from None
    try:
        client = Client(address, timeout=_WAIT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ArmError(f'scheduler {address!r}: {reason}') from None
    try:
        try:
            client.wait_for_workers(1, timeout=_WAIT)
        except TimeoutError:
            raise ArmError(f'scheduler {address!r} has no worker') from None
        yield DaskFarm(client)
    finally:
        client.close()


class DaskFarm(Farm):
    """Runs jobs on workers that come and go.

    What a lost worker had is run again by another one. A job's answer is a function of the job
    alone, and each is given once, so that nothing is lost and nothing counts twice.
    """

    def __init__(self, client: Any):
        self._client = client

    def run[Job, Answer](
        self, function: Callable[[Job], Answer], jobs: Iterable[Job]
    ) -> Iterator[tuple[int, Answer]]:
        """Give the number of each job and its answer, as Farm does."""
        from distributed import as_completed
        from distributed.scheduler import KilledWorker

        numbered = iter(enumerate(jobs))
        under_way: dict[Any, int] = {}

        def start(count: int) -> list[Any]:
            begun = []
            for number, job in islice(numbered, count):
                # Not pure: two runs at one scheduler share nothing.
                future = self._client.submit(partial(function, job), pure=False)
                under_way[future] = number
                begun.append(future)
            return begun

        completed = as_completed(start(self._window()), loop=self._client.loop)
        try:
            for future in completed:
                answer = future.result()
                yield under_way.pop(future), answer
                future.release()
                for other in start(max(0, self._window() - len(under_way))):
                    completed.add(other)
        except KilledWorker as error:
            raise ArmError(f'a job ended several workers, one after the other: {error}') from None
        finally:
            self._client.cancel(list(under_way))

    def _window(self) -> int:
        """Return how many jobs may be under way: two for each thread that there is now."""
        return 2 * max(1, sum(self._client.nthreads().values()))
