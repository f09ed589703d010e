"""How one state follows another, by their stamps."""

import sys
from enum import Enum

# A state that is older than the newest by no more may have been overtaken on its way [ns], unless
# nothing newer has come for so long [s].
_OVERTAKEN_NS = 10_000_000
_AFTERWARDS = 0.05


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
        self._overtaken_ns = max(_OVERTAKEN_NS, 2 * period_ns)
        self._step_ns = 0
        self.time_ns = -1

    def take(self, time_ns: int) -> Step:
        """Return how the state of this stamp follows the last; it is the newest now."""
        step_ns, last_ns = time_ns - self.time_ns, self._step_ns
        self.time_ns, self._step_ns = time_ns, step_ns
        if step_ns < 0:
            return Step.BACK
        return Step.MISSED if self._longest_ns < step_ns != last_ns else Step.NEXT

    def overtaken(self, time_ns: int, silence: float) -> bool:
        """Whether an earlier state was overtaken on its way, and is not one after a reset.

        A reset begins at time zero, or farther back than one is overtaken, or it is shown while
        nothing newer comes: `silence` is the wall-clock time since the newest state [s].
        """
        late_ns = self.time_ns - time_ns
        return time_ns > 0 and 0 < late_ns <= self._overtaken_ns and silence < _AFTERWARDS
