"""Numbers and names of a robot's file that no arm has, or that stand for nothing, are named."""

import re

import pytest
from arms import chain, revolute

from arm_dynamics.checks import ArmError
from arm_dynamics.descriptions.mjcf_slips import slips
from arm_dynamics.file_kinds import number_hint
from arm_dynamics.model import RobotModel
from arm_sim.robot import Robot

ARM = chain('arm', [revolute(x, 'xyz="0 0 0.2"', '0 1 0') for x in 'abc'])
LIMIT = '<limit lower="-2.5" upper="2.2" effort="50" velocity="3"/>'
FOLLOWS = f'{LIMIT}<mimic joint="b" {{}}/>'
DRIVES = '<ros2_control name="r" type="system">{}</ros2_control></robot>'
OF_A = '<joint name="a"/>'
SHAPE = '<visual><geometry><cylinder radius="{}" length="{}"/></geometry></visual>'
LED = 'joint name="b" type="revolute"><mimic joint="a"/>'
TENSOR = r'<inertia ixx="0.02"[^>]*>'
ONES = '<inertia ixx="{0}" ixy="0" ixz="0" iyy="{0}" iyz="0" izz="{0}"/>'


def notes(text):
    return '\n'.join(RobotModel(text).notes)


def scaled(tag, factor):
    return re.sub(
        rf'({tag}="|i[xyz][xyz]=")([^"]*)',
        lambda found: found[1] + repr(float(found[2]) * factor),
        ARM,
    )


def tensors(factor):
    return re.sub('(i[xyz][xyz]=")([^"]*)', lambda x: f'{x[1]}{float(x[2]) * factor}', ARM)


def first(old, new):
    assert old in ARM
    return ARM.replace(old, new, 1)


# The second joint is where the first one is.
SECOND = first('xyz="0 0 0.2"', 'xyz="0 0 0.20"').replace(
    '<origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>', '<axis xyz="{}"/>', 1
)


NAMED = [
    # Masses and moments of inertia
    (re.sub(TENSOR, ONES.format(1), ARM, count=1),
     '^a_link: moments of inertia of its mass at 0.77 m, beyond the link and every distance'),
    (re.sub(TENSOR, ONES.format(0), ARM, count=1),
     '^a_link: hardly any moment of inertia for its mass'),
    (re.sub(TENSOR, ONES.format(1e-9), ARM, count=1),
     '^a_link: hardly any moment of inertia for its mass'),
    (scaled('value', 1e-3), r'kg move in an arm of 0.\d+ m; are masses in tonnes'),
    (scaled('value', 1e3), r'kg move in an arm of 0.\d+ m; are masses in grams'),
    (tensors(1e-3), '^gyration radii of 4.6 mm in links whose joints are 0.2 m apart; are mom'),
    (ARM.replace('xyz="0 0 0.2"', 'xyz="0 0 0.0002"').replace('xyz="0.1 0 0.05"', ''),
     '^all joints are within 0.6 mm; are <origin> missing'),
    (first('_link">', '_link">' + SHAPE.format(50, 350)), '^a_link: a <visual> longer than 10 m'),
    (SECOND.format('0 1 0'), '^a and b turn about the same line at the same place; is an <orig'),
    # Limits and angles
    (ARM.replace('velocity="3"', 'velocity="40"'), '^a: moves the end of the arm at up to 20'),
    (first('effort="50"', 'effort="50000"'), '^a: effort of more than 500 times that of the oth'),
    (first('lower="-2.5"', 'lower="2.1"'), '^a: lower and upper are close together beside 0'),
    (first(LIMIT, LIMIT.replace('-2.5', '-0.001').replace('2.2', '0.001')),
     '^a: hardly has a range between lower and upper'),
    (first('lower="-2.5"', ''), '^a: only one of lower and upper is written'),
    (first('velocity="3"', 'velocity="3" acceleration="0.01"'), '^a: acceleration takes minutes'),
    (first('velocity="3"', 'velocity="3" acceleration="5e4"'), '^a: acceleration reaches the sp'),
    (first('xyz="0 0 0.2"', 'xyz="0 0 0.2" rpy="0 0 5"'), '^a: rpy has a whole number of radians'),
    (FOLLOWS.format('multiplier="50"').join(ARM.rsplit(LIMIT, 1)),
     '^b: <limit> of joints that follow by <mimic> leave it less than a fifth'),
    (FOLLOWS.format('offset="4.5"').join(ARM.rsplit(LIMIT, 1)), '^b: <limit> of joints that fol'),
    (first(LIMIT, LIMIT + '<dynamics><damping>1</damping></dynamics>'),
     '<damping> in <dynamics>, which is an attribute: damping=""'),
    (first('type="revolute"', 'type="revolute" parent="base"'), 'no URDF has it: parent="" of'),
    # Names
    (ARM.replace('joint name="b"', 'joint name="b "'), "^the names 'b ' have a comma, a line br"),
    (ARM.replace('joint name="b"', 'joint name="b,c"'), "^the names 'b,c' have a comma"),
    (ARM.replace('"tool"', '"base_"').replace('"base"', '"tool"').replace('"base_"', '"base"'),
     "^the joints move 'base', which is an end: are parent and child swapped"),
    (ARM.replace('<robot', '<robot version="2.0"'), '^version="2.0" of <robot>, which other prog'),
    (ARM.replace('<robot name="arm"', '<robot'), '^<robot> has no name=""'),
    (ARM.replace('</robot>', f'<transmission>{OF_A}<joint name="C"/></transmission></robot>'),
     '^<transmission> names C, which is no joint of the URDF; did you mean c'),
    (ARM.replace('</robot>', '<gazebo reference="d_link"/></robot>'),
     '^<gazebo reference=""> names d_link, which is no link or joint'),
    (ARM.replace('</robot>', DRIVES.format('<transmission><joint name="z"/></transmission>')),
     '^<transmission> names z, which is no joint'),
    (ARM.replace('</robot>', DRIVES.format(2 * OF_A)), '^<ros2_control> has a more than once'),
    (ARM.replace('</robot>', DRIVES.format('').replace('</robot>', DRIVES.format(''))),
     "^2 <ros2_control> have the name 'r'"),
]  # fmt: skip


