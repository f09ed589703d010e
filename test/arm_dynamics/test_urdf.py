"""Files from outside: an arm that works in both engines, or one line with element and remedy."""

import os
import re

import numpy as np
import pinocchio as pin
import pytest
from arms import chain, examples, revolute

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.clearance import Clearance
from arm_dynamics.robots import ArmParameters
from arm_dynamics.surroundings import Surroundings
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
        (ARM.replace('</robot>', '<xacro:hand/></robot>'), 'unbound prefix.*is it xacro'),
        ('<mujoco><worldbody/></mujoco>', 'this is MJCF'),
        (
            '<sdf version="1.9"><model name="arm"/></sdf>',
            'this is SDF.*rod -f arm.sdf -o',
        ),
        ('<robot name="none"/>', 'it has no <link>; is it a part, such as macros of xacro'),
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
        (bounded(lower=1, upper=-1), 'lower must be below upper; are they swapped'),
        (bounded(lower=1, upper=1), 'lower must be below upper; .* is of type="fixed"'),
        (bounded(effort=-2), 'effort="-2"> must not'),
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
    assert note.endswith('tip_frame:=LINK, the parameter tool_frame, chooses another')
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
    shape = '<visual><geometry><sphere radius="0"/></geometry></visual></link>'
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


def written(tmp_path, old, new, count=1):
    """Return the arm of a file in which something is replaced."""
    file = tmp_path / 'arm.urdf'
    file.write_text(ARM.replace(old, new, count))
    return RobotModel(file)


def test_a_quaternion_is_the_rotation_of_its_rpy(tmp_path):
    turn = pin.Quaternion(pin.rpy.rpyToMatrix(0.4, 0.2, 0.1)).coeffs()
    text = ' '.join(map(repr, turn.tolist()))
    model = written(tmp_path, 'rpy="0.4 0.2 0.1"', f'quat_xyzw="{text}"')
    for q in ([0.0, 0.0], [0.7, -1.1]):
        pose, theirs = (each.forward_kinematics(q) for each in (model, RobotModel(ARM)))
        assert pose.isApprox(theirs, 1e-12)
    assert 'quat_xyzw' not in model.urdf  # which RViz and others of URDF 1.0 would not read
    upright = written(
        tmp_path, 'rpy="0.4 0.2 0.1"', 'quat_xyzw="0 0.7071067811865476 0 0.7071067811865476"'
    )
    tool = upright.forward_kinematics([0.0, 0.0]).rotation
    np.testing.assert_allclose(tool, pin.rpy.rpyToMatrix(0, np.pi / 2, 0), atol=1e-12)


PILL = '<capsule radius="0.1" length="0.2"/>'
PILLS = f'<geometry>{PILL}</geometry>'
TWO_SHAPES = ': a <collision> with <capsule> has more shapes: write one in each'


