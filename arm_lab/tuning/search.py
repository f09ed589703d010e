"""The search for gains: CMA-ES over drawn arms, within margins."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import cma
import numpy as np

from arm_controllers.laws import law_class
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, ParameterValues, parameter, with_arrays
from arm_lab.experiments.compared_laws import designed
from arm_lab.experiments.executors import ordered
from arm_lab.experiments.experiment import Experiment
from arm_lab.tuning.candidates import Drawn, try_gains

FREQUENCIES = tuple(float(x) for x in np.geomspace(10.0, 160.0, 9))  # [rad/s], of the designs
_LOWEST = 1e-6  # a gain of zero has no logarithm


class GainSpace:
    """The gains of a law as vectors x of their logarithms, so that 0.1 is some 10 % of a gain.

    Attributes:
        names: of the parameters that are varied.
    """

    def __init__(self, law: str, model: RobotModel, shipped: Parameters):
        """Take a law by name, and its parameters as they are shipped.

        Raises:
            ArmError: the law has no gains to vary.
        """
        self._cls, self._model, self._shipped = law_class(law), model, shipped
        self.names: Sequence[str] = self._cls.evaluation.tuned or self._cls.gains
        if not self.names:
            raise ArmError(
                f'law {law!r} has no gains to tune: neither `evaluation.tuned` nor `gains`'
            )

    def point(self, parameters: Parameters) -> Array:
        """Return x of the law's parameters."""
        arrays = with_arrays(parameters, self._model.joint_names)
        values = [np.ravel(getattr(arrays, name)) for name in self.names]
        return np.log(np.maximum(np.concatenate(values), _LOWEST))

    def parameters(self, x: Array) -> Parameters:
        """Return the law's parameters at x: what is not varied is as shipped.

        Raises:
            ArmError: the law refuses these gains.
        """
        return self._checked(self._with(np.exp(x)))

    def starts(self, q: Array) -> Iterator[Parameters]:
        """Yield the shipped parameters, and designs for FREQUENCIES at the pose q (n,)."""
        yield self._shipped
        for frequency in FREQUENCIES if self._cls.designed else ():
            design = designed(self._cls, self._model, q, frequency)
            try:
                yield self._checked(self._with(np.exp(self.point(design))))
            except ArmError:  # not for this arm
                continue

    def _with(self, values: Array) -> Parameters:
        arrays = with_arrays(self._shipped, self._model.joint_names)
        changed: ParameterValues = {}
        at = 0
        for name in self.names:
            count = np.size(getattr(arrays, name))
            numbers = values[at : at + count].tolist()
            changed[name] = numbers[0] if np.ndim(getattr(arrays, name)) == 0 else tuple(numbers)
            at += count
        return replace(self._shipped, **changed)

    def _checked(self, parameters: Parameters) -> Parameters:
        self._cls(self._model, parameters)
        return parameters


_PER_JOB = 4  # candidates in one batch
_CHUNK = 500  # fresh arms in one batch


@dataclass(frozen=True)
class RequiredMargins(Parameters):
    """What 95 % of the arms must keep to; every one must be stable."""

    torque: float = parameter(0.9, "largest torque over the arm's limit [1]", above=0, max=1)
    chatter: float = parameter(
        0.02, 'largest RMS change of torque per period over the RMS limit [1]', above=0, max=1
    )
    delay: int = parameter(1, 'additional delay [control periods]', min=0, max=100)


@dataclass(frozen=True)
class Effort(Parameters):
    """How much is tried."""

    arms: int = parameter(48, 'number of drawn arms per candidate', min=1, max=100_000)
    edge: int = parameter(16, 'number of arms with the delay margin', min=0, max=100_000)
    generations: int = parameter(15, 'number of CMA-ES generations', min=0, max=100_000)
    population: int = parameter(12, 'number of candidates per generation', min=4, max=10_000)
    fresh: int = parameter(10_000, 'number of arms for the validation', min=1, max=10_000_000)


class Outcome(NamedTuple):
    """Results of some arms under the gains: 95th percentiles, and how many arms were unstable."""

    rms_mm: float
    torque: float
    chatter: float
    unstable: int
    arms: int

    @classmethod
    def of(cls, rows: Array) -> 'Outcome':
        """Sum up COLUMNS (arms, 4)."""
        percentiles = np.percentile(rows[:, :3], 95, axis=0, method='nearest')
        rms, torque, chatter = percentiles.tolist()
        return cls(rms, torque, chatter, int(rows[:, 3].sum()), len(rows))


