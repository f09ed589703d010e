"""How one state follows another: by their stamps, their sender, and the way between them."""

import sys
from enum import Enum

import numpy as np

from arm_dynamics.checks import Array, unit
from arm_dynamics.model import RobotModel

# A state that is older than the newest by no more may have been overtaken on its way [ns], unless
# nothing newer has come for so long [s].
_OVERTAKEN_NS = 10_000_000
_AFTERWARDS = 0.05
# No arm moves so many times faster than its speed limit, or than it says.
_JUMP = 2.0


class Step(Enum):
    """How a state follows the one before it."""

    NEXT = 'next'
    BACK = 'back'
    MISSED = 'missed'
    JUMPED = 'jumped'


class StateSteps:
    """Tells whether somebody else had the arm since the last state, or it is another arm.

    In lock-step the first is so after a step longer than the control period: the plant's brake
    stepped in. Where every step is that long, the plant's period is not the one the controller was
    told. The second is so where the sender is another one, such as a simulator that was started
    anew, or where a joint is farther away than it can have moved.

    Attributes:
        time_ns: stamp of the newest state [ns], -1 before the first.
        sender: of that state.
        jump: what the last jump was, in words.
    """

    def __init__(self, period_ns: int, lockstep: bool, model: RobotModel):
        """Await the first state; `period_ns`: the control period [ns]."""
        self._period_ns, self._model = period_ns, model
        self._longest_ns = period_ns if lockstep else sys.maxsize
        self._overtaken_ns = max(_OVERTAKEN_NS, 2 * period_ns)
        self._step_ns = 0
        self._slowest = _JUMP * 1e-9 * float(model.velocity_limit.min())  # [1/ns]
        self._q = model.neutral()
        self.time_ns, self.sender, self.jump = -1, '', ''

    def take(self, time_ns: int, q: Array, v: Array, sender: str = '') -> Step:
        """Return how the state q, v of this stamp follows the last; it is the newest now."""
        step_ns, last_ns = time_ns - self.time_ns, self._step_ns
        last_sender, last_q = self.sender, self._q
        self.time_ns, self._step_ns, self.sender, self._q = time_ns, step_ns, sender, q.copy()
        if step_ns < 0:
            return Step.BACK
        if sender != last_sender:
            self.jump = f'states come from {sender!r}, no longer from {last_sender!r}'
            return Step.JUMPED
        step_ns = max(step_ns, self._period_ns)
        way = q - last_q
        if way.dot(way) > (self._slowest * step_ns) ** 2 and self._jumped(last_q, q, v, step_ns):
            return Step.JUMPED
        return Step.MISSED if self._longest_ns < step_ns != last_ns else Step.NEXT

    def _jumped(self, last_q: Array, q: Array, v: Array, step_ns: int) -> bool:
        """Whether a joint is farther away than it can have moved; notes which."""
        model, dt = self._model, step_ns * 1e-9
        way = np.abs(model.difference(last_q, q))
        far = np.flatnonzero(way > _JUMP * dt * np.maximum(model.velocity_limit, np.abs(v)))
        for joint in far[:1]:
            self.jump = (
                f'joint {model.joint_names[joint]!r}: position jumped by {way[joint]:.3g} '
                f'{unit("position", model.prismatic[joint])} in {dt:.3g} s'
            )
        return far.size > 0

    def overtaken(self, time_ns: int, silence: float) -> bool:
        """Whether an earlier state was overtaken on its way, and is not one after a reset.

        A reset begins at time zero, or farther back than one is overtaken, or it is shown while
        nothing newer comes: `silence` is the wall-clock time since the newest state [s].
        """
        late_ns = self.time_ns - time_ns
        return time_ns > 0 and 0 < late_ns <= self._overtaken_ns and silence < _AFTERWARDS
