"""Continuity of the states of an arm: their stamps, their sender, and the steps between them."""

import sys
from enum import Enum

import numpy as np

from arm_dynamics.checks import Array, unit
from arm_dynamics.model import RobotModel

# A state that is older than the newest one may have been overtaken on its way: by at most this
# time [ns], and while the newest is at most so old [s].
_OVERTAKEN_NS = 10_000_000
_NEWEST_AGE = 0.05
_JUMP = 2.0  # no arm moves faster than its velocity limit, or its velocity, times this


class StateOrder(Enum):
    """How a state follows the one before it."""

    NEXT = 'next'
    BACK = 'back'
    MISSED = 'missed'
    JUMPED = 'jumped'


class StateSequence:
    """Detects that states are missing, or that they are those of another arm.

    MISSED: in lock-step, a step longer than the control period means that the plant's brake
    stepped in. Where every step is that long, the period of the plant is another one than the
    controller's. JUMPED: the sender is another one, such as a restarted simulator, or a joint is
    farther away than it can have moved.

    Attributes:
        time_ns: stamp of the newest state [ns], -1 before the first.
        sender: of that state.
        jump: description of the last jump.
    """

    def __init__(self, period_ns: int, lockstep: bool, model: RobotModel):
        """Begin before the first state; `period_ns`: the control period [ns]."""
        self._period_ns, self._model = period_ns, model
        self._longest_ns = period_ns if lockstep else sys.maxsize
        self._overtaken_ns = max(_OVERTAKEN_NS, 2 * period_ns)
        self._step_ns = 0
        self._slowest = _JUMP * 1e-9 * float(model.velocity_limit.min())  # [1/ns]
        self._q = model.neutral()
        self.time_ns, self.sender, self.jump = -1, '', ''

    def take(self, time_ns: int, q: Array, v: Array, sender: str = '') -> StateOrder:
        """Take the newest state q, v (n,); return how it follows the one before it."""
        step_ns, last_ns = time_ns - self.time_ns, self._step_ns
        last_sender, last_q = self.sender, self._q
        self.time_ns, self._step_ns, self.sender, self._q = time_ns, step_ns, sender, q.copy()
        if step_ns < 0:
            self.jump = f'time jumped back by {-step_ns * 1e-9:g} s'
            return StateOrder.BACK
        if sender != last_sender:
            self.jump = f'states come from {sender!r}, no longer from {last_sender!r}'
            return StateOrder.JUMPED
        step_ns = max(step_ns, self._period_ns)
        way = q - last_q
        if way.dot(way) > (self._slowest * step_ns) ** 2 and self._jumped(last_q, q, v, step_ns):
            return StateOrder.JUMPED
        return StateOrder.MISSED if self._longest_ns < step_ns != last_ns else StateOrder.NEXT

    def _jumped(self, last_q: Array, q: Array, v: Array, step_ns: int) -> bool:
        """Return whether a joint is farther away than it can have moved; set `jump`."""
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
        """Return whether an older state was overtaken on its way; else it follows a reset.

        A state follows a reset if its time is zero, if it is much older, or if it comes when no
        newer state has come for a while: `silence` is the wall-clock time since the newest [s].
        """
        age_ns = self.time_ns - time_ns
        return time_ns > 0 and 0 < age_ns <= self._overtaken_ns and silence < _NEWEST_AGE
