"""What compiled plant code works on, beside the state."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_dynamics.compiled.integrators import SCRATCH

# Actuators.
SERVO, TORQUE, VOLTAGE = 0, 1, 2


class PlantContext(NamedTuple):
    """What a plant's acceleration depends on beside q and v, and scratch.

    Attributes:
        table: joint numbers.
        command: (n,) rad | N.m | V.
        parents: (n,) parent link of each link, -1 for the base.
        prismatic: (n,) bool.
        wrench_link: (m,) link on which each external wrench acts.
        wrench: (m, 9) point on the link (link axes), force and torque (base axes).
        effort: (n,) actuator torque, after limits.
        friction: (n,) torque of Coulomb friction over the present step.
        wrench_torque: (n,) torque of the wrenches.
        extra: (n,) the sum of `friction` and `wrench_torque`.
        torque: (n,) scratch, sum of joint torques.
        diagonal: (n,) scratch, armature and implicit damping.
        sine, cosine, rotation, translation, mass, scratch: (n,), (n,), (n, 3, 3), (n, 3), (n, n),
            (integrators.SCRATCH, n).
    """

    table: Array
    command: Array
    parents: NDArray[np.int64]
    prismatic: NDArray[np.bool_]
    wrench_link: NDArray[np.int64]
    wrench: Array
    effort: Array
    friction: Array
    wrench_torque: Array
    extra: Array
    torque: Array
    diagonal: Array
    sine: Array
    cosine: Array
    rotation: Array
    translation: Array
    mass: Array
    scratch: Array

    @classmethod
    def of(cls, table: Array, parents: NDArray[np.int64], prismatic: NDArray[np.bool_]) -> Self:
        """Return a context without wrenches."""
        n = table.shape[1]
        names = ('command', 'effort', 'friction', 'wrench_torque', 'extra', 'torque', 'diagonal')
        vectors: dict[str, Any] = {name: np.zeros(n) for name in (*names, 'sine', 'cosine')}
        return cls(
            table=table,
            parents=parents,
            prismatic=prismatic,
            rotation=np.zeros((n, 3, 3)),
            translation=np.zeros((n, 3)),
            mass=np.zeros((n, n)),
            scratch=np.zeros((SCRATCH, n)),
            wrench_link=np.zeros(0, dtype=np.int64),
            wrench=np.zeros((0, 9)),
            **vectors,
        )


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
