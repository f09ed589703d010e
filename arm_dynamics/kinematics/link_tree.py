"""Where each link stands on the one that carries it: an arm's tree of frames, as /tf has it."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import Array
from arm_dynamics.frames import Frames


class _Link(NamedTuple):
    carrier: str
    name: str
    joint: int  # Pinocchio's index; 0: none moves it on its carrier
    before: pin.SE3  # carrier to joint
    behind: pin.SE3  # joint to link


class LinkTree:
    """The links of an arm but its base, each on its carrier, its parent in the URDF.

    Attributes:
        moving: (carrier, link) of each link that a joint moves.
        standing: (carrier, link) of each one that stands on its carrier.
    """

    def __init__(self, arm: Frames):
        """Read the tree of an arm."""
        self._arm = arm
        links = [_link(arm.pin_model, arm.frame_id(name)) for name in arm.frame_names[1:]]
        self._moving = [link for link in links if link.joint]
        self._standing = [link for link in links if not link.joint]
        self.moving = [(link.carrier, link.name) for link in self._moving]
        self.standing = [(link.carrier, link.name) for link in self._standing]

    def standing_poses(self) -> Array:
        """Return the poses (len(standing), 7) of the links that stand, as `moving_poses`."""
        return _rows([link.before * link.behind for link in self._standing])

    def moving_poses(self, q: Array) -> Array:
        """Return the poses (len(moving), 7) on their carriers, at q (n,).

        A row is the position x, y, z [m] and the unit quaternion x, y, z, w.
        """
        model, data = self._arm.pin_model, self._arm.pin_data
        pin.forwardKinematics(model, data, self._arm.to_pin(q))
        on_joint = data.liMi
        return _rows([link.before * on_joint[link.joint] * link.behind for link in self._moving])


def _link(model: pin.Model, index: int) -> _Link:
    link = model.frames[index]
    carrier = model.frames[model.frames[link.parentFrame].parentFrame]
    joint = link.parentJoint if link.parentJoint != carrier.parentJoint else 0
    return _Link(carrier.name, link.name, joint, carrier.placement.inverse(), link.placement)


def _rows(poses: list[pin.SE3]) -> Array:
    return np.array([pin.SE3ToXYZQUAT(pose) for pose in poses]).reshape(-1, 7)
