"""What came of a trial, and of all trials of a plan."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from math import isnan

import numpy as np

from arm_dynamics.checks import Array
from arm_lab.judging.plan import JudgedTrial, JudgingPlan
from arm_sim.loop.report import Check


@dataclass(frozen=True)
class Verdict:
    """What came of a trial.

    Attributes:
        trial: which.
        seconds: that it took by the wall clock.
        measures: numbers by name; none where the trial failed.
        checks: the numbers that have a limit, the plan's and the task's own.
        checksum: of states and torques; '' where the trial failed.
        reason: why it failed, or ''.
        course: time [s] and error of the tip [mm] (2, about 500).
    """

    trial: JudgedTrial
    seconds: float
    measures: Mapping[str, float] = field(default_factory=dict)
    checks: Sequence[Check] = ()
    checksum: str = ''
    reason: str = ''
    course: Array = field(default_factory=lambda: np.empty((2, 0)))

    @property
    def broken(self) -> list[str]:
        """The limits that do not hold, each in words."""
        found = []
        for each in self.checks:
            value, limit = each.shown
            if each.held is False:
                found.append(f'{each.name} is {"never" if isnan(each.value) else value}, {limit}')
        return found

    @property
    def held(self) -> bool:
        """Whether it ran to its end and all limits hold."""
        return not self.reason and not self.broken

    @property
    def words(self) -> str:
        """That it held, or why not."""
        return self.reason or '; '.join(self.broken) or 'held'


@dataclass(frozen=True)
class Judgement:
    """What came of all trials of a plan.

    Attributes:
        plan: what was tried.
        command: the controller's, as it was given.
        verdicts: in the order of the plan; a first trial that fails ends the judgement.
        stopped: whether Ctrl-C has ended it.
    """

    plan: JudgingPlan
    command: str
    verdicts: tuple[Verdict, ...]
    stopped: bool = False

    @property
    def held(self) -> bool:
        """Whether all trials held."""
        return len(self.verdicts) == len(self.plan.trials) and all(v.held for v in self.verdicts)

    @property
    def checksum(self) -> str:
        """SHA-256 of the trials: equal for judgements that agree in every bit; '' without one."""
        if not any(each.checksum for each in self.verdicts):
            return ''
        parts = (f'{each.trial.name}: {each.checksum}\n' for each in self.verdicts)
        return sha256(''.join(parts).encode()).hexdigest()

    def __str__(self) -> str:
        lines = (f'{each.trial.name}: {each.words}' for each in self.verdicts)
        return '\n'.join([self.summary, *lines])

    @property
    def summary(self) -> str:
        """What came of it, in a line."""
        count, done = len(self.plan.trials), len(self.verdicts)
        held = sum(each.held for each in self.verdicts)
        left = f', {count - done} not run' + ' (stopped)' * self.stopped if done < count else ''
        which = 'all' if done == count else f'these {done}'
        of_all = f'; SHA-256 of {which}: {self.checksum[:16]}...' if self.checksum else ''
        return f'{held} of {count} trials held{left}{of_all}'


class StoppedJudgement(KeyboardInterrupt):
    """Ctrl-C during a trial.

    Attributes:
        judgement: from the trials before it.
    """

    def __init__(self, judgement: Judgement):
        super().__init__()
        self.judgement = judgement
