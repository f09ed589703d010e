"""What stands between commands and the joints of many arms: plants.drives with a row per arm."""

from collections.abc import Sequence

import numpy as np

from arm_dynamics.checks import ArmError, Array, per_joint
from arm_sim.simulation.drives import DriveParameters

_DRAWN = 64  # periods of jitter that are drawn at once


class BatchDrives:
    """Delay, jitter, rate limit and encoders, each arm's own; they add nothing of a model.

    Attributes:
        measured: q and v (N, n) as encoders read them.
    """

    def __init__(
        self,
        parameters: Sequence[DriveParameters],
        joint_names: tuple[str, ...],
        size: int,
        period: float,
    ):
        """Take the parameters of all arms, or of each; `period` [s] is that of commands.

        Raises:
            ArmError: drives that compensate, or numbers that are not for these joints.
        """
        for p in parameters:
            if p.compensates:
                raise ArmError(
                    'effort_convention and friction_compensation: the drives of a batch have no '
                    'model of the arm; run its arms one by one'
                )
        n, self._parameters, self._size = len(joint_names), parameters, size

        def rows(name: str, without: float) -> Array:
            given = [getattr(p, name) for p in parameters]
            each = [per_joint(name, x, joint_names, 0.0, True) if x else [without] * n
                    for x in given]  # fmt: skip
            return np.broadcast_to(np.array(each, dtype=float), (size, n))

        self._most = rows('effort_rate_limit', np.inf) * period
        self._steps = rows('encoder_resolution', np.nan)
        self._coarse = np.isfinite(self._steps)
        self._period, self._limited = period, bool(np.isfinite(self._most).any())
        late = np.array([(p.command_delay, p.command_jitter) for p in parameters])
        self._late, self._jitter = np.broadcast_to(late, (size, 2)).T
        self._sent = np.zeros((1 + int((self._late + self._jitter).max()), size, n))
        self._arms = np.arange(size)
        self.measured = np.zeros((size, n)), np.zeros((size, n))
        self.reset(*self.measured)

    def reset(self, q: Array, v: Array) -> None:
        """Begin anew at states q, v (N, n): nothing is under way."""
        seeds = [p.jitter_seed for p in self._parameters]
        seeds = seeds if len(seeds) == self._size else seeds * self._size
        self._draws = [np.random.default_rng(s) for s in seeds] if self._jitter.any() else []
        self._count, self._age = 0, np.zeros(self._size, dtype=int)
        self._last: Array | None = None
        self.measured = self._rounded(q), v.copy()

    def effect(self, command: Array) -> Array:
        """Return what acts (N, n) when these commands are sent."""
        sent, i = self._sent, self._count
        sent[i % len(sent)] = command
        late = self._late + self._more(i) if self._draws else self._late
        self._age = np.minimum(np.minimum(late, self._age + 1), i)
        acting = sent[(i - self._age) % len(sent), self._arms]
        if self._limited:
            if self._last is not None:
                acting = np.clip(acting, self._last - self._most, self._last + self._most)
            self._last = acting
        self._count = i + 1
        return np.ascontiguousarray(acting)

    def read(self, q: Array, v: Array) -> None:
        """Measure the states q, v (N, n) to which a period has led."""
        before, now = self.measured[0], self._rounded(q)
        self.measured = now, np.where(self._coarse, (now - before) / self._period, v)

    def _rounded(self, q: Array) -> Array:
        if not self._coarse.any():
            return q
        return np.where(self._coarse, np.rint(q / self._steps) * self._steps, q)

    def _more(self, i: int) -> Array:
        """Return the periods (N,) that are drawn for command i."""
        if i % _DRAWN == 0:
            self._table = np.array([
                rng.integers(most + 1, size=_DRAWN) if most else np.zeros(_DRAWN, dtype=int)
                for rng, most in zip(self._draws, self._jitter, strict=True)
            ])  # fmt: skip
        more: Array = self._table[:, i % _DRAWN]
        return more
