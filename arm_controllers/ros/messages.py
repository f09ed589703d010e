"""ROS 2 messages to NumPy and back; `serialized_messages` has those of the control loop."""

import math
from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import Pose, PoseArray, PoseStamped
from numpy.typing import NDArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_controllers.follower.goal import Goal, GoalError, JointTolerance
from arm_dynamics.checks import ArmError, Array

# No joint has such a position, velocity or torque; and no product of such numbers overflows.
LARGEST = 1e9


def to_ns(stamp: Time | Duration) -> int:
    """Return a stamp or duration in nanoseconds."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def set_stamp(stamp: Time | Duration, time_ns: int) -> None:
    """Write nanoseconds into a stamp."""
    stamp.sec, stamp.nanosec = divmod(time_ns, 1_000_000_000)


def set_numbers(message: Any, **fields: Array) -> None:
    """Write arrays into fields of a message."""
    for name, values in fields.items():
        setattr(message, name, values.tolist())


class JointReader:
    """Brings values of JointState messages into the order of our joints, whatever the sender's."""

    def __init__(self, joint_names: Sequence[str]):
        """`joint_names`: n of them."""
        self._names = list(joint_names)
        self._sender_names: list[str] = self._names
        self._order: NDArray[np.intp] | None = None

    def read(self, names: list[str], values: array | Array, field: str) -> Array:
        """Return (n,) values, read-only to the caller; no copy where the order is ours.

        Raises:
            ArmError: a joint is missing or named twice, the lengths differ, or a value is not
                finite, or as large as LARGEST; names the joint.
        """
        if names != self._sender_names:
            self._order = self._find_order(names)
            self._sender_names = list(names)
        if len(values) != len(names):
            raise ArmError(f'{len(values)} {field} values for {len(names)} joint names')
        found = np.frombuffer(values)
        if self._order is not None:
            found = found[self._order]
        for bad in np.flatnonzero(~(np.abs(found) < LARGEST)):
            why = f'is not within {LARGEST:g}' if np.isfinite(found[bad]) else 'is not finite'
            raise ArmError(f'joint {self._names[bad]!r}: {field} {found[bad]} {why}')
        return found

    def _find_order(self, names: list[str]) -> NDArray[np.intp] | None:
        if names == self._names:
            return None
        for name in self._names:
            if names.count(name) != 1:
                raise ArmError(
                    f'joint {name!r} stands {names.count(name)} times in a message that names '
                    f'{", ".join(names) or "no joint"}; it must stand there once'
                )
        return np.array([names.index(name) for name in self._names])


def goal_from_message(message: JointTrajectory, identifier: object = None) -> Goal:
    """Return a JointTrajectory as a goal.

    Raises:
        ArmError: a point's field has neither no value nor one for every joint.
    """
    points = message.points
    m, n = len(points), len(message.joint_names)

    def column(field: str, *allowed: int) -> tuple[Array | None, NDArray[np.bool_]]:
        given = [getattr(point, field) for point in points]
        for i, values in enumerate(given):
            if len(values) not in allowed:
                words = 'none or one per joint' if 0 in allowed else 'one per joint'
                raise GoalError(
                    f'{len(values)} {field} for {n} joints (point {i}); allowed: {words}', point=i
                )
        present = np.array([len(values) > 0 for values in given], dtype=bool)
        if not present.any():
            return None, present
        rows = np.zeros((m, n))
        rows[present] = np.frombuffer(b''.join(given)).reshape(-1, n)
        return rows, present

    positions, _ = column('positions', n)
    velocities, has_velocity = column('velocities', 0, n)
    accelerations, has_acceleration = column('accelerations', 0, n)
    effort, _ = column('effort', 0, n)
    return Goal(
        joint_names=tuple(message.joint_names),
        times=np.array([to_ns(point.time_from_start) * 1e-9 for point in points]),
        positions=np.zeros((m, n)) if positions is None else positions,
        velocities=velocities,
        accelerations=accelerations,
        effort=effort,
        start_ns=to_ns(message.header.stamp),
        has_velocity=has_velocity,
        has_acceleration=has_acceleration,
        identifier=identifier,
    )


