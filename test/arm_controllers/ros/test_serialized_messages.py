"""JointStates written and read in their serialised form, against ROS's own conversion."""

import random
import struct
from dataclasses import replace

import numpy as np
import pytest
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import (
    JointTrajectory,
    JointTrajectoryPoint,
    MultiDOFJointTrajectoryPoint,
)

from arm_controllers.follower.goal import JointTolerance as JointLimits
from arm_controllers.ros.cdr import stamp_ns
from arm_controllers.ros.messages import (
    MOST_POINTS,
    goal_from_action,
    goal_from_bytes,
    goal_from_message,
    to_ns,
)
from arm_controllers.ros.serialized_messages import (
    FIELDS,
    JointReader,
    JointStateReader,
    JointStateWriter,
)
from arm_dynamics.checks import ArmError

NAMES = ['pan', 'lift', 'elbow']
Q, V, TAU = [0.1, -0.2, 0.3], [1.0, 2.0, -3.0], [10.0, 0.0, -1e-9]


def state(names=NAMES, position=Q, velocity=V, effort=TAU, sender='', sec=7, nanosec=5):
    message = JointState(name=list(names))
    message.position, message.velocity, message.effort = position, velocity, effort
    message.header.frame_id = sender
    message.header.stamp.sec, message.header.stamp.nanosec = sec, nanosec
    return bytes(serialize_message(message))


def reader(*messages, fields=FIELDS[:2]):
    made = JointStateReader(NAMES, fields)
    for message in messages:
        made.open(message)
    return made


@pytest.mark.parametrize('frame_id', ['', 'a', 'servo_controller'])
@pytest.mark.parametrize('fields', [FIELDS, ('position',), ('effort',), ('velocity', 'effort')])
@pytest.mark.parametrize('names', [['a'], ['ab', 'abc', 'abcd'], ['joint_1'] * 7])
def test_what_is_written_is_the_message_that_ros_reads(names, fields, frame_id):
    writer = JointStateWriter(names, fields, frame_id)
    numbers = np.random.default_rng(0).normal(size=(3, len(names)))
    for field, row in zip(FIELDS, numbers, strict=True):
        if field in fields:
            getattr(writer, field)[:] = row
    message = deserialize_message(writer.serialized(12_000_000_034), JointState)
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (12, 34)
    assert (message.header.frame_id, list(message.name)) == (frame_id, names)
    for field, row in zip(FIELDS, numbers, strict=True):
        assert list(getattr(message, field)) == (list(row) if field in fields else [])


def test_a_message_is_the_same_however_often_it_was_written_before():
    writer = JointStateWriter(NAMES, FIELDS)
    first = writer.serialized(1)
    writer.position[:] = Q
    writer.serialized(10**18)
    writer.position[:] = 0.0
    assert writer.serialized(1) == first


@pytest.mark.parametrize('before', [0, 1, 3])
def test_what_ros_wrote_is_read_at_first_sight_and_later(before):
    read = reader(*[state(position=[9.0] * 3)] * before, state())
    assert (read.time_ns, read.sender, read.empty) == (7_000_000_005, '', False)
    np.testing.assert_array_equal(read.values('position'), Q)
    np.testing.assert_array_equal(read.values('velocity'), V)
    assert list(read.values('effort')) == TAU


@pytest.mark.parametrize(
    'other',
    [
        state(sender='relay'),
        state(names=['lift', 'elbow', 'pan']),
        state(names=['pan', 'lift', 'wrist']),
        state(position=[1.0] * 2, velocity=[1.0] * 4),
        state(velocity=[1.0] * 2, effort=[1.0] * 4),
        state(effort=[]),
        state(names=[], position=[], velocity=[], effort=[]),
    ],
    ids=lambda raw: f'{len(raw)} bytes',
)
def test_messages_of_different_shapes_in_turn_are_distinguished(other):
    read = reader(state(), state(), other, state(), other, state(nanosec=6))
    assert read.time_ns == 7_000_000_006
    np.testing.assert_array_equal(read.values('position'), Q)


def big_endian_state():
    """The message of `state()` as a machine of the other byte order writes it."""
    body = bytearray(struct.pack('>iII', 7, 5, 1) + bytes(4))
    body += struct.pack('>I', len(NAMES))
    for name in NAMES:
        body += struct.pack('>I', len(name) + 1) + name.encode() + bytes(1)
        body += bytes(-len(body) % 4)
    for numbers in (Q, V, TAU):
        body += struct.pack('>I', len(numbers))
        body += bytes(-len(body) % 8) + struct.pack(f'>{len(numbers)}d', *numbers)
    return bytes(4) + bytes(body)


