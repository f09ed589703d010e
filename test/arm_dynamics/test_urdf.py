"""Files from outside: an arm that works in both engines, or one line with element and remedy."""

import os
import re

import numpy as np
import pytest
from arms import chain, examples, revolute

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.robots import ArmParameters
from arm_sim.engines.analytical import AnalyticalPlant
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.simulation.model_check import check_model
from arm_sim.simulation.plant import PlantParameters

ARM = chain(
    'arm', [revolute('a', 'xyz="0 0 0.3"', '0 0 1'), revolute('b', 'xyz="0 0.2 0"', '1 0 0')]
)
LIMIT = '<limit lower="-2.5" upper="2.2" effort="50" velocity="3"/>'
JOINT = '<joint name="x" type="fixed"><parent link="{}"/><child link="{}"/></joint></robot>'


def limited(text):
    """Return the arm with something else in place of its first limit."""
    return ARM.replace(LIMIT, text, 1)


def bounded(lower=-1, upper=1, effort=1, velocity=1):
    """Return the arm with another first limit."""
    limit = f'lower="{lower}" upper="{upper}" effort="{effort}" velocity="{velocity}"'
    return limited(f'<limit {limit}/>')


@pytest.mark.parametrize(
    ('urdf', 'says'),
    [
        ('<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arm/></robot>', 'run `xacro'),
        (bounded(lower='${-pi}'), 'is it xacro'),
        ('<mujoco><worldbody/></mujoco>', 'this is MJCF'),
        ('<robot name="none"/>', 'one root link, this one has 0'),
        (ARM.replace('</robot>', '<link name="b_link"/></robot>'), "2 x link 'b_link'"),
        (ARM.replace('joint name="b"', 'joint name="a"'), "2 x joint 'a'"),
        (ARM.replace('<link name="tool">', '<link>'), 'link None: each needs a name'),
        (
            ARM.replace('</robot>', JOINT.format('tool', 'a_link')),
            "link 'a_link' is the <child> of joints 'a' and 'x', a loop",
        ),
        (
            ARM.replace('<parent link="base"/>', '<parent link="tool"/>'),
            "links 'a_link' -> 'b_link' -> 'tool' -> 'a_link' are a loop",
        ),
        (ARM.replace('</robot>', '<link name="box"/></robot>'), "'base', 'box'; join them by"),
        (limited(f'{LIMIT}<mimic/>'), "joint 'a': <mimic> has no joint"),
        (limited(f'{LIMIT}<mimic joint="bb"/>'), "joint 'a': joint of <mimic> 'bb'; nearest.*'b'"),
        (limited(f'{LIMIT}<mimic joint="a"/>'), "'a' -> 'a' follow each other by <mimic>"),
        (
            limited(f'{LIMIT}<mimic joint="tool_mount"/>'),
            "'tool_mount' by .*does not move: make 'a'",
        ),
        (limited(f'{LIMIT}<mimic joint="b" offset="x"/>'), '<mimic offset="x"> must be finite'),
        (limited('<limit effort="1" velocity="1"/>'), "'a': <limit> has no bounds: .*continuous"),
        (limited(''), "joint 'a' is revolute and has no <limit>: write one, or .*continuous"),
        (bounded(lower=1, upper=-1), 'lower must be below'),
        (bounded(effort=-1), 'effort="-1"> must not'),
        (limited(f'{LIMIT}<dynamics friction="-1"/>'), '<dynamics friction="-1"> must not be neg'),
        (bounded(velocity=-1e308), 'velocity="-1e.308"> must not'),
        (
            limited('<limit lower="-1" upper="1" velocity="1"/>'),
            "joint 'a': <limit> has no effort",
        ),
        (
            chain('loop', [revolute(f'j{i}', '', '0 0 1') for i in range(200)]).replace(
                'parent link="base"', 'parent link="tool"'
            ),
            "links 'j0_link' -> .*'j8_link' -> ... -> 'tool' -> 'j0_link' are a loop",
        ),
        (chain('long', [revolute(f'j{i}', '', '0 0 1') for i in range(201)]), '201 moving joints'),
        (limited(LIMIT * 2), "joint 'a' has 2 <limit>, not one"),
        (ARM.replace('mass value="1.7"', 'mass value="1e300"', 1), 'not be beyond 1e\\+09'),
        (ARM.replace('ixx="0.02" ', '', 1), "link 'a_link': <inertia> has no ixx"),
    ],
)
def test_what_no_arm_has_is_refused_with_file_element_and_remedy(tmp_path, urdf, says):
    file = tmp_path / 'arm.urdf'
    file.write_text(urdf)
    with pytest.raises(ArmError, match=says) as refusal:
        RobotModel(file)
    message = str(refusal.value)
    assert message.endswith(f" (in '{file}')")
    assert '\n' not in message


