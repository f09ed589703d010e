"""Poses of an arm's links relative to their parent links, as /tf has them."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import Array
from arm_dynamics.frames import Frames


class _Link(NamedTuple):
    parent: str
    name: str
    joint: int  # Pinocchio's index; 0: the link is fixed to its parent
    before: pin.SE3  # parent to joint
    behind: pin.SE3  # joint to link


class LinkTree:
    """All links of an arm except its base, each with its parent link in the URDF.

    Attributes:
        moving: (parent, link) of each link that a joint moves.
        fixed: (parent, link) of each link that is fixed to its parent.
    """

    def __init__(self, arm: Frames):
        """Read the tree of an arm."""
        self._arm = arm
        links = [_link(arm.pin_model, arm.frame_id(name)) for name in arm.frame_names[1:]]
        self._moving = [link for link in links if link.joint]
        self._fixed = [link for link in links if not link.joint]
        self.moving = [(link.parent, link.name) for link in self._moving]
        self.fixed = [(link.parent, link.name) for link in self._fixed]

    def fixed_poses(self) -> Array:
        """Return the poses (len(fixed), 7) of the fixed links, as `moving_poses`."""
        return _rows([link.before * link.behind for link in self._fixed])

    def moving_poses(self, q: Array) -> Array:
        """Return the poses (len(moving), 7) of the moving links on their parents at q (n,).

        A row is the position x, y, z [m] and the unit quaternion x, y, z, w.
        """
        model, data = self._arm.pin_model, self._arm.pin_data
        pin.forwardKinematics(model, data, self._arm.to_pin(q))
        on_joint = data.liMi
        return _rows([link.before * on_joint[link.joint] * link.behind for link in self._moving])


def _link(model: pin.Model, index: int) -> _Link:
    link = model.frames[index]
    parent = model.frames[model.frames[link.parentFrame].parentFrame]
    joint = link.parentJoint if link.parentJoint != parent.parentJoint else 0
    return _Link(parent.name, link.name, joint, parent.placement.inverse(), link.placement)


def _rows(poses: list[pin.SE3]) -> Array:
    return np.array([pin.SE3ToXYZQUAT(pose) for pose in poses]).reshape(-1, 7)