def test_message_of_another_byte_order_is_read_every_time():
    message = big_endian_state()
    read = reader(message, message, message)
    assert read.time_ns == 7_000_000_005
    np.testing.assert_array_equal(read.values('position'), Q)
    np.testing.assert_array_equal(read.values('velocity'), V)


@pytest.mark.parametrize('before', [0, 2])
def test_joints_behind_ours_are_left_out(before):
    more = state(
        names=[*NAMES, 'finger'], position=[*Q, 4.0], velocity=[*V, 5.0], effort=[*TAU, 0]
    )
    read = reader(*[more] * before, more)
    np.testing.assert_array_equal(read.values('position'), Q)
    np.testing.assert_array_equal(read.values('velocity'), V)
    _, found = read.read_all([more, more])
    np.testing.assert_array_equal(found['position'], [Q, Q])


def test_joints_in_another_order_are_sorted():
    message = state(names=['elbow', 'pan', 'lift'], position=[3.0, 1.0, 2.0])
    for read in (reader(message), reader(state(), message), reader(message, message)):
        np.testing.assert_array_equal(read.values('position'), [1.0, 2.0, 3.0])


def test_sender_is_reported_also_when_it_changes_back():
    read = reader()
    senders = ['first', 'second', 'first', 'first', 'other', 'first']
    for sender in senders:
        read.open(state(sender=sender))
        assert read.sender == sender


def test_message_without_joints_is_empty_and_the_next_is_not():
    nothing = state(names=[], position=[], velocity=[], effort=[])
    read = reader(state(), nothing)
    assert read.empty
    read.open(state())
    assert not read.empty


@pytest.mark.parametrize('bad', [np.nan, np.inf, -np.inf])
def test_number_that_is_not_finite_is_refused_and_named(bad):
    for read in (reader(state(velocity=[0, bad, 0])), reader(*[state(velocity=[0, bad, 0])] * 2)):
        np.testing.assert_array_equal(read.values('position'), Q)
        with pytest.raises(ArmError, match=r"joint 'lift': velocity (nan|inf|-inf) is not finite"):
            read.values('velocity')


def test_missing_joint_and_wrong_length_are_refused():
    with pytest.raises(ArmError, match="joint 'elbow' is named 0 times"):
        reader(state(), state(names=['pan', 'lift', 'wrist'])).values('position')
    with pytest.raises(ArmError, match='4 velocity values for 3 joint names'):
        reader(state(), state(position=[1.0] * 2, velocity=[1.0] * 4)).values('velocity')
    with pytest.raises(ArmError, match='2 velocity values for 3 joint names'):
        reader(state(), state(velocity=[1.0] * 2, effort=[1.0] * 4)).values('velocity')
    with pytest.raises(ArmError, match='0 velocity values'):
        reader(state(velocity=[])).values('velocity')


@pytest.mark.parametrize('field', FIELDS)
def test_number_that_no_joint_has_is_refused(field):
    for bad in (1e9, -1e300):
        numbers = {field: [0.0, bad, 0.0]}
        for read in (reader(state(**numbers)), reader(*[state(**numbers)] * 2)):
            with pytest.raises(ArmError, match=f"joint 'lift': {field} .* is not within 1e"):
                read.values(field)


# Bytes that are no message

WHOLE = state()
LENGTHS = (12, 20, 24, 56, 84, 116)  # of texts and arrays in WHOLE


def with_bytes(at, new):
    return WHOLE[:at] + new + WHOLE[at + len(new) :]


@pytest.mark.parametrize('before', [0, 2])
@pytest.mark.parametrize(
    'bad',
    [
        b'',
        b'\0',
        WHOLE[:4],
        WHOLE[:10],
        WHOLE[:40],
        WHOLE[:-4],
        WHOLE[:-1],
        with_bytes(0, b'\xff\xff'),
        with_bytes(0, b'\0\0'),
        *(with_bytes(at, b'\xff\xff\xff\xff') for at in LENGTHS),
        *(with_bytes(at, b'\xff\xff\xff\x7f') for at in LENGTHS),
        with_bytes(8, b'\xff\xff\xff\xff'),
        with_bytes(4, b'\xff\xff\xff\x7f\xff\xff\xff\xff'),
    ],
    ids=lambda raw: f'{len(raw)} bytes',
)
def test_bytes_that_are_no_message_are_refused_in_one_line_and_the_last_one_stays(bad, before):
    read = reader(*[state()] * before)
    with pytest.raises(ArmError) as refusal:
        read.open(bad)
    assert '\n' not in str(refusal.value)
    if before:
        assert read.time_ns == 7_000_000_005
        np.testing.assert_array_equal(read.values('position'), Q)
    read.open(state(nanosec=6))
    assert read.time_ns == 7_000_000_006


