"""Optimal control of an arm over a horizon of nodes: a quadratic problem by Riccati recursion.

Node k has the state (q_k, v_k) and an acceleration a_k that is constant until node k + 1, so that
the motion is linear:

    q_{k+1} = q_k + t v_k + s a_k,  v_{k+1} = v_k + t a_k,  s = t^2/2.

The torque tau_k = ID(q, v, a_k) in the middle of the interval, where a torque that is held over a
control period has this mean acceleration to second order, is what is not linear; its derivatives
enter the cost and the limits (inverse-dynamics optimal control: Katayama and Ohtsuka, IROS 2021;
Mastalli et al., IEEE Trans. Robotics 41, 2025). The cost is, with e = q - q_ref and the h of a
node,

    sum of h/2 (wq e^2 + wv de^2 + wa (a - a_ref)^2 + wt tau^2) + 1/2 (e, de) P (e, de) at the end.

Limits of tau, q and v are exact: augmented Lagrangian, whose minima are found by Newton steps with
an exact line search (Nocedal and Wright, Numerical Optimization, sections 3.1 and 17.3).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_controllers.riccati import backward, forward
from arm_dynamics.checks import Array
from arm_dynamics.compiled import BatchModel
from arm_dynamics.compiling import unlocked_njit
from arm_dynamics.model import STANDSTILL

_HALVINGS = 12  # of the line search: it ends within 2^-12 of the minimum
# A limit is this much stiffer than the cost of the acceleration that would respect it: a step of
# the multipliers leaves 1/1000 of their error. Where a limit cannot be respected, they push at
# most as if it were exceeded by its own size.
_STIFFNESS, _MOST = 1e3, 1.0
_CLOSE = 1e-9  # of the multipliers


class Grid(NamedTuple):
    """Times of the nodes.

    Attributes:
        periods: (N,) control periods from each node to the next one.
        t, s: (N,) factors of the motion [s], [s^2].
    """

    periods: Array
    t: Array
    s: Array

    @classmethod
    def growing(cls, nodes: int, horizon: float, dt: float) -> 'Grid':
        """Return steps from one control period on that grow to fill the horizon [s]."""
        total, low, high = round(horizon / dt), 1.0, 4.0
        for _ in range(60):
            growth = 0.5 * (low + high)
            periods = np.maximum(np.round(growth ** np.arange(nodes)), 1.0)
            low, high = (growth, high) if periods.sum() < total else (low, growth)
        periods = np.maximum(np.round(low ** np.arange(nodes)), 1.0)
        return cls.of(periods, dt)

    @classmethod
    def of(cls, periods: Array, dt: float) -> 'Grid':
        """Return the grid of these steps [control periods] of dt [s]."""
        m = np.asarray(periods, dtype=float)
        return cls(m, m * dt, 0.5 * (m * dt) ** 2)

    def shift(self) -> Array:
        """Return (N, N): means over the nodes' intervals one period later; 0 beyond the end."""
        edges = np.concatenate([[0.0], np.cumsum(self.periods)])
        low = np.maximum(edges[:-1, None] + 1.0, edges[None, :-1])
        high = np.minimum(edges[1:, None] + 1.0, edges[None, 1:])
        return np.maximum(high - low, 0.0) / self.periods[:, None]


class Cost(NamedTuple):
    """Weights of the cost.

    Attributes:
        running: (1 or M, 4, n) wq, wv, wa, wt.
        final: (1 or M, 3, n) P: of e^2, of e de, of de^2.
    """

    running: Array
    final: Array


class Limits(NamedTuple):
    """Bounds (3, n) of tau at the nodes 0 ... N - 1, of q and of v at the nodes 1 ... N."""

    lower: Array
    upper: Array


