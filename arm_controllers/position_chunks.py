"""Chunks of joint positions that arrive late: the reference on a spline through them."""

import math

import numpy as np

from arm_controllers.clamped_spline import knot_velocities
from arm_controllers.reference import Reference
from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel

_ROUNDING = 1e-6  # share of the time between two positions


class PositionChunks:
    """References of chunks: position i at (i + 1) / rate from the observation on, then rest.

    A chunk that arrives `begun` control periods after its observation is joined as by
    `positions_upsampling`: positions whose time has passed are left out, and a cubic spline with
    continuous acceleration goes on from the position and velocity of the present reference.

    Knots are arrays (..., chunk + 1, 2 n) of positions and velocities. Row r is at r / rate; the
    last row before the first position is at the join. Times are the same for all arms.
    """

    def __init__(self, model: RobotModel, rate: float, chunk: int):
        """Take the arm, the positions per second [Hz], and the number of positions in a chunk."""
        self._rate, self._chunk, self._nv = rate, chunk, model.nv
        self._lower, self._upper = model.position_lower, model.position_upper
        self._turning = np.flatnonzero(model.continuous)

    def start(self, q: Array, v: Array) -> Array:
        """Return the knots of an arm at q, v (..., n) that comes to rest within 1 / rate."""
        now, end = np.concatenate([q, v], axis=-1), q + v / (2.0 * self._rate)
        rest = np.concatenate([end, np.zeros_like(end)], axis=-1)
        return np.stack([now, *[rest] * self._chunk], axis=-2)

    def joined(
        self, knots: Array, age: int, begun: int, positions: Array, since: int, dt: float
    ) -> Array | None:
        """Return the knots of a chunk that arrives now; None: the time of all its positions is up.

        Args:
            knots: of the chunk until now.
            age, begun: control periods from the observation of that chunk until now, and to its
                arrival.
            positions: (..., chunk, n) that arrive [rad | m]. They are clipped to the limits of the
                arm; a continuous joint turns at most half a turn from one to the next.
            since: control periods since their observation.
            dt: control period [s].
        """
        first = self._row(since * dt)
        if first >= self._chunk:
            return None
        now = self.reference(knots, age, begun, dt)
        positions = np.clip(positions, self._lower, self._upper)
        q = np.concatenate([now.q[..., np.newaxis, :], positions[..., first:, :]], axis=-2)
        turns = np.diff(q[..., self._turning], axis=-2)
        turns = np.cumsum(np.round(turns / (2.0 * np.pi)), axis=-2)
        q[..., 1:, self._turning] -= 2.0 * np.pi * turns
        times = np.arange(first, self._chunk + 1) / self._rate
        times[0] = since * dt
        rows = np.moveaxis(q, -2, 0)
        flat = rows.reshape(len(rows), -1)
        v = knot_velocities(np.diff(times), flat, now.v.reshape(-1)).reshape(rows.shape)
        found = np.zeros((*positions.shape[:-2], self._chunk + 1, 2 * self._nv))
        found[..., first:, :] = np.concatenate([q, np.moveaxis(v, 0, -2)], axis=-1)
        return found

    def reference(self, knots: Array, age: int, begun: int, dt: float) -> Reference:
        """Return the reference `age` control periods after the observation, and its future."""
        n, t = self._nv, age * dt
        reference = Reference(n, knots.shape[:-2])
        reference.future = lambda periods: self.reference(knots, age + periods, begun, dt)
        r = self._row(t)
        if r >= self._chunk:
            reference.q[:] = knots[..., -1, :n]
            return reference
        start = begun * dt if r == self._row(begun * dt) else r / self._rate
        h, s = (r + 1) / self._rate - start, t - start
        (q, v), (q_end, v_end) = ((knots[..., k, :n], knots[..., k, n:]) for k in (r, r + 1))
        slope = (q_end - q) / h
        square, cube = (3.0 * slope - 2.0 * v - v_end) / h, (v + v_end - 2.0 * slope) / h**2
        reference.q[:] = q + s * (v + s * (square + s * cube))
        reference.v[:] = v + s * (2.0 * square + 3.0 * s * cube)
        reference.a[:] = 2.0 * square + 6.0 * s * cube
        return reference

    def _row(self, t: float) -> int:
        """Return the row of knots at or before a time [s] from the observation."""
        return math.floor(t * self._rate + _ROUNDING)
