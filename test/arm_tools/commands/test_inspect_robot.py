"""inspect_robot: what a file says, and how other readers of the same URDF differ."""

import json
import os
import re

import numpy as np
import pytest
import trimesh
from arms import chain, revolute

import arm_sim
from arm_dynamics import ArmError
from arm_tools.commands import inspect_robot

ARM = chain(
    'arm', [revolute('a', 'xyz="0 0 0.3"', '0 0 1'), revolute('b', 'xyz="0 0.2 0"', '1 0 0')]
)


@pytest.fixture
def written(tmp_path):
    def write(old='', new=''):
        file = tmp_path / 'arm.urdf'
        file.write_text(ARM.replace(old, new, 1) if old else ARM)
        return file

    return write


def test_mujoco_reads_the_same_arm_of_a_plain_urdf(written):
    report = arm_sim.inspect_robot(str(written()))
    mujoco = report.numbers['readers'][0]
    assert mujoco['reader'].startswith('MuJoCo')
    assert mujoco['reason'] == ''
    assert max(mujoco['tool'], mujoco['mass'], mujoco['torque']) < 1e-9
    assert report.numbers['mass_kg'] == pytest.approx(1.7 + 1.7 + 0.6)
    q = [np.array((x, y)) for x in (-1.0, 0.5) for y in (-1.5, 1.0)]
    joint = np.array((0.0, 0.0, 0.3))
    tool = [np.linalg.norm(report.found.forward_kinematics(x).translation - joint) for x in q]
    assert max(tool) <= report.numbers['reach_m'] + 1e-3


@pytest.mark.parametrize(
    ('said', 'reason'),
    [
        (None, ''),
        ('root Link: base has 1 child(ren)\n    child(1):  a_link', 'other links: b_link, tool'),
        ('Error:   Two root links found: [b] and [c]\n', 'Two root links found: [b] and [c]'),
    ],
)
def test_what_check_urdf_reads_of_the_same_file(written, monkeypatch, tmp_path, said, reason):
    if said is not None:  # as urdfdom's program has said it
        program = tmp_path / 'check_urdf'
        program.write_text(f"#!/bin/sh\ncat << 'END'\n{said}\nEND\n")
        program.chmod(0o755)
        monkeypatch.setenv('PATH', f'{tmp_path}:{os.environ["PATH"]}')
    readers = arm_sim.inspect_robot(str(written())).numbers['readers']
    (found,) = (each for each in readers if each['reader'].startswith('check_urdf'))
    assert re.fullmatch(r'check_urdf \d+\.\d+\.\d+', found['reader'])
    assert found['reason'] == reason


def test_the_moving_mass_leaves_out_the_base(written):
    mass = '<inertial><mass value="9"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    file = written('<link name="base"/>', f'<link name="base">{mass}</inertial></link>')
    assert arm_sim.inspect_robot(str(file)).numbers['mass_kg'] == pytest.approx(1.7 + 1.7 + 0.6)


@pytest.mark.parametrize(('old', 'new'), [('ixx="0.02"', 'ixx="0.9"'), ('<inertial>.*?l>', '')])
def test_mujoco_is_compared_with_although_it_refuses_moments_of_inertia(written, old, new):
    file = written()
    file.write_text(re.sub(old, new, ARM, count=1, flags=re.DOTALL))
    assert file.read_text() != ARM
    mujoco = arm_sim.inspect_robot(str(file)).numbers['readers'][0]
    assert 'inertia' in mujoco['reason']
    assert max(mujoco['tool'], mujoco['mass'], mujoco['torque']) < 1e-9


def test_a_joint_that_carries_no_weight_has_none_of_rounding():
    joints = arm_sim.inspect_robot('ur5e').numbers['joints']
    assert [each['gravity'] for each in joints if each['gravity'] < 0.1] == [0.0, 0.0]


def test_a_quaternion_that_mujoco_does_not_read_is_a_difference_of_the_tool(written):
    turned = 'quat_xyzw="0 0.7071067811865476 0 0.7071067811865476"'
    report = arm_sim.inspect_robot(str(written('axis xyz="1 0 0"/>', 'axis xyz="1 0 0"/>')))
    assert report.numbers['readers'][0]['tool'] < 1e-9
    file = written('<origin xyz="0 0.2 0"/>', f'<origin xyz="0 0.2 0" {turned}/>')
    assert arm_sim.inspect_robot(str(file)).numbers['readers'][0]['tool'] > 0.01


