"""Simulated positions of arms with position servos that follow recorded commands."""

from copy import copy
from dataclasses import dataclass

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.compiled import ServoArms, SoftFriction
from arm_dynamics.model import RobotModel

_SETTLED = 1.0  # time from the start that does not count: the start is a guess [s]


@dataclass(frozen=True)
class Followed:
    """Positions q (m, n) at times (m,) [s], and the commands (m, n) that acted from then on."""

    times: Array
    q: Array
    command: Array


class Rollouts:
    """Positions of arms with position servos that follow recorded commands.

    Attributes:
        begin: index of the first sample at which the simulated arm has settled.
        count: number of simulated recordings.
    """

    def __init__(
        self,
        model: RobotModel,
        followed: Followed,
        step: float,
        friction: SoftFriction | None = None,
    ):
        """Take the arm and a recording, which is simulated with steps of at most `step` [s].

        `friction`: soft Coulomb friction as an engine has it; None: exact.
        """
        self._n, self._longest = model.nv, step
        self._take(followed)
        self._arms = ServoArms(model, friction)

    def of(self, followed: Followed, share: float = 1.0) -> 'Rollouts':
        """Return rollouts of the same arm along a recording, with a share of the step."""
        other = copy(self)
        other._longest = share * self._longest
        other._take(followed)
        return other

    def _take(self, followed: Followed) -> None:
        self.count = 0
        times = followed.times - followed.times[0]
        usual = float(np.median(np.diff(times)))
        self.begin = int(np.searchsorted(times, _SETTLED))
        self._h = usual / np.ceil(usual / self._longest - 1e-9)
        self._times, steps = times, int(np.ceil(times[-1] / self._h))
        self._edges = self._h * np.arange(steps + 1)
        first = slice(0, max(3, int(np.searchsorted(times, 0.05))))
        self._start = np.polyfit(times[first], followed.q[first], 1)[::-1]
        # The integral of the held commands, so that the mean over a step is smooth in the delay.
        held = followed.command[:-1] * np.diff(times)[:, np.newaxis]
        self._integral = np.vstack([np.zeros(held.shape[1]), np.cumsum(held, axis=0)])
        self._first, self._last = followed.command[0], followed.command[-1]
        # Cubics between the steps, by Hermite's four polynomials.
        at = np.round(times / self._h, 9)
        self._step = at.astype(int)
        self._weights: tuple[Array, ...] | None = None
        if (at != self._step).any():
            self._step = np.minimum(self._step, steps - 1)
            s = (at - self._step)[:, np.newaxis, np.newaxis]
            self._weights = (
                (1.0 + 2.0 * s) * (1.0 - s) ** 2, s**2 * (3.0 - 2.0 * s),
                self._h * s * (1.0 - s) ** 2, -self._h * s**2 * (1.0 - s),
            )  # fmt: skip

    def __call__(self, values: Array) -> Array:
        """Return positions (N, m, n) for parameters (N, p), in the order of ServoFit.names."""
        n, size = self._n, len(values)
        kp, kd, friction, rotors = np.moveaxis(values[:, : 4 * n].reshape(size, 4, n), 1, 0)
        self._arms.set(kp, kd, friction, rotors, values[:, 4 * n : 5 * n], self._h)
        q, v = (np.tile(each, (size, 1)) for each in self._start)
        # Velocities are those half a step earlier, and each step's command acts about its start.
        delays, which = np.unique(values[:, -1], return_inverse=True)
        edges = self._edges - 0.5 * self._h
        ends = np.stack([self._integrated(edges - x) for x in delays], axis=1)
        commands = (np.diff(ends, axis=0) / self._h)[:, which]
        states = np.empty((len(self._edges), 2, size, n))
        states[0] = q, v
        states[1:] = self._arms.follow(q, v, commands, self._h)
        self.count += size
        states[1:-1, 1] = 0.5 * (states[1:-1, 1] + states[2:, 1])  # now of the positions' time
        if self._weights is None:
            return np.swapaxes(states[self._step, 0], 0, 1)
        one, other, begin, end = self._weights
        with np.errstate(all='ignore'):
            found = one * states[self._step, 0] + other * states[self._step + 1, 0]
            found += begin * states[self._step, 1] + end * states[self._step + 1, 1]
        return np.swapaxes(found, 0, 1)

    def _integrated(self, at: Array) -> Array:
        """Return the integral (k, n) of the commands; before the first one it holds."""
        times = self._times
        found = np.column_stack([np.interp(at, times, each) for each in self._integral.T])
        found += np.minimum(at - times[0], 0.0)[:, np.newaxis] * self._first
        return found + np.maximum(at - times[-1], 0.0)[:, np.newaxis] * self._last
