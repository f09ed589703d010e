"""The closed loop as one matrix: arm, delay, law; how fast its errors die, what noise makes."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_lab.tuning.linear_law import LinearLaw, derivatives
from arm_sim.loop.batch_plant import BatchPlant

# A pole this near to 1 neither grows nor dies: what an adaptive law is not shown, it keeps.
_KEPT = 1e-5
_LEAST = 1e-300  # that has a logarithm


class LinearArms(NamedTuple):
    """x+ = p x + r u of N arms, as differences from a motion; x is q and v, u the command.

    Attributes:
        p, r: (N, 2 n, 2 n), (N, 2 n, n).
        torque: (N, n, 3 n) the torque in the period, of x and u.
    """

    p: Array
    r: Array
    torque: Array


def linear_arms(plant: BatchPlant, q: Array, v: Array, command: Array) -> LinearArms:
    """Return the arms of a batch at q, v, under a command, each (n,)."""
    n, point = len(q), np.concatenate([q, v, command])

    def answer(point: Array) -> Array:
        """Return q, v and torque (N, 3 n) after a period."""
        plant.reset(point[:n], point[n : 2 * n])
        plant.step(np.tile(point[2 * n :], (plant.size, 1)))
        return np.concatenate([plant.q, plant.v, plant.effort], axis=1)

    rows = derivatives(answer, point)
    x = 2 * n
    return LinearArms(rows[:, :x, :x], rows[:, :x, x:], rows[:, x:])


class ClosedLoops(NamedTuple):
    """s+ = f s + g w of N arms under one law; w is the noise of q and v.

    The state s is x, the law's memory, and the commands under way, the newest last.

    Attributes:
        f, g: (N, m, m), (N, m, 2 n).
        torque, torque_noise: (N, n, m), (N, n, 2 n): the torque of s and w.
        period: of control [s].
    """

    f: Array
    g: Array
    torque: Array
    torque_noise: Array
    period: float

    @classmethod
    def of(cls, arms: LinearArms, law: LinearLaw, delay: int, period: float) -> 'ClosedLoops':
        """Close the loop with commands that act `delay` periods late."""
        count, x, n = arms.r.shape
        m, line = len(law.a), delay * n
        size = x + m + line
        command, noise = np.zeros((n, size)), law.d  # the newest command, of s and of w
        command[:, :x], command[:, x : x + m] = law.d, law.c
        acting, acting_noise = command, noise
        if delay:
            acting, acting_noise = np.zeros((n, size)), np.zeros((n, x))
            acting[:, x + m : x + m + n] = np.eye(n)
        f, g = np.zeros((count, size, size)), np.zeros((count, size, x))
        f[:, :x] = arms.r @ acting
        f[:, :x, :x] += arms.p
        g[:, :x] = arms.r @ acting_noise
        f[:, x : x + m, :x], f[:, x : x + m, x : x + m] = law.b, law.a
        g[:, x : x + m] = law.b
        if delay:
            f[:, x + m : size - n, x + m + n :] = np.eye(line - n)
            f[:, size - n :], g[:, size - n :] = command, noise
        of_x, of_u = arms.torque[:, :, :x], arms.torque[:, :, x:]
        torque = of_u @ acting
        torque[:, :, :x] += of_x
        return cls(f, g, torque, of_u @ acting_noise, period)

    def margins(self) -> Array:
        """Return how fast the slowest error dies (N,) [1/s]; negative: it grows."""
        poles = np.linalg.eigvals(_sound(self.f))
        rates = -np.log(np.maximum(np.abs(poles), _LEAST)) / self.period
        return _slowest(rates, np.abs(poles - 1.0) < _KEPT, self.period)

    def noise(self, deviations: Array, duration: float = 1.0) -> tuple[Array, Array]:
        """Return what noise (2 n,) of q and v comes to after some time [s].

        Returns:
            (N, n, n) covariance of the joints' positions; (N,) RMS change of torque from period
            to period [N.m | N].
        """
        w = np.diag(deviations**2)
        spread, power = self.g @ w @ np.swapaxes(self.g, 1, 2), self.f
        for _ in range(max(1, round(np.log2(duration / self.period)))):
            spread = spread + power @ spread @ np.swapaxes(power, 1, 2)
            power = power @ power
        n = self.torque.shape[1]
        of_state = self.torque @ self.f - self.torque
        of_noise = self.torque @ self.g - self.torque_noise
        change = _covariance(of_state, spread) + _covariance(of_noise, w)
        change = change + _covariance(self.torque_noise, w)
        chatter = np.sqrt(np.trace(change, axis1=1, axis2=2) / n)
        return spread[:, :n, :n], chatter


def end_to_end(course: Iterable[ClosedLoops], squarings: int) -> Array:
    """Return how fast the slowest error dies over loops that follow each other (N,) [1/s].

    Each lasts 2^squarings periods. What counts are the eigenvalues of the product of all their
    matrices: an error that grows here may be one that dies there. Of a motion that repeats, they
    are its Floquet multipliers.
    """
    whole, count, period = None, 0, 1.0
    for loops in course:
        part = _Large(_sound(loops.f), np.zeros(len(loops.f)))
        for _ in range(squarings):
            part = part @ part
        whole = part if whole is None else part @ whole
        count, period = count + 2**squarings, loops.period
    assert whole is not None
    sizes = np.maximum(np.abs(np.linalg.eigvals(whole.matrix)), _LEAST)
    rates = -(np.log(sizes) + whole.log[:, np.newaxis]) / (count * period)
    return _slowest(rates, np.abs(rates) * period < _KEPT, period)


def _slowest(rates: Array, kept: NDArray[np.bool_], period: float) -> Array:
    """Return the least of rates (N, m), without those of errors that are kept."""
    return np.where(kept, -np.log(_LEAST) / period, rates).min(axis=-1)


class _Large(NamedTuple):
    """matrix exp(log) of N loops: matrices (N, m, m) whose products may be huge."""

    matrix: Array
    log: Array

    def __matmul__(self, other: '_Large') -> '_Large':
        product = self.matrix @ other.matrix
        size = np.maximum(np.abs(product).max(axis=(1, 2)), _LEAST)
        return _Large(
            product / size[:, np.newaxis, np.newaxis], self.log + other.log + np.log(size)
        )


def _sound(f: Array) -> Array:
    """Return matrices (N, m, m); huge ones in place of those that are not finite."""
    return np.where(np.isfinite(f).all(axis=(1, 2), keepdims=True), f, 1e9)


def _covariance(matrix: Array, of: Array) -> Array:
    product: Array = matrix @ of @ np.swapaxes(matrix, 1, 2)
    return product
