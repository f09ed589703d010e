"""Drive trains of joints: rotor, elastic gear with backlash, friction and torque ripple.

A drive train is a rotor (angle m, speed w, inertia B, seen at the joint) and a gear:

    B dw/dt = tau + a sin(n m + phase) - f(w) - tau_J
    tau_J = k z + d (w - v) where the gear touches, else 0;  z: m - q beyond +-backlash/2
    f(w) = (Fc + (Fs - Fc) exp(-(w/vs)^2)) clip(w / STANDSTILL, -1, 1) + D w

With k = 0 the joint is rigid: m = q, and all but B dw/dt acts on the joint. One time step h has
the link first, with the dampers implicit, and the rotor second:

    M (v+ - v) = h (... + k z + d (w - v+)),   B (w+ - w) = h (tau+ + ... - c w+ - tau_J)

with f = c(w) w, so that a step of friction never reverses a motion, and action is reaction.
Without dampers this is semi-implicit Euler of rotor and link together.
"""

from collections.abc import Mapping, Sequence
from math import exp, sin

import numpy as np
from numba import njit

from arm_dynamics.checks import Array
from arm_dynamics.compiled.joint_torques import (
    ARMATURE,
    DAMPING,
    FRICTION,
    actuator_torque,
    kind_of,
)
from arm_dynamics.compiling import announce, unlocked_njit
from arm_dynamics.model import STANDSTILL

announce('arm_dynamics.compiled.drive_trains', 'drive trains')

# Rows of a drive train's numbers, a column per joint: k, d, half of the backlash, Fs - Fc, vs, a,
# n, phase.
STIFFNESS, GEAR_DAMPING, HALF_GAP, EXCESS, STRIBECK, RIPPLE, HARMONIC, PHASE = range(8)
ROWS = ('stiffness', 'damping', 'half_gap', 'excess', 'stribeck', 'ripple', 'harmonic', 'phase')
# Rows of a drive train's state and torques.
ROTOR_Q, ROTOR_V, EFFORT, GEAR_TORQUE, SLOPE = range(5)


@njit(error_model='numpy', nogil=True)
def friction_coefficient(w, table, train, i):
    """Return c of the friction torque c w [N.m.s/rad]."""
    dry = table[FRICTION, i]
    if train[EXCESS, i] != 0.0:
        dry += train[EXCESS, i] * exp(-((w / train[STRIBECK, i]) ** 2))
    return table[DAMPING, i] + dry / max(abs(w), STANDSTILL)


@njit(error_model='numpy', nogil=True)
def ripple(m, train, i):
    """Return the torque ripple at the rotor angle m [N.m]."""
    if train[RIPPLE, i] == 0.0:
        return 0.0
    return train[RIPPLE, i] * sin(train[HARMONIC, i] * m + train[PHASE, i])


@unlocked_njit
def torques_on_links(actuator, command, q, v, table, train, state):
    """Write the torque on each link at v+ = 0, and its decrease per unit of v+, to `state`.

    Args:
        actuator: of joint_torques.kind_of.
        command, q, v: (n,) rad | N.m | V, and the links at the start of the step.
        table, train: numbers of joint_torques and of this module, a column per joint.
        state: (5, n), with rotor angles and speeds, and the torques of the step.
    """
    for i in range(q.size):
        w = state[ROTOR_V, i]
        if train[STIFFNESS, i] == 0.0:
            effort, slope = actuator_torque(actuator, command[i], q[i], v[i], table, i)
            state[EFFORT, i] = effort
            state[GEAR_TORQUE, i] = effort + slope * v[i] + ripple(q[i], train, i)
            state[SLOPE, i] = slope + friction_coefficient(v[i], table, train, i)
            continue
        twist, half = state[ROTOR_Q, i] - q[i], train[HALF_GAP, i]
        damping = train[GEAR_DAMPING, i]
        if half != 0.0 and abs(twist) < half:
            damping = 0.0
        twist -= min(max(twist, -half), half)
        state[GEAR_TORQUE, i] = train[STIFFNESS, i] * twist + damping * w
        state[SLOPE, i] = damping