def linearised(model: BatchModel, motion: Array, offset: Array, grid: Grid) -> tuple[Array, Array]:
    """Return the torques (M, N, n) of a motion and their slopes (M, N, 3, n, n), see `solve`.

    tau = ID(q, v, a) + friction(v) + offset in the middle of each node's interval.

    Args:
        model: of the arm.
        motion: (M, 3, N + 1, n) q, v, a.
        offset: (M, N, n), or (M, 1, n) for all nodes, what the drives give in addition [N.m | N].
        grid: of the motion.
    """
    q, v, a = (motion[:, row, :-1] for row in range(3))
    half = 0.5 * grid.t[:, np.newaxis]
    q, v = q + half * v + 0.5 * half**2 * a, v + half * a
    torque, of_q, of_v, of_a = model.torque_derivatives(q, v, a)
    joints = np.arange(model.nv)
    torque = torque + model.armature * a + model.friction_torque(v) + offset
    drag = model.damping + np.where(np.abs(v) < STANDSTILL, model.friction / STANDSTILL, 0.0)
    of_v[:, :, joints, joints] += drag
    of_a[:, :, joints, joints] += model.armature
    half = half[:, :, np.newaxis]
    of_a, of_v = of_a + half * of_v + 0.5 * half**2 * of_q, of_v + half * of_q
    return torque, np.stack([of_q, of_v, of_a], axis=2)


def solve(
    grid: Grid,
    cost: Cost,
    limits: Limits,
    target: Array,
    motion: Array,
    torque: Array,
    slopes: Array,
    multipliers: Array,
    iterations: int,
) -> NDArray[np.int64]:
    """Solve the quadratic problem around a motion; the results replace the arguments.

    Args:
        grid, cost, limits: of the problem.
        target: (M, 3, N + 1, n) q_ref, v_ref, a_ref of M arms; the last a_ref does not count.
        motion: (M, 3, N + 1, n) q, v, a, with the equation of the motion satisfied.
        torque: (M, N, n) of the motion.
        slopes: (M, N, 3, n, n) dtau/dq, dtau/dv, dtau/da.
        multipliers: (M, 3, N, n) of the limits, from the last solution or zero.
        iterations: largest number of Newton steps.

    Returns:
        (M,) number of Newton steps.
    """
    m, nodes, n = torque.shape
    count = np.zeros(m, dtype=np.int64)
    gains, hessian = np.zeros((nodes, n, 2 * n + 1)), np.zeros((3 * n, 3 * n + 1))
    change, bent = np.zeros((3, nodes + 1, n)), np.zeros((nodes, n))
    forces, weights, stiffness = np.zeros((3, 3, nodes, n))
    for k in range(m):
        row = min(k, len(cost.running) - 1)
        count[k] = _solved(
            grid.t, grid.s, cost.running[row], cost.final[row], *limits, stiffness,
            target[k], motion[k], torque[k], slopes[k], multipliers[k],
            iterations, gains, hessian, change, bent, forces, weights,
        )  # fmt: skip
    return count


@unlocked_njit
def follow(t, s, motion):
    """Write the states after the first one of motions (M, 3, N + 1, n), from their a."""
    for one in motion:
        for k in range(t.size):
            for i in range(one.shape[2]):
                q, v, a = one[:, k, i]
                one[0, k + 1, i] = q + t[k] * v + s[k] * a
                one[1, k + 1, i] = v + t[k] * a


@unlocked_njit
def limit_forces(lower, upper, stiffness, motion, torque, multipliers, forces, weights):
    """Write the force and the stiffness of each limit that is active, else 0."""
    nodes, n = torque.shape
    for row in range(3):
        for k in range(nodes):
            for i in range(n):
                value = torque[k, i] if row == 0 else motion[row - 1, k + 1, i]
                stiff = stiffness[row, k, i]
                moved = value + multipliers[row, k, i] / stiff
                over = moved - min(max(moved, lower[row, i]), upper[row, i])
                forces[row, k, i] = stiff * over if over != 0.0 else 0.0
                weights[row, k, i] = stiff if over != 0.0 else 0.0


