"""How one state follows another, by their stamps."""

import sys
from enum import Enum


class Step(Enum):
    """How a state follows the one before it."""

    NEXT = 'next'
    BACK = 'back'
    MISSED = 'missed'


class StateSteps:
    """Tells whether somebody else had the arm since the last state.

    In lock-step that is so after a step longer than the control period: the plant's brake stepped
    in. Where every step is that long, the plant's period is not the one the controller was told.

    Attributes:
        time_ns: stamp of the newest state [ns], -1 before the first.
    """

    def __init__(self, period_ns: int, lockstep: bool):
        """Await the first state; `period_ns`: the control period [ns]."""
        self._longest_ns = period_ns if lockstep else sys.maxsize
        self._step_ns = 0
        self.time_ns = -1

    def take(self, time_ns: int) -> Step:
        """Return how the state of this stamp follows the last; it is the newest now."""
        step_ns, last_ns = time_ns - self.time_ns, self._step_ns
        self.time_ns, self._step_ns = time_ns, step_ns
        if step_ns < 0:
            return Step.BACK
        return Step.MISSED if self._longest_ns < step_ns != last_ns else Step.NEXT
