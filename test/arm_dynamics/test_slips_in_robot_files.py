"""Slips of authors and exporters: each is named, or refused with its probable cause."""

import gzip
import os
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import trimesh
from arms import chain, revolute
from optional import optional

from arm_dynamics.checks import ArmError
from arm_dynamics.clearance import Clearance
from arm_dynamics.descriptions.mjcf import Mjcf
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_dynamics.surroundings import Surroundings
from arm_sim.robot import Robot

ARM = chain('arm', [revolute(x, 'xyz="0 0 0.2"', '0 1 0') for x in 'abc'])
LIMIT = '<limit lower="-2.5" upper="2.2" effort="50" velocity="3"/>'
BOX = '_link"><{0}><origin {1}/><geometry><box size="0.1 0.1 0.1"/></geometry></{0}>'
TURNED, FAR = BOX.format('collision', 'rpy="0 90 0"'), BOX.format('visual', 'xyz="0 0 150"')
XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
NOT_SET = r"^xacro: environment variable 'NOT_SET' is not set"
REMEDY = r'xacro does not see those of the shell: write its value \('
VISUAL = BOX.format('visual', '')
MJCF = (
    '<mujoco>{}<worldbody><body name="one"><joint name="a" axis="0 1 0" {}/>'
    '<geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.03"/>{}</body></worldbody></mujoco>'
)


def limited(**values):
    text = LIMIT
    for key, value in values.items():
        given = {'lower': '-2.5', 'upper': '2.2', 'effort': '50', 'velocity': '3'}[key]
        text = text.replace(f'{key}="{given}"', f'{key}="{value}"')
    return ARM.replace(LIMIT, text, 1)


def behind(text, arm=ARM):
    return arm.replace('</robot>', f'{text}</robot>')


