"""A contact under a force goal: whether the tool touches, and the normal of what it touches."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from arm_controllers.reference import Reference
from arm_dynamics.checks import Array
from arm_dynamics.parameters import Parameters, parameter

_SETTLING = 0.05  # time of a new contact in which nothing is learned about the normal [s]
_SLOW = 0.005  # reference speed from which on friction is cancelled in full [m/s]
_APPROACH_ACCELERATION = 0.1  # [m/s^2]
_PRIOR = 2e-5  # weight of the expected normal against the motion that was seen [m^2/s]
_TURNED = 0.7  # cosine of a turn of the desired force after which the normal is a new one


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
    expected = expected_normal(reference, contact.normal)
    kept = (expected * contact.normal).sum(-1, keepdims=True) > _TURNED
    age = np.where(kept, contact.age, -1.0)
    seen = np.where(kept[..., np.newaxis], contact.seen, 0.0)
    touches = np.linalg.norm(felt, axis=-1, keepdims=True) > p.contact_force
    age = np.where((age >= 0.0) | touches, np.maximum(age, 0.0) + dt, age)
    learns = touches & (moving > 0.0) & (age > _SETTLING) & (p.normal_time > 0.0)
    sides = sides_of(reference, expected)
    if sides is not None:
        learns = learns & False  # the tip moves in none of several directions
    keep = np.exp(-dt / np.maximum(p.normal_time, dt))[..., np.newaxis]
    newest = keep * seen + dt * speed[..., np.newaxis] * speed[..., np.newaxis, :]
    seen = np.where(learns[..., np.newaxis], newest, seen)
    normal = np.where(learns, _least_motion(seen, expected), expected)
    approach = np.where(kept, contact.approach, 0.0) + dt * _APPROACH_ACCELERATION
    approach = np.where(age < 0.0, np.minimum(approach, p.approach_speed), 0.0)
    return Contact(normal, age, approach, seen), Touch(expected, sides, kept, touches)


def pace(target: Any) -> Array:
    """Return (..., 1) how far friction is to be cancelled: 0 where the tip (FrameMotion) rests.

    There friction holds the tool.
    """
    speed = np.linalg.norm(target.velocity[..., :3], axis=-1, keepdims=True)
    return np.minimum(speed / _SLOW, 1.0)


def expected_normal(reference: Reference, like: Array) -> Array:
    """Return the normals (..., 3) opposite to the desired forces; zeros: there is no force."""
    if reference.wrench is None:
        return np.zeros_like(like)
    force = reference.wrench[..., :3] + 0.0 * like
    size = np.linalg.norm(force, axis=-1, keepdims=True)
    return -force / np.where(size > 0.0, size, 1.0)


def sides_of(reference: Reference, expected: Array) -> Array | None:
    """Return the projections (..., 3, 3) onto what a wrench goal selects apart from its direction.

    None: it selects one direction.
    """
    if reference.selection is None or np.trace(reference.selection[:3, :3]) < 1.5:
        return None
    along = expected[..., np.newaxis] * expected[..., np.newaxis, :]
    sides: Array = reference.selection[:3, :3] - along
    return sides


def across(vector: Array, normal: Array, along: Array) -> Array:
    """Return vectors (..., 3) in the planes of these normals, projected along a direction."""
    part = (vector * normal).sum(-1, keepdims=True)
    share = (along * normal).sum(-1, keepdims=True)
    return vector - along * part / np.where(share > 0.0, share, 1.0)


def _least_motion(seen: Array, expected: Array) -> Array:
    """Return the directions (..., 3) of least motion, on the side of the expected normals."""
    prior = _PRIOR * (np.eye(3) - expected[..., np.newaxis] * expected[..., np.newaxis, :])
    least = np.linalg.eigh(seen + prior)[1][..., 0]
    return least * np.sign((least * expected).sum(-1, keepdims=True))
