"""The moving links of an arm, with frames and inertial parameters that give short programs.

Every link frame is turned so that its joint's axis is z: the joint's rotation then touches x and y
only, and the rotations between the links of common arms are mostly zeros and ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel

_AXIAL = np.eye(6, dtype=bool)
_AXIAL[5, 5] = False
_AXIAL[[0, 1, 3, 4], [4, 3, 1, 0]] = True


@dataclass(frozen=True)
class Link:
    """One moving link, in its own frame, whose z axis is its joint's axis.

    Attributes:
        parent: index of the parent link, -1 for the base.
        prismatic: the joint moves along z instead of turning about it.
        rotation: (3, 3) of this link's frame in the parent's at joint position zero.
        translation: (3,) of this link's frame in the parent's at joint position zero [m].
        inertia: (6, 6) of motions [linear; angular] about the frame's origin [kg, kg m^2].
        turn: (3, 3) from this frame to Pinocchio's frame of the joint.
        coordinate: index of the commanded joint that moves it.
        multiplier, offset: its joint's position is multiplier q[coordinate] + offset.
        angle: index of its sine and cosine: first those of the commanded joints.
    """

    parent: int
    prismatic: bool
    rotation: Array
    translation: Array
    inertia: Array
    turn: Array
    coordinate: int
    multiplier: float
    offset: float
    angle: int

    @property
    def axis(self) -> int:
        """Index of the joint's axis in spatial vectors [linear; angular]."""
        return 2 if self.prismatic else 5

    @property
    def motion(self) -> tuple[int, float, float]:
        """How its joint moves with the commanded joints."""
        return self.coordinate, self.multiplier, self.offset

    def unit_inertias(self) -> list[Array]:
        """Return, for each inertial parameter, the inertia (6, 6) in this frame when it is 1.

        They are m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz, as Pinocchio has them in its frame.
        """
        units = np.zeros((10, 6, 6))
        units[0, :3, :3] = np.eye(3)
        for k in range(3):
            units[1 + k, 3:, :3] = np.cross(np.eye(3), np.eye(3)[k])  # e_k x
            units[1 + k, :3, 3:] = units[1 + k, 3:, :3].T
        for k, (i, j) in enumerate(((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))):
            units[4 + k, 3 + i, 3 + j] = units[4 + k, 3 + j, 3 + i] = 1.0
        turn = np.kron(np.eye(2), self.turn.T)
        return [_snap(turn @ unit @ turn.T) for unit in units]


def links_of(model: RobotModel) -> list[Link]:
    """Return the moving links of `model`, base to tip, fixed ones merged into them.

    Their inertias have as many zeros as joint torques allow: a part of a link that looks the same
    however the link turns about its joint's axis z, and has no inertia about that axis, may as
    well be fixed to the parent: the link's mass put on the axis, the axial part of its first
    moment, an inertia e diag(1, 1, 0). Khalil, Dombre, Modeling, Identification and Control of
    Robots (2002), section 9.4. Forces within the links change by this, joint torques do not.
    """
    pin_model, mimic = model.pin_model, model.mimic
    turns = [np.eye(3)]
    links: list[Link] = []
    for joint in range(1, pin_model.njoints):
        subspace = np.ravel(pin_model.joints[joint].createData().S)
        prismatic = bool(subspace[:3].any())
        turn = _rotation_to(subspace[:3] if prismatic else subspace[3:])
        parent, placement = pin_model.parents[joint], pin_model.jointPlacements[joint]
        rotation = _snap(turns[parent].T @ placement.rotation @ turn)
        translation = _snap(turns[parent].T @ placement.translation)
        body = pin.SE3(turn, np.zeros(3)).actInv(pin_model.inertias[joint])
        index, moved = joint - 1, (joint - 1, 1.0, 0.0, joint - 1)
        if mimic is not None:
            leader, follows = int(mimic.leader[index]), index not in mimic.own
            angle = max([model.nv - 1, *(link.angle for link in links)]) + 1 if follows else leader
            moved = leader, float(mimic.multiplier[index]), float(mimic.offset[index]), angle
        links.append(
            Link(parent - 1, prismatic, rotation, translation, body.matrix(), turn, *moved)
        )
        turns.append(turn)
    for i in reversed(range(len(links))):
        link = links[i]
        shared = np.where(_AXIAL & (not link.prismatic), link.inertia, 0.0)
        shared[3, 3] = shared[4, 4]
        links[i] = replace(link, inertia=_snap(link.inertia - shared))
        if link.parent >= 0:
            to_link = pin.SE3(link.rotation, link.translation).toActionMatrixInverse()
            inertia = links[link.parent].inertia + to_link.T @ shared @ to_link
            links[link.parent] = replace(links[link.parent], inertia=inertia)
    return links


def joint_count(links: Sequence[Link]) -> int:
    """Return the number n of commanded joints."""
    return 1 + max(link.coordinate for link in links)


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
    """Return `values`, with those within rounding of -1, 0 or 1 set to that number."""
    values = np.array(values, dtype=float)
    for number in (-1.0, 0.0, 1.0):
        values[np.abs(values - number) < 4e-16] = number
    return values
