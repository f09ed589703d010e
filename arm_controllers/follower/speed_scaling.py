"""Following goals at a share of their speed."""

import numpy as np

from arm_controllers.reference import Reference
from arm_dynamics.checks import Array


class SpeedScaling:
    """The clock of motions: it falls behind that of states where goals are followed more slowly.

    A motion q(s) is played at ds/dt = f: its velocity is f dq/ds, its acceleration
    f^2 d2q/ds2 + df/dt dq/ds. The factor f goes to what is wanted as fast as deceleration limits
    allow, |df/dt| <= a_max / |dq/ds| for each joint. Braking and holding go at f = 1.

    Attributes:
        wanted: the factor to come to, 0 to 1.
        factor: the factor now.
        lag_ns: how far motions are behind states [ns].
    """

    def __init__(self, wanted: float):
        """Begin in time."""
        self.wanted, self.factor, self.lag_ns = wanted, 1.0, 0
        self._rate = 0.0

    @property
    def idle(self) -> bool:
        """Whether motions go on as states do."""
        return self.wanted == 1.0 == self.factor

    def motion_ns(self, time_ns: int, now_ns: int) -> int:
        """Return the motions' time at a stamp, which is `now_ns` or later [ns]."""
        if self.factor == 1.0:
            return time_ns - self.lag_ns
        return now_ns - self.lag_ns + round(self.factor * (time_ns - now_ns))

    def advance(self, step_ns: int, speed: Array, deceleration: Array) -> None:
        """Go on by a step of the states' time, in a motion of dq/ds = `speed` (n,)."""
        step = step_ns * 1e-9
        with np.errstate(divide='ignore'):
            most = step * float(np.min(deceleration / np.abs(speed)))
        before = self.factor
        self.factor += min(max(self.wanted - before, -most), most)
        self._rate = (self.factor - before) / step if np.isfinite(most) else 0.0
        self.lag_ns += step_ns - round(step_ns * (before + self.factor) / 2)

    def rest(self) -> None:
        """Play what follows in time: braking or holding."""
        self.factor, self._rate = 1.0, 0.0

    def apply(self, reference: Reference) -> None:
        """Make of a motion's derivatives those in the states' time."""
        reference.a *= self.factor * self.factor
        reference.a += self._rate * reference.v
        reference.v *= self.factor
