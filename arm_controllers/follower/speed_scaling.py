"""Following goals at a share of their speed."""

import numpy as np

from arm_controllers.reference import Reference
from arm_dynamics.checks import Array


class SpeedScaling:
    """The clock of trajectories, which lags behind the states' where goals are followed slowly.

    A trajectory q(s) is followed at ds/dt = f: its velocity is f dq/ds, its acceleration
    f^2 d2q/ds2 + df/dt dq/ds. The factor f approaches `wanted` as fast as deceleration limits
    allow, |df/dt| <= a_max / |dq/ds| for each joint. Braking and holding have f = 1.

    Attributes:
        wanted: the requested factor, 0 to 1.
        factor: the present factor.
        lag_ns: lag of trajectories behind states [ns].
    """

    def __init__(self, wanted: float):
        """Begin without lag."""
        self.wanted, self.factor, self.lag_ns = wanted, 1.0, 0
        self._rate = 0.0

    @property
    def idle(self) -> bool:
        """Whether trajectories are followed at full speed."""
        return self.wanted == 1.0 == self.factor

    def scaled_ns(self, time_ns: int, now_ns: int) -> int:
        """Return the trajectories' time at a stamp, which is `now_ns` or later [ns]."""
        if self.factor == 1.0:
            return time_ns - self.lag_ns
        return now_ns - self.lag_ns + round(self.factor * (time_ns - now_ns))

    def advance(self, step_ns: int, speed: Array, deceleration: Array) -> None:
        """Advance by a step of the states' time, at dq/ds = `speed` (n,)."""
        step = step_ns * 1e-9
        with np.errstate(divide='ignore'):
            most = step * float(np.min(deceleration / np.abs(speed)))
        before = self.factor
        self.factor += min(max(self.wanted - before, -most), most)
        self._rate = (self.factor - before) / step if step and np.isfinite(most) else 0.0
        self.lag_ns += step_ns - round(step_ns * (before + self.factor) / 2)

    def rest(self) -> None:
        """Follow braking or holding at full speed."""
        self.factor, self._rate = 1.0, 0.0

    def apply(self, reference: Reference) -> None:
        """Convert derivatives by the trajectories' time into derivatives by the states' time."""
        reference.a *= self.factor * self.factor
        reference.a += self._rate * reference.v
        reference.v *= self.factor
