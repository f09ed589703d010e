"""Arguments and scratch arrays of compiled plant code."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_dynamics.compiled.integrators import SCRATCH


class PlantContext(NamedTuple):
    """Quantities besides q and v on which a plant's acceleration depends, and scratch arrays.

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
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(cls._fields, (n,))
        shapes |= {'wrench': (0, 9), 'rotation': (n, 3, 3), 'translation': (n, 3)}
        shapes |= {'mass': (n, n), 'scratch': (SCRATCH, n)}
        arrays: dict[str, Any] = {name: np.zeros(shape) for name, shape in shapes.items()}
        given = {'table': table, 'parents': parents, 'prismatic': prismatic}
        return cls(**{**arrays, **given, 'wrench_link': np.zeros(0, dtype=np.int64)})
