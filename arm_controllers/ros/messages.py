"""ROS 2 messages to NumPy and back; `serialized_messages` has those of the control loop."""

from array import array
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import WrenchStamped
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_controllers.follower.goal import Goal, GoalError, JointTolerance
from arm_controllers.ros.cdr import Cursor, is_native, no_message
from arm_controllers.ros.ros_types import Message, Vector
from arm_dynamics.checks import ArmError, Array, T

# Points of a trajectory in real time. ROS's conversion of this number takes 50 ms.
MOST_POINTS = 5000
# Points of a trajectory in lock-step, and of recordings.
MOST_POINTS_LOCKSTEP = 250_000
_MOST_BYTES = 300 * MOST_POINTS_LOCKSTEP  # of a message
_POINT_BYTES = 24  # of a point at least
_POINT_FIELDS = ('positions', 'velocities', 'accelerations', 'effort')


def to_ns(stamp: Time | Duration) -> int:
    """Return a stamp or duration in nanoseconds."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def stamp_at(time_ns: int) -> Time:
    """Return a stamp [ns]."""
    stamp = Time()
    set_stamp(stamp, time_ns)
    return stamp


def set_stamp(stamp: Time | Duration, time_ns: int) -> None:
    """Write nanoseconds into a stamp."""
    stamp.sec, stamp.nanosec = divmod(time_ns, 1_000_000_000)


def prefix_of(node: Node) -> str:
    """Return the prefix of a node's frames and its name in messages: '', or 'left/'."""
    return f'{node.get_namespace().strip("/")}/'.removeprefix('/')


def components(*vectors: Vector) -> Array:
    """Return x, y and z of messages such as Vector3, one after the other."""
    return np.array([getattr(vector, axis) for vector in vectors for axis in 'xyz'])


def set_components(values: Array, *vectors: Vector) -> None:
    """Write numbers (3 k,) as x, y and z into k messages such as Vector3."""
    for vector, (x, y, z) in zip(vectors, values.reshape(-1, 3).tolist(), strict=True):
        vector.x, vector.y, vector.z = x, y, z


def wrench_message(frame: str, wrench: Array, time_ns: int) -> WrenchStamped:
    """Return a wrench (6,) [N, N.m] in the axes of a frame, with a stamp [ns]."""
    message = WrenchStamped()
    message.header.frame_id = frame
    set_stamp(message.header.stamp, time_ns)
    set_components(wrench, message.wrench.force, message.wrench.torque)
    return message


def set_numbers(message: Message, **fields: Array) -> None:
    """Write arrays into fields of a message."""
    for name, values in fields.items():
        setattr(message, name, values.tolist())


def goal_from_bytes(raw: bytes, most: int = MOST_POINTS) -> Goal:
    """Return a serialised JointTrajectory of at most `most` points as a goal.

    Raises:
        ArmError: these bytes are no JointTrajectory; else as `goal_from_message`.
    """
    _refuse_long(raw, most)
    return goal_from_message(deserialized(raw, JointTrajectory), most)


def goal_from_action(raw: bytes, identifier: object, most: int = MOST_POINTS) -> Goal:
    """Return a serialised action goal of at most `most` points, with its tolerances, as a goal.

    Raises:
        ArmError: as `goal_from_bytes`.
    """
    _refuse_long(raw, most)
    request = deserialized(raw, FollowJointTrajectory.Goal)
    strange = (*request.component_path_tolerance, *request.component_goal_tolerance)
    if request.multi_dof_trajectory.points or strange:
        raise GoalError('multi_dof_trajectory and component tolerances are unused: leave them out')

    def tolerances(rows: Sequence) -> tuple[JointTolerance, ...]:
        return tuple(JointTolerance(x.name, x.position, x.velocity, x.acceleration) for x in rows)

    return replace(
        goal_from_message(request.trajectory, most),
        identifier=identifier,
        path_tolerance=tolerances(request.path_tolerance),
        goal_tolerance=tolerances(request.goal_tolerance),
        goal_time_tolerance=to_ns(request.goal_time_tolerance) * 1e-9,
    )


