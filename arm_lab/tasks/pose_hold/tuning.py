"""Search for gains that hold a pose: the published downhill simplex, and CMA-ES."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import Array
from arm_lab.tasks.pose_hold.objective import PUBLISHED_P, PoseHoldObjective, perturbed

# The published searches: guess, size of the first simplex, tolerance, most iterations.
PUBLISHED_SEARCH_P = ((6.0, 5.0, 1.0), 0.1, 1e-4, 250)
PUBLISHED_SEARCH_I = ((0.1, 0.1, 0.1), 0.01, 1e-5, 250)

# Decades in which the evolution strategy starts, per term (P, I, D), [V/rad]. It may leave them.
DECADES = ((3.0, 5.5), (0.5, 4.0), (3.5, 6.5))


# Legs of the evolution: its rollouts' length [s], first deviation [decades], population.
STAGES = ((0.1, 0.2, 40), (0.5, 0.02, 20), (np.inf, 0.003, 12))

# Random points of which the best one is a start; deviation [decades] at which a leg has ended.
_DRAWS = 400
_TOLERANCE = 1e-6

# Shares of the search's best J: a candidate of more than the first is not tested further, a start
# whose leg ends above the second is given up, a shorter rollout's below the third is run in full.
_HOPELESS, _WORTH_GOING_ON, _WORTH_A_LOOK = 10.0, 1.1, 0.95


@dataclass
class Search:
    """A search under way: the best gains so far, and how many it has tried.

    Attributes:
        best: the best gains so far.
        cost: what was minimised, at them.
        evaluations: rollouts so far.
        report: called after every improvement and every generation.
        stop: asked between rollouts; True ends the search.
    """

    best: Array
    cost: float = np.inf
    evaluations: int = 0
    report: Callable[['Search'], None] = lambda search: None
    stop: Callable[[], bool] = lambda: False
    _lock: Lock = field(default_factory=Lock, repr=False)

    def take(self, gains: Array, cost: float) -> None:
        """Note a candidate; from any thread."""
        with self._lock:
            if cost < self.cost:
                self.best, self.cost = gains.copy(), cost
                self.report(self)


class _Stopped(Exception):  # noqa: N818  (no error: the way out of a library's loop)
    pass


def downhill_simplex(
    objective: Callable[[Array], float], start: ArrayLike, scale: float, tolerance: float,
    iterations: int,
) -> Array:  # fmt: skip
    """Return the minimum (n,) by Nelder and Mead, from the simplex start, start + scale e_i.

    These are the steps of the published search, after Press et al., Numerical Recipes in C (1st
    ed.), 10.4: reflect; expand by 2 where the best is reached; contract by 1/2 where the second
    worst is not beaten; shrink by 1/2 to the best where that fails too. It ends at a relative
    spread of the values below `tolerance`. SciPy's variant accepts other points: another end.
    """
    start = np.asarray(start, dtype=float)
    points = start + np.vstack([np.zeros(start.size), scale * np.eye(start.size)])
    values = np.array([objective(point) for point in points])
    for _ in range(iterations):
        best, *_, second_worst, worst = np.argsort(values, kind='stable')
        if 2.0 * np.ptp(values) < tolerance * (abs(values[best]) + abs(values[worst])):
            break
        centre = (points.sum(axis=0) - points[worst]) / start.size
        trial = 2.0 * centre - points[worst]
        value = objective(trial)
        if value <= values[best]:
            expanded = 2.0 * trial - centre
            further = objective(expanded)
            if further < values[best]:
                trial, value = expanded, further
        elif value >= values[second_worst]:
            if value < values[worst]:
                points[worst], values[worst] = trial, value
            trial = (points[worst] + centre) / 2.0
            value = objective(trial)
            if value >= values[worst]:
                points = (points + points[best]) / 2.0
                for i in np.delete(np.arange(len(points)), best):
                    values[i] = objective(points[i])
                continue
        points[worst], values[worst] = trial, value
    return points[np.argmin(values)]


def published_search(objective: PoseHoldObjective, terms: str, search: Search) -> None:
    """Search as published: P first, then I on top of the P found (`terms` 'p' or 'pi').

    For 'pid' the D gains follow in the same way, from 100 with a first simplex of 10.
    """
    stages = [PUBLISHED_SEARCH_P, PUBLISHED_SEARCH_I, ((100.0,) * 3, 10.0, 1e-5, 250)]
    found = np.zeros(0)

    def cost(point: Array) -> float:
        if search.stop():
            raise _Stopped
        search.evaluations += 1
        gains = np.concatenate([found, point])
        cost = objective.cost(gains)
        search.take(np.pad(gains, (0, 3 * len(terms) - gains.size)), cost)
        return cost

    with suppress(_Stopped):
        for stage in stages[: len(terms)]:
            found = np.concatenate([found, downhill_simplex(cost, *stage)])


def first_gains(terms: str) -> Array:
    """Return the gains that the evolution strategy tries first; `terms`: 'p', 'pi' or 'pid'."""
    return np.concatenate([PUBLISHED_P, np.full(3 * len(terms) - 3, 10.0)])


def worst_cost(objective: PoseHoldObjective, gains: Array, robust: bool, search: Search) -> float:
    """Return J of `gains`, or with `robust` the worst of J with them right and off by +-10 %.

    Off are all gains, those of one term, or one alone. What is already far worse than the search's
    best is not looked at further.
    """
    rows = np.vstack([gains[None], perturbed(gains)]) if robust else gains[None]
    worst = 0.0
    for row in rows:
        search.evaluations += 1
        worst = max(worst, objective.cost(row))
        if worst > _HOPELESS * search.cost:
            break
    return worst


def _cma_es(start: Array, deviation: float, population: int, rng: np.random.Generator) -> Any:
    """Return Hansen's strategy: quiet, without files, with our random numbers."""
    import cma  # takes a second, which only a search needs

    options = {
        'popsize': population,
        'tolx': _TOLERANCE,
        'verbose': -10,
        'seed': np.nan,  # not NumPy's global random numbers
        'randn': lambda *shape: rng.normal(size=shape),
    }
    return cma.CMAEvolutionStrategy(start, deviation, options)


