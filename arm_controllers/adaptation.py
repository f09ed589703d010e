"""What an adaptive law learns from the sliding variable, and how fast."""

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.compiling import unlocked_njit
from arm_dynamics.small_matrices import solve_positive, stack, times, transposed

_PER_LINK = 10  # inertial parameters


class Adaptation:
    """Gamma Y^T s, and g = tr(M^-1 Y Gamma Y^T), with Gamma a block for each link."""

    def __init__(self, blocks: Array):
        """Take the blocks (links, 10, 10), or of each arm (N, links, 10, 10)."""
        self._blocks = np.ascontiguousarray(blocks.reshape(-1, *blocks.shape[-3:]))

    def __call__(self, regressor: Array, mass: Array, s: Array) -> tuple[Array, Array]:
        """Return Gamma Y^T s (..., m) and g (..., 1).

        Args:
            regressor: Y (..., n, m), m = 10 links.
            mass: M (..., n, n).
            s: (..., n).
        """
        if s.ndim == 1:
            of_links = regressor.reshape(len(s), -1, _PER_LINK)
            weighted = np.einsum('nbi,bij->nbj', of_links, self._blocks[0]).reshape(len(s), -1)
            speed = (regressor * solve_positive(mass, weighted)).sum(keepdims=True)[0]
            return times(transposed(weighted), s), speed
        one = np.broadcast_to(np.eye(s.shape[-1]), mass.shape)
        rows = [stack(each, 2) for each in (regressor, solve_positive(mass, one))]
        learnt = np.empty((*s.shape[:-1], regressor.shape[-1]))
        speed = np.empty((*s.shape[:-1], 1))
        answers = learnt.reshape(-1, learnt.shape[-1]), speed.reshape(-1)
        _adapt(*rows, self._blocks, stack(s, 1), *answers)
        return learnt, speed


@unlocked_njit
def _adapt(regressor, inverse, blocks, s, learnt, speed):
    count, n, columns = regressor.shape
    weighted, sums = np.empty((n, columns)), np.empty(columns)
    for k in range(count):
        own, gains = regressor[k], blocks[min(k, len(blocks) - 1)]
        weighted[:], sums[:], learnt[k] = 0.0, 0.0, 0.0
        for j in range(n):
            for c in range(columns):
                y, row = own[j, c], gains[c // _PER_LINK, c % _PER_LINK]
                if y != 0.0:
                    first = c - c % _PER_LINK
                    for i in range(_PER_LINK):
                        weighted[j, first + i] += y * row[i]
            for c in range(columns):
                learnt[k, c] += s[k, j] * weighted[j, c]
        for i in range(n):
            for j in range(n):
                factor = inverse[k, i, j]
                for c in range(columns):
                    sums[c] += own[i, c] * (factor * weighted[j, c])
        speed[k] = sums.sum()
