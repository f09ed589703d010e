"""Serialised messages have the bytes that the standard says, and no others."""

from functools import cache

import pytest
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance, JointTrajectoryControllerState
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import Parameter, ParameterEvent, ParameterValue
from rclpy.serialization import deserialize_message, serialize_message
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_controllers.ros.cdr import exact, serialized, starting_now, starts_now
from arm_controllers.ros.serialized_messages import FIELDS, JointStateWriter
from arm_dynamics.checks import ArmError
from arm_tools.recording.ros.schemas import schema_text

NAMES = ['pan', 'lift', 'elbow']
Q, V, TAU = [0.1, -0.2, 0.3], [1.0, 2.0, -3.0], [10.0, 0.0, -1e-9]


@cache
def typestore(kind):
    store = get_typestore(Stores.EMPTY)
    store.register(get_types_from_msg(schema_text(kind), kind))
    return store


def as_rosbags_writes(raw, kind):
    """Return a message read and written by rosbags, which writes zeros between the fields."""
    store = typestore(kind)
    return bytes(store.serialize_cdr(store.deserialize_cdr(raw, kind), kind))


@pytest.mark.parametrize('frame_id', ['', 'a', 'servo_controller'])
@pytest.mark.parametrize('fields', [FIELDS, ('position',), ('effort',), ()])
@pytest.mark.parametrize('names', [['a'], ['ab', 'abc', 'abcd'], []])
def test_a_written_state_has_no_byte_that_is_not_a_field(names, fields, frame_id):
    raw = JointStateWriter(names, fields, frame_id).serialized(12_000_000_034)
    assert raw == as_rosbags_writes(raw, 'sensor_msgs/msg/JointState')


def parameter_event():
    value = ParameterValue(type=9, string_value='x', string_array_value=['a', 'bcd', ''])
    return ParameterEvent(
        node='/cube_task', new_parameters=[Parameter(name='q', value=value), Parameter()]
    )


MESSAGES = {
    'rcl_interfaces/msg/ParameterEvent': parameter_event(),
    'geometry_msgs/msg/WrenchStamped': WrenchStamped(),
    'control_msgs/msg/JointTrajectoryControllerState': JointTrajectoryControllerState(
        joint_names=NAMES
    ),
    'control_msgs/action/FollowJointTrajectory_Goal': FollowJointTrajectory.Goal(
        trajectory=JointTrajectory(
            joint_names=NAMES, points=[JointTrajectoryPoint(positions=Q, effort=TAU)] * 2
        ),
        path_tolerance=[JointTolerance(name='lift', position=1.0)],
    ),
}


@pytest.mark.parametrize('kind', MESSAGES)
@pytest.mark.slow
def test_uninitialised_memory_between_and_behind_the_fields_is_removed(kind):
    message = MESSAGES[kind]
    clean = as_rosbags_writes(serialized(message), kind)
    assert serialized(message) == clean
    dirty = bytearray(clean)
    for at in range(4, len(clean)):  # a byte that no reader looks at is a gap
        dirty[at] ^= 0x5A
        try:
            same = as_rosbags_writes(bytes(dirty), kind) == clean
        except Exception:
            same = False
        if not same:
            dirty[at] ^= 0x5A
    assert dirty != clean
    assert exact(bytes(dirty) + b'garbage', type(message)) == clean


@pytest.mark.parametrize('kind', MESSAGES)
def test_a_message_that_is_cut_off_is_not_made_exact(kind):
    raw = serialized(MESSAGES[kind])
    for length in range(4, len(raw) - 1):
        with pytest.raises(ArmError, match='cut off'):
            exact(raw[:length], type(MESSAGES[kind]))


@pytest.mark.parametrize('frame_id', ['', 'a', 'tool0'])
def test_a_goal_without_a_stamp_gets_one_and_the_frame_now_where_it_had_none(frame_id):
    goal = FollowJointTrajectory.Goal()
    goal.trajectory.header.frame_id = frame_id
    goal.trajectory.joint_names = NAMES
    goal.trajectory.points = [JointTrajectoryPoint(positions=Q)]
    raw = starting_now(bytes(serialize_message(goal)), 7_000_000_005)
    assert starts_now(raw) == (frame_id == '')
    goal.trajectory.header.stamp.sec, goal.trajectory.header.stamp.nanosec = 7, 5
    goal.trajectory.header.frame_id = frame_id or 'now'
    assert deserialize_message(raw, FollowJointTrajectory.Goal) == goal