def evolution_search(
    objective: PoseHoldObjective, terms: str, robust: bool, search: Search, seed: int = 1
) -> None:
    """Search all gains' decades by CMA-ES with restarts until search.stop(), on all cores.

    Errors are over after a tenth of a second where the gains are good. A rollout that long costs
    little and bounds J from below, so that is where the search begins; what looks best goes on to
    longer ones, which show slow instability, and counts with its full J alone.

    Args:
        objective: of the pose to hold.
        terms: 'p', 'pi' or 'pid'.
        robust: minimise the worst J with gains right, and off by +-10 %: all, one term, one alone.
        search: gets the result.
        seed: of the random numbers.
    """
    low, high = np.repeat(np.array(DECADES[: len(terms)]).T, 3, axis=1)
    rng = np.random.default_rng(seed)
    stages = [
        (PoseHoldObjective(objective.target, min(length, objective.duration)), deviation, count)
        for length, deviation, count in STAGES
    ]
    first = first_gains(terms)  # there is a best from the start, however early the end
    search.take(first, worst_cost(objective, first, robust, search))
    with ThreadPoolExecutor(objective.workers) as pool:

        def costs(rollouts: PoseHoldObjective, points: Array) -> Array:
            def cost(exponents: Array) -> float:
                if search.stop():
                    return np.inf
                return worst_cost(rollouts, 10.0**exponents, robust, search)

            found = np.array(list(pool.map(cost, points)))
            leader = int(np.argmin(found))
            if found[leader] < _WORTH_A_LOOK * search.cost:
                gains = 10.0 ** points[leader]
                search.take(gains, worst_cost(objective, gains, robust, search))
            search.report(search)
            return found

        while not search.stop():
            draws = rng.uniform(low, high, (_DRAWS, low.size))
            point = draws[int(np.argmin(costs(stages[0][0], draws)))]
            for rollouts, deviation, population in stages:
                strategy = _cma_es(point, deviation, population, rng)
                while not (strategy.stop() or search.stop()):
                    points = strategy.ask()
                    strategy.tell(points, costs(rollouts, np.array(points)))
                if strategy.best.f > _WORTH_GOING_ON * search.cost:
                    break
                point = strategy.best.x
                gains = 10.0**point
                search.take(gains, worst_cost(objective, gains, robust, search))