DRAKE = ' xmlns:drake="http://drake.mit.edu"'
NO_URDF = [
    ('404: Not Found', 'the answer of a web server: download the file again$'),
    (f'```xml\n{ARM}\n```', 'remove the lines with ```'),
    (f'a\n<<<<<<< HEAD\n{ARM}', 'marks of a merge conflict'),
    ('../arm_description/urdf/arm.urdf\n', 'path of another file: give that one'),
    ('#usda 1.0\n', 'it is USD'),
    ('{"robot": "arm"}', 'it is JSON: give the URDF'),
    ('{"message": "Not Found", "status": "404"}', 'the answer of a web server'),
    ('# limits\njoint_limits:\n  a: {max: 1}\n', 'it is YAML: give the URDF or xacro that uses'),
    ('[INFO] [x]: made\n' + ARM, 'remove what is before <robot$'),
    ('xacro: in order\n<?xml version="1.0"?>' + ARM, r'remove what is before <\?xml$'),
    ('ISO-10303-21;\nHEADER;\n', 'it is STEP, a shape without joints: export a URDF'),
    ('solid base\n facet normal 0 0 1\n', 'it is a mesh: give the URDF that names it'),
    ('# Blender\nmtllib a.mtl\nv 0 -1 0\n', 'it is a mesh: give the URDF that names it'),
    ('#VRML_SIM R2023b utf8\nRobot {}\n', 'it is of Webots'),
    ('from launch import LaunchDescription\n', 'it is a launch file'),
    ('--- a/arm.urdf\n+++ b/arm.urdf\n-<robot>\n', 'it is a patch'),
    ('<!DOCTYPE html>\n<html><link rel="x"><p>404 &middot; GitHub</html>', 'it is a web page'),
    ('project(arm_description)\n', 'it has no <robot>: give a URDF, a xacro or an MJCF$'),
    ('<link name="a"/><joint name="b"/>', 'it has no <robot>: give a URDF'),
    (ARM.replace('name="arm"', f'name="arm"{DRAKE}').replace(
        '</robot>', '<drake:joint name="w"/><link name="far"/></robot>'),
     "<drake:joint> 'w' is for Drake alone: write revolute"),
    (ARM[: len(ARM) // 2], 'its end, </robot> or </mujoco>, is missing: is it cut'),
    ('<link name="a"/>', 'a part of a URDF, not a URDF: give the file that includes it'),
    ('<Robot><Link name="a"/></Robot>', 'OpenRAVE, or has tags in capital letters'),
    ('<robot name="arm"><passive_joint name="a"/></robot>', 'an SRDF, not a URDF'),
    ('<svg xmlns="http://www.w3.org/2000/svg"><g/></svg>', 'a picture, not a URDF'),
    (ARM.replace('<robot', '<robot xmlns="http://ros.org"'), 'remove xmlns="http://ros.org" of'),
    (behind('<xacro:arm/>'), 'Write xmlns:xacro="http://www.ros.org/wiki/xacro" in <robot>'),
    (f'<robot {XACRO}><xacro:if value="${{a && b}}"/></robot>', 'write &amp; for &, or `and`'),
    (f'<robot {XACRO}><xacro:if value="${{1 < 2}}"/></robot>', 'write &lt; for <'),
    (f'<robot {XACRO}><xacro:arm>', r'is it xacro\?'),
    (limited(lower='-pi/2'), r'<limit lower="-pi/2"> must be finite numbers; is it xacro\?'),
    ('<a:top xmlns:a="x"/>', 'its root element is <top>, not <robot>'),
    (f"data: '{ARM}'", '`ros2 topic echo` has printed it'),
    (ARM.replace('<', '&lt;').replace('>', '&gt;'), 'written as &lt;'),
    (ARM + ARM, 'two <robot>: give one of them'),
    (ARM.replace('name="arm"', 'name=“arm”'), 'typographic quotes'),
    (behind('<!------ tool ------>'), 'XML forbids -- within a comment'),
    (behind('<!-- a -- b -->'), 'XML forbids -- within a comment'),
    (ARM.replace('name="arm"', 'name="pick & place"'), 'write &amp; for &'),
    ('<mujocoinclude/>', 'a part of an MJCF: give the file that includes it'),
    ('<launch/>', 'a launch file, not a URDF'),
    ('<package format="3"/>', 'a package.xml, not a URDF'),
    ('<COLLADA xmlns="http://www.collada.org"/>', 'a mesh, not a URDF'),
    ('<model name="arm"/>', 'a model of SDF, not a URDF'),
    ('<robot name="arm"><group name="all"/></robot>', 'an SRDF, not a URDF: give the URDF'),
    (ARM.replace('<joint name="b"', '<Joint name="b"').replace('</joint>', '</Joint>', 2)
     .replace('</Joint>', '</joint>', 1), '<Joint name="b">: URDF has each <link> and <joint>'),
    (behind('<group name="g"><link name="d"/></group><link name="e"/>'),
     '<link name="d"> in <group>: URDF has each'),
    (ARM.replace('<parent link="b_link"/>', '<parent name="b_link"/>'),
     "joint 'c': its <parent> has no link=\"\""),
    (ARM.replace('<parent link="b_link"/>', '<parent link="B_link"/>'),
     "parent link 'B_link' does not exist; nearest known: 'b_link'"),
    (ARM.replace('b_link', 'world'), "joint 'b' carries link 'world', .*: rename"),
    (limited(effort='inf'), '<limit effort="inf">: write 0 for no limit'),
    (limited(lower='-inf'), '<limit lower="-inf">: make the joint type="continuous"'),
    (limited(effort='\uff13'), '<limit effort="\uff13"> must be finite numbers'),
    (ARM.encode('utf-16-le').decode(), 'UTF-16 without its mark: save it as UTF-8'),
]  # fmt: skip


NO_TEXT = [
    (gzip.compress(ARM.encode()), 'it is packed, by gzip or zip: unpack it'),
    (b'PK\3\4' + bytes(99), 'it is packed, by gzip or zip: unpack it'),
    (bytes(257) + b'ustar' + bytes(99), 'it is packed: unpack it'),
    (ARM.encode('utf-16'), "arm.urdf': it is UTF-16: save it as UTF-8"),
    (b'PXR-USDC' + bytes(range(256)), 'it is USD: give the URDF'),
    (b'STL'.ljust(80) + b'\1\0\0\0' + bytes([0xCD] * 50), 'it is a mesh, STL'),
    (b'\x89PNG\r\n', 'it is a picture or a PDF'),
    (b'\xd0\xcf\x11\xe0' + bytes(99), 'of a CAD program or simulator: export a URDF'),
    (b'\0\xd2\x5e\0' + bytes(99), 'it is no text: is it a binary mesh or model'),
    (bytes(99), 'it is no text: is it a binary mesh or model'),
]


@pytest.mark.parametrize(('raw', 'line'), NO_TEXT)
def test_a_file_that_is_no_text_is_named_by_its_kind(tmp_path, raw, line):
    (tmp_path / 'arm.urdf').write_bytes(raw)
    with pytest.raises(ArmError, match=line) as error:
        Robot.load(str(tmp_path / 'arm.urdf'))
    assert 'codec' not in str(error.value)


@pytest.mark.parametrize(('text', 'line'), NO_URDF, ids=[x[1] for x in NO_URDF])
def test_what_is_no_urdf_has_its_cause_in_one_line(tmp_path, text, line):
    (tmp_path / 'arm.urdf').write_text(text)
    with pytest.raises(ArmError, match=line.removesuffix('$')) as error:
        RobotModel.from_urdf(tmp_path / 'arm.urdf')
    assert '\n' not in str(error.value)


def notes(text):
    return '\n'.join(RobotModel(text).notes)


INERTIAL = '<origin xyz="0 0 0.1"/><mass value="1"/>'
DRIVES = '<ros2_control name="r" type="system">{}</ros2_control>'
COMMANDED = '<joint name="c"><command_interface name="{}">{}</command_interface></joint>'
FOLLOWS = f'{LIMIT}<mimic joint="b"/>'.join(ARM.rsplit(LIMIT, 1))


NAMED = [
    (ARM.replace('_link">', TURNED, 1),
     'a_link: rpy of <collision> is more than a turn; is it written in degrees'),
    (ARM.replace('_link">', FAR, 1),
     'a_link: a <visual> more than 5 m from its link; is it in millimetres'),
    (ARM.replace('rpy="0.3 -0.4 0.5"', 'rpy="90 0 0"', 1),
     'rpy of <inertial> is more than a turn'),
    (ARM.replace('<mass value="', '<mass value="1700" alt="', 1), 'a ball of tungsten'),
    (limited(upper='15').replace('"revolute"', '"prismatic"', 1),
     'a: slides by more than .* m; is it in millimetres'),
    (ARM.replace(LIMIT, f'{LIMIT}<dynamics friction="80"/>', 1),
     'a: friction above the effort limit, so that it never moves'),
    (ARM.replace(LIMIT, f'{LIMIT}<dynamics damping="600"/>', 1),
     'a: damping takes the whole effort limit at a small part of the speed'),
    (limited(effort='5000').replace(LIMIT, f'{LIMIT}<dynamics damping="150"/>', 1),
     '^b: damping takes the whole effort limit at a small part of the speed'),
    (ARM.replace(LIMIT, f'{LIMIT}<dynamics armature="150"/>', 1),
     '^a: armature with which the effort limit hardly accelerates it'),
    (ARM.replace(LIMIT, LIMIT + '<safety_controller soft_lower_limit="-90"/>', 1),
     '^a: soft limits beyond three turns; are they written in degrees'),
    (ARM.replace(LIMIT, f'{LIMIT}<mimic joint="b" multiplier="-57.3"/>', 1),
     '^a: multiplier of <mimic> is 180/pi or pi/180'),
    (ARM.replace(LIMIT, f'{LIMIT}<mimic joint="b" multiplier="0"/>', 1),
     '^a: multiplier of <mimic> is 0, so that it never moves'),
    (ARM.replace('<axis xyz="0 1 0"/>', '', 1), '^a: no <axis xyz="">, so that it moves along x'),
    (ARM.replace('<axis xyz="0 1 0"/>', '<axis/>', 1), '^a: no <axis xyz="">'),
    (ARM.replace('"revolute"', '"prismatic"').replace('"0 1 0"', '"0 2 0"', 1),
     '^a: <axis> of a slide whose length is not 1'),
    (re.sub('_link">.*?</inertial>', VISUAL, ARM, count=1, flags=re.DOTALL),
     '^a: moves shapes without mass; is an <inertial> missing'),
    (limited(effort='28000').replace('effort="50"', 'effort="56000"'),
     r'effort limits are [\d.e+]+ or more times the torque of the weight; are they in N mm'),
    (limited(lower='-90', upper='90'), '^a: <limit> is beyond 10 rad; is it written in degrees'),
    (limited(upper='15'), '^a: <limit> is beyond 10 rad; is it written in degrees'),
    (limited(velocity='0.01'), '^a: slower than 0.02 rad/s; is its speed limit in another unit'),
    (limited(velocity='90'), '^a: faster than 60 rad/s; is it in degrees per second'),
    (behind(DRIVES.format(COMMANDED.format(
        'effort', '<param name="min">-5</param><param name="max">5</param>'))),
     'min and max in <ros2_control> of c are not used'),
    (behind(DRIVES.format('<joint name="c"><limits enable="false"/></joint>')),
     '<limits enable="false"> in <ros2_control> of c is not used'),
    (behind(DRIVES.format('<joint name="c" mimic="false"/>'), FOLLOWS),
     'mimic="false" in <ros2_control> of c is not used'),
    (behind(DRIVES.format('<joint name="c"><param name="mimic">b</param>'
                          '<param name="multiplier">-1</param></joint>'), FOLLOWS),
     'multiplier and offset in <ros2_control> of c are not used'),
    (behind(DRIVES.format(COMMANDED.format('positon', ''))), r"'positon' .did you mean position"),
    (behind('<ros2_control name="r" type="systm"/>'), "type of <ros2_control> is 'systm'; allow"),
    (behind('<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="g.urdf"/>'),
     '<xi:include> of g.urdf is not used'),
    (behind('<include filename="g"/>'), '<include> is not used: a URDF includes no other file'),
    (behind('<macro name="m"/>'), '<macro> is not used: is it xacro without the prefix'),
    (behind('<gazebo><plugin filename="m"><mimicJoint>c</mimicJoint></plugin></gazebo>'),
     'mimicJoint c in <gazebo> is not used: write <mimic>'),
    (behind('<drake:ball_constraint/>').replace('name="arm"', f'name="arm"{DRAKE}'),
     '<drake:ball_constraint> is not used: the loop stays open'),
    (behind('<drake:joint name="w" type="planar"/>').replace('name="arm"', f'name="arm"{DRAKE}'),
     '<drake:joint> of w is not used: nothing moves by it'),
    (ARM.replace(LIMIT, f'{LIMIT}<drake:screw_thread_pitch value="0.1"/>', 1)
     .replace('name="arm"', f'name="arm"{DRAKE}'),
     '<drake:screw_thread_pitch> of a is not used: no joint is a screw'),
    (ARM.replace('velocity="3"', 'velocity="3" drake:acceleration="9"', 1)
     .replace('name="arm"', f'name="arm"{DRAKE}'), 'drake:acceleration of a is not used'),
]  # fmt: skip


@pytest.mark.parametrize(('text', 'line'), NAMED, ids=[x[1] for x in NAMED])
def test_what_has_another_unit_or_is_for_another_program_is_named(text, line):
    assert not re.search(line, notes(ARM) + notes(FOLLOWS), re.MULTILINE)
    assert re.search(line, notes(text), re.MULTILINE)


# Two turns of an actuator, no drive of a simulated arm, speeds and damping that arms have.
USUAL = [
    limited(lower='-12.566', upper='12.566'), limited(lower='-10', upper='10'),
    ARM.replace('effort="50"', 'effort="90000"'), limited(effort='1e9'),
    limited(velocity='100'), ARM.replace('velocity="3"', 'velocity="90"'),
    ARM.replace('velocity="3"', 'velocity="100"').replace(
        LIMIT.replace('"3"', '"100"'), LIMIT.replace('"3"', '"100"') + '<dynamics damping="9"/>'
    ),
    ARM.replace(LIMIT, f'{LIMIT}<dynamics damping="60"/>'),
    re.sub('<mass value="[^"]*"/>', '<mass value="0"/>', limited(effort='20000')),
    re.sub('<inertial>.*?</inertial>', '', ARM.replace('_link">', VISUAL), flags=re.DOTALL),
    re.sub('<inertial>.*?</inertial>', '', ARM, count=1, flags=re.DOTALL),
    ARM.replace('<link name="tool">', '<link name="tool"><!-- -->').replace('_link">', VISUAL),
    ARM.replace(LIMIT, f'{LIMIT}<dynamics armature="9"/>'),
    behind(DRIVES.format(COMMANDED.format('position/kp', ''))),
    ARM.replace(LIMIT, LIMIT + '<safety_controller soft_lower_limit="-10.5"/>', 1),
    ARM.replace(LIMIT, f'{LIMIT}<mimic joint="b" multiplier="-1"/>', 1),
]  # fmt: skip


@pytest.mark.parametrize('text', USUAL)
def test_what_actuators_and_placeholders_have_is_not_named(text):
    assert not re.search(
        'degrees|N mm|damping takes|beyond|mass|armature with|pi/180|did you mean', notes(text)
    )


def test_efforts_are_compared_with_the_weight_on_earth():
    text = limited(effort='28')
    assert not any('N mm' in x for x in RobotModel(text, gravity=(0, 0, -0.01)).notes)
    assert not any('N mm' in x for x in RobotModel(text, gravity=(0, 0, 0)).notes)


def test_a_range_of_an_mjcf_in_degrees_is_named_where_it_says_radians(tmp_path):
    radian = '<compiler angle="radian"/>'
    other = '<body><joint name="b" range="-1 1"/><geom size="0.1"/></body>'
    for text, named in ((radian, True), ('', False)):
        (tmp_path / 'arm.xml').write_text(MJCF.format(text, 'range="-90 90"', other))
        said = Robot.load(str(tmp_path / 'arm.xml')).model.notes
        assert any('a: <limit> is beyond 10 rad' in each for each in said) == named


def test_a_follower_of_gazebo_that_follows_here_as_well_is_not_named():
    plugin = '<gazebo><plugin filename="m"><mimicJoint>c</mimicJoint></plugin></gazebo>'
    assert 'mimicJoint' not in notes(behind(plugin, FOLLOWS))


@pytest.mark.parametrize(
    ('srdf', 'line'),
    [
        ('<group name="g"><chian base_link="a_link" tip_link="c_link"/></group>',
         'not used in the SRDF: <chian> in <group>'),
        ('<group name="g"><group name="nope"/></group>', 'groups that it does not have: nope'),
        ('<end_effector name="e" parent_link="c_link" group="hand"/>',
         'groups that it does not have: hand'),
        ('<passive_joint name="b"/>', '<passive_joint> b of the SRDF is driven'),
        ('<passive_joint name="c"/>', ''),  # it follows another one
    ],
)  # fmt: skip
def test_slips_of_an_srdf_are_named(tmp_path, srdf, line):
    (tmp_path / 'arm.urdf').write_text(FOLLOWS)
    (tmp_path / 'arm.srdf').write_text(f'<robot name="arm">{srdf}</robot>')
    said = [x for x in RobotModel.from_urdf(tmp_path / 'arm.urdf').notes if 'SRDF' in x]
    assert any(line in each for each in said) if line else not said


@pytest.mark.parametrize(
    ('make', 'line'),
    [
        (Path.mkdir, 'is ignored: cannot be read: [Errno 21] Is a directory'),
        (os.mkfifo, 'is ignored: cannot be read: not a regular file'),
        (lambda path: path.symlink_to('no'), 'is ignored: cannot be read: [Errno 2] No such'),
    ],
)
@pytest.mark.parametrize('text', [ARM, FOLLOWS], ids=['plain', 'converted'])
def test_an_srdf_that_is_no_file_is_named(tmp_path, make, line, text):
    (tmp_path / 'arm.urdf').write_text(text)
    make(tmp_path / 'arm.srdf')
    notes = RobotModel(find_urdf(str(tmp_path / 'arm.urdf'))).notes
    assert [each for each in notes if "arm.srdf' " + line in each]


def test_an_srdf_that_is_a_pointer_of_git_lfs_is_named(tmp_path):
    (tmp_path / 'arm.urdf').write_text(ARM)
    (tmp_path / 'arm.srdf').write_text('version https://git-lfs.github.com/spec/v1\n')
    notes = RobotModel.from_urdf(tmp_path / 'arm.urdf').notes
    assert any("'arm.srdf' stands for a file of Git LFS: run `git lfs" in each for each in notes)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ('inside', 'line'),
    [
        (
            '<xacro:include filename="Parts.xacro"/>',
            r"; there is '.*parts\.xacro', in other small",
        ),
        ('<link name="$(env NOT_SET)"/>', f'{NOT_SET}; {REMEDY}'),
        (
            '<xacro:property name="p" value="$(env NOT_SET)"/><link name="${p}"/>',
            f"{NOT_SET} when evaluating expression 'p'; {REMEDY}",
        ),
        ('<link name="$(env LANG)"/>', f'{NOT_SET.replace("NOT_SET", "LANG")}; {REMEDY}'),
        (
            '<xacro:macro name="arm"><link name="a"/></xacro:macro>',
            'it has no <link>; is it a part',
        ),
    ],
)
def test_slips_in_a_xacro_have_their_cause(tmp_path, capfd, monkeypatch, inside, line):
    optional('xacro', 'xacro')
    monkeypatch.setenv('LANG', 'C')
    (tmp_path / 'parts.xacro').write_text('<robot/>')
    (tmp_path / 'arm.xacro').write_text(f'<robot name="arm" {XACRO}>{inside}</robot>')
    with pytest.raises(ArmError, match=line):
        Robot.load(str(tmp_path / 'arm.xacro'))
    assert 'xacro' not in capfd.readouterr().err  # once


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ('part', 'line'),
    [
        ('<robot><link>', r"no element found.*parts\.xacro'"),
        ('<robot><xacro:include filename="parts.xacro"/></robot>', 'does a file include itself'),
    ],
)
def test_an_included_file_is_named_with_its_fault(tmp_path, part, line):
    optional('xacro', 'xacro')
    (tmp_path / 'parts.xacro').write_text(part.replace('<robot>', f'<robot {XACRO}>'))
    include = '<xacro:include filename="parts.xacro"/>'
    (tmp_path / 'arm.xacro').write_text(f'<robot name="arm" {XACRO}>{include}</robot>')
    with pytest.raises(ArmError, match=line):
        Robot.load(str(tmp_path / 'arm.xacro'))