def test_latest_stamp_of_all_is_read_and_written():
    raw = state(sec=2**31 - 1, nanosec=999_999_999)
    read = reader(raw)
    assert read.time_ns == stamp_ns(raw) == 2**31 * 10**9 - 1
    written = JointStateWriter(NAMES, FIELDS).serialized(read.time_ns)
    assert stamp_ns(written) == read.time_ns
    for bad in (b'', raw[:11], with_bytes(8, b'\xff\xff\xff\xff')):
        with pytest.raises(ArmError):
            stamp_ns(bad)


def mutated(rng, raw):
    """Return a message with one to three changes: bytes, lengths, cuts, insertions."""
    data = bytearray(raw)
    for _ in range(rng.randint(1, 3)):
        at, kind = rng.randint(0, len(data)), rng.randrange(6)
        if kind == 0:
            data[at : at + 1] = rng.randbytes(1)
        elif kind == 1:
            length = rng.choice((rng.randrange(12), 2**29, 2**31 - 1, 2**31, 2**32 - 1))
            data[at & ~3 : (at & ~3) + 4] = struct.pack('<I', length)
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            data[at:at] = rng.randbytes(rng.randint(1, 8))
        elif kind == 4:
            del data[at : at + rng.randint(1, 8)]
        else:
            data[at & ~3 : (at & ~3) + 4] = rng.randbytes(4)
    return bytes(data)


def outcome(ask, *args):
    """Return the numbers that are answered, as bytes, or the words of the refusal."""
    try:
        return ask(*args).tobytes()
    except ArmError as error:
        return str(error)


def assert_read_as_ros_reads_it(read, typed, data):
    """Whatever the bytes are, the answer is that of ROS's own conversion, or a refusal of both."""
    try:
        message = deserialize_message(data, JointState)
    except RuntimeError:
        with pytest.raises(ArmError):
            read.open(data)
        return
    if message.header.stamp.nanosec >= 10**9:
        with pytest.raises(ArmError, match='nanoseconds'):
            read.open(data)
        return
    read.open(data)
    assert read.time_ns == to_ns(message.header.stamp)
    assert (read.sender, read.empty) == (message.header.frame_id, not message.name)
    for field in FIELDS:
        given = getattr(message, field)
        expected = outcome(typed.read, message.name, given, field)
        assert outcome(read.values, field) == expected


@pytest.mark.slow
def test_hundred_thousand_mutated_messages_are_read_as_ros_reads_them_or_refused(hostile):
    rng = random.Random(9)
    originals = [
        WHOLE,
        state(sender='servo_controller'),
        state(names=['elbow', 'pan', 'lift']),
        state(velocity=[]),
        state(position=[], effort=[]),
        state(names=[], position=[], velocity=[], effort=[]),
        big_endian_state(),
    ]
    read, typed = JointStateReader(NAMES, FIELDS), JointReader(NAMES)
    for k in range(100_000 * hostile):
        if k % 4 == 0:
            read.open(WHOLE)  # such messages are expected, and read in place
        original = originals[k % len(originals)]
        assert_read_as_ros_reads_it(read, typed, mutated(rng, original))


@pytest.mark.parametrize(('names', 'count'), [(NAMES[1:], 0), ([*NAMES, NAMES[0]], 2), ([], 0)])
def test_a_joint_that_is_not_named_once_is_reported_with_all_names_of_the_message(names, count):
    there = ', '.join(names) or 'no joint'
    text = f"'pan' is named {count} times, not once, in a message of {there}"
    with pytest.raises(ArmError, match=text):
        JointReader(NAMES).read(names, np.zeros(len(names)), 'position')


def trajectory_of(rng, fields, points):
    """Return a JointTrajectory whose points have these fields, joints by joints."""
    message = JointTrajectory(joint_names=NAMES)
    message.header.stamp.sec, message.header.frame_id = rng.randrange(9), 'x' * rng.randrange(9)
    for k in range(points):
        point = JointTrajectoryPoint()
        for field in fields:
            setattr(point, field, [rng.uniform(-3, 3) for _ in NAMES])
        point.time_from_start.sec, point.time_from_start.nanosec = k, rng.randrange(10**9)
        message.points.append(point)
    return message


def as_words(goal):
    """Return a goal as one text, each number in it to the last bit."""
    return repr({key: np.asarray(x).tolist() for key, x in vars(goal).items()})


def goal_or_refusal(ask, *args):
    try:
        return as_words(ask(*args))
    except ArmError as error:
        return str(error)


POINTS = [
    ('positions',),
    ('positions', 'velocities'),
    ('positions', 'velocities', 'accelerations', 'effort'),
    ('positions', 'effort'),
    ('velocities',),
    (),
]