@pytest.mark.parametrize(('text', 'line'), NAMED, ids=[x[1] for x in NAMED])
def test_what_no_arm_has_or_stands_for_nothing_is_named(text, line):
    assert not re.search(line, notes(ARM), re.MULTILINE)
    assert re.search(line, notes(text), re.MULTILINE)


# What genuine arms have: a light hand, a small wrist, an elbow that turns to one side.
USUAL = [
    re.sub('value="[^"]*"', 'value="0.05"', scaled('value', 0.05)),
    first('lower="-2.5"', 'lower="0.7"'),
    first('effort="50"', 'effort="900"'),
    first('xyz="0 0 0.2"', 'xyz="0 0 0" rpy="0 0 3.0001"'),
    tensors(1e-2),
    SECOND.format('0 0 1'),
    SECOND.format('0 1 0').replace('joint name="b" type="revolute">', LED),
    ARM.replace('velocity="3"', 'velocity="20"'),
    ARM.replace('velocity="3"', 'velocity="10"').replace('xyz="0 0 0.2"', 'xyz="0 0 1"'),
    first('velocity="3"', 'velocity="3" acceleration="15"'),
    FOLLOWS.format('multiplier="-1"').join(ARM.rsplit(LIMIT, 1)),
    ARM.replace(
        '</robot>', '<gazebo/><gazebo reference="a"/><gazebo reference="a_link"/></robot>'
    ),
    ARM.replace('<robot', '<robot version="1.2"'),
    ARM.replace('"tool"', '"hand_base"'),
    ARM.replace('"fixed">', '"fixed"><limit effort="1" velocity="1" acceleration="x"/>'),
    first('_link">', '_link">' + SHAPE.format(0.05, 2.0)),
]


@pytest.mark.parametrize('text', USUAL)
def test_what_genuine_arms_have_is_not_named(text):
    assert notes(text) == ''


GROUP = '<group name="g"><joint name="a"/></group>'


