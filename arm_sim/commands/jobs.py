"""Options of commands with independent jobs: processes of this machine, or a Dask scheduler."""

import os
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Annotated

from arm_dynamics.parameters import Parameters, parameter
from arm_sim.experiments.executors import executor


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
