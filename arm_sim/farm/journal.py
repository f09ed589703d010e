"""Answers kept as they come in, so that a run that was broken off goes on where it was."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_sim.farm.farm import Farm
from arm_sim.runs.report import plain


class Journal:
    """A file with a line for each job that is done: its number and its answer.

    The first line says what is run, so that nothing else goes on with it. A line that was not
    finished, as when the power fails, counts as not done. Numbers are written so that they are
    read back to the last bit.

    Attributes:
        path: of the file.
        done: numbers of the jobs that it has.
    """

    def __init__(self, path: Path, run: Mapping[str, Any], resume: bool):
        """Begin the file anew, or go on with the one that is there.

        Args:
            path: of the file.
            run: what is run, as JSON takes it.
            resume: whether to go on; where there is no file, a run begins.

        Raises:
            ArmError: the file cannot be read or written, or is of another run.
        """
        self.path, head = path, json.dumps({'run': plain(run)}, sort_keys=True)
        self.done: set[int] = set()
        try:
            if resume and path.exists():
                self._check(head)
            else:
                path.write_text(head + '\n')
            self._file: IO[str] = path.open('a')
        except OSError as error:
            raise self._unwritable(error) from None

    def _unwritable(self, error: OSError) -> ArmError:
        return ArmError(f'{str(self.path)!r} cannot be written: {error.strerror}')

    def _check(self, head: str) -> None:
        whole = 0
        with self.path.open('rb') as file:
            first = file.readline()
            if first.decode(errors='replace') != f'{head}\n':
                raise ArmError(
                    f'{str(self.path)!r} is of another run; give the same options, or leave '
                    '--resume out to begin anew'
                )
            whole = len(first)
            for line in file:
                answer = _read(line)
                if answer is None:
                    break
                whole += len(line)
                self.done.add(answer[0])
        with self.path.open('r+b') as file:
            file.truncate(whole)

    def answers(self) -> Iterator[tuple[int, Array]]:
        """Yield the answers that are there, one at a time, each once."""
        self._file.flush()
        given = set()
        with self.path.open('rb') as file:
            file.readline()
            for line in file:
                answer = _read(line)
                if answer is not None and answer[0] not in given:
                    given.add(answer[0])
                    yield answer

    def add(self, number: int, answer: Array) -> None:
        """Keep the answer of one job. Raises ArmError where it cannot be written."""
        row = [number, answer.shape, answer.ravel().tolist()]
        try:
            self._file.write(json.dumps(row) + '\n')
            self._file.flush()
        except OSError as error:
            raise self._unwritable(error) from None
        self.done.add(number)

    def close(self, remove: bool) -> None:
        """End; `remove` the file of a run that is whole."""
        self._file.close()
        if remove:
            self.path.unlink(missing_ok=True)


def _read(line: bytes) -> tuple[int, Array] | None:
    """Return the number of a job and its answer; None: the line is not whole."""
    if not line.endswith(b'\n'):
        return None
    try:
        number, shape, values = json.loads(line)
        return int(number), np.array(values, dtype=float).reshape(shape)
    except (ValueError, TypeError):
        return None


def run_jobs[Job](
    farm: Farm,
    function: Callable[[Job], Array],
    jobs: Sequence[Job],
    take: Callable[[int, Array], None],
    journal: Journal | None = None,
    told: Iterable[Callable[[int, Array], None]] = (),
) -> None:
    """Give each job's answer, an array, to `take` with the job's number, once, in any order.

    Args:
        farm: where the jobs run.
        function: of a job.
        jobs: in their order.
        take: what takes an answer.
        journal: what it has is not run again; what is run it gets.
        told: also get what is run, and not what the journal had.
    """
    if journal:
        for number, answer in journal.answers():
            if 0 <= number < len(jobs):
                take(number, answer)
    left = [k for k in range(len(jobs)) if journal is None or k not in journal.done]
    for k, answer in farm.run(function, (jobs[number] for number in left)):
        number = left[k]
        for each in told:
            each(number, answer)
        if journal:
            journal.add(number, answer)
        take(number, answer)