@pytest.mark.parametrize('encoding', ['gb2312', 'shift_jis', 'no-such', 'utf-16'])
@pytest.mark.parametrize(('comment', 'tool'), [(b'', 'c_link'), (b'<!-- \xb1\xdb -->', 'tool')])
def test_side_files_of_any_encoding_end_no_run(tmp_path, encoding, comment, tool):
    package = tmp_path / 'src' / 'arm'
    package.mkdir(parents=True)
    head = f'<?xml version="1.0" encoding="{encoding}"?>'.encode() + comment
    (package / 'package.xml').write_bytes(head + b'<package><name>arm</name></package>')
    mesh = '<collision><geometry><mesh filename="package://arm/m.stl"/></geometry></collision>'
    (package / 'arm.urdf').write_text(ARM.replace('_link">', f'_link">{mesh}', 1))
    end = b'<end_effector name="e" parent_link="c_link"/>'
    (package / 'arm.srdf').write_bytes(head + b'<robot name="arm">' + end + b'</robot>')
    model = Robot.load(str(package / 'arm.urdf')).model
    Clearance(model, Surroundings())
    assert model.tip_frame == tool
    assert any('is ignored' in each for each in model.notes) == bool(comment)


def test_a_mesh_of_collada_has_its_unit(tmp_path):
    file = trimesh.creation.box((1.0, 1.0, 3.0)).export(file_type='dae')
    shape = '<collision><geometry><mesh filename="m.dae"/></geometry></collision>'
    (tmp_path / 'arm.urdf').write_text(ARM.replace('_link">', f'_link">{shape}', 1))
    radii = []
    for unit in (b'1', b'0.01'):
        (tmp_path / 'm.dae').write_bytes(
            file.replace(b'<up_axis>', b'<unit meter="' + unit + b'"/><up_axis>')
            if b'<unit' not in file
            else re.sub(rb'meter="[^"]*"', b'meter="' + unit + b'"', file)
        )
        model = RobotModel.from_urdf(tmp_path / 'arm.urdf')
        solid = Clearance(model, Surroundings()).geometry.geometryObjects[0].geometry
        solid.computeLocalAABB()
        radii.append(solid.aabb_radius)
    np.testing.assert_allclose(radii, [np.sqrt(11.0) / 2, np.sqrt(11.0) / 200], rtol=1e-6)


