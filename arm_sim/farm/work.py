"""One command's jobs: where they run, and the file that lets them go on after Ctrl-C."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from arm_dynamics.checks import Array
from arm_sim.farm.farm import Farm, farm
from arm_sim.farm.journal import Journal, run_jobs


@dataclass(frozen=True)
class Work:
    """Where jobs run.

    Attributes:
        farm: what runs them.
        journal: file of the answers that are there; none: nothing is kept.
        resume: whether to go on with it.
    """

    farm: Farm
    journal: Path | None = None
    resume: bool = False

    def run[Job](
        self,
        function: Callable[[Job], Array],
        jobs: Sequence[Job],
        take: Callable[[int, Array], None],
        told: Mapping[str, Any],
        tell: Callable[[int, Array], None] = lambda number, answer: None,
    ) -> None:
        """Give each job's answer to `take`, once, in any order; the journal ends with the run.

        Args:
            function: of a job.
            jobs: in their order.
            take: what takes the number of a job and its answer.
            told: what is run, in words and numbers; the same where it goes on.
            tell: takes the same, but only what is run now.
        """
        journal = Journal(self.journal, told, self.resume) if self.journal else None
        whole = False
        try:
            run_jobs(self.farm, function, jobs, take, journal, [tell])
            whole = True
        finally:
            if journal:
                journal.close(remove=whole)


@contextmanager
def own_work(work: Work | None, workers: int) -> Iterator[Work]:
    """Give `work`, or where there is none, so many processes of this machine."""
    if work:
        yield work
        return
    with farm(workers) as own:
        yield Work(own)