def goal_from_action(request: FollowJointTrajectory.Goal, identifier: object) -> Goal:
    """Return an action goal, with its tolerances, as a goal. Raises as `goal_from_message`."""
    goal = goal_from_message(request.trajectory, identifier)

    def tolerances(rows: Sequence) -> tuple[JointTolerance, ...]:
        return tuple(JointTolerance(row.name, row.position, row.velocity) for row in rows)

    return replace(
        goal,
        path_tolerance=tolerances(request.path_tolerance),
        goal_tolerance=tolerances(request.goal_tolerance),
        goal_time_tolerance=to_ns(request.goal_time_tolerance) * 1e-9,
    )


def trajectory_message(goal: Goal) -> JointTrajectory:
    """Return a goal, every point with its velocity and acceleration where it has any."""
    message = JointTrajectory(joint_names=list(goal.joint_names))
    set_stamp(message.header.stamp, goal.start_ns)
    fields = ('positions', 'velocities', 'accelerations', 'effort')
    for i, time in enumerate(goal.times):
        point = JointTrajectoryPoint()
        set_stamp(point.time_from_start, round(time * 1e9))
        for field in fields:
            rows = getattr(goal, field)
            if rows is not None:
                setattr(point, field, array('d', rows[i].tobytes()))
        message.points.append(point)
    return message


# Poses


def pose_from_message(message: Pose, what: str = 'the pose') -> pin.SE3:
    """Return a pose; the quaternion is normalised.

    Raises:
        ArmError: a number is not finite, or the quaternion's norm is not 1 (to 1e-3).
    """
    p, o = message.position, message.orientation
    norm = math.sqrt(o.x * o.x + o.y * o.y + o.z * o.z + o.w * o.w)
    if not (math.isfinite(p.x + p.y + p.z) and abs(norm - 1.0) < 1e-3):
        _poses([message], what)
    x, y, z, w = o.x / norm, o.y / norm, o.z / norm, o.w / norm
    return pin.XYZQUATToSE3(np.array([p.x, p.y, p.z, x, y, z, w]))


def poses_from_message(message: PoseArray) -> Array:
    """Return poses (n, 4, 4). Raises as `pose_from_message`, naming the pose's index."""
    if not message.poses:
        raise ArmError('the path has no pose')
    return _poses(message.poses, 'pose {} of the path')


def pose_to_message(pose: pin.SE3, frame: str) -> PoseStamped:
    """Return a pose in `frame` as a message."""
    message = PoseStamped()
    message.header.frame_id = frame
    p, o = message.pose.position, message.pose.orientation
    p.x, p.y, p.z, o.x, o.y, o.z, o.w = pin.SE3ToXYZQUAT(pose).tolist()
    return message


def _poses(messages: Sequence[Pose], what: str) -> Array:
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
        raise ArmError(
            f'{what.format(index)} is ({values}); it must be finite and its quaternion of norm 1, '
            f'not {norms[index]:g}'
        )
    x, y, z, w = (rows[:, 3:] / norms[:, None]).T
    poses = np.zeros((len(rows), 4, 4))
    poses[:, :3, 3], poses[:, 3, 3] = rows[:, :3], 1.0
    poses[:, 0, 0], poses[:, 0, 1] = 1 - 2 * (y * y + z * z), 2 * (x * y - z * w)
    poses[:, 0, 2], poses[:, 1, 0] = 2 * (x * z + y * w), 2 * (x * y + z * w)
    poses[:, 1, 1], poses[:, 1, 2] = 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)
    poses[:, 2, 0], poses[:, 2, 1] = 2 * (x * z - y * w), 2 * (y * z + x * w)
    poses[:, 2, 2] = 1 - 2 * (x * x + y * y)
    return poses