def test_what_is_no_file_is_refused_instead_of_read_for_ever(tmp_path):
    os.mkfifo(tmp_path / 'pipe')
    for path in (tmp_path / 'pipe', '/dev/zero'):
        with pytest.raises(ArmError, match=f"cannot read URDF '{path}': not a regular file"):
            RobotModel(path)
    with (tmp_path / 'large').open('wb') as file:
        file.truncate(10**12)  # without a byte on the disk
    with pytest.raises(ArmError, match='more than 10000000 bytes'):
        RobotModel(tmp_path / 'large')


def test_bounds_that_are_larger_than_any_are_none():
    model = RobotModel(bounded(-1e16, 1e308))
    assert (model.position_lower[0], model.position_upper[0]) == (-np.inf, np.inf)
    assert np.abs(model.random_configuration(np.random.default_rng(0))).max() <= np.pi


def test_a_rotor_may_be_all_that_the_dynamics_of_a_joint_have():
    model = RobotModel(limited(f'{LIMIT}<dynamics armature="0.3"/>'))
    np.testing.assert_array_equal(model.armature, (0.3, 0.0))


@pytest.mark.parametrize(
    'moments', ['ixx="0.02" iyy="0.03" izz="0.2"', 'ixx="-1e-4" iyy="1" izz="1"']
)
def test_an_inertia_that_no_body_has_is_reported_and_the_same_in_both_engines(moments):
    model = RobotModel(ARM.replace('ixx="0.02" iyy="0.03" izz="0.035"', moments))
    assert [note.split(':')[0] for note in model.notes] == ["link 'a_link'", "link 'b_link'"]
    assert check_model(MujocoPlant(model, PlantParameters('torque')), model) < 1e-9


@pytest.mark.parametrize('diagonal', [('0.02', '0.02', '0'), ('0', '0', '0'), ('0', '1e-20', '0')])
def test_rods_and_points_are_the_same_in_both_engines(diagonal):
    xx, yy, zz = diagonal
    thin = f'<inertia ixx="{xx}" iyy="{yy}" izz="{zz}" ixy="0" ixz="1e-21" iyz="0"/>'
    model = RobotModel(re.sub('<inertia .*?/>', thin, ARM))
    assert model.notes == ()
    assert check_model(MujocoPlant(model, PlantParameters('torque')), model) < 1e-9


def test_the_inertia_of_links_that_do_not_move_does_not_matter():
    same = ' '.join(f'{name}="1e-6"' for name in ('ixx', 'iyy', 'izz', 'ixy', 'ixz', 'iyz'))
    stand = f'<inertial><mass value="1e-6"/><inertia {same}/></inertial></link>'
    joint = JOINT.format('base', 'stand').replace('</robot>', '')
    links = f'<link name="base">{stand}{joint}<link name="stand">{stand}'
    model = RobotModel(ARM.replace('<link name="base"/>', links))
    plant = MujocoPlant(model, PlantParameters('torque'))
    assert check_model(plant, model) < 1e-9
    without = MujocoPlant(RobotModel(ARM), PlantParameters('torque'))
    for each in (plant, without):
        each.reset([0.3, -0.4], [1.0, 2.0])
    np.testing.assert_array_equal(plant.bias_torque(), without.bias_torque())


@pytest.mark.parametrize('name', ['tiago_no_hand', 'allegro_left_hand', 'finger_edu', 'b1-z1'])
def test_official_files_with_such_inertias_work(name):
    (file,) = examples().rglob(f'{name}.urdf')
    model = RobotModel(re.sub('<mimic [^>]*>', '', file.read_text()))
    arguments = [note for note in model.notes if 'no body has the principal moments' in note]
    assert bool(arguments) == (name in ('tiago_no_hand', 'allegro_left_hand'))
    assert check_model(MujocoPlant(model, PlantParameters('torque')), model) < 1e-9


