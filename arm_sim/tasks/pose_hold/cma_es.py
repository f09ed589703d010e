"""The evolution strategy with covariance matrix adaptation (CMA-ES): for costs not smooth.

Hansen, The CMA Evolution Strategy: A Tutorial (2016), figure 6 and table 1, weights above zero.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def minimise(
    costs: Callable[[Array], Array],
    start: ArrayLike,
    deviation: float,
    rng: np.random.Generator,
    population: int = 40,
    tolerance: float = 1e-7,
    generations: int = 2000,
    stop: Callable[[], bool] = lambda: False,
) -> tuple[Array, float]:
    """Return the best point (n,) that was tried, and its cost.

    Args:
        costs: of points (population, n), one number each.
        start: (n,) mean of the first generation.
        deviation: standard deviation of the first generation, the same in every direction.
        rng: random numbers.
        population: points a generation.
        tolerance: largest standard deviation at which it has converged; it ends on a plateau too.
        generations: at most.
        stop: asked before each generation; True ends the search.
    """
    mean = np.array(start, dtype=float)
    n, parents = mean.size, population // 2
    weights = np.log((population + 1) / 2) - np.log(np.arange(1, parents + 1))
    weights /= weights.sum()
    mass = 1.0 / (weights @ weights)  # mu_eff
    decay = (4.0 + mass / n) / (n + 4.0 + 2.0 * mass / n)  # c_c
    step_decay = (mass + 2.0) / (n + mass + 5.0)  # c_sigma
    rank_one = 2.0 / ((n + 1.3) ** 2 + mass)  # c_1
    rank_many = min(1.0 - rank_one, 2.0 * (mass - 2.0 + 1.0 / mass) / ((n + 2.0) ** 2 + mass))
    damping = 1.0 + 2.0 * max(0.0, np.sqrt((mass - 1.0) / (n + 1.0)) - 1.0) + step_decay
    usual_length = np.sqrt(n) * (1.0 - 1.0 / (4.0 * n) + 1.0 / (21.0 * n * n))

    covariance, path, step_path = np.eye(n), np.zeros(n), np.zeros(n)
    best, best_cost = mean.copy(), np.inf
    for generation in range(generations):
        if stop():
            break
        values, axes = np.linalg.eigh(covariance)
        lengths = np.sqrt(np.maximum(values, 0.0))
        if deviation * lengths.max() < tolerance:
            break
        moves = rng.normal(size=(population, n)) * lengths @ axes.T
        points = mean + deviation * moves
        found = costs(points)
        order = np.argsort(found)
        if found[order[0]] < best_cost:
            best, best_cost = points[order[0]].copy(), float(found[order[0]])
        if found[order[0]] == found[order[-1]]:
            break  # a plateau: nothing to tell one direction from another
        chosen = moves[order[:parents]]
        move = weights @ chosen
        mean = mean + deviation * move

        whitened = axes @ ((axes.T @ move) / np.maximum(lengths, 1e-300))
        step_path *= 1.0 - step_decay
        step_path += np.sqrt(step_decay * (2.0 - step_decay) * mass) * whitened
        length = np.linalg.norm(step_path) / usual_length
        # The path of the first generations is short as yet.
        young = np.sqrt(1.0 - (1.0 - step_decay) ** (2 * generation + 2))
        growing = length / young < 1.4 + 2.0 / (n + 1.0)
        path *= 1.0 - decay
        if growing:
            path += np.sqrt(decay * (2.0 - decay) * mass) * move
        kept = 1.0 - rank_one - rank_many
        if not growing:
            kept += rank_one * decay * (2.0 - decay)
        covariance = (
            kept * covariance
            + rank_one * np.outer(path, path)
            + rank_many * (chosen.T * weights) @ chosen
        )
        covariance = (covariance + covariance.T) / 2.0
        deviation *= float(np.exp(min(1.0, (length - 1.0) * step_decay / damping)))
    return best, best_cost
