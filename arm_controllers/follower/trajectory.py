"""Joint trajectories: piecewise polynomials in time, up to quintic."""

from bisect import bisect_right

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arm_controllers.reference import Reference
from arm_dynamics.checks import Array


class Trajectory:
    """Piecewise polynomial of n joints: q(t) = sum_k c_k (t - t_i)^k for t_i <= t < t_{i+1}.

    Before its first knot a trajectory is at rest at its start, after its last knot at rest at its
    end. The feedforward effort is linear between knots and keeps its last value.

    Attributes:
        times: (m + 1,) knots [s], strictly increasing.
        coefficients: (m, 6, n), lowest power first, [rad/s^k | m/s^k].
        efforts: (m + 1, n) feedforward at the knots [N.m | N].
    """

    def __init__(
        self,
        times: Array,
        coefficients: Array,
        efforts: Array | None = None,
        last: Array | None = None,
    ):
        """Take knots (m + 1,) and coefficients (m, 6, n); no effort means zero.

        `last` (n,) is the position of rest after the last knot, free of the polynomial's rounding.
        """
        self.times = times
        self.coefficients = coefficients
        segments, _, n = coefficients.shape
        self.efforts = np.zeros((segments + 1, n)) if efforts is None else efforts

        # One matrix per segment: (1, s, .. s^5) @ matrix = (q, v, a, effort), all in one product.
        matrices = np.zeros((segments, 6, 4 * n))
        powers = np.arange(1.0, 6.0)[:, np.newaxis]
        matrices[:, :, :n] = coefficients
        matrices[:, :5, n : 2 * n] = coefficients[:, 1:] * powers
        matrices[:, :4, 2 * n : 3 * n] = matrices[:, 1:5, n : 2 * n] * powers[:4]
        matrices[:, 0, 3 * n :] = self.efforts[:-1]
        slopes = np.diff(self.efforts, axis=0) / np.diff(times)[:, np.newaxis]
        matrices[:, 1, 3 * n :] = slopes
        self._matrices = list(matrices)
        self._times = times.tolist()
        self._powers = np.ones(6)
        self._rest = np.zeros((2, 4 * n))
        self._rest[0, :n] = coefficients[0, 0]
        self._rest[0, 3 * n :] = self.efforts[0]
        if last is None:
            last = self.states(times[-1:], from_left=True)[0][0]
        self._rest[1, :n] = last
        self._rest[1, 3 * n :] = self.efforts[-1]

    @property
    def start(self) -> float:
        """First knot [s]."""
        return self._times[0]

    @property
    def end(self) -> float:
        """Last knot [s]."""
        return self._times[-1]

    def evaluate(self, t: float, reference: Reference) -> None:
        """Write position, velocity, acceleration and effort at t [s] into `reference`.

        A pure function of t; allocates nothing to speak of.
        """
        times = self._times
        if t >= times[-1]:
            reference.row[:] = self._rest[1]
        elif t < times[0]:
            reference.row[:] = self._rest[0]
        else:
            i = bisect_right(times, t) - 1
            s = t - times[i]
            powers = self._powers
            powers[1] = s
            square = s * s
            powers[2] = square
            powers[3] = square * s
            powers[4] = square * square
            powers[5] = square * square * s
            np.dot(powers, self._matrices[i], out=reference.row)

    @property
    def last(self) -> Array:
        """Position of rest (n,) after the last knot."""
        return self._rest[1, : self.coefficients.shape[2]]

    def states(self, t: ArrayLike, from_left: bool = False) -> tuple[Array, Array, Array]:
        """Return positions, velocities, accelerations, each (k, n), at times t (k,) [s].

        Args:
            t: instants between the first and the last knot.
            from_left: at a knot, take the segment that ends there (else the one that starts).
        """
        t = np.asarray(t, dtype=float)
        i = np.searchsorted(self.times, t, 'left' if from_left else 'right')
        i = np.clip(i - 1, 0, len(self.coefficients) - 1)
        return self.states_in(i, t - self.times[i])

    def states_in(self, segments: NDArray[np.intp], s: Array) -> tuple[Array, Array, Array]:
        """Return positions, velocities, accelerations (k, n) at s (k,) [s] into segments."""
        c = self.coefficients[segments]
        s = s[:, np.newaxis]
        q, v, a = c[:, 5], 5.0 * c[:, 5], 20.0 * c[:, 5]
        for k in (4, 3, 2, 1, 0):
            q = q * s + c[:, k]
            if k >= 1:
                v = v * s + k * c[:, k]
            if k >= 2:
                a = a * s + k * (k - 1) * c[:, k]
        return q, v, a

    def followed_by(self, tail: 'Trajectory') -> 'Trajectory':
        """Return this trajectory and then `tail`, whose time 0 is this one's end."""
        return Trajectory(
            np.concatenate([self.times, self.end + tail.times[1:]]),
            np.concatenate([self.coefficients, tail.coefficients]),
            np.concatenate([self.efforts, tail.efforts[1:]]),
            tail.last,
        )

    def with_knots(self, times: Array) -> 'Trajectory':
        """Return the same motion on other knots, of which this one's inner knots are a subset.

        Where the new knots reach beyond this trajectory it rests.
        """
        i = np.clip(np.searchsorted(self.times, times[:-1], 'right') - 1, 0, None)
        inside = (times[:-1] >= self.start) & (times[:-1] < self.end)
        i = np.minimum(i, len(self.coefficients) - 1)
        shift = np.where(inside, times[:-1] - self.times[i], 0.0)[:, np.newaxis]
        c = self.coefficients[i].copy()
        # Taylor shift by repeated synthetic division (Horner's scheme): p(s + shift).
        for done in range(5):
            for k in range(4, done - 1, -1):
                c[:, k] += shift * c[:, k + 1]
        n = c.shape[2]
        for j in np.flatnonzero(~inside):
            c[j] = 0.0
            c[j, 0] = self._rest[int(times[j] >= self.end), :n]
        efforts = np.column_stack(
            [np.interp(times, self.times, self.efforts[:, joint]) for joint in range(n)]
        )
        return Trajectory(times, c, efforts, self.last if times[-1] >= self.end else None)


