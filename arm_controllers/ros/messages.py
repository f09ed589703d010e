"""ROS 2 messages to NumPy and back; `serialized_messages` has those of the control loop."""

import struct
from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from builtin_interfaces.msg import Duration, Time
from control_msgs.action import FollowJointTrajectory
from numpy.typing import NDArray
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_controllers.follower.goal import Goal, GoalError, JointTolerance
from arm_controllers.ros.serialized_messages import Cursor, is_native, no_message, stamp_ns
from arm_dynamics.checks import ArmError, Array

# What ROS's own conversion may be given, which is slow [bytes].
_SLOWLY = 1_000_000
_POINT_FIELDS = ('positions', 'velocities', 'accelerations', 'effort')


def to_ns(stamp: Time | Duration) -> int:
    """Return a stamp or duration in nanoseconds."""
    return stamp.sec * 1_000_000_000 + stamp.nanosec


def set_stamp(stamp: Time | Duration, time_ns: int) -> None:
    """Write nanoseconds into a stamp."""
    stamp.sec, stamp.nanosec = divmod(time_ns, 1_000_000_000)


def prefix_of(node: Node) -> str:
    """Return what stands before a node's frames and its name in messages: '', or 'left/'."""
    return f'{node.get_namespace().strip("/")}/'.removeprefix('/')


def set_numbers(message: Any, **fields: Array) -> None:
    """Write arrays into fields of a message."""
    for name, values in fields.items():
        setattr(message, name, values.tolist())


def goal_from_bytes(raw: bytes) -> Goal:
    """Return a serialised JointTrajectory as a goal.

    One whose points are alike, as nearly all are, is read as arrays: ROS's own conversion takes
    10 us per point, and for 15 ms at a time it lets no other thread run.

    Raises:
        ArmError: these bytes are no JointTrajectory, or more than 1 MB whose points are not
            alike; else as `goal_from_message`.
    """
    found = _goal_of_points_alike(raw)
    return found[0] if found else goal_from_message(deserialized(raw, JointTrajectory))


def goal_from_action(raw: bytes, identifier: object) -> Goal:
    """Return a serialised action goal, with its tolerances, as a goal.

    Raises:
        ArmError: as `goal_from_bytes`.
    """
    kind, found = FollowJointTrajectory.Goal, _goal_of_points_alike(raw)
    if found:
        goal, end = found
        # The rest, after an empty trajectory that ends as this one does, at a multiple of 8 or 4.
        frame = 4 + (end - 4) % 8
        empty = raw[:4] + bytes(8) + struct.pack('=I', frame) + bytes(frame + 8)
        # What ROS serialises may be followed by nothing, 8 bytes per empty field.
        request = deserialized((empty + raw[end : end + _SLOWLY])[:_SLOWLY], kind)
    else:
        request = deserialized(raw, kind)
        goal = goal_from_message(request.trajectory)

    def tolerances(rows: Sequence) -> tuple[JointTolerance, ...]:
        return tuple(
            JointTolerance(row.name, row.position, row.velocity, row.acceleration) for row in rows
        )

    return replace(
        goal,
        identifier=identifier,
        path_tolerance=tolerances(request.path_tolerance),
        goal_tolerance=tolerances(request.goal_tolerance),
        goal_time_tolerance=to_ns(request.goal_time_tolerance) * 1e-9,
    )


def deserialized(raw: bytes, kind: Any) -> Any:
    """Return a message by ROS's own conversion.

    Raises:
        ArmError: the bytes are no such message, or so many that it would take too long.
    """
    if len(raw) > _SLOWLY:
        told = f'{len(raw)} bytes whose points differ in their fields, or that hold much else'
        raise ArmError(f'{told}; allowed: {_SLOWLY}')
    try:
        return deserialize_message(raw, kind)
    except (RuntimeError, MemoryError):
        raise no_message(raw, kind.__name__) from None


def _goal_of_points_alike(raw: bytes) -> tuple[Goal, int] | None:
    """Return a trajectory of two or more points with the same fields, and its end, else None.

    From the second point on they stand at equal distances; the first may be padded otherwise.
    """
    if not is_native(raw):
        return None
    try:
        start_ns, cursor = stamp_ns(raw), Cursor(raw)
        cursor.text()  # the frame
        names = tuple(cursor.text() for _ in range(cursor.length()))
        m, n = cursor.length(), len(names)
        kinds = [_point(cursor) for _ in range(min(m, 2))]
        (at, first), (after, other) = kinds
        head = np.frombuffer(raw, first, 1, at)
        rest = np.frombuffer(raw, other, m - 1, after)
    except (ArmError, ValueError):  # cut off, or fewer points
        return None
    counts = {field: int(head[f'{field} count'][0]) for field in _POINT_FIELDS}
    if not all((rest[f'{field} count'] == count).all() for field, count in counts.items()):
        return None
    columns: dict[str, Array | None] = {}
    for field, count in counts.items():
        _check_count(count, field, n, 0)
        columns[field] = np.concatenate([head[field], rest[field]]) if count else None
    seconds, nanoseconds = (
        np.concatenate([head[part], rest[part]]).astype(np.int64) for part in ('sec', 'nanosec')
    )
    _check_positions(*(np.full(m, count > 0) for count in list(counts.values())[:3]), n)
    has_position = columns['positions'] is not None
    if not has_position:
        columns['positions'] = np.zeros((m, n))
    goal = Goal(
        joint_names=names,
        times=(seconds * 1_000_000_000 + nanoseconds) * 1e-9,
        start_ns=start_ns,
        has_velocity=np.full(m, counts['velocities'] > 0),
        has_acceleration=np.full(m, counts['accelerations'] > 0),
        has_position=has_position,
        **columns,
    )
    return goal, after + (m - 1) * other.itemsize


def _point(cursor: Cursor) -> tuple[int, np.dtype]:
    """Return where the next point of a trajectory begins, and how it is laid out."""
    places: dict[str, tuple[str, int]] = {}
    for field in _POINT_FIELDS:
        length, numbers = cursor.numbers()
        places[f'{field} count'] = 'u4', length.start
        places[field] = f'({(numbers.stop - numbers.start) // 8},)f8', numbers.start
    time = cursor.part(8, 4)
    places |= {'sec': ('i4', time.start), 'nanosec': ('u4', time.start + 4)}
    formats, starts = zip(*places.values(), strict=True)
    begin = min(starts)
    offsets = [start - begin for start in starts]
    layout = {'names': list(places), 'formats': formats, 'offsets': offsets}
    return begin, np.dtype(layout | {'itemsize': time.stop - begin})


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


def goal_from_message(message: JointTrajectory) -> Goal:
    """Return a JointTrajectory as a goal.

    Raises:
        ArmError: a point's field has neither no value nor one for every joint.
    """
    points = message.points
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
