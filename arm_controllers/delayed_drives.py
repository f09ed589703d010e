"""Prediction of an arm under position servos that apply commands some control periods late."""

from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel

_ITERATIONS = 2  # for Coulomb friction, which is that at the step's end

# Commands (..., n) [rad | m] that the drives have not applied yet, the oldest first, each with
# the part of d (..., n) [N.m | N] that the command answers.
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

    with a torque d that the model lacks. A command takes effect `delay` periods after the state
    that it answers; before any has, the first one does.
    """

    def __init__(self, model: RobotModel, kp: Array, kd: Array, step: float, delay: int):
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
        model, inertia = self._model, self.late_inertia(q)
        at_rest = np.zeros_like(v)
        push = self._kp * (command - q) - self._kd * v + lacked - effort
        push -= model.inverse_dynamics(q, v, at_rest)
        friction = model.friction_torque(v) - model.damping * v
        v_next = v
        for _ in range(_ITERATIONS):
            change = friction - (model.friction_torque(v_next) - model.damping * v_next)
            a = self._solve(inertia, (push + change)[..., np.newaxis])[..., 0]
            v_next = v + self._h * a
        torque = self._kp * (command - q) - self._kd * v_next
        return Prediction(q + self._h * v_next, v_next, inertia, self.free(torque, v, v_next))