@pytest.mark.parametrize(
    ('srdf', 'line'),
    [
        (2 * GROUP, 'the SRDF has more than one <group> g'),
        (
            GROUP + '<end_effector name="e" parent_link="tool" group="g" parent_group="h"/>',
            'the SRDF names groups that it does not have: h',
        ),
        (
            GROUP + '<group_state name="s" group="g"><joint name="a" value="90"/></group_state>',
            '<group_state> of the SRDF: a in s is beyond <limit>; is it in degrees?',
        ),
        (
            GROUP + '<group_state name="s" group="g"><joint name="a" value="2.3"/></group_state>',
            '<group_state> of the SRDF: a in s is beyond <limit>: correct value or <limit>',
        ),
        (
            GROUP + '<group_state name="s" group="g"><joint name="a" value="x"/></group_state>',
            '<group_state> of the SRDF: a in s has a value that is no number',
        ),
        (GROUP + '<group_state name="s" group="g"><joint name="a" value="1"/></group_state>', ''),
    ],
)
def test_groups_and_states_of_an_srdf_that_cannot_be_are_named(tmp_path, srdf, line):
    (tmp_path / 'arm.urdf').write_text(ARM)
    (tmp_path / 'arm.srdf').write_text(f'<robot name="arm">{srdf}</robot>')
    said = RobotModel.from_urdf(tmp_path / 'arm.urdf').notes
    assert any(each.startswith(line) for each in said) if line else said == ()


@pytest.mark.parametrize(
    ('text', 'hint'),
    [
        ('0 0 0,35', 'a decimal point'), ('0, 0, 0.3', 'spaces between'), ('4.2kg', 'unit'),
        ('90\u00b0', 'without units'), ('\u22120.3', 'another sign'), ('[0 0 1]', 'brackets'),
        ('7/20', 'result of the expression'), ('3.5d-1', 'e for the exponent'), ('', 'is empty'),
        ('${x}', 'is it xacro'), ('-pi', 'is it xacro'), ('abc', '^$'),
    ],
)  # fmt: skip
def test_numbers_that_are_none_have_their_cause(text, hint):
    assert re.search(hint, number_hint(text))


@pytest.mark.parametrize(
    ('end', 'line'),
    [
        ('</robot>\0', 'it has bytes of value 0'),
        ('</robot>end', 'remove what is behind </robot>'),
        ('<material name=x/></robot>', 'write " around values of attributes'),
        ('<material name="a<b"/></robot>', 'write &lt; for < in an attribute'),
    ],
)
def test_what_is_no_xml_has_its_remedy(tmp_path, end, line):
    (tmp_path / 'arm.urdf').write_text(ARM.replace('</robot>', end))
    with pytest.raises(ArmError, match=line):
        Robot.load(str(tmp_path / 'arm.urdf'))


RADIAN, DEGREE = '<compiler angle="radian"/>', '<compiler angle="degree"/>'


@pytest.mark.parametrize(
    ('text', 'line'),
    [
        (3 * '<body quat="0 0 0 1"/>', 'the last number of all 3 quat="" is the largest'),
        ('<body quat="0 0 0 1"/><body quat="0.1 0 0 1"/><body quat="0 0.7 0 0.7"/>', 'x y z w'),
        ('<body quat="0 0 0 1"/><body quat="0 0 0 1"/>', ''),
        ('<body quat="0 0 0 1"/><body quat="0 0 0 1"/><body quat="1 0 1 0"/>', ''),
        ('<body quat="0 0 1 1"/><body quat="1 0 0 1"/><body quat="1 1 1 1"/>', ''),
        ('<body quat="0.9 0.7 0 0"/>', 'quat="0.9 0.7 0 0" has the length 1.14'),
        ('<body quat="90 0 0 0"/>', 'has the length 90'),
        (RADIAN + '<body euler="0 90 0"/>', 'euler="0 90 0" is in radians; is it written in deg'),
        (RADIAN + '<body axisangle="0 9 0 45"/>', 'axisangle="0 9 0 45" is in radians'),
        (RADIAN + '<joint ref="45"/>', 'ref="45" is in radians; is it written in degrees'),
        (RADIAN + '<joint type="slide" ref="45"/>', ''),
        (RADIAN + '<body euler="0 1.5708 0"/>', ''),
        ('<body euler="0 1.5708 0"/>', 'in degrees; is it written in radians. Then write <comp'),
        (DEGREE + '<body axisangle="1.5708 0 0 90"/>', ''),
        ('<joint range="-3.14159 3.14159"/>', 'range="-3.14159 3.14159" is in degrees'),
        ('<joint type="slide" range="0 1.57"/>', ''),
        ('<joint range="0 0"/>', 'range="0 0" of 1 joints means no limit to MuJoCo'),
        ('<!-- <body euler="0 1.57 0"/> -->', ''),
    ],
)
def test_slips_in_angles_and_quaternions_of_an_mjcf_are_named(text, line):
    found = '\n'.join(slips(f'<mujoco>{text}</mujoco>'))
    assert re.search(line, found) if line else found == ''
