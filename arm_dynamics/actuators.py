"""Actuators of joints: tau = command u - position q - velocity v, with gains by kind.

    servo:     tau = servo_kp (u - q) - servo_kd v
    velocity:  tau = servo_kd (u - v)
    torque:    tau = u

A DC motor ('voltage') is none of these.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, per_joint
from arm_dynamics.parameters import JointWords, Parameters, PerJoint, parameter

ACTUATORS = ('servo', 'torque', 'voltage', 'velocity')


@dataclass(frozen=True)
class ActuatorParameters(Parameters):
    """Actuators of the joints."""

    actuator: JointWords = parameter(
        'servo',
        "drive, one for all joints or one per joint: 'servo' (tau = servo_kp (u - q) - servo_kd "
        "v), 'velocity' (tau = servo_kd (u - v)), 'torque' or 'voltage' (DC motor)",
        one_of=ACTUATORS,
    )
    servo_kp: PerJoint = parameter((2000.0,), 'position gain of the servo [N.m/rad]', min=0)
    servo_kd: PerJoint = parameter((400.0,), 'velocity gain of the servo [N.m.s/rad]', min=0)
    effort_limits: bool = parameter(True, 'if true, effort limits are enforced')

    def actuators(self, joint_names: Sequence[str]) -> tuple[str, ...]:
        """Return the actuator of each joint; raises ArmError as `actuators_of` does."""
        return actuators_of(self.actuator, joint_names)


class LinearGains(NamedTuple):
    """Gains (n,) of command, position and velocity."""

    command: Array
    position: Array
    velocity: Array


def actuators_of(actuator: str | Sequence[str], joint_names: Sequence[str]) -> tuple[str, ...]:
    """Return the actuator of each joint, from one for all joints or one per joint.

    Raises:
        ArmError: another count, or DC motors and other actuators in one arm.
    """
    n = len(joint_names)
    each = (actuator,) * n if isinstance(actuator, str) else tuple(actuator)
    if len(each) != n:
        raise ArmError(f'actuator has {len(each)} values; allowed: 1 or one per joint ({n})')
    if 'voltage' in each and len(set(each)) > 1:
        raise ArmError(f"actuator is {', '.join(each)}; 'voltage' is for all joints or for none")
    return each


def one_or_each(words: tuple[str, ...]) -> str | tuple[str, ...]:
    """Return the word that all joints have, or the word of each joint."""
    return words[0] if len(set(words)) == 1 else words


def servo_gains(
    actuators: Sequence[str], kp: ArrayLike, kd: ArrayLike, joint_names: Sequence[str]
) -> tuple[Array, Array]:
    """Return servo_kp and servo_kd (n,), checked for these actuators of the joints (n,).

    Raises:
        ArmError: a wrong count; servo_kp of a servo or servo_kd of a velocity servo not above 0.
    """
    found = []
    for name, values, needs in (('servo_kp', kp, 'servo'), ('servo_kd', kd, 'velocity')):
        numbers = per_joint(name, values, joint_names, 0.0)
        lacking = (numbers == 0.0) & (np.array(actuators) == needs)
        if lacking.any():
            joint = joint_names[int(lacking.argmax())]
            raise ArmError(f'{name} of joint {joint!r} is 0; it must be > 0')
        found.append(numbers)
    return found[0], found[1]


def linear_gains(actuators: Sequence[str], kp: Array, kd: Array) -> LinearGains:
    """Return the gains of actuators (n,) from servo_kp and servo_kd (n,)."""
    kinds = np.array(actuators)
    command = np.select([kinds == 'servo', kinds == 'velocity'], [kp, kd], 1.0)
    return LinearGains(
        command, np.where(kinds == 'servo', kp, 0.0), np.where(kinds == 'torque', 0.0, kd)
    )


class MeanEffort:
    """The mean effort of actuators over a control period in which a command is held.

    The torque tau changes while the arm moves: that of a servo with 2000 N.m/rad, at 0.5 rad/s,
    by 2 N.m in 2 ms. The motion over a period T, from q0, v0 to q1, v1, is that of the mean, with

        v = (q1 - q0) / T,    q = (q0 + q1) / 2 - T (v1 - v0) / 12

    exact where the motion is of third order, and no limit is reached for a part of the period.
    """

    def __init__(self, gains: LinearGains, limit: Array, period: float):
        """Take gains and limits (..., n), and the period [s]."""
        self._command, position, velocity = gains
        self._limit = limit
        self._start = 0.5 * position - velocity / period
        self._end = 0.5 * position + velocity / period
        self._change = position * period / 12.0

    def start(self, q: Array, v: Array) -> Array:
        """Return the part (..., n) [N.m | N] that the state at the start of a period takes."""
        return self._start * q + self._change * v

    def of(self, command: Array, start: Array, q: Array, v: Array) -> Array:
        """Return the mean (..., n) [N.m | N].

        Args:
            command: what was held (..., n).
            start: of the state at the start, by `start`.
            q, v: (..., n) at the end.
        """
        effort = self._command * command - start - self._end * q + self._change * v
        return np.minimum(np.maximum(effort, -self._limit), self._limit)
