"""Searching gains that hold a pose: Nelder-Mead as published, and differential evolution."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import differential_evolution, minimize

from arm_dynamics.pose_hold import PUBLISHED_P, PoseHoldObjective, gain_count, perturbed

Array = NDArray[np.float64]

# The published searches: guess, size of the first simplex, tolerance, most iterations.
PUBLISHED_SEARCH_P = ((6.0, 5.0, 1.0), 0.1, 1e-4, 250)
PUBLISHED_SEARCH_I = ((0.1, 0.1, 0.1), 0.01, 1e-5, 250)

# Decades in which differential evolution looks, a term (P, I, D), [V/rad].
DECADES = ((1.0, 6.0), (-3.0, 4.0), (1.0, 6.0))

# A candidate whose J is this many times the best one's is not tested further.
_HOPELESS = 10.0


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


def nelder_mead(
    search: Search, objective: Callable[[Array], float], start: ArrayLike, scale: ArrayLike,
    tolerance: float, iterations: int,
) -> None:  # fmt: skip
    """Minimise by SciPy's Nelder-Mead from the simplex start, start + scale_i e_i.

    Args:
        search: gets the result.
        objective: of gains (n,).
        start, scale: (n,) guess and size of the first simplex.
        tolerance: relative spread of the simplex' values at which it has converged.
        iterations: at most.
    """
    start = np.asarray(start, dtype=float)
    corners = np.diag(np.broadcast_to(scale, start.size))
    simplex = start + np.vstack([np.zeros(start.size), corners])

    def counted(gains: Array) -> float:
        if search.stop():
            raise _Stopped
        search.evaluations += 1
        cost = objective(gains)
        search.take(gains, cost)
        return cost

    try:
        options = {
            'initial_simplex': simplex,
            'maxiter': iterations,
            'xatol': np.inf,
            'fatol': tolerance * min(counted(start), 1.0),
        }
        minimize(counted, start, method='Nelder-Mead', options=options)
    except _Stopped:
        return


def published_search(objective: PoseHoldObjective, terms: str, search: Search) -> None:
    """Search as published: P first, then I on top of the P found (`terms` 'p' or 'pi').

    For 'pid' the D gains follow in the same way, from 100 with a first simplex of 10.
    """
    stages = [PUBLISHED_SEARCH_P, PUBLISHED_SEARCH_I, ((100.0,) * 3, 10.0, 1e-5, 250)]
    found = np.zeros(0)
    for guess, scale, tolerance, iterations in stages[: len(terms)]:
        before = found
        stage = Search(np.asarray(guess), stop=search.stop)

        def cost(gains: Array, before: Array = before) -> float:
            search.evaluations += 1
            return objective.cost(np.concatenate([before, gains]))

        def report(stage: Search, before: Array = before) -> None:
            # Terms of later stages are zero as yet.
            later = np.zeros(gain_count(terms) - before.size - stage.best.size)
            search.best, search.cost = np.concatenate([before, stage.best, later]), stage.cost
            search.report(search)

        stage.report = report
        nelder_mead(stage, cost, guess, scale, tolerance, iterations)
        found = np.concatenate([before, stage.best])


def worst_cost(
    objective: PoseHoldObjective, gains: Array, robust: bool, search: Search, every: bool = False
) -> float:
    """Return J of `gains`, or with `robust` the worst of J with them right and off by +-10 %.

    Off are all gains, or those of one term; with `every` also each gain alone. What is already far
    worse than the search's best is not looked at further.
    """
    rows = gains[None]
    if robust:
        off = perturbed(gains)
        rows = np.vstack([rows, off if every else off[: -2 * gains.size]])
    worst = 0.0
    for row in rows:
        search.evaluations += 1
        worst = max(worst, objective.cost(row))
        if worst > _HOPELESS * search.cost:
            break
    return worst


def differential_search(
    objective: PoseHoldObjective, terms: str, robust: bool, search: Search, seed: int = 1
) -> None:
    """Search all gains' decades by differential evolution until search.stop(), on all cores.

    Args:
        objective: of the pose to hold.
        terms: 'p', 'pi' or 'pid'.
        robust: minimise the worst J with all gains right, and off by +-10 %, all or one term.
        search: gets the result.
        seed: of the random numbers.
    """
    bounds = [DECADES[term] for term in range(len(terms)) for _ in range(3)]

    def cost(exponents: Array) -> float:
        gains = 10.0**exponents
        value = worst_cost(objective, gains, robust, search)
        search.take(gains, value)
        return float(np.log(value))

    def ended(*_: object) -> bool:
        search.report(search)
        return search.stop()

    first = np.log10(np.concatenate([PUBLISHED_P, np.full(gain_count(terms) - 3, 10.0)]))
    cost(first)  # there is a best from the start, however early the end
    with ThreadPoolExecutor(objective.workers) as pool:

        def in_parallel(function: Callable, rows: Iterable[Array]) -> list[float]:
            return list(pool.map(lambda x: np.inf if search.stop() else function(x), rows))

        differential_evolution(
            cost,
            bounds,
            x0=first,
            init='sobol',
            popsize=10,
            mutation=(0.4, 0.9),
            recombination=0.8,
            maxiter=1_000_000,
            tol=0.0,
            polish=False,
            rng=seed,
            workers=in_parallel,
            updating='deferred',
            callback=ended,
        )
