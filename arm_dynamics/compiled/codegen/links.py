"""The moving links of an arm, in frames and with inertial parameters that make short programs.

Every link frame is turned so that its joint's axis is z: the joint's rotation then touches x and y
only, and the rotations between the links of common arms are mostly zeros and ones.
"""

from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel


@dataclass(frozen=True)
class Link:
    """One moving link, in its own frame, whose z axis is its joint's axis.

    Attributes:
        parent: index of the parent link, -1 for the base.
        prismatic: the joint moves along z instead of turning about it.
        rotation: (3, 3) of this link's frame in the parent's at joint position zero.
        translation: (3,) of this link's frame in the parent's at joint position zero [m].
        mass: [kg].
        first_moment: (3,) mass times centre of mass [kg m].
        inertia: (3, 3) about the frame's origin [kg m^2].
        turn: (3, 3) from this frame to Pinocchio's frame of the joint.
    """

    parent: int
    prismatic: bool
    rotation: Array
    translation: Array
    mass: float
    first_moment: Array
    inertia: Array
    turn: Array


def links_of(model: RobotModel) -> list[Link]:
    """Return the moving links of `model`, base to tip, fixed ones merged into them."""
    pin_model = model.pin_model
    turns = [np.eye(3)]
    links = []
    for joint in range(1, pin_model.njoints):
        prismatic = bool(model.prismatic[joint - 1])
        subspace = np.ravel(pin_model.joints[joint].createData().S)
        turn = _rotation_to(subspace[:3] if prismatic else subspace[3:])
        parent = pin_model.parents[joint]
        placement, body = pin_model.jointPlacements[joint], pin_model.inertias[joint]
        inertia = turn.T @ (body.inertia - body.mass * skew(body.lever) @ skew(body.lever)) @ turn
        links.append(
            Link(
                parent=parent - 1,
                prismatic=prismatic,
                rotation=_snap(turns[parent].T @ placement.rotation @ turn),
                translation=_snap(turns[parent].T @ placement.translation),
                mass=float(body.mass),
                first_moment=_snap(body.mass * turn.T @ body.lever),
                inertia=_snap((inertia + inertia.T) / 2),
                turn=turn,
            )
        )
        turns.append(turn)
    return _regrouped(links)


def _regrouped(links: list[Link]) -> list[Link]:
    """Return links that move the same way and have more zeros: minimal inertial parameters.

    A part of a link that looks the same however the link turns about its joint's axis z, and has
    no inertia about that axis, may as well be fixed to the parent: the link's mass put on the
    axis, the axial part of its first moment, an inertia e diag(1, 1, 0). Khalil, Dombre, Modeling,
    Identification and Control of Robots (2002), section 9.4. Forces within the links change by
    this, joint torques do not.
    """
    links = list(links)
    for i in reversed(range(len(links))):
        link = links[i]
        if link.prismatic:
            continue
        axial, even = float(link.first_moment[2]), float(link.inertia[1, 1])
        moved_inertia = even * np.diag([1.0, 1.0, 0.0])
        links[i] = replace(
            link,
            mass=0.0,
            first_moment=link.first_moment * [1.0, 1.0, 0.0],
            inertia=link.inertia - moved_inertia,
        )
        if link.parent < 0:
            continue
        rotation, p = link.rotation, link.translation
        first_moment = rotation @ np.array([0.0, 0.0, axial])
        crossed = skew(p) @ skew(first_moment)
        parent = links[link.parent]
        links[link.parent] = replace(
            parent,
            mass=parent.mass + link.mass,
            first_moment=_snap(parent.first_moment + first_moment + link.mass * p),
            inertia=_snap(
                parent.inertia
                + rotation @ moved_inertia @ rotation.T
                - (crossed + crossed.T)
                - link.mass * skew(p) @ skew(p)
            ),
        )
    return links


def _rotation_to(axis: Array) -> Array:
    """Return a rotation whose third column is `axis`; a permutation for a coordinate axis."""
    z = _snap(axis / np.linalg.norm(axis))
    if z[2] == 1.0:
        return np.eye(3)
    x = np.roll(np.abs(z), 1) if np.count_nonzero(z) == 1 else np.eye(3)[np.argmin(np.abs(z))]
    x = x - z * (x @ z)
    x = x / np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def _snap(values: Array) -> Array:
    """Return `values`; those that are a rounding error away from -1, 0 or 1 are set to it."""
    values = np.array(values, dtype=float)
    for number in (-1.0, 0.0, 1.0):
        values[np.abs(values - number) < 4e-16] = number
    return values


def skew(p: Array) -> Array:
    """Return [p]x, with [p]x a = p x a."""
    return np.array(pin.skew(np.asarray(p, dtype=float)))
