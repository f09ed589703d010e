"""What an inverse kinematics solver is, and which there are.

A solver proposes configurations. `arm.InverseKinematics`, which asks it, turns them to the seed,
holds them to the limits, checks them by forward kinematics, and starts it again where they fail.
A package of a user brings a solver by an entry point of the group `arm_sim.solvers`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.inverse_kinematics.task import IkTask
from arm_dynamics.kinematics.chain import Chain
from arm_dynamics.model import RobotModel
from arm_dynamics.plugins import PluginRegistry


class Solutions(NamedTuple):
    """What a solver proposes.

    Attributes:
        q: (m, n) configurations of the chain, m >= 0, in any order and any turn; rows that
            are not finite do not count.
        iterations: how many were needed, for the report.
        restarts: how many of the starts were used after the first.
    """

    q: Array
    iterations: int = 0
    restarts: int = 0


class Solver(ABC):
    """Proposes joint positions of one chain for poses of its frame.

    Attributes:
        starts_at_once: of how many starts one call makes use; 0: of as many as there are.
        polish: proposals that nearly meet a task are improved before they are judged.
    """

    starts_at_once: ClassVar[int] = 1
    polish: ClassVar[bool] = False

    @abstractmethod
    def __init__(self, model: RobotModel, chain: Chain):
        """Prepare for a chain of a model; raise ArmError if this solver cannot do it."""

    @abstractmethod
    def solve(self, target: Array, task: IkTask, starts: Array) -> Solutions:
        """Propose solutions.

        Args:
            target: (4, 4) pose of the frame in the base frame.
            task: tolerances and free components; raise ArmError if this solver cannot do them.
            starts: (k, n) configurations of the chain's joints: the seed, then random ones.
        """


class CompiledSolver(Solver):
    """A solver whose compiled `search` runs from start to start.

    `search(chain.arrays, task, target, starts, q)` writes the best q (n,) and returns whether the
    task is met, all iterations together, and the starts used after the first.
    """

    starts_at_once = 0
    search: Callable[..., tuple[bool, int, int]]

    def __init__(self, model: RobotModel, chain: Chain):
        """Take any chain."""
        self._chain = chain.arrays

    def solve(self, target: Array, task: IkTask, starts: Array) -> Solutions:
        """Propose the best configuration found from the starts."""
        q = np.empty((1, starts.shape[1]))
        _, iterations, restarts = self.search(self._chain, task, target, starts, q[0])
        return Solutions(q, iterations, restarts)


SOLVERS = PluginRegistry('solver', f'{__package__}.solvers', 'arm_sim.solvers', base=Solver)


def solver_names() -> tuple[str, ...]:
    """Return what `solve_ik` takes as `solver`."""
    return ('auto', *SOLVERS.names())
