"""The messages of /tf and /tf_static for an arm, in their serialised form."""

from collections.abc import Sequence

import numpy as np
from geometry_msgs.msg import TransformStamped
from numpy.typing import ArrayLike

from arm_controllers.ros.cdr import Template
from arm_dynamics.checks import Array
from arm_dynamics.kinematics.link_tree import LinkTree
from arm_dynamics.model import RobotModel

try:
    from tf2_msgs.msg import TFMessage
except ImportError:
    TFMessage = None


class FrameMessages:
    """The transforms of an arm's links, each from its parent link, and of objects around it.

    Attributes:
        standing: the message of /tf_static: the links on fixed joints.
    """

    def __init__(self, model: RobotModel, prefix: str, objects: Sequence[str] = ()):
        """Build the messages.

        Args:
            model: of the arm.
            prefix: goes before each frame name, such as 'left/'.
            objects: names of the objects, which have poses in the arm's base frame; links among
                them have these poses in place of the model's.
        """
        self._tree = tree = LinkTree(model)
        around = [(model.base_frame, name) for name in objects]
        self._own, fixed = (
            [k for k, (_, link) in enumerate(links) if link not in objects]
            for links in (tree.moving, tree.fixed)
        )
        self._moving = Transforms([*(tree.moving[k] for k in self._own), *around], prefix)
        standing = Transforms([tree.fixed[k] for k in fixed], prefix)
        self.standing = standing.at(tree.fixed_poses()[fixed], 0)

    def at(self, q: Array, time_ns: int, objects: ArrayLike = ()) -> bytes:
        """Return the message of /tf at q (n,), a stamp [ns] and the poses (k, 7) of objects."""
        poses = [*self._tree.moving_poses(q)[self._own], *np.reshape(objects, (-1, 7))]
        return self._moving.at(poses, time_ns)


class Transforms(Template):
    """A TFMessage that is serialised once; stamps and poses are then written in place."""

    def __init__(self, links: list[tuple[str, str]], prefix: str):
        """Build the message with a transform for each (parent link, link)."""
        message = TFMessage()
        for carrier, link in links:
            each = TransformStamped(child_frame_id=prefix + link)
            each.header.frame_id = prefix + carrier
            message.transforms.append(each)
        super().__init__(message)

    def at(self, poses: Sequence[Array] | Array, time_ns: int) -> bytes:
        """Return the message of a stamp [ns] and poses (n, 7): x, y, z [m], quaternion xyzw."""
        for numbers, pose in zip(self.numbers, poses, strict=True):
            numbers[:] = pose
        return self.at_times(*[time_ns] * len(poses))
