"""Guard on speed: an arm that is too fast is braked until all joints are within their limits."""

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_sim.simulation.limits import Limits

# A joint faster than this is not one of an arm any more: the integration has failed.
ABSURD_SPEED = 1e6  # [rad/s | m/s]


class SpeedGuard:
    """Says when the arm is too fast, by `speed_limit_factor`, and when it no longer is.

    Attributes:
        per_speed: (n,) what a speed is multiplied by to be a share of the allowed one.
        active: whether the arm was too fast and is not yet within its limits.
        samples: number of control periods in which the arm was braked for that.
        notice: a line for the user; the reader empties it.
    """

    def __init__(self, model: RobotModel, limits: Limits):
        """Guard the joints of this model."""
        self._limit, self._names = model.velocity_limit, model.joint_names
        self.active, self.samples, self.notice = False, 0, ''
        self.set_limits(limits)

    def set_limits(self, limits: Limits) -> None:
        """Use another factor from now on."""
        self._factor = limits.speed_limit_factor
        fastest = self._factor * np.where(np.isfinite(self._limit), self._limit, 0.0)
        bounded = (fastest > 0.0) & (fastest < ABSURD_SPEED)
        self.per_speed = 1.0 / np.where(bounded, fastest, ABSURD_SPEED)

    def reset(self, time: bool, state: bool) -> None:
        """Forget samples with the time, and what the arm did with the state."""
        if time:
            self.samples = 0
        if state:
            self.active, self.notice = False, ''

    def begins(self, v: Array) -> bool:
        """Whether the arm, with speeds v (n,), has just become too fast; note that it has."""
        share = np.abs(v * self.per_speed)
        joint = int(share.argmax())
        if share[joint] <= 1.0 or self.active:
            return False
        self.active = True
        if not self.samples:
            self.notice = (
                f'joint {self._names[joint]!r}: speed {abs(v[joint]):.3g} is beyond '
                f'{self._factor:g} times its limit {self._limit[joint]:.3g} '
                '(speed_limit_factor): braked until it is within, as whenever that happens again'
            )
        return True

    def goes_on(self, v: Array) -> bool:
        """Whether a joint is still beyond its own speed limit; count the period if so."""
        self.active = bool((np.abs(v) > self._limit).any())
        self.samples += self.active
        return self.active