@pytest.mark.parametrize('fields', POINTS)
def test_a_serialised_trajectory_is_the_goal_that_ros_reads_or_refused_with_its_words(fields):
    rng = random.Random(len(fields))
    for points in (0, 1, 2, 3, 20):
        message = trajectory_of(rng, fields, points)
        expected = goal_or_refusal(goal_from_message, message)
        assert goal_or_refusal(goal_from_bytes, bytes(serialize_message(message))) == expected
    message.points[-1].accelerations = [1.0] * len(NAMES)  # one point is not like the others
    expected = goal_or_refusal(goal_from_message, message)
    assert goal_or_refusal(goal_from_bytes, bytes(serialize_message(message))) == expected


@pytest.mark.parametrize('fields', POINTS)
@pytest.mark.parametrize('points', [0, 1, 2, 3, 20])
def test_a_serialised_action_goal_is_its_trajectory_with_its_tolerances(fields, points):
    rng = random.Random(points)
    asked = FollowJointTrajectory.Goal(trajectory=trajectory_of(rng, fields, points))
    asked.path_tolerance = [JointTolerance(name=name, position=rng.random()) for name in NAMES]
    asked.goal_tolerance = [JointTolerance(name='elbow_joint', velocity=rng.random())]
    asked.goal_time_tolerance.sec = 3
    found = goal_or_refusal(goal_from_action, bytes(serialize_message(asked)), 'its name')
    path = tuple(JointLimits(t.name, t.position, t.velocity) for t in asked.path_tolerance)
    goal = tuple(JointLimits(t.name, t.position, t.velocity) for t in asked.goal_tolerance)

    def expected(message):
        return replace(
            goal_from_message(message),
            identifier='its name',
            path_tolerance=path,
            goal_tolerance=goal,
            goal_time_tolerance=3.0,
        )

    assert found == goal_or_refusal(expected, asked.trajectory)


def test_a_goal_for_joints_of_several_degrees_of_freedom_is_not_half_used():
    asked = FollowJointTrajectory.Goal(trajectory=trajectory_of(random.Random(0), POINTS[0], 2))
    asked.multi_dof_trajectory.joint_names = ['base']  # as clients send it for arms alone
    goal_from_action(bytes(serialize_message(asked)), b'')
    asked.multi_dof_trajectory.points = [MultiDOFJointTrajectoryPoint()]
    with pytest.raises(ArmError, match='^multi_dof_trajectory .* leave them out$'):
        goal_from_action(bytes(serialize_message(asked)), b'')


def test_a_trajectory_of_more_points_than_allowed_is_refused_before_it_is_converted(monkeypatch):
    message = trajectory_of(random.Random(0), ('positions',), MOST_POINTS)
    assert len(goal_from_bytes(bytes(serialize_message(message))).times) == MOST_POINTS
    message.points.append(message.points[0])
    raw = bytes(serialize_message(message))
    asked = bytes(serialize_message(FollowJointTrajectory.Goal(trajectory=message)))
    why = f'a trajectory has {MOST_POINTS + 1} points; allowed: {MOST_POINTS}'
    with pytest.raises(ArmError, match=why):
        goal_from_message(message)
    monkeypatch.delattr('arm_controllers.ros.messages.deserialize_message')
    with pytest.raises(ArmError, match=why):
        goal_from_bytes(raw)
    with pytest.raises(ArmError, match=why):
        goal_from_action(asked, b'')


@pytest.mark.slow
def test_mutated_trajectories_are_read_as_ros_reads_them_or_refused(hostile):
    rng, accepted = random.Random(11), 0
    originals = [
        bytes(serialize_message(trajectory_of(rng, fields, points)))
        for fields in POINTS
        for points in (1, 2, 3)
    ]
    for k in range(10_000 * hostile):
        data = mutated(rng, originals[k % len(originals)])
        found = goal_or_refusal(goal_from_bytes, data)
        try:
            expected = goal_or_refusal(
                goal_from_message, deserialize_message(data, JointTrajectory)
            )
        except (RuntimeError, MemoryError):
            assert found.endswith('are no JointTrajectory')
        else:
            assert found == expected
            accepted += 1
    assert accepted > 1000


def test_a_field_is_there_where_each_of_our_joints_has_a_number():
    with_gripper = ['finger', *NAMES]
    for effort, there in (
        ([], False),
        ([np.nan, *TAU], True),  # a joint that is not ours
        ([0.0, *TAU[:2], np.nan], False),
        ([np.nan] * 4, False),
        ([0.0, *TAU], True),
    ):
        raw = state(with_gripper, [0.0, *Q], [0.0, *V], effort)
        assert reader(raw, raw).has('effort') is there
