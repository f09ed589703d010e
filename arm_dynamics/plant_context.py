"""What compiled plant code works on, beside the state."""

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Actuators.
SERVO, TORQUE, VOLTAGE = 0, 1, 2


class PlantContext(NamedTuple):
    """What a plant's acceleration depends on beside q and v, and scratch.

    Attributes:
        table: joint numbers.
        actuator: SERVO, TORQUE or VOLTAGE.
        implicit_step: (1,) step of implicit damping [s]; zero for explicit integrators.
        command: (n,) rad | N.m | V.
        dry_friction: (n,) torque of Coulomb friction over the present step.
        parents: (n,) parent link of each link, -1 for the base.
        prismatic: (n,) bool.
        wrench_link: (m,) link on which each external wrench acts.
        wrench: (m, 9) point on the link (link axes), force and torque (base axes).
        effort: (n,) actuator torque, after limits.
        torque: (n,) scratch, sum of joint torques.
        diagonal: (n,) scratch, armature and implicit damping.
        sine, cosine, rotation, translation, mass, scratch: (n,), (n,), (n, 3, 3), (n, 3), (n, n),
            (integrators.SCRATCH, n).
    """

    table: Array
    actuator: int
    implicit_step: Array
    command: Array
    dry_friction: Array
    parents: NDArray[np.int64]
    prismatic: NDArray[np.bool_]
    wrench_link: NDArray[np.int64]
    wrench: Array
    effort: Array
    torque: Array
    diagonal: Array
    sine: Array
    cosine: Array
    rotation: Array
    translation: Array
    mass: Array
    scratch: Array


class MotorScratch(NamedTuple):
    """Work space of the published arm's step, all (n,); not to be shared between threads."""

    torque: Array
    limits: Array
    armature: Array  # of the rotors [kg m^2]
    sine: Array
    cosine: Array
    free: Array
    load: Array
    a: Array

    @classmethod
    def of(cls, armature: Array) -> Self:
        """Return a work space for motors with these rotor inertias (n,)."""
        torque, limits, sine, cosine, free, load, a = np.zeros((7, armature.size))
        return cls(torque, limits, armature.copy(), sine, cosine, free, load, a)


class PoseControl(NamedTuple):
    """PID voltages that hold a pose, and their memory."""

    gains: Array  # (3, n) rows P, I, D
    target: Array  # (n,) [rad]
    active: NDArray[np.int64]  # joints that are controlled
    total: Array  # (n,) sum of errors
    last: Array  # (n,) previous error

    @classmethod
    def of(cls, gains: Array, target: Array, active: NDArray[np.int64], start: Array) -> Self:
        """Return the controller as it is before the first step from `start` (n,)."""
        return cls(gains, target, active, np.zeros(target.size), target - start)

    @classmethod
    def none(cls, count: int) -> Self:
        """Return a controller of none of `count` joints."""
        zeros = np.zeros(count)
        return cls(np.zeros((3, count)), zeros, np.zeros(0, dtype=np.int64), zeros, zeros)