@pytest.mark.parametrize(
    ('gravity', 'line'),
    [('0 0 -981', '981 m/s'), ('0 0 9.81', 'points up'), ('0 0 -9.81', ''), ('0 0 0', '')],
)
def test_an_unusual_gravity_of_an_mjcf_is_named(tmp_path, capfd, gravity, line):
    (tmp_path / 'arm.xml').write_text(MJCF.format(f'<option gravity="{gravity}"/>', '', ''))
    Robot.load(str(tmp_path / 'arm.xml'))
    said = capfd.readouterr().err
    assert (line in said) if line else 'gravity' not in said


def test_endless_ranges_of_an_mjcf_are_no_limits_and_its_links_have_names_of_their_own(tmp_path):
    body = '<body><geom size="0.1"/></body><body name="body_2"><geom size="0.1"/></body>'
    (tmp_path / 'arm.xml').write_text(MJCF.format('', 'range="-inf inf"', body))
    tree = Mjcf(tmp_path / 'arm.xml').urdf(tmp_path)
    links = [each.get('name') for each in tree.iterfind('link')]
    assert links == ['world', 'one', 'body_2_', 'body_2']
    (moving,) = (each for each in tree.iterfind('joint') if each.get('type') != 'fixed')
    assert moving.get('type') == 'continuous'
    assert RobotModel(ElementTree.tostring(tree, 'unicode')).nv == 1


def test_entities_and_other_spaces_are_written_out_for_other_programs():
    text = '<!DOCTYPE robot [<!ENTITY e "50">]>' + ARM.replace('effort="50"', 'effort="&e;"', 1)
    written = RobotModel(text).urdf
    assert '<!DOCTYPE' not in written
    assert written.count('effort="50"') == ARM.count('effort="50"')
    spaces = RobotModel(ARM.replace('xyz="0 0 0.2"', 'xyz="0\u00a00 0.2"')).urdf
    assert '\u00a0' not in spaces
