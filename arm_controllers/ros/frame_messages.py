"""The messages of /tf and /tf_static for an arm."""

from typing import Any

from geometry_msgs.msg import TransformStamped

from arm_controllers.ros.messages import set_stamp
from arm_dynamics.checks import Array
from arm_dynamics.kinematics.link_tree import LinkTree
from arm_dynamics.model import RobotModel

try:
    from tf2_msgs.msg import TFMessage
except ImportError:
    TFMessage = None


class FrameMessages:
    """The transforms of an arm's links, each from its parent link.

    Attributes:
        standing: the message of /tf_static: the links on fixed joints.
    """

    def __init__(self, model: RobotModel, prefix: str):
        """Build the messages; `prefix` goes before each frame name, such as 'left/'."""
        self._tree = LinkTree(model)
        self._moving = _transforms(self._tree.moving, prefix)
        self.standing = _transforms(self._tree.standing, prefix)
        _fill(self.standing, self._tree.standing_poses())

    def at(self, q: Array, time_ns: int) -> Any:
        """Return the message of /tf at q (n,) and a stamp [ns]; the same object each time."""
        _fill(self._moving, self._tree.moving_poses(q))
        for each in self._moving.transforms:
            set_stamp(each.header.stamp, time_ns)
        return self._moving


def _transforms(links: list[tuple[str, str]], prefix: str) -> Any:
    """Return a message with a transform for each (parent link, link)."""
    message = TFMessage()
    for carrier, link in links:
        each = TransformStamped(child_frame_id=prefix + link)
        each.header.frame_id = prefix + carrier
        message.transforms.append(each)
    return message


def _fill(message: Any, poses: Array) -> None:
    """Write poses (n, 7), rows x, y, z [m] and quaternion x, y, z, w, into a message."""
    for each, pose in zip(message.transforms, poses.tolist(), strict=True):
        place, turn = each.transform.translation, each.transform.rotation
        place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w = pose
