"""Work: the jobs of one command, and the file from which `--resume` continues."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_sim.experiments.executors import completed, executor
from arm_sim.loop.report import plain


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

    executor: Executor
    file: Path | None = None
    resume: bool = False

    def results[Job](
        self, function: Callable[[Job], Array], jobs: Sequence[Job], run: Mapping[str, Any]
    ) -> Iterator[tuple[int, Array]]:
        """Yield each job's number and answer, each once, in any order.

        The file is removed after the last answer.

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
                for k, answer in completed(self.executor, function, (jobs[k] for k in left)):
                    np.save(file, np.array(left[k]))
                    np.save(file, answer)
                    file.flush()
                    yield left[k], answer
        except OSError as error:  # also of the close, which writes what did not fit on the disk
            raise self._unusable(error) from None
        self.file.unlink()

    def _opened(self, run: str) -> IO[bytes]:
        """Return the open file, positioned after the line that identifies the run."""
        assert self.file is not None
        head = f'{run}\n'.encode()
        try:
            if not (self.resume and self.file.exists()):
                self.file.write_bytes(head)
            file = self.file.open('r+b')
        except OSError as error:
            raise self._unusable(error) from None
        if file.readline() != head:
            file.close()
            raise ArmError(
                f'{str(self.file)!r} belongs to another run; repeat its options, or start a new '
                'run without --resume'
            )
        return file

    def _unusable(self, error: OSError) -> ArmError:
        return ArmError(f'{str(self.file)!r} cannot be written: {error.strerror}')


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


@contextmanager
def own_work(work: Work | None, workers: int) -> Iterator[Work]:
    """Give `work`, or where that is None, work on `workers` processes of this machine."""
    if work:
        yield work
        return
    with executor(workers) as own:
        yield Work(own)
