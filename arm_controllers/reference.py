"""The motion that a control law follows: its value now, and its future."""

from collections.abc import Callable
from operator import attrgetter

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, read_only


def _array(name: str) -> property:
    """Return an attribute whose array stays: what is assigned to it is written into the array."""

    def write(reference: 'Reference', values: ArrayLike) -> None:
        getattr(reference, name)[...] = values

    return property(attrgetter(name), write)


class Reference:
    """Desired motion of n joints at one instant, in arrays that live as long as the object.

    The arrays of many arms have leading axes. `reference.q = x` writes x into the array.

    Attributes:
        q: (..., n) position [rad | m].
        v: (..., n) velocity [rad/s | m/s].
        a: (..., n) acceleration [rad/s^2 | m/s^2].
        effort: (..., n) feedforward on top of what a law computes [N.m | N].
        row: (..., 4 n) the memory of all four, in this order; writing the row writes them.
        wrench: (6,) or (..., 6) force [N] and torque [N.m] that the tool is to exert on its
            surroundings, in base axes at the tool frame; None: motion only.
        selection: (6, 6) projection, in base axes, onto the directions in which the tool is
            controlled by force; None: the direction of the wrench.
        future: returns the reference a number of control periods later; None: not known.
    """

    __slots__ = ('_a', '_effort', '_q', '_row', '_v', 'future', 'selection', 'wrench')
    row, q, v, a, effort = map(_array, ('_row', '_q', '_v', '_a', '_effort'))

    def __init__(self, joint_count: int, arms: tuple[int, ...] = ()):
        """Return a reference at zero; `arms` are the leading axes."""
        n, self._row = joint_count, np.zeros((*arms, 4 * joint_count))
        self._q, self._v, self._a, self._effort = (
            self.row[..., k * n : (k + 1) * n] for k in range(4)
        )
        self.future: Callable[[int], Reference] | None = None
        self.wrench: Array | None = None
        self.selection: Array | None = None

    def ahead(self, periods: int) -> 'Reference':
        """Return the reference `periods` control periods later, for laws with a horizon.

        The next call overwrites the returned object: copy what is to be kept.

        Raises:
            ArmError: the reference is known at this instant only.
        """
        if self.future is None:
            raise ArmError(f'the reference {periods} control periods ahead is not known')
        return self.future(periods)

    def copy(self) -> 'Reference':
        """Return an independent copy of the present values."""
        other = Reference(self.q.shape[-1], self.row.shape[:-1])
        other.row[:] = self.row
        other.set_wrench(self.wrench, self.selection)
        return other

    def set_wrench(self, wrench: Array | None, selection: Array | None = None) -> None:
        """Desire a wrench, which no one writes into; see the attributes."""
        self.wrench, self.selection = wrench, selection

    def read_only(self) -> 'Reference':
        """Return the same reference, now and later, for a law: nothing can be written into it."""
        return _ReadOnly(self)


class _ReadOnly(Reference):
    """What a law receives of a reference: views of its arrays, and its present wrench."""

    __slots__ = ('_source',)
    _source: Reference

    def __init__(self, source: Reference):
        for name in ('_row', '_q', '_v', '_a', '_effort'):
            object.__setattr__(self, name, read_only(getattr(source, name)))
        object.__setattr__(self, '_source', source)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f'reference.{name} is read-only for a law; use reference.copy()')

    @property
    def wrench(self) -> Array | None:  # type: ignore[override]
        wrench = self._source.wrench
        return None if wrench is None else read_only(wrench)

    @property
    def selection(self) -> Array | None:  # type: ignore[override]
        selection = self._source.selection
        return None if selection is None else read_only(selection)

    @property
    def future(self) -> Callable[[int], Reference] | None:  # type: ignore[override]
        return self._source.future


# Writes the reference at time t [s] into a Reference: `Trajectory.evaluate` is one.
ReferenceFunction = Callable[[float, Reference], None]


class SampledReference:
    """A reference function at the control periods of one arm, or of many arms."""

    def __init__(
        self,
        function: ReferenceFunction,
        joint_count: int,
        period_ns: int,
        arms: tuple[int, ...] = (),
        per_arm: bool = False,
    ):
        """Prepare the references.

        Args:
            function: writes the reference of a time [s].
            joint_count: n.
            period_ns: control period [ns].
            arms: leading axes of the references that `at` returns.
            per_arm: the function writes (*arms, n), a reference for each arm; False: it writes
                (n,), the same for all.
        """
        self._function, self._period_ns, self._time_ns = function, period_ns, 0
        self._one = Reference(joint_count, arms if per_arm else ())
        self._shared = bool(arms) and not per_arm
        self._now, self._later = Reference(joint_count, arms), Reference(joint_count, arms)
        self._now.future = self._ahead
        self._shown, self._shown_later = self._now.read_only(), self._later.read_only()

    def at(self, time_ns: int) -> Reference:
        """Return the reference at a time [ns], read-only; the next call overwrites it."""
        self._time_ns = time_ns
        self._write(self._now, time_ns)
        return self._shown

    def _ahead(self, periods: int) -> Reference:
        self._write(self._later, self._time_ns + periods * self._period_ns)
        return self._shown_later

    def _write(self, reference: Reference, time_ns: int) -> None:
        if self._shared:
            self._function(time_ns * 1e-9, self._one)
            reference.row[:] = self._one.row
            reference.set_wrench(self._one.wrench, self._one.selection)
        else:
            self._function(time_ns * 1e-9, reference)
