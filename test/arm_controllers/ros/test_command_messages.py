"""Commands in JointStates whose joints have different command interfaces."""

import numpy as np
import pytest
from sensor_msgs.msg import JointState

from arm_controllers.ros.cdr import serialized
from arm_controllers.ros.command_messages import CommandReader
from arm_dynamics.checks import ArmError

NAMES, INTERFACES = ['a', 'b', 'c', 'd'], ['position', 'effort', 'velocity', 'position']
NAN = float('nan')


def read(reader=None, **fields):
    reader = reader or CommandReader(NAMES, INTERFACES)
    reader.open(serialized(JointState(**{'name': NAMES} | fields)))
    return reader.command().tolist()


def test_each_joints_command_is_read_from_the_field_of_its_interface():
    reader = CommandReader(NAMES, INTERFACES)
    for k in range(3):
        found = read(
            reader,
            position=[1.0 + k, NAN, 7.0, 4.0],
            velocity=[7.0, NAN, 3.0, NAN],
            effort=[NAN, 2.0, NAN, 9.0],
        )
        assert found == [1.0 + k, 2.0, 3.0, 4.0]


def test_the_sender_orders_its_joints_as_it_likes_and_may_leave_out_other_joints_numbers():
    names = ['d', 'x', 'c', 'b', 'a']
    whole = read(
        name=names,
        position=[4.0, 8.0, NAN, NAN, 1.0],
        velocity=[NAN, NAN, 3.0, NAN, NAN],
        effort=[NAN, NAN, NAN, 2.0, NAN],
    )
    short = read(name=names, position=[4.0, 1.0], velocity=[3.0], effort=[2.0])
    assert whole == short == [1.0, 2.0, 3.0, 4.0]


def test_a_command_without_the_number_of_a_joint_is_refused_by_its_name():
    with pytest.raises(ArmError, match="joint 'c': command nan is not finite"):
        read(position=[1.0] * 4, velocity=[1.0, 1.0, NAN, 1.0], effort=[1.0] * 4)
    with pytest.raises(ArmError, match='0 velocity values for 4 joint names'):
        read(position=[1.0] * 4, effort=[1.0] * 4)
    with pytest.raises(ArmError, match="joint 'b': command 3000000000000.0 is not within"):
        read(position=[1.0] * 4, velocity=[1.0] * 4, effort=[0.0, 3e12, 0.0, 0.0])


def test_a_command_in_which_every_joints_number_is_nan_is_no_command():
    reader = CommandReader(NAMES, INTERFACES)
    for nan, others in ((True, 5.0), (False, NAN)):
        own = NAN if nan else 1.0
        position, velocity = [own, others, others, own], [others, others, own, others]
        effort = [others, own, others, others]
        message = JointState(name=NAMES, position=position, velocity=velocity, effort=effort)
        reader.open(serialized(message))
        assert reader.is_nan() is nan
    for without in (JointState(name=['x'], position=[NAN]), JointState(name=NAMES)):
        reader.open(serialized(without))
        assert not reader.is_nan()


@pytest.mark.parametrize('interface', ['position', 'velocity', 'effort', 'voltage'])
def test_one_interface_for_all_joints_needs_its_field_alone(interface):
    field = 'effort' if interface == 'voltage' else interface
    reader = CommandReader(NAMES, [interface] * 4)
    np.testing.assert_array_equal(read(reader, **{field: [1.0, 2.0, 3.0, 4.0]}), [1, 2, 3, 4])


def test_joints_that_follow_ours_may_come_behind_them():
    reader = CommandReader(NAMES, INTERFACES)
    whole = {'position': [1.0, NAN, NAN, 4.0, 8.0], 'effort': [NAN, 2.0, NAN, NAN, NAN]}
    for speed in (3.0, 3.5):
        velocity = [NAN, NAN, speed, NAN, NAN]
        found = read(reader, name=[*NAMES, 'follower'], velocity=velocity, **whole)
        assert found == [1.0, 2.0, speed, 4.0]
        assert not reader.is_nan()
    with pytest.raises(ArmError, match="joint 'c': command nan is not finite"):
        read(reader, name=[*NAMES, 'follower'], velocity=[NAN] * 5, **whole)
    one = CommandReader(NAMES, ['effort'] * 4)
    with pytest.raises(ArmError, match="joint 'b': effort nan is not finite"):
        read(one, name=[*NAMES, 'follower'], effort=[1.0, NAN, 1.0, 1.0, 1.0])