def deserialized(raw: bytes, kind: type[T]) -> T:
    """Return a message by ROS's own conversion.

    Raises:
        ArmError: the bytes are no such message, or more than 75 MB.
    """
    if len(raw) > _MOST_BYTES:
        raise ArmError(f'a {kind.__name__} has {len(raw)} bytes; allowed: {_MOST_BYTES}')
    try:
        return deserialize_message(raw, kind)
    except (RuntimeError, MemoryError):
        raise no_message(raw, kind.__name__) from None


def _refuse_long(raw: bytes, most: int) -> None:
    """Refuse a serialised trajectory of too many points before it is converted.

    The conversion takes 10 us per point, during which no other thread of the process runs.
    """
    if not is_native(raw):
        return
    try:
        cursor = Cursor(raw)
        cursor.text()  # the frame
        for _ in range(cursor.length()):
            cursor.text()  # a joint's name
        points = cursor.length()
    except ArmError:  # cut off: the conversion refuses it
        return
    if most < points <= len(raw) / _POINT_BYTES:
        _refuse_points(points, most)


def _refuse_points(points: int, most: int) -> None:
    raise GoalError(
        f'a trajectory has {points} points; allowed: {most}. Send fewer points, which are '
        'joined by polynomials, or several goals with later start times'
    )


def _check_count(count: int, field: str, joints: int, point: int) -> None:
    """Raise GoalError where a point has neither one value per joint nor none."""
    if count in (0, joints):
        return
    text = f'{count} {field} for {joints} joints (point {point}); allowed: none or one per joint'
    raise GoalError(text, point=point)


def _check_positions(
    positions: NDArray[np.bool_], v: NDArray[np.bool_], a: NDArray[np.bool_], joints: int
) -> None:
    """Raise GoalError where a point has no positions, unless none has, but other fields."""
    if positions.all() or (not positions.any() and (v.any() or a.any())):
        return
    point = int(positions.argmin())
    text = f'0 positions for {joints} joints (point {point}); allowed: one per joint'
    raise GoalError(text, point=point)


def goal_from_message(message: JointTrajectory, most: int = MOST_POINTS) -> Goal:
    """Return a JointTrajectory of at most `most` points as a goal.

    Raises:
        ArmError: a point's field has neither no value nor one for every joint, or too many points.
    """
    points = message.points
    if len(points) > most:
        _refuse_points(len(points), most)
    m, n = len(points), len(message.joint_names)

    def column(field: str) -> tuple[Array | None, NDArray[np.bool_]]:
        given = [getattr(point, field) for point in points]
        for i, values in enumerate(given):
            _check_count(len(values), field, n, i)
        present = np.array([len(values) > 0 for values in given], dtype=bool)
        if not present.any():
            return None, present
        rows = np.zeros((m, n))
        rows[present] = np.frombuffer(b''.join(given)).reshape(-1, n)
        return rows, present

    columns = [column(field) for field in _POINT_FIELDS]
    (positions, there), (velocities, has_velocity), (accelerations, has_acceleration) = columns[:3]
    _check_positions(there, has_velocity, has_acceleration, n)
    return Goal(
        joint_names=tuple(message.joint_names),
        times=np.array([to_ns(point.time_from_start) * 1e-9 for point in points]),
        positions=np.zeros((m, n)) if positions is None else positions,
        velocities=velocities,
        accelerations=accelerations,
        effort=columns[3][0],
        start_ns=to_ns(message.header.stamp),
        has_velocity=has_velocity,
        has_acceleration=has_acceleration,
        has_position=positions is not None or not m,
    )


def trajectory_message(goal: Goal) -> JointTrajectory:
    """Return a goal, every point with its velocity and acceleration where it has any."""
    message = JointTrajectory(joint_names=list(goal.joint_names))
    set_stamp(message.header.stamp, goal.start_ns)
    for i, time in enumerate(goal.times):
        point = JointTrajectoryPoint()
        set_stamp(point.time_from_start, round(time * 1e9))
        for field in _POINT_FIELDS:
            rows = getattr(goal, field)
            if rows is not None:
                setattr(point, field, array('d', rows[i].tobytes()))
        message.points.append(point)
    return message