@pytest.mark.parametrize(
    ('old', 'new', 'says'),
    [
        ('rpy="0.4 0.2 0.1"', 'rpy="0 0 0" quat_xyzw="0 0 0 1"', 'has rpy and quat_xyzw'),
        ('rpy="0.4 0.2 0.1"', 'quat_xyzw="0 0 0 0"', 'has the length 0, not 1'),
        ('rpy="0.4 0.2 0.1"', 'quat_xyzw="0 0 1"', 'must be 4 finite numbers'),
        ('xyz="0 0.2 0"', 'xyz="0 200 0"', "joint 'b' is 200 m .* in millimetres"),
        ('mass value="1.7"', 'mass value="80000"', "'a_link': its mass is 80000 kg; .* in grams"),
        ('xyz="0 0.2 0"', 'xyz="0 0.2 0" rpy="90 0 0"', "joint 'b': .* 90 rad; .* in degrees"),
        (
            'ixx="0.02" iyy="0.03" izz="0.035" ixy="0.001" ixz="-0.002" iyz="0.0015"',
            'ixx="0.02" ixy="0.001" ixz="0" iyy="0.001" iyz="0.03" izz="0.001"',
            "link 'a_link': no body has .*are its rows written in place of ixx ixy",
        ),
        ('</link>', '<collision><geometry><capsule radius="-1"/></geometry></collision></link>',
         "link 'base|a_link': <capsule> needs a radius"),
        ('</link>', f'<collision><geometry>{2 * PILL}</geometry></collision></link>', TWO_SHAPES),
        ('</link>', f'<collision>{2 * PILLS}</collision></link>', TWO_SHAPES),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_with_the_probable_mistake(tmp_path, old, new, says):
    with pytest.raises(ArmError, match=says) as refusal:
        written(tmp_path, old, new)
    assert '\n' not in str(refusal.value)


def test_limits_in_degrees_are_refused_where_all_are():
    degrees = ARM.replace('lower="-2.5" upper="2.2"', 'lower="-170" upper="170"')
    with pytest.raises(ArmError, match="joint 'a': its <limit> is 170 rad; .* in degrees"):
        RobotModel(degrees)
    several = ARM.replace('lower="-2.5" upper="2.2"', 'lower="-170" upper="170"', 1)
    assert RobotModel(several).position_upper[0] == 170.0  # of many turns


def test_a_capsule_is_as_far_from_a_table_as_its_segment_less_its_radius():
    place, away = (0.1, 0.0, 0.05), 0.3
    text = f'<collision><origin xyz="{" ".join(map(str, place))}" rpy="0.3 0 0"/><geometry>'
    text += '<capsule radius="0.04" length="0.2"/></geometry></collision></link>'
    model = RobotModel(ARM.replace('name="tool">', f'name="tool">{text[:-7]}'))
    box = (0.0, 0.0, 2.0, 4.0, 4.0, 2.0 * (1.0 - away))  # its lower side is at 1 + away
    clearance = Clearance(model, Surroundings(floor=False, table=box))
    q = [0.3, -0.4]
    pose = model.forward_kinematics(q) * pin.SE3(pin.rpy.rpyToMatrix(0.3, 0, 0), np.array(place))
    ends = [pose.act(np.array([0.0, 0.0, z]))[2] for z in (-0.1, 0.1)]
    nearest = 1.0 + away - max(ends) - 0.04
    np.testing.assert_allclose(clearance.distances(np.array(q)).min(), nearest, atol=1e-6)


@pytest.mark.parametrize('none', ['0', '-1'])
def test_a_joint_without_a_limit_of_effort_or_speed_is_named(none):
    model = RobotModel(bounded(effort=none, velocity=none))
    assert (model.effort_limit[0], model.velocity_limit[0]) == (np.inf, np.inf)
    strong, fast = model.notes
    assert strong.startswith('a: <limit effort="0">')
    assert fast.startswith('a: <limit velocity="0">')
    assert fast.endswith('as fast as asked: write the limit of the drive')


@pytest.mark.parametrize(
    ('old', 'new', 'says'),
    [
        (LIMIT, f'{LIMIT}<safety_controller k_velocity="1"/>', '<safety_controller> of a is not'),
        (LIMIT, f'{LIMIT}<safety_controller soft_lower_limit="9" soft_upper_limit="9.5"/>',
         'the soft limits of a bound no goal'),
        ('joint name="a"', 'joint name="${prefix}a"', 'name="${prefix}a": expressions of xacro'),
        ('velocity="3"', 'velocity="3" velocty="3"', 'no URDF has it: velocty="" of <limit>; is'),
        ('</link>', '<colision/></link>', 'no URDF has it: <colision>; is it a slip'),
    ],
)  # fmt: skip
def test_what_is_not_used_is_named_in_one_line(old, new, says):
    (note,) = RobotModel(ARM.replace('<link name="base"/>', '<link name="base"></link>')
                         .replace(old, new, 1)).notes  # fmt: skip
    assert says in note


def test_soft_limits_bound_goals_and_the_arm_stops_at_its_limits():
    soft = '<safety_controller soft_lower_limit="-0.5" soft_upper_limit="9"/>'
    plain, model = RobotModel(ARM), RobotModel(ARM.replace(LIMIT, LIMIT + soft, 1))
    assert (model.position_lower[0], model.position_upper[0]) == (-0.5, plain.position_upper[0])
    assert (model.position_lower[1:] == plain.position_lower[1:]).all()
    for stop, bound in zip(model.stops, (plain.position_lower, plain.position_upper), strict=True):
        np.testing.assert_array_equal(stop, bound)
    assert model.notes == ()
    with pytest.raises(ArmError, match="joint 'a': position"):
        model.check_configuration([-0.6, *[0.0] * (model.nv - 1)])
    plant = MujocoPlant(model, PlantParameters('torque'))
    assert plant.mj_model.joint('a').range[0] == plain.position_lower[0] < -0.6


@pytest.mark.parametrize(
    ('srdf', 'says'),
    [
        ('<passive_joint name="a"/>', '<passive_joint> a of the SRDF is driven like the others'),
        ('<virtual_joint name="v" type="floating"/>', 'v of the SRDF is fixed: the base does not'),
        ('<disable_collisions link1="base" link2="arm"/>', 'the SRDF names arm: no links or'),
        ('<group name="g"><chain base_link="base" tip_link="hand"/></group>', 'SRDF names hand:'),
        (
            '<group name="g"/><end_effector name="e" group="g" parent_link="palm"/>',
            'the SRDF names palm: no links',
        ),
        ('<group', 'is ignored: '),
        ('<group name="g"><chain base_link="base" tip_link="tool"/></group>', ''),
        ('<virtual_joint name="v" type="fixed"/>', ''),
        ('<passive_joint name="other"/>', 'the SRDF names other: no links or joints of the URDF'),
    ],
)
def test_what_an_srdf_says_in_vain_is_named(srdf, says, tmp_path):
    (tmp_path / 'arm.urdf').write_text(ARM)
    (tmp_path / 'arm.srdf').write_text(f'<robot name="arm">{srdf}</robot>')
    notes = RobotModel(tmp_path / 'arm.urdf').notes
    assert [says in note for note in notes] == [True] * bool(says)


def test_a_soft_limit_that_is_no_number_is_refused():
    soft = '<safety_controller soft_lower_limit="low"/>'
    says = 'joint \'a\': <safety_controller soft_lower_limit="low"> must be a finite number'
    with pytest.raises(ArmError, match=says):
        RobotModel(ARM.replace(LIMIT, LIMIT + soft, 1))


RATES = '<limit acceleration="4" deceleration="3" jerk="50"'


def test_limits_of_acceleration_and_jerk_are_read_and_joints_without_have_none():
    model = RobotModel(ARM.replace('<limit', RATES, 1))
    assert model.acceleration_limit.tolist() == [3.0, *[np.inf] * (model.nv - 1)]
    assert model.jerk_limit.tolist() == [50.0, *[np.inf] * (model.nv - 1)]
    assert model.notes == ()


@pytest.mark.parametrize('text', ['fast', 'nan', '-2'])
def test_a_limit_of_acceleration_that_is_none_is_refused(text):
    with pytest.raises(ArmError, match=f'<limit acceleration="{text}"> must be a number above 0'):
        RobotModel(ARM.replace('<limit', f'<limit acceleration="{text}"', 1))


def test_what_is_for_other_programs_is_harmless():
    others = (
        '<material name="red"/><gazebo/><transmission name="t"/><ros2_control name="x"/></robot>'
    )
    looks = '<limit><calibration rising="0"/>'
    text = ARM.replace('</robot>', others).replace(LIMIT, f'{LIMIT}{looks[7:]}')
    assert RobotModel(text).notes == ()