@unlocked_njit
def slope_at(
    size, t, running, final, lower, upper, stiffness, target, motion, torque, multipliers, change,
    bent, weights
):  # fmt: skip
    """Return the derivative of the cost along the step, and whether the limits stay active."""
    nodes, n = torque.shape
    slope, same = 0.0, True
    for i in range(n):
        e = motion[0, nodes, i] + size * change[0, nodes, i] - target[0, nodes, i]
        de = motion[1, nodes, i] + size * change[1, nodes, i] - target[1, nodes, i]
        slope += (final[0, i] * e + final[1, i] * de) * change[0, nodes, i]
        slope += (final[1, i] * e + final[2, i] * de) * change[1, nodes, i]
    for k in range(nodes):
        for i in range(n):
            part = 0.0
            for row in range(3):
                e = motion[row, k, i] + size * change[row, k, i] - target[row, k, i]
                part += running[row, i] * e * change[row, k, i]
            part += running[3, i] * (torque[k, i] + size * bent[k, i]) * bent[k, i]
            slope += t[k] * part
            for row in range(3):
                rate = bent[k, i] if row == 0 else change[row - 1, k + 1, i]
                value = torque[k, i] if row == 0 else motion[row - 1, k + 1, i]
                stiff = stiffness[row, k, i]
                moved = value + size * rate + multipliers[row, k, i] / stiff
                over = moved - min(max(moved, lower[row, i]), upper[row, i])
                if over != 0.0:
                    slope += stiff * over * rate
                if (over != 0.0) != (weights[row, k, i] != 0.0):
                    same = False
    return slope, same


@unlocked_njit
def step_size(
    t, running, final, lower, upper, stiffness, target, motion, torque, multipliers, change, bent,
    weights
):  # fmt: skip
    """Return the size in (0, 1] of the step to the lowest cost, and whether it is the minimum."""
    fixed = (t, running, final, lower, upper, stiffness, target, motion, torque, multipliers,
             change, bent, weights)  # fmt: skip
    slope, same = slope_at(1.0, *fixed)
    if same or slope <= 0.0:
        return 1.0, same
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        slope, _ = slope_at(middle, *fixed)
        if slope > 0.0:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high), False


@unlocked_njit
def _solved(
    t, s, running, final, lower, upper, stiffness, target, motion, torque, slopes, multipliers,
    iterations, gains, hessian, change, bent, forces, weights
):  # fmt: skip
    nodes, n = torque.shape
    for k in range(nodes):
        for i in range(n):
            inertia = slopes[k, 2, i, i]
            scale = _STIFFNESS * (running[2, i] + running[3, i] * inertia**2)
            stiffness[0, k, i] = scale * t[k] / inertia**2
            stiffness[1, k, i] = scale * t[k] / s[k] ** 2
            stiffness[2, k, i] = scale / t[k]
    count = 0
    while count < iterations:
        count += 1
        limit_forces(lower, upper, stiffness, motion, torque, multipliers, forces, weights)
        backward(t, s, running, final, target, motion, torque, slopes, forces, weights, gains,
                 hessian)  # fmt: skip
        forward(t, s, gains, slopes, change, bent)
        size, same = step_size(t, running, final, lower, upper, stiffness, target, motion, torque,
                               multipliers, change, bent, weights)  # fmt: skip
        for k in range(nodes + 1):
            for i in range(n):
                for row in range(3):
                    motion[row, k, i] += size * change[row, k, i]
                if k < nodes:
                    torque[k, i] += size * bent[k, i]
        if same:
            worst = 0.0
            for row in range(3):
                for k in range(nodes):
                    for i in range(n):
                        value = torque[k, i] if row == 0 else motion[row - 1, k + 1, i]
                        stiff = stiffness[row, k, i]
                        before = multipliers[row, k, i]
                        moved = value + before / stiff
                        most = max(abs(lower[row, i]), abs(upper[row, i]))
                        over = moved - min(max(moved, lower[row, i]), upper[row, i])
                        over = min(max(over, -_MOST * most), _MOST * most) if over != 0.0 else 0.0
                        multipliers[row, k, i] = stiff * over
                        if over != 0.0 or before != 0.0:
                            worst = max(worst, abs(over - before / stiff) / most)
            if worst < _CLOSE:
                break
    return count