def hermite(h: Array, start: tuple[Array, ...], end: tuple[Array, ...]) -> Array:
    """Return coefficients (m, 6, n) of the lowest polynomials through both ends of each segment.

    Positions alone give degree 1, with velocities 3, with accelerations 5.

    Args:
        h: (m,) durations [s], positive.
        start: (q,), (q, v) or (q, v, a) at the segments' starts, each (m, n).
        end: the same at their ends.
    """
    h = h[:, np.newaxis]
    q0, q1 = start[0], end[0]
    c = np.zeros((len(h), 6, q0.shape[1]))
    c[:, 0] = q0
    step = q1 - q0
    if len(start) == 1:
        c[:, 1] = step / h
        return c
    v0, v1 = start[1], end[1]
    c[:, 1] = v0
    if len(start) == 2:
        c[:, 2] = (3 * step / h - 2 * v0 - v1) / h
        c[:, 3] = (-2 * step / h + v0 + v1) / h**2
        return c
    a0, a1 = start[2], end[2]
    c[:, 2] = a0 / 2
    c[:, 3] = (10 * step / h - 6 * v0 - 4 * v1 + h * (a1 - 3 * a0) / 2) / h**2
    c[:, 4] = (-15 * step / h + 8 * v0 + 7 * v1 + h * (3 * a0 - 2 * a1) / 2) / h**3
    c[:, 5] = (6 * step / h - 3 * (v0 + v1) + h * (a1 - a0) / 2) / h**4
    return c


def hold(q: Array, effort: Array | None = None) -> Trajectory:
    """Return the trajectory that rests at q (n,), with a constant feedforward (n,)."""
    coefficients = np.zeros((1, 6, len(q)))
    coefficients[0, 0] = q
    efforts = None if effort is None else np.array([effort, effort])
    return Trajectory(np.array([0.0, 1.0]), coefficients, efforts)


def stop(q: Array, v: Array, duration: float | Array, effort: Array | None = None) -> Trajectory:
    """Return the trajectory that brakes every joint at constant deceleration.

    q(t) = q + v t - v t^2 / (2 T) until T, then rest: with one T for all, the joints keep their
    common direction. The feedforward fades to zero on the way.

    Args:
        q, v: (n,) state at t = 0.
        duration: T [s], one for all joints or one per joint (n,); the longest is positive. A joint
            with T = 0 stops at once.
        effort: (n,) feedforward at t = 0.
    """
    duration = np.broadcast_to(duration, q.shape)
    times = np.unique(np.append(duration, 0.0))
    end = times[-1]
    s = times[:-1, np.newaxis]  # where each segment starts
    brakes = s < duration
    rate = np.divide(v, duration, out=np.zeros_like(q), where=duration > 0)
    coefficients = np.zeros((len(s), 6, len(q)))
    coefficients[:, 0] = np.where(brakes, q + v * s - rate * s**2 / 2, q + v * duration / 2)
    coefficients[:, 1] = np.where(brakes, v - rate * s, 0.0)
    coefficients[:, 2] = np.where(brakes, -rate / 2, 0.0)
    efforts = None if effort is None else np.outer(1.0 - times / end, effort)
    return Trajectory(times, coefficients, efforts, q + v * duration / 2)