def branched(names):
    """Return an arm with a trunk and two branches, whose joints are in the file as named."""
    parents = {'trunk': 'base', 'right': 'trunk_link', 'left': 'trunk_link', 'hand': 'left_link'}
    parts = [revolute(n, 'xyz="0 0.1 0.2"', '0.6 0 0.8').format(parent=parents[n]) for n in names]
    return '<robot name="two"><link name="base"/>' + ''.join(parts) + '</robot>'


@pytest.mark.parametrize(
    'names', [('trunk', 'right', 'left', 'hand'), ('hand', 'left', 'right', 'trunk')]
)
def test_branches_are_reported_and_the_same_in_both_engines_in_any_order_of_the_file(names):
    model = RobotModel(branched(names))
    assert model.tip_frame == 'hand_link'
    (note,) = model.notes
    assert "end in 'hand_link', 'right_link'" in note
    assert note.endswith('the parameter tool_frame chooses another')
    assert RobotModel(branched(names), 'right_link').notes == ()
    assert check_model(MujocoPlant(model, PlantParameters('torque')), model) < 1e-9
    assert ArmParameters(tool_frame='tool0').model().tip_frame == 'tool0'


def test_a_joint_that_moves_no_inertia_is_named_by_both_engines():
    massless = re.sub('<inertial>.*?</inertial>', '', ARM, flags=re.DOTALL)
    for rotors in (0.0, 0.1):
        model = RobotModel(massless, armature=rotors)
        for engine in (MujocoPlant, AnalyticalPlant):
            with pytest.raises(ArmError, match="joint '[ab]' of 'arm' moves no inertia: .* mass$"):
                engine(model, PlantParameters('torque'))


def test_the_joint_without_inertia_is_named_among_others_that_have_one():
    end = ARM.index('</inertial>') + len('</inertial>')
    tip = ARM[:end] + re.sub('<inertial>.*?</inertial>', '', ARM[end:], flags=re.DOTALL)
    with pytest.raises(ArmError, match="joint 'b' of 'arm' moves no inertia"):
        AnalyticalPlant(RobotModel(tip, armature=0.1), PlantParameters('torque'))


def test_a_link_without_mass_that_carries_one_is_for_both_engines():
    model = RobotModel(re.sub('<inertial>.*?</inertial>', '', ARM, count=1, flags=re.DOTALL))
    for engine in (MujocoPlant, AnalyticalPlant):
        assert check_model(engine(model, PlantParameters('torque')), model) < 1e-12


def test_a_shape_that_mujoco_does_not_read_is_left_out():
    shape = '<visual><geometry><sphere radius="-1"/></geometry></visual></link>'
    model = RobotModel(ARM.replace('</link>', shape, 1))
    assert check_model(MujocoPlant(model, PlantParameters('torque')), model) < 1e-9


def test_mujocos_way_of_friction_is_reported():
    parameters = PlantParameters('torque')
    assert MujocoPlant(RobotModel(ARM), parameters).notes == ()
    (note,) = MujocoPlant(RobotModel(ARM, friction=0.1), parameters).notes
    assert note.startswith('Coulomb friction: in MuJoCo')


@pytest.mark.parametrize('odd', ['0.02\n', '&#10;0.02', ' 0.02\t', '\n  2e-2 '])
def test_numbers_with_a_line_break_are_read_without_a_word_from_urdfdom(odd, capfd):
    plain, broken = RobotModel(ARM), RobotModel(ARM.replace('"0.02"', f'"{odd}"'))
    q = [0.3, -0.4]
    np.testing.assert_array_equal(broken.mass_matrix(q), plain.mass_matrix(q))
    assert capfd.readouterr() == ('', '')


def test_a_number_that_urdfdom_does_not_read_is_refused_by_link_and_attribute():
    with pytest.raises(ArmError, match=r"link 'a_link': <inertia ixx=\"0_02\"> must be finite"):
        RobotModel(ARM.replace('ixx="0.02"', 'ixx="0_02"', 1))
