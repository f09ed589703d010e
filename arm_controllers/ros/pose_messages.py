"""Poses from messages and as messages."""

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from geometry_msgs.msg import Pose, PoseArray, PoseStamped

from arm_dynamics.checks import ArmError, Array

# A longer path would keep a node busy for seconds; its other requests would wait.
MOST_POSES = 10_000


def pose_from_message(message: Pose, what: str = 'the pose') -> pin.SE3:
    """Return a pose; the quaternion is normalised.

    Raises:
        ArmError: a number is not finite, or the quaternion's norm is not 1 (to 1e-3).
    """
    return pin.SE3(_poses([message], what)[0])


def poses_from_message(message: PoseArray, first: int = 0) -> Array:
    """Return poses (n, 4, 4).

    Raises as `pose_from_message`, naming the pose's number, counted from `first`; and for a path
    without a pose or of more than MOST_POSES.
    """
    if not message.poses:
        raise ArmError('the path has no pose')
    if len(message.poses) > MOST_POSES:
        raise ArmError(f'the path has {len(message.poses)} poses; allowed: 1 to {MOST_POSES}')
    return _poses(message.poses, 'pose {} of the path', first)


def pose_to_message(pose: pin.SE3, frame: str) -> PoseStamped:
    """Return a pose in `frame` as a message."""
    message = PoseStamped()
    message.header.frame_id = frame
    p, o = message.pose.position, message.pose.orientation
    p.x, p.y, p.z, o.x, o.y, o.z, o.w = pin.SE3ToXYZQUAT(pose).tolist()
    return message


def _poses(messages: Sequence[Pose], what: str, first: int = 0) -> Array:
    rows = np.array(
        [
            (p.x, p.y, p.z, o.x, o.y, o.z, o.w)
            for p, o in ((message.position, message.orientation) for message in messages)
        ]
    )
    norms = np.linalg.norm(rows[:, 3:], axis=1)
    wrong = ~np.isfinite(rows).all(axis=1) | ~(np.abs(norms - 1.0) < 1e-3)
    if wrong.any():
        index = int(wrong.argmax())
        values = ', '.join(f'{value:g}' for value in rows[index])
        given = f'{what.format(first + index)} is ({values}); it must be finite'
        if not np.isfinite(rows[index]).all():
            raise ArmError(given)
        unit = rows[index, 3:] / norms[index] if norms[index] > 0.0 else rows[index, :0]
        write = f': write {", ".join(f"{x:g}" for x in unit)}' * bool(len(unit))
        raise ArmError(f'{given} and its quaternion of norm 1, not {norms[index]:g}{write}')
    rows[:, 3:] /= norms[:, None]
    return np.array([pin.XYZQUATToSE3(row).homogeneous for row in rows])
