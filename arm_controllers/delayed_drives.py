"""Prediction of an arm whose drives apply commands some control periods late, and its observer."""

from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel

_ITERATIONS = 2  # for Coulomb friction, which is that at the step's end

# Commands (..., n) [rad | m], or [N.m | N], that the drives have not applied yet, oldest first,
# each with the part of d (..., n) [N.m | N] that the command answers.
Pending = tuple[tuple[Array, Array], ...]


class Prediction(NamedTuple):
    """The arm after one control period.

    Attributes:
        q, v: (..., n) state [rad | m], [rad/s | m/s].
        inertia: (..., n, n) M + h D of the step.
        free: (..., 1) 1; 0 where a drive is at its limit, so that the step is another one.
    """

    q: Array
    v: Array
    inertia: Array
    free: Array


class DelayedDrives:
    """The believed arm under its drives.

    A step is MuJoCo's implicitfast,

        (M + h D)(v+ - v) = h (kp (u - q) - D v - b + d),  q+ = q + h v+,  D = kd + damping,

    with a torque d that the model lacks. Without `kp` the command is the torque, under which the
    arm moves as a continuous one (midpoint rule). A command takes effect `delay` periods after
    the state that it answers; before any has, the first one does.
    """

    def __init__(self, model: RobotModel, kp: Array | None, kd: Array, step: float, delay: int):
        self._model, self._kp, self._kd, self._h = model, kp, kd, step
        self._delay = delay
        # A launch file that looks at a law's parameters does not load SciPy.
        from arm_dynamics.small_matrices import solve_positive

        self._solve = solve_positive

    def given(self, pending: Pending, command: Array, effort: Array) -> Pending:
        """Return the pending commands after a command (..., n) is sent; see Pending."""
        new = (command.copy(), effort.copy())
        return (*pending[1:], new) if pending else (new,) * (self._delay + 1)

    def ahead(self, q: Array, v: Array, lacked: Array, pending: Pending) -> tuple[Array, Array]:
        """Return the state (..., n) at which a command that is sent now takes effect.

        `lacked` is d (..., n) without what the commands answer.
        """
        for command, effort in pending[1:]:
            q, v, _, _ = self._step(q, v, lacked, command, effort)
        return q, v

    def next(self, q: Array, v: Array, lacked: Array, pending: Pending) -> Prediction:
        """Return the arm after this period."""
        return self._step(q, v, lacked, *pending[0])

    def estimate(
        self, q: Array, v: Array, expected: Prediction, disturbance: Array, pole: float
    ) -> tuple[Array, Array, Array]:
        """Return q, v (..., n) between expected and measured ones, and the corrected d (..., n).

        The observer has its poles at `pole` (Luenberger, IEEE Trans. Automatic Control 16, 1971):
        q takes 1 - p of what was missed, v takes 1 - p^2, and d (1 - p)^2 (M + h D)/h of what the
        velocity missed. A drive at its limit (`free` 0) teaches nothing: what is measured counts.
        """
        q_expected, v_expected, inertia, free = expected
        trusted, missed, rate = pole * free, v - v_expected, 1.0 / self._h
        impulse = (inertia @ missed[..., np.newaxis])[..., 0]
        disturbance = disturbance + impulse * (rate * free * (1.0 - trusted) ** 2)
        q = q_expected + (1.0 - trusted) * self._model.difference(q_expected, q)
        return q, v_expected + (1.0 - trusted**2) * missed, disturbance

    def late_inertia(self, q: Array) -> Array:
        """Return M + h D (..., n, n) at q."""
        inertia, n = self._model.mass_matrix(q), np.arange(self._model.nv)
        inertia[..., n, n] += self._h * (self._kd + self._model.damping)
        return inertia

    def free(self, torque: Array, v: Array, v_next: Array) -> Array:
        """Return 1.0, or 0.0 where a drive's torque (..., n) is at its limit: (..., 1).

        `torque` is that with its damping at the step's end, v_next.
        """
        asked = np.maximum(np.abs(torque), np.abs(torque + self._kd * (v_next - v)))
        free: Array = (asked < self._model.effort_limit).all(axis=-1, keepdims=True).astype(float)
        return free

    def _step(
        self, q: Array, v: Array, lacked: Array, command: Array, effort: Array
    ) -> Prediction:
        if self._kp is None:
            return self._held(q, v, lacked, command, effort)
        model, inertia = self._model, self.late_inertia(q)
        at_rest = np.zeros_like(v)
        torque = self._kp * (command - q)
        push = torque - self._kd * v + lacked - effort
        push -= model.inverse_dynamics(q, v, at_rest)
        friction = model.friction_torque(v) - model.damping * v
        v_next = v
        for _ in range(_ITERATIONS):
            change = friction - (model.friction_torque(v_next) - model.damping * v_next)
            a = self._solve(inertia, (push + change)[..., np.newaxis])[..., 0]
            v_next = v + self._h * a
        free = self.free(torque - self._kd * v_next, v, v_next)
        return Prediction(q + self._h * v_next, v_next, inertia, free)

    def _held(
        self, q: Array, v: Array, lacked: Array, command: Array, effort: Array
    ) -> Prediction:
        """Return the arm after a period under a torque that is held."""
        model, h, a = self._model, self._h, np.zeros_like(v)
        push = np.clip(command, -model.effort_limit, model.effort_limit) + lacked - effort
        for ahead in (0.0, 0.5 * h):
            now, speed = q + ahead * v + 0.5 * ahead**2 * a, v + ahead * a
            inertia = model.mass_matrix(now)
            lacking = push - model.inverse_dynamics(now, speed, np.zeros_like(v))
            a = self._solve(inertia, lacking[..., np.newaxis])[..., 0]
        return Prediction(
            q + h * v + 0.5 * h**2 * a, v + h * a, inertia, np.ones((*q.shape[:-1], 1))
        )
