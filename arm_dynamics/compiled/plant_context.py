"""Arguments and scratch arrays of compiled plant code."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_dynamics.compiled.integrators import SCRATCH
from arm_dynamics.compiled.links import Link


class PlantContext(NamedTuple):
    """Quantities besides q and v on which a plant's acceleration depends, and scratch arrays.

    Attributes:
        table: joint numbers.
        command: (n,) rad | N.m | V.
        parents: (m,) parent link of each link, -1 for the base.
        prismatic: (m,) bool.
        coordinate, multiplier: (m,) by which commanded joint, and how far, each link moves.
        wrench_link: (k,) link on which each external wrench acts.
        wrench: (k, 9) point on the link (link axes), force and torque (base axes).
        effort: (n,) actuator torque, after limits.
        friction: (n,) torque of Coulomb friction over the present step.
        wrench_torque: (n,) torque of the wrenches.
        extra: (n,) the sum of `friction` and `wrench_torque`.
        torque: (n,) scratch, sum of joint torques.
        diagonal: (n,) scratch, armature and implicit damping.
        sine, cosine, rotation, translation, mass, scratch: (m,), (m,), (m, 3, 3), (m, 3), (n, n),
            (integrators.SCRATCH, n).
    """

    table: Array
    command: Array
    parents: NDArray[np.int64]
    prismatic: NDArray[np.bool_]
    coordinate: NDArray[np.int64]
    multiplier: Array
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
    def of(cls, table: Array, links: Sequence[Link]) -> Self:
        """Return a context without wrenches."""
        n, m = table.shape[1], len(links)
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(cls._fields, (n,))
        shapes |= {'wrench': (0, 9), 'rotation': (m, 3, 3), 'translation': (m, 3)}
        shapes |= {'mass': (n, n), 'scratch': (SCRATCH, n), 'sine': (m,), 'cosine': (m,)}
        arrays: dict[str, Any] = {name: np.zeros(shape) for name, shape in shapes.items()}
        arrays |= {
            'parents': np.array([link.parent for link in links]),
            'prismatic': np.array([link.prismatic for link in links]),
            'coordinate': np.array([link.coordinate for link in links]),
            'multiplier': np.array([link.multiplier for link in links]),
        }
        return cls(**{**arrays, 'table': table, 'wrench_link': np.zeros(0, dtype=np.int64)})
