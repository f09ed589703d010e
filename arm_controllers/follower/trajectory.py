"""Joint trajectories: piecewise polynomials in time, up to quintic."""

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

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
        last: (n,) position of rest after the last knot.
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

        # One matrix per segment: matrix @ (1, s, .. s^5) = (q, v, a, effort), all in one product.
        # In this order BLAS has equal bits on all CPUs with AVX2.
        matrices = np.zeros((segments, 6, 4 * n))
        q, v, a, effort = np.split(matrices, 4, axis=2)
        powers = np.arange(1.0, 6.0)[:, np.newaxis]
        q[:] = coefficients
        v[:, :5] = q[:, 1:] * powers
        a[:, :4] = v[:, 1:5] * powers[:4]
        effort[:, 0] = self.efforts[:-1]
        effort[:, 1] = np.diff(self.efforts, axis=0) / np.diff(times)[:, np.newaxis]
        self._matrices = list(np.ascontiguousarray(matrices.swapaxes(1, 2)))
        self._times = times.tolist()
        self._powers = np.ones(6)
        if last is None:
            last = self.states_in(np.array([-1]), times[-1:] - times[-2:-1])[0][0]
        self.last = last
        self._rest = np.zeros((2, 4 * n))
        self._rest[:, :n] = coefficients[0, 0], last
        self._rest[:, 3 * n :] = self.efforts[[0, -1]]

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

        A pure function of t, almost without allocations.
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
            self._matrices[i].dot(powers, out=reference.row)

    def states_in(self, segments: NDArray[np.intp], s: Array) -> tuple[Array, Array, Array]:
        """Return positions, velocities, accelerations (k, n) at s (k,) [s] into segments."""
        c, s = self.coefficients[segments], s[:, np.newaxis]
        q = v = half_a = np.zeros((len(s), c.shape[2]))
        for k in range(5, -1, -1):  # Horner's scheme, and its derivatives
            half_a, v, q = half_a * s + v, v * s + q, q * s + c[:, k]
        return q, v, 2.0 * half_a

    def followed_by(self, tail: 'Trajectory') -> 'Trajectory':
        """Return this trajectory and then `tail`, whose time 0 is this one's end."""
        return Trajectory(
            np.concatenate([self.times, self.end + tail.times[1:]]),
            np.concatenate([self.coefficients, tail.coefficients]),
            np.concatenate([self.efforts, tail.efforts[1:]]),
            tail.last,
        )

    def in_steps(self) -> 'Trajectory':
        """Return the trajectory that rests at each knot's position until the next knot."""
        steps = np.zeros_like(self.coefficients)
        steps[:, 0] = self.coefficients[:, 0]
        return Trajectory(self.times, steps, self.efforts, self.last)

    def with_knots(self, times: Array) -> 'Trajectory':
        """Return the same trajectory on more knots; after its end it rests."""
        t = times[:-1]
        i = np.searchsorted(self.times[1:-1], t, 'right')
        rests = t >= self.end
        shift = (t - self.times[i])[:, np.newaxis]
        c = self.coefficients[i]
        # Taylor shift by repeated synthetic division (Horner's scheme): p(s + shift).
        for done in range(5):
            for k in range(4, done - 1, -1):
                c[:, k] += shift * c[:, k + 1]
        c[rests] = 0.0
        c[rests, 0] = self.last
        efforts = [np.interp(times, self.times, effort) for effort in self.efforts.T]
        return Trajectory(times, c, np.column_stack(efforts), self.last)


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
    # Products: higher powers of NumPy have other bits with AVX-512.
    c[:, 4] = (-15 * step / h + 8 * v0 + 7 * v1 + h * (3 * a0 - 2 * a1) / 2) / (h * h * h)
    c[:, 5] = (6 * step / h - 3 * (v0 + v1) + h * (a1 - a0) / 2) / (h * h * h * h)
    return c


def through(times: Array, states: tuple[Array, ...]) -> Trajectory:
    """Return the lowest polynomials through states, each (m + 1, n), at times (m + 1,) [s].

    The states are q, (q, v) or (q, v, a), as `hermite` takes them.
    """
    starts, ends = (tuple(x[part] for x in states) for part in (slice(-1), slice(1, None)))
    return Trajectory(times, hermite(np.diff(times), starts, ends))


def hold(q: Array) -> Trajectory:
    """Return the trajectory that rests at q (n,)."""
    return stop(q, np.zeros_like(q), 1.0)


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
