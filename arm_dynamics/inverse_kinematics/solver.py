"""The interface of inverse kinematics solvers, and their registry.

A solver proposes configurations. `arm.InverseKinematics` turns them to the seed, keeps them within
the limits, checks them by forward kinematics, and starts the solver again where they fail. A
user's package adds a solver by an entry point of the group `arm_sim.solvers`.
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
    """Proposals of a solver.

    Attributes:
        q: (m, n) configurations of the chain, m >= 0, in any order and any turn; rows that
            are not finite do not count.
        iterations: number of iterations, for the report.
        restarts: number of starts used after the first.
    """

    q: Array
    iterations: int = 0
    restarts: int = 0


class Solver(ABC):
    """Proposes joint positions of one chain for poses of its frame.

    Attributes:
        starts_at_once: number of starts that one call uses; 0: all.
        polish: proposals that nearly meet a task are improved before they are checked.
    """

    starts_at_once: ClassVar[int] = 1
    polish: ClassVar[bool] = False

    @abstractmethod
    def __init__(self, model: RobotModel, chain: Chain):
        """Prepare for a chain of a model; raise ArmError if this solver does not support it."""

    @abstractmethod
    def solve(self, target: Array, task: IkTask, starts: Array) -> Solutions:
        """Propose solutions.

        Args:
            target: (4, 4) pose of the frame in the base frame.
            task: tolerances and free components; raise ArmError if they are not supported.
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
        """Accept any chain."""
        self._chain = chain.arrays

    def solve(self, target: Array, task: IkTask, starts: Array) -> Solutions:
        """Propose the best configuration found from the starts."""
        q = np.empty((1, starts.shape[1]))
        _, iterations, restarts = self.search(self._chain, task, target, starts, q[0])
        return Solutions(q, iterations, restarts)


SOLVERS = PluginRegistry('solver', f'{__package__}.solvers', 'arm_sim.solvers', base=Solver)


def solver_names() -> tuple[str, ...]:
    """Return the allowed values of the argument `solver` of `solve_ik`."""
    return ('auto', *SOLVERS.names())
