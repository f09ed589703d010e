"""What a control law is asked to follow at one instant."""

from collections.abc import Callable

import numpy as np

from arm_dynamics.checks import Array


class Reference:
    """Desired motion of n joints at one instant, in arrays that live as long as the object.

    The arrays of many arms have leading axes.

    Attributes:
        q: (..., n) position [rad | m].
        v: (..., n) velocity [rad/s | m/s].
        a: (..., n) acceleration [rad/s^2 | m/s^2].
        effort: (..., n) feedforward on top of what a law computes [N.m | N].
        row: (..., 4 n) the memory of all four, in this order; writing it writes them.
    """

    __slots__ = ('a', 'effort', 'q', 'row', 'v')

    def __init__(self, joint_count: int, arms: tuple[int, ...] = ()):
        """Return a reference at zero; `arms` are the leading axes."""
        self.row: Array = np.zeros((*arms, 4 * joint_count))
        self.q, self.v, self.a, self.effort = np.split(self.row, 4, axis=-1)

    def copy(self) -> 'Reference':
        """Return an independent copy."""
        other = Reference(self.q.shape[-1], self.row.shape[:-1])
        other.row[:] = self.row
        return other


# Writes the reference at time t [s] into a Reference: `Trajectory.evaluate` is one.
ReferenceFunction = Callable[[float, Reference], None]
