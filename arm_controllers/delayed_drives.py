"""Position servos whose commands take effect some control periods late: where the arm will be."""

from collections import deque

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.small_matrices import solve_positive

_ITERATIONS = 2  # for Coulomb friction, which is that at the step's end


class DelayedDrives:
    """The believed arm under its drives, and the commands that it has not felt yet.

    A step is MuJoCo's implicitfast,

        (M + h D)(v+ - v) = h (kp (u - q) - D v - b + d),  q+ = q + h v+,  D = kd + damping,

    with a torque d that the model lacks. A command takes effect `delay` periods after the state
    that it answers; before any has, the first one does.
    """

    def __init__(self, model: RobotModel, kp: Array, kd: Array, step: float, delay: int):
        self._model, self._kp, self._kd, self._h = model, kp, kd, step
        self._commands: deque[tuple[Array, Array]] = deque(maxlen=delay + 1)
        self._delay = delay

    def forget(self) -> None:
        """No command is under way."""
        self._commands.clear()

    def give(self, command: Array, effort: Array) -> None:
        """Send a command (..., n) [rad | m], and the part of d (..., n) that it is to meet."""
        copies = 1 if self._commands else self._delay + 1
        self._commands.extend([(command.copy(), effort.copy())] * copies)

    def ahead(self, q: Array, v: Array, lacked: Array) -> tuple[Array, Array]:
        """Return the state (..., n) at which a command that is given now takes effect.

        `lacked` is d (..., n) without what the commands are to meet.
        """
        for number in range(1, len(self._commands)):
            q, v, _, _ = self._step(q, v, lacked, *self._commands[number])
        return q, v

    def next(self, q: Array, v: Array, lacked: Array) -> tuple[Array, Array, Array, Array]:
        """Return the state after this period, M + h D (..., n, n), and 1 or 0 (..., 1).

        It is 0 where a drive is at its limit, so that the step is another one.
        """
        return self._step(q, v, lacked, *self._commands[0])

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
    ) -> tuple[Array, Array, Array, Array]:
        model, inertia = self._model, self.late_inertia(q)
        at_rest = np.zeros_like(v)
        push = self._kp * (command - q) - self._kd * v + lacked - effort
        push -= model.inverse_dynamics(q, v, at_rest)
        rub = model.friction_torque(v) - model.damping * v
        v_next = v
        for _ in range(_ITERATIONS):
            change = rub - (model.friction_torque(v_next) - model.damping * v_next)
            a = solve_positive(inertia, (push + change)[..., np.newaxis])[..., 0]
            v_next = v + self._h * a
        torque = self._kp * (command - q) - self._kd * v_next
        free = self.free(torque, v, v_next)
        return q + self._h * v_next, v_next, inertia, free