def score(rows: Array, drawn: int, margins: RequiredMargins) -> float:
    """Return what is minimised: log of the drawn arms' 95 % RMS, more where margins are not kept.

    Args:
        rows: COLUMNS (arms, 4), first those drawn, then those at the edge.
        drawn: how many are drawn.
        margins: to be kept.
    """
    every = Outcome.of(rows)
    if every.unstable:
        return 1e3 * (1.0 + every.unstable / every.arms)
    excess = max(0.0, every.torque / margins.torque - 1.0)
    excess += max(0.0, every.chatter / margins.chatter - 1.0)
    return float(np.log(Outcome.of(rows[:drawn]).rms_mm) + 10.0 * excess)


class Found(NamedTuple):
    """The best gains, and the results of the arms that chose them."""

    parameters: Parameters
    outcome: Outcome
    scores: list[float]  # the best of each generation


def search(
    experiment: Experiment,
    margins: RequiredMargins,
    effort: Effort,
    executor: Executor,
    progress: Callable[[int], None] = lambda done: None,
) -> Found:
    """Return the best gains: designs for some frequencies, and CMA-ES from the best of them.

    `progress` is called with the number of arms that have run. The numbers depend on the
    experiment's seed alone.

    Raises:
        ArmError: no gains were stable on all drawn arms.
    """
    loaded = experiment.load()
    robot = loaded.robot
    space = GainSpace(experiment.law, robot.model, loaded.law_parameters)
    arms = (Drawn(0, effort.arms), Drawn(0, min(effort.edge, effort.arms), margins.delay))
    tried, done = partial(try_gains, experiment, arms), 0

    def judge(candidates: Sequence[Parameters]) -> list[float]:
        """Return the score of each candidate."""
        nonlocal done
        jobs = [candidates[k : k + _PER_JOB] for k in range(0, len(candidates), _PER_JOB)]
        each, before = effort.arms + min(effort.edge, effort.arms), done

        def show(finished: int) -> None:
            progress(before + each * min(finished * _PER_JOB, len(candidates)))

        done += each * len(candidates)
        answers = ordered(executor, tried, jobs, show)
        return [score(rows, effort.arms, margins) for answer in answers for rows in answer]

    starts = list(space.starts(robot.start))
    scores = judge(starts)
    best = int(np.argmin(scores))
    chosen, lowest, course = starts[best], scores[best], [scores[best]]
    options = {
        'popsize': effort.population, 'maxiter': effort.generations, 'verbose': -9,
        'seed': experiment.seed + 1, 'CMA_diagonal': True, 'tolfun': 0.0, 'tolx': 0.0,
    }  # fmt: skip
    strategy = cma.CMAEvolutionStrategy(space.point(chosen), 0.2, options)
    for _ in range(effort.generations):
        points = strategy.ask()
        candidates = [_made(space, x) for x in points]
        costs = iter(judge([each for each in candidates if each is not None]))
        values = [1e4 if each is None else next(costs) for each in candidates]
        strategy.tell(points, values)
        best = int(np.argmin(values))
        course.append(values[best])
        winner = candidates[best]
        if winner is not None and values[best] < lowest:
            chosen, lowest = winner, values[best]
    if lowest >= 1e3:
        raise ArmError(
            f'{experiment.law} on {experiment.robot}: no gains were stable on all drawn arms'
        )
    return Found(chosen, Outcome.of(tried([chosen])[0][: effort.arms]), course)


def validate(
    experiment: Experiment,
    parameters: Parameters,
    count: int,
    executor: Executor,
    progress: Callable[[int], None],
) -> Array:
    """Return COLUMNS (count, 4) of arms that the search has not seen."""
    fresh = replace(experiment, seed=experiment.seed + 1_000_003)
    jobs = [(Drawn(k, min(_CHUNK, count - k)),) for k in range(0, count, _CHUNK)]
    run = partial(try_gains, fresh, candidates=[parameters])

    def show(finished: int) -> None:
        progress(min(finished * _CHUNK, count))

    return np.concatenate(ordered(executor, run, jobs, show), axis=1)[0]


def _made(space: GainSpace, x: Array) -> Parameters | None:
    try:
        return space.parameters(x)
    except ArmError:  # outside what the law takes
        return None