@unlocked_njit
def turn_rotors(actuator, h, command, q, v, table, train, state):
    """Advance the rotors by h [s], after the links (q, v at the end of the step)."""
    for i in range(q.size):
        state[GEAR_TORQUE, i] -= state[SLOPE, i] * v[i]
        if train[STIFFNESS, i] == 0.0:
            state[ROTOR_Q, i], state[ROTOR_V, i] = q[i], v[i]
            continue
        m, w = state[ROTOR_Q, i], state[ROTOR_V, i]
        effort, slope = actuator_torque(actuator, command[i], m, w, table, i)
        inertia = table[ARMATURE, i] + h * slope
        torque = effort + ripple(m, train, i) - state[GEAR_TORQUE, i]
        w = inertia * w + h * torque
        w /= inertia + h * friction_coefficient(state[ROTOR_V, i], table, train, i)
        state[EFFORT, i], state[ROTOR_Q, i], state[ROTOR_V, i] = effort, m + h * w, w


class DriveTrains:
    """The drive trains of the joints of N arms.

    Attributes:
        q, v: (..., n) angles and speeds of the rotors, seen at the joints.
        effort: (..., n) torques of the actuators in the last step [N.m | N].
        torque: (..., n) torques on the links in the last step [N.m | N]. In the coming step they
            are torque - slope v+, with v+ the velocity of the links at its end.
        slope: (..., n) [N.m.s/rad | N.s/m].
    """

    def __init__(
        self,
        actuators: Sequence[str],
        h: float,
        table: Array,
        numbers: Mapping[str, Array],
        shape: tuple[int, ...],
    ):
        """Take the actuators of an arm, the step [s], and numbers of all joints of all arms.

        Args:
            actuators: (n,) names.
            h: step [s].
            table: numbers of joint_torques (ROWS, N n).
            numbers: (N n,) of this module, by the names of its rows; a gap is `half_gap`.
            shape: (..., n) of N arms.
        """
        self._kind, self._h, self._table = kind_of(actuators), h, table
        self._train = np.array([numbers[name] for name in ROWS])
        self._state = np.zeros((5, table.shape[1]))
        rows = (row.reshape(shape) for row in self._state)
        self.q, self.v, self.effort, self.torque, self.slope = rows
        # Compiled now: an arm that moves would wait for it in its first period.
        self.pull(self.q, self.q, self.q)
        self.turn(self.q, self.q, self.q)
        self._state[:] = 0.0

    def reset(self, q: Array, v: Array, load: Array) -> None:
        """Turn the rotors to where the gears of resting links at q, v carry loads (..., n)."""
        stiffness, half = (self._train[row].reshape(q.shape) for row in (STIFFNESS, HALF_GAP))
        twist = np.divide(load, stiffness, out=np.zeros(q.shape), where=stiffness > 0.0)
        self.q[:], self.v[:] = q + twist + np.sign(load) * half, v
        self.effort[:] = self.slope[:] = 0.0

    def continue_from(self, before: 'DriveTrains') -> None:
        """Take over the rotors of other drive trains."""
        self._state[:] = before._state

    def pull(self, command: Array, q: Array, v: Array) -> None:
        """Set `torque` and `slope` for the coming step from links at q, v."""
        inputs = *map(_flat, (command, q, v)), self._table, self._train
        torques_on_links(self._kind, *inputs, self._state)

    def turn(self, command: Array, q: Array, v: Array) -> None:
        """Advance the rotors, after the links have moved to q, v."""
        inputs = *map(_flat, (command, q, v)), self._table, self._train
        turn_rotors(self._kind, self._h, *inputs, self._state)


def _flat(rows: Array) -> Array:
    return np.ascontiguousarray(rows).ravel()
