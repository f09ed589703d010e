"""Count of the control periods in which a joint was at its effort limit."""

import numpy as np

from arm_dynamics.checks import Array

# Below this share of the effort limits (squared) no joint is looked at more closely.
NEARLY_ALL = 0.99
_LEAST_EFFORT = 1e-9  # [N.m | N]


class Saturation:
    """Looks at the efforts of each control period.

    Attributes:
        per_effort: (n,) what an effort is multiplied by to be a share of its limit.
        samples: number of control periods in which some joint was at its limit.
    """

    def __init__(self, limit: Array):
        """`limit`: of the efforts (n,) [N.m | N]."""
        self._limit, self.samples = limit, 0
        self.per_effort = 1.0 / np.maximum(limit, _LEAST_EFFORT)

    def look(self, effort: Array) -> None:
        """Count a period in which efforts (n,) are near their limits, where one has reached it."""
        self.samples += bool((np.abs(effort) >= self._limit).any())