def test_what_is_not_used_and_weak_joints_are_notes(written):
    file = written('effort="50"', 'effort="3" jrk="1"')
    file.write_text(re.sub('axis xyz="0 0 1"', 'axis xyz="0 1 0"', file.read_text()))
    report = arm_sim.inspect_robot(str(file))
    named, of_shapes, weak = report.notes
    assert of_shapes == 'no link has a known shape, so no collision can be found'
    assert named.startswith('not used, as no URDF has it: jrk="" of <limit>')
    assert re.fullmatch(r"gravity asks joint 'a' for \d+% of its effort limit in some poses", weak)


def test_an_arm_that_only_kinematics_takes_is_noted(written):
    file = written()
    heavy = ARM.replace('<limit', '<dynamics friction="8" damping="300"/><limit')
    file.write_text(re.sub('<inertial>.*?</inertial>', '', heavy, flags=re.DOTALL))
    notes = arm_sim.inspect_robot(str(file)).notes
    assert 'moves no inertia: use inertia:=estimate' in notes[-1]
    crown = np.array([(np.cos(x), np.sin(x), 0.0) for x in np.arange(0.0, 6.283, 0.01)]) / 10.0
    trimesh.convex.convex_hull([*crown, (0, 0, 1), (0, 0, -1)]).export(file.with_name('x.stl'))
    shape = '<collision><geometry><mesh filename="x.stl"/></geometry></collision>'
    file.write_text(file.read_text().replace('a_link">', f'a_link">{shape}', 1))
    of_shape, of_inertia = arm_sim.inspect_robot(str(file)).notes[-2:]
    assert of_shape.endswith('use fewer triangles')
    assert of_inertia == notes[-1]
    assert not any('the rotor missing' in each for each in notes)


def test_a_note_names_the_robot_and_no_file_of_this_process(written):
    file = written()
    text = re.sub('<inertial>.*?</inertial>', '', ARM, flags=re.DOTALL)
    end = text.index('</joint>', text.index('<joint name="b"'))
    file.write_text(f'{text[:end]}<mimic joint="a"/>{text[end:]}')
    (note,) = (x for x in arm_sim.inspect_robot(str(file)).notes if 'moves no inertia' in x)
    assert note.startswith("joint 'a' of 'arm' moves")


def test_the_command_prints_json_alone_and_refuses_in_one_line(written, capsys):
    assert inspect_robot.main([str(written()), '--json']) == 0
    found = json.loads(capsys.readouterr().out)
    assert [joint['joint'] for joint in found['joints']] == ['a', 'b']
    with pytest.raises(ArmError, match='in degrees'):
        arm_sim.inspect_robot(str(written('rpy="0.4 0.2 0.1"', 'rpy="90 0 0"')))


@pytest.mark.parametrize(('name', 'named'), [('lfs.stl', True), ('', False)])
def test_a_mesh_that_is_not_drawn_is_named(written, tmp_path, name, named):
    (tmp_path / 'lfs.stl').write_text('version https://git-lfs.github.com/spec/v1\n')
    box = '<geometry><box size="0.1 0.1 0.1"/></geometry>'
    looks = f'<geometry><mesh filename="{name}"/></geometry>' if name else box
    shapes = f'<collision>{box}</collision><visual>{looks}</visual>'
    report = arm_sim.inspect_robot(str(written('a_link">', f'a_link">{shapes}')))
    line = "not drawn are visual meshes of a_link: 'lfs.stl' stands for a file of Git LFS"
    assert any(line in each for each in report.numbers['notes']) == named


def test_what_the_conversion_of_a_file_says_is_in_the_notes(tmp_path):
    file = tmp_path / 'arm.xml'
    bodies = ''.join(
        f'<body><joint name="{x}" axis="0 1 0" range="-90 90"/><geom size="0.1"/>' for x in 'ab'
    )
    drives = '<position joint="a" kp="9"/><motor joint="b"/>'
    file.write_text(
        f'<mujoco><worldbody>{bodies}</body></body></worldbody><actuator>{drives}</actuator></mujoco>'
    )
    notes = arm_sim.inspect_robot(f'{file} joints:=a').numbers['notes']
    assert "not in the controllers' model: actuators number 1" in notes
    assert 'not commanded: b; joints:= chooses what moves' in notes
