"""A contact under a force goal: whether the tool touches, and the normal of what it touches."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_controllers.contact_rows import SLOW, contact_rows
from arm_controllers.reference import Reference
from arm_dynamics.checks import Array
from arm_dynamics.frames import FrameMotion
from arm_dynamics.parameters import Parameters, parameter

CONTACT_NUMBERS = 'contact_force', 'approach_speed', 'rise_time', 'normal_time'
_NONE = np.empty((0, 0))


@dataclass(frozen=True, kw_only=True)
class ContactParameters(Parameters):
    """How a contact begins, and how its normal is found."""

    contact_force: float = parameter(
        0.5,
        'measured force that counts as a contact [N]; above offset and noise of the sensor',
        above=0,
    )
    approach_speed: float = parameter(
        0.02, 'speed towards the surface before the first contact [m/s]', min=0, max=1
    )
    rise_time: float = parameter(
        0.5, 'time in which the force rises to its goal after the first contact [s]', above=0
    )
    normal_time: float = parameter(
        2.0, 'time over which the motion of the tip shows the normal [s]; 0: the normal is '
        'opposite to the desired force',
        min=0,
    )  # fmt: skip


class Contact(NamedTuple):
    """Memory of a contact; zero normals are not known yet.

    Attributes:
        normal: (..., 3) out of the surface, in base axes.
        age: (..., 1) time since the first contact [s]; -1: there was none.
        approach: (..., 1) speed towards the surface before the first contact [m/s].
        seen: (..., 3, 3) weighted mean of v v^T of the tip, times its time [m^2/s].
    """

    normal: Array
    age: Array
    approach: Array
    seen: Array

    @classmethod
    def none(cls, arms: tuple[int, ...]) -> 'Contact':
        """Return the memory of no contact; `arms` are the leading axes."""
        zero = cls(*(np.zeros((*arms, *shape)) for shape in ((3,), (1,), (1,), (3, 3))))
        return zero._replace(age=zero.age - 1.0)


class Touch(NamedTuple):
    """What a force goal means in this period.

    Attributes:
        expected: (..., 3) normals opposite to the desired forces.
        sides: (..., 3, 3) projections onto what the goal selects apart from its direction; None:
            it selects one direction.
        kept: (..., 1) whether the contact is that of the period before.
        touches: (..., 1) whether the tool touches now.
    """

    expected: Array
    sides: Array | None
    kept: NDArray[np.bool_]
    touches: NDArray[np.bool_]


def next_contact(
    p: Any,
    contact: Contact,
    reference: Reference,
    felt: Array,
    speed: Array,
    moving: Array,
    dt: float,
) -> tuple[Contact, Touch]:
    """Return the contact of this period under a reference with a wrench.

    Where the tip moves along a surface, the normal is the direction in which it moves least.

    Args:
        p: ContactParameters.
        contact: of the period before.
        reference: with the desired wrench.
        felt: (..., 3) measured force on the tool, in base axes [N].
        speed: (..., 3) velocity of the tip [m/s].
        moving: (..., 1) `pace` of the reference; at rest nothing is learned: there the tip moves
            along the normal, if at all.
        dt: control period [s].
    """
    assert reference.wrench is not None  # there is a goal
    arms, selection = felt.shape[:-1], selection_of(reference)
    memory = owned(contact, len(arms))
    expected, sides, kept, touches, several = contact_rows(
        numbers_of(p, CONTACT_NUMBERS), dt, rows(reference.wrench), selection,
        rows(felt), rows(speed), rows(moving), *memory,
    )  # fmt: skip
    touch = Touch(
        expected.reshape(felt.shape),
        sides.reshape(*arms, 3, 3) if several else None,
        kept.reshape(*arms, 1),
        touches.reshape(*arms, 1),
    )
    return Contact(*shaped(memory, contact)), touch


def numbers_of(p: Any, names: Sequence[str]) -> Array:
    """Return parameters of one arm or of N as rows (1 or N, k) for compiled functions."""
    columns = [np.asarray(getattr(p, name), dtype=float).reshape(-1, 1) for name in names]
    return np.hstack(np.broadcast_arrays(*columns))


def rows(array: Array) -> Array:
    """Return an array (..., k) with one leading axis (N, k)."""
    return np.ascontiguousarray(array).reshape(-1, array.shape[-1])


def owned(memory: Iterable[Array], axes: int) -> list[Array]:
    """Return copies of the arrays of a law's memory, with one leading axis in place of `axes`."""
    return [each.copy().reshape(-1, *each.shape[axes:]) for each in memory]


def shaped(changed: Iterable[Array], before: Iterable[Array]) -> list[Array]:
    """Return what became of copies by `owned` in the shapes of the memory before."""
    return [each.reshape(one.shape) for each, one in zip(changed, before, strict=True)]


def selection_of(reference: Reference) -> Array:
    """Return the selection (6, 6) of a wrench goal; (0, 0): it has none."""
    return _NONE if reference.selection is None else np.ascontiguousarray(reference.selection)


def pace(target: FrameMotion) -> Array:
    """Return (..., 1) how far friction is to be cancelled: 0 where the tip (FrameMotion) rests.

    There friction holds the tool.
    """
    speed = np.linalg.norm(target.velocity[..., :3], axis=-1, keepdims=True)
    return np.minimum(speed / SLOW, 1.0)


def across(vector: Array, normal: Array, along: Array) -> Array:
    """Return vectors (..., 3) in the planes of these normals, projected along a direction."""
    part = (vector * normal).sum(-1, keepdims=True)
    share = (along * normal).sum(-1, keepdims=True)
    return vector - along * part / np.where(share > 0.0, share, 1.0)
