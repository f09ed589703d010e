"""Robots as people name them: xacro, MJCF, models of packages; joints that move or are held."""

import json
import platform
import re
import socket
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from arms import ARM, chain, revolute
from optional import optional

from arm_dynamics import ArmError, RobotModel, robots
from arm_dynamics.checks import typed
from arm_dynamics.descriptions import mjcf_conversion
from arm_dynamics.descriptions.conversion import parameter_file
from arm_dynamics.descriptions.sources.named_models import named_models
from arm_dynamics.robots import RobotArgument, check_data_only, find_urdf
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.robot import Robot
from arm_sim.simulation.limits import Limits
from arm_sim.simulation.model_check import check_model
from arm_sim.simulation.plant import PlantParameters
from arm_sim.simulation.simulation import Simulation

MJCF = """<mujoco model="arm">
  <compiler angle="degree" autolimits="true"/>
  <option gravity="0 1 -9.5"/>
  <default><joint armature="0.02" damping="0.3" frictionloss="0.1"/></default>
  <worldbody>
    <body name="stand" pos="0.1 0.2 0.3" euler="10 20 30">
      <geom type="box" size="0.1 0.1 0.1" mass="3"/>
      <body name="upper" pos="0 0 0.2" quat="1 0 1 0">
        <joint name="pan" axis="0 0 1" pos="0.01 0.02 0.03" range="-100 120" ref="25"/>
        <joint name="lift" axis="0.6 0 0.8" pos="-0.03 0.02 0.01"/>
        <geom type="capsule" fromto="0 0 0 0 0.3 0.1" size="0.05"/>
        <body name="fore" pos="0 0.3 0.1" axisangle="1 1 0 40">
          <joint name="reach" type="slide" axis="0 1 1" range="-0.1 0.3" ref="0.05"/>
          <inertial pos="0.1 0 0.05" mass="0.7" fullinertia="0.01 0.02 0.015 0.001 -0.002 0.003"/>
          <geom type="sphere" size="0.03"/>
          <site name="flange" pos="0 0.1 0.2" euler="0 90 0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="pan" joint="pan" kp="300" kv="30" forcerange="-40 50"/>
    <position name="lift" joint="lift" kp="200" kv="20"/>
    <position name="reach" joint="reach" kp="900" kv="60" forcerange="-70 70"/>
  </actuator>
  <keyframe><key name="other" qpos="0 0 0"/><key name="home" qpos="0.5 -2.1 0.2"/></keyframe>
</mujoco>"""


@pytest.fixture
def written(tmp_path):
    def write(text, name='arm.xml'):
        file = tmp_path / name
        file.write_text(text)
        return str(file)

    return write


def test_mjcf_is_the_arm_that_mujoco_compiles(written):
    file = written(MJCF)
    robot = Robot.load(file)
    model, m = robot.model, mujoco.MjModel.from_xml_string(MJCF)
    assert model.joint_names == ('pan', 'lift', 'reach')
    assert model.tip_frame == 'flange'
    data, rng = mujoco.MjData(m), np.random.default_rng(1)
    for _ in range(5):
        data.qpos[:] = q = model.random_configuration(rng)
        data.qvel[:] = v = rng.uniform(-1.0, 1.0, 3)
        mujoco.mj_forward(m, data)
        pose = model.forward_kinematics(q, 'flange')
        np.testing.assert_allclose(pose.translation, data.site('flange').xpos, atol=1e-12)
        np.testing.assert_allclose(pose.rotation.ravel(), data.site('flange').xmat, atol=1e-12)
        full = np.zeros((3, 3))
        mujoco.mj_fullM(m, data, full)
        np.testing.assert_allclose(model.mass_matrix(q), full, atol=1e-12)
        np.testing.assert_allclose(model.bias_torque(q, v), data.qfrc_bias, atol=1e-11)
    np.testing.assert_allclose(model.position_lower, [*np.deg2rad([-100]), -np.inf, -0.1])
    np.testing.assert_allclose(model.effort_limit, [50.0, np.inf, 70.0])
    assert model.damping.tolist() == [0.3] * 3
    assert model.friction.tolist() == [0.1] * 3
    check_model(MujocoPlant(model, PlantParameters()), model)


def test_what_a_urdf_cannot_say_of_an_mjcf_is_in_the_file_next_to_it(written):
    robot = Robot.load(written(MJCF))
    assert robot.model.armature.tolist() == [0.02] * 3
    assert robot.model.gravity.tolist() == [0, 1, -9.5]
    assert robot.start.tolist() == [0.5, -2.1, 0.2]
    assert robot.parameters('simulator')['servo_kp'] == [300.0, 200.0, 900.0]
    assert robot.parameters('simulator')['servo_kd'] == [30.0, 20.0, 60.0]
    assert RobotModel(find_urdf(written(MJCF))).armature.tolist() == [0.02] * 3


def test_an_mjcf_of_another_suffix_is_refused_with_the_name_that_mujoco_reads(written):
    with pytest.raises(ArmError, match=r'end in .xml: rename it to arm.xml'):
        find_urdf(written(MJCF, 'arm.mjcf'))


def test_a_urdf_that_is_not_the_mjcf_is_refused_with_joint_and_size(written):
    m = mujoco.MjModel.from_xml_string(MJCF)
    urdf = find_urdf(written(MJCF)).read_text()
    wrong = RobotModel(urdf.replace('mass value="0.7"', 'mass value="0.71"'), gravity=(0, 1, -9.5))
    with pytest.raises(
        ArmError, match=r"joint '\w+': mass matrix .* of its URDF .* agree to 1e-09"
    ):
        mjcf_conversion.check_same(m, wrong, {})


@pytest.mark.parametrize(
    ('old', 'new', 'says'),
    [
        ('<joint name="lift"', '<joint type="ball" name="lift"', "'lift' is a ball; write three"),
        ('<geom type="sphere"', '<geom type="spear"', 'MuJoCo does not compile .*arm.xml'),
        ('<joint name="lift" axis="0.6 0 0.8"', '<joint axis="1 0 0"', 'a joint of body .upper'),
        (
            '</worldbody>',
            '<body name="cup"><freejoint/><geom size="0.1"/></body></worldbody>',
            "body 'cup' floats .* remove.*<freejoint>",
        ),
    ],
)
def test_mjcf_that_is_no_arm_is_refused_in_one_line(written, old, new, says):
    text = MJCF.replace(old, new).replace(
        '<position name="lift" joint="lift" kp="200" kv="20"/>', ''
    )
    text = text[: text.index('<keyframe>')] + '</mujoco>'
    with pytest.raises(ArmError, match=says) as refusal:
        find_urdf(f'{written(text)} mjcf:=converted')
    assert '\n' not in str(refusal.value)


ASSETS = """<asset>
    <mesh name="shell" file="shell.stl"/> <mesh file="cap.obj"/>
    <texture name="paint" type="2d" file="paint.png"/> <material name="blue" texture="paint"/>
  </asset><worldbody>"""
SHELL = '<geom type="mesh" mesh="shell" material="blue"/><geom type="mesh" mesh="cap"/>'


def test_an_mjcf_whose_meshes_and_textures_are_not_there_is_the_arm_without_them(written, capfd):
    whole = RobotModel(find_urdf(written(MJCF, 'whole.xml')))
    text = MJCF.replace('<worldbody>', ASSETS)
    file = written(text.replace('<geom type="sphere"', f'{SHELL}<geom type="sphere"'))
    model = RobotModel(find_urdf(file))
    said = 'arm.xml: not found, and so not shown: shell.stl, cap.obj, paint.png\n'
    assert capfd.readouterr().err.count(said) == 1
    assert model.urdf.count('<visual') == whole.urdf.count('<visual') > 0
    np.testing.assert_array_equal(
        model.mass_matrix([0.3, 0.2, 0.1]), whole.mass_matrix([0.3, 0.2, 0.1])
    )
    of_shapes = text.replace('<geom type="capsule"', f'{SHELL}<geom type="capsule"')
    with pytest.raises(
        ArmError, match="mesh 'shell.stl' is not found, and the inertia of body 'up"
    ):
        find_urdf(written(of_shapes, 'other.xml'))


FINGERS = """
  <body name="palm" pos="0 0 0.1">
    <body name="left"><joint name="l" axis="1 0 0" range="10 50"/><geom size="0.02"/></body>
    <body name="right"><joint name="r" axis="1 0 0" range="-90 0"/><geom size="0.02"/></body>
    <body name="rod" pos="0.2 0 0"><joint name="s" axis="0 1 0"/><geom size="0.02"/></body>
    <body name="end" pos="0.3 0 0"><joint name="t" axis="0 1 0"/><geom size="0.02"/></body>
  </body>"""
COUPLED = """<equality>
    <joint joint1="r" joint2="l" polycoef="0.1 -2 0 0 0"/>
    <connect body1="rod" body2="end" anchor="0 0 0.1"/>
  </equality>"""
GRIPPER = MJCF.replace('<site name="flange"', f'{FINGERS}<site name="flange"')
GRIPPER = GRIPPER[: GRIPPER.index('<actuator>')] + COUPLED + '</mujoco>'


@pytest.mark.parametrize(
    ('said', 'held', 'moved'), [('', 's, t', [0.4]), (' joints:=pan,lift,reach', 'l, r, s, t', [])]
)
def test_coupled_fingers_move_with_their_leader_and_loops_are_held(
    written, capfd, said, held, moved
):
    text = GRIPPER.replace('axis="1 0 0" range="-90 0"', 'axis="1 0 0" range="-90 0" ref="15"')
    model = RobotModel(find_urdf(f'{written(text)} mjcf:=converted{said}'))
    assert model.joint_names == ('pan', 'lift', 'reach', 'l')[: 3 + len(moved)]
    assert f'arm.xml: held still: {held}; joints:= ch' in capfd.readouterr().err
    place = moved[0] if moved else np.deg2rad(10.0)  # of l: nearest to zero within its limits
    m = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(m)
    of_r = np.deg2rad(15.0) + 0.1 - 2.0 * place
    data.qpos[:] = [0.3, 0.2, 0.1, place, of_r, 0.0, 0.0]
    mujoco.mj_forward(m, data)
    for body in ('left', 'right', 'end'):
        pose = model.forward_kinematics([0.3, 0.2, 0.1, *moved], body)
        np.testing.assert_allclose(pose.translation, data.body(body).xpos, atol=1e-12)
        np.testing.assert_allclose(pose.rotation.ravel(), data.body(body).xmat, atol=1e-12)


def test_the_effort_limit_of_an_mjcf_joint_holds_without_that_of_its_servo(written):
    """MuJoCo's importer of URDFs writes effort limits as actuatorfrcrange."""
    text = MJCF.replace('forcerange="-40 50"', '').replace(
        'name="pan" axis', 'name="pan" actuatorfrcrange="-7 7" axis'
    )
    limits = RobotModel(find_urdf(written(text))).effort_limit
    np.testing.assert_array_equal(limits, [7.0, np.inf, 70.0])


@pytest.mark.parametrize(
    ('words', 'says'),
    [
        ('joints:=pan,r', "joint 'r' follows 'l' by <mimic>: leave it out"),
        ('joints:=pan,s', "joint 's' is part of a loop"),
        ('joints:=pam', "unknown joint in joints:= 'pam'; nearest known: 'pan'"),
        ('joints:=stand_fixed', "'stand_fixed' in joints:= is of type 'fixed'"),
        ('joints:=chain', 'give tip_frame:=LINK as well'),
        ('joints:=chain tip_frame:=plam', "unknown link in tip_frame:= 'plam'; .*'palm'"),
        ('joints', "'joints' is not name:=value"),
        ('side:=left', "xacro_args is 'side:=left'; .*arm.xml' is no xacro"),
    ],
)
def test_a_choice_of_joints_that_cannot_be_is_refused(written, words, says):
    with pytest.raises(ArmError, match=says):
        find_urdf(
            f'{written(GRIPPER)} {words} tool:='
            if words == 'joints'
            else f'{written(GRIPPER)} mjcf:=converted {words}'
        )


def test_joints_that_are_not_chosen_stand_where_they_were(written):
    file = written(ARM, 'arm.urdf')
    whole, part = RobotModel(file), Robot.load(f'{file} joints:=a,c tip_frame:=c_link').model
    assert part.joint_names == ('a', 'c')
    assert part.tip_frame == 'c_link'
    q = np.array([0.4, -0.7])
    pose = whole.forward_kinematics([q[0], 0.0, q[1]], 'c_link')
    np.testing.assert_allclose(
        part.forward_kinematics(q).homogeneous, pose.homogeneous, atol=1e-12
    )
    m = whole.mass_matrix([q[0], 0.0, q[1]])[np.ix_([0, 2], [0, 2])]
    np.testing.assert_allclose(part.mass_matrix(q), m, atol=1e-12)  # no rotors are added


def test_a_chain_is_what_lies_between_base_and_tip(written):
    branch = revolute('d', 'xyz="0 0 0.1"', '0 1 0').format(parent='a_link')
    file = written(ARM.replace('</robot>', f'{branch}</robot>'), 'arm.urdf')
    assert RobotModel(find_urdf(f'{file} joints:=chain tip_frame:=d_link')).joint_names == (
        'a',
        'd',
    )
    assert RobotModel(find_urdf(file)).nv == 4


def test_a_coupling_that_is_not_linear_holds_its_joints(written):
    text = GRIPPER.replace('polycoef="0.1 -2 0 0 0"', 'polycoef="0.1 -2 0.3 0 0"')
    assert RobotModel(find_urdf(f'{written(text)} mjcf:=converted')).joint_names == (
        'pan', 'lift', 'reach',
    )  # fmt: skip


def test_a_joint_that_mimics_is_held_with_the_one_it_follows_or_moves_with_it(written):
    limit = '<limit lower="-2.5" upper="2.2" effort="50" velocity="3"/>'
    away = '<limit lower="0.2" upper="2.2" effort="50" velocity="3"/>'
    follows = '<mimic joint="b" multiplier="-0.5" offset="0.3"/>'
    one, two, three = (f'{limit}', f'{away}', f'{limit}{follows}')
    parts = ARM.split(limit)
    text = parts[0] + one + parts[1] + two + parts[2] + three + parts[3]
    moving = RobotModel(find_urdf(written(text, 'arm.urdf')))
    assert moving.joint_names == ('a', 'b')
    np.testing.assert_allclose(
        moving.forward_kinematics([0.4, 0.7]).homogeneous,
        RobotModel(ARM).forward_kinematics([0.4, 0.7, 0.3 - 0.5 * 0.7]).homogeneous, atol=1e-12,
    )  # fmt: skip
    model = RobotModel(find_urdf(written(text, 'arm.urdf') + ' joints:=a'))
    assert model.joint_names == ('a',)
    pose = RobotModel(ARM).forward_kinematics([0.4, 0.2, 0.3 - 0.5 * 0.2])
    np.testing.assert_allclose(
        model.forward_kinematics([0.4]).homogeneous, pose.homogeneous, atol=1e-12
    )


def test_meshes_of_a_file_that_was_changed_are_found_from_where_they_were(written, tmp_path):
    (tmp_path / 'part.stl').write_bytes(bytes(84))
    shape = '<visual><geometry><mesh filename="part.stl"/></geometry></visual>'
    file = written(
        ARM.replace('<link name="base"/>', f'<link name="base">{shape}</link>'), 'a.urdf'
    )
    urdf = find_urdf(f'{file} joints:=a')
    (mesh,) = ElementTree.parse(urdf).iter('mesh')
    assert mesh.get('filename') == str(tmp_path / 'part.stl')


XACRO = """<robot name="arm" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:arg name="length" default="0.5"/>
  <xacro:include filename="$(find {package})/parts/rod.xacro"/>
  <link name="base"/>
  <xacro:rod name="one" parent="base" length="${{$(arg length) / 2}}"/>
</robot>"""
ROD = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="rod" params="name parent length">
    <joint name="${name}" type="revolute">
      <parent link="${parent}"/><child link="${name}_link"/><origin xyz="${length} 0 0"/>
      <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="9" velocity="2"/>
    </joint>
    <link name="${name}_link"><inertial><mass value="1"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  </xacro:macro>
</robot>"""


@pytest.mark.slow
def test_xacro_is_a_robot_with_its_arguments_and_packages_above_it(tmp_path):
    optional('xacro', 'xacro')
    package = tmp_path / 'my_arm'
    (package / 'parts').mkdir(parents=True)
    (package / 'parts' / 'rod.xacro').write_text(ROD)
    file = package / 'arm.urdf.xacro'
    file.write_text(XACRO.format(package='my_arm'))
    assert find_urdf(str(file)).name == 'arm.urdf'
    for words, x in ((str(file), 0.25), (f'{file} length:=0.8', 0.4)):
        model = RobotModel(find_urdf(words))
        assert model.forward_kinematics([0.0]).translation.tolist() == [x, 0.0, 0.0]
    file.write_text(XACRO.format(package='nobody'))
    with pytest.raises(ArmError, match=r'xacro: .*nobody.* \(in .*arm.urdf.xacro'):
        find_urdf(str(file))


def test_without_xacro_the_line_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'xacro', None)
    file = tmp_path / 'arm.xacro'
    file.write_text(XACRO.format(package='x'))
    with pytest.raises(
        ArmError, match=f'xacro, which is not installed: {typed("pip install xacro")}'
    ):
        find_urdf(str(file))


def test_models_of_example_robot_data_go_by_their_names():
    assert RobotModel(find_urdf('panda')).nv == 8  # one finger follows the other
    assert find_urdf('ur5').name == 'ur5_robot.urdf'
    with pytest.raises(ArmError, match="robot 'anymal' is several files: .*give the path of one"):
        find_urdf('anymal')


def test_models_of_robot_descriptions_go_by_the_names_of_their_modules(tmp_path, monkeypatch):
    package = tmp_path / 'robot_descriptions'
    package.mkdir()
    (package / '__init__.py').touch()
    (tmp_path / 'arm.urdf').write_text(ARM)
    (package / 'my_description.py').write_text(f'URDF_PATH = {str(tmp_path / "arm.urdf")!r}')
    (package / 'far_description.py').write_text('raise OSError("no network")')
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.startswith('robot_descriptions')]:
        monkeypatch.delitem(sys.modules, name)
    assert find_urdf('my_description') == tmp_path / 'arm.urdf'
    with pytest.raises(ArmError, match='robot_descriptions cannot fetch it: no network'):
        find_urdf('far_description')
    assert named_models('other_description') is None


def test_package_paths_lead_through_sourced_packages(tmp_path, monkeypatch):
    folder = tmp_path / 'share' / 'my_arm' / 'urdf'
    folder.mkdir(parents=True)
    (folder / 'arm.urdf').write_text(ARM)
    monkeypatch.setenv('AMENT_PREFIX_PATH', str(tmp_path))
    assert find_urdf('package://my_arm/urdf/arm.urdf') == folder / 'arm.urdf'
    with pytest.raises(ArmError, match="/my_arm/urdf/other.urdf' does not exist$"):
        find_urdf('package://my_arm/urdf/other.urdf')


def test_a_parameter_file_next_to_a_urdf_is_the_robots_own(written):
    file = written(ARM, 'arm.urdf')
    text = '/**: {ros__parameters: {armature: [0.7]}}'
    parameter_file(find_urdf(file)).write_text(text)
    assert Robot.load(file).model.armature.tolist() == [0.7] * 3


def test_a_tip_frame_leaves_a_shipped_robot_its_own_parameters():
    robot = Robot.load('ur5e tip_frame:=wrist_1_link')
    assert robot.model.tip_frame == 'wrist_1_link'
    assert robot.sections == {
        **Robot.load('ur5e').sections,
        '/**': {**Robot.load('ur5e').sections['/**'], 'tool_frame': 'wrist_1_link'},
    }


def test_an_arm_without_speed_limits_steps_without_a_warning(written):
    model = RobotModel(written(ARM.replace('velocity="3"', 'velocity="0"'), 'arm.urdf'))
    plant = MujocoPlant(model, PlantParameters('torque'))
    with warnings.catch_warnings(action='error'):
        arm = Simulation(plant, model, model.neutral(), None, None, Limits(speed_limit_factor=0.0))
        for _ in range(3):
            arm.advance(np.full(model.nv, 10.0))
    assert (np.abs(plant.v) > 0.0).all()


def test_words_of_a_robot_are_read_once():
    assert RobotArgument.of('ur5e') == RobotArgument('ur5e')
    argument = RobotArgument.of("'my arm.xacro' joints:=a,b side:=left tip_frame:=t")
    assert argument == RobotArgument('my arm.xacro', ('a', 'b'), 't', 'side:=left')


@pytest.mark.parametrize(
    ('robot', 'label'),
    [
        ('ur5e', 'ur5e'),
        ('/tmp/my.arm.urdf', 'my.arm'),
        ('package://arms/urdf/left.urdf.xacro', 'left'),
        ('panda tip_frame:=panda_link8', 'panda'),
        ('scenes/ur5e.xml joints:=a,b', 'ur5e'),
    ],
)
def test_a_robot_is_called_by_its_name_without_folder_and_ending(robot, label):
    assert RobotArgument.of(robot).label == label


def test_only_shipped_arms_have_rotors_that_their_urdf_does_not_name(written):
    assert Robot.load('ur5e').model.armature.tolist() == [0.1] * 6
    assert Robot.load('ur5e_menagerie').model.armature.tolist() == [0.1] * 6
    assert Robot.load(written(ARM, 'arm.urdf')).model.armature.tolist() == [0.0] * 3


def test_the_description_is_a_urdf_of_the_same_arm_with_its_rotors_and_friction():
    given = RobotModel(ARM, armature=0.3, damping=(1.0, 2.0, 3.0), friction=0.5)
    assert [*given.added] == ['armature', 'damping', 'friction']
    described = RobotModel(given.description)
    for name in given.added:
        np.testing.assert_array_equal(getattr(described, name), getattr(given, name))
    assert described.added == {}
    assert described.description == given.description
    assert RobotModel(ARM).description == ARM  # nothing is added


HAND = """<link name="{0}_mount"/><link name="{0}_camera"/><link name="{0}_optical"/>
  <link name="{0}_palm"/>
  <joint name="{0}_1" type="fixed"><parent link="c_link"/><child link="{0}_mount"/></joint>
  <joint name="{0}_2" type="fixed"><parent link="{0}_mount"/><child link="{0}_camera"/></joint>
  <joint name="{0}_3" type="fixed"><parent link="{0}_camera"/><child link="{0}_optical"/></joint>
  <joint name="{0}_4" type="fixed"><parent link="{0}_mount"/><child link="{0}_palm"/></joint>"""


def with_hand(mount='hand', finger='', tool=''):
    """Return an arm whose tool is a camera and a palm with two fingers."""
    text = ARM[: ARM.index('<joint name="tool_mount"')] + HAND.format(mount)
    for name in ('left', 'right'):
        joint = revolute(name, 'xyz="0 0 0.1"', '0 1 0').format(parent=f'{mount}_palm')
        text += joint.replace('<limit', f'{finger}<limit') if name == 'right' else joint
    if tool:
        text += f'<link name="{tool}"/><joint name="{tool}_at" type="fixed">'
        text += f'<parent link="{mount}_palm"/><child link="{tool}"/></joint>'
    return text + '</robot>'


@pytest.mark.parametrize('finger', ['', '<mimic joint="left"/>'])
@pytest.mark.parametrize(
    ('tool', 'expected'),
    [
        ('', 'hand_mount'),
        ('label', 'hand_mount'),
        ('tool0', 'tool0'),
        ('gripper_TCP', 'gripper_TCP'),
        ('arm_ee_link', 'arm_ee_link'),
        ('link_eef', 'link_eef'),
        ('flange', 'flange'),
        ('arm/ee_gripper_link', 'arm/ee_gripper_link'),
        ('gripper_frame_link', 'gripper_frame_link'),
        ('knee', 'hand_mount'),
    ],
)
def test_the_tool_is_a_link_of_that_name_else_the_flange_and_no_finger_or_camera(
    written, finger, tool, expected
):
    file = written(with_hand(finger=finger, tool=tool), 'arm.urdf')
    assert RobotModel(find_urdf(file)).tip_frame == expected


@pytest.mark.parametrize('left', ['left', 'gripper_joint'])
def test_a_joint_that_follows_a_finger_is_a_finger(left):
    text = with_hand(finger=f'<mimic joint="{left}"/>')
    text = text.replace('<joint name="left"', f'<joint name="{left}"')
    assert RobotModel(text.replace('name="right"', 'name="joint8"')).tip_frame == 'hand_mount'


def test_the_tool_of_a_robot_that_is_a_finger_is_its_tip():
    joints = [revolute(f'finger_{k}', 'xyz="0 0 0.1"', '0 1 0') for k in range(3)]
    assert RobotModel(chain('finger', joints).replace('"tool"', '"tip"')).tip_frame == 'tip'


@pytest.mark.parametrize(('leads', 'expected'), [('one', 'one_link'), ('two', 'two_link')])
def test_the_tool_of_a_gripper_alone_is_behind_the_joint_that_leads(leads, expected):
    """For the inverse kinematics no frame behind a joint that follows by <mimic> can be a tool."""
    text = '<robot name="gripper"><link name="base"/>'
    for name in ('one', 'two'):
        joint = revolute(name, 'xyz="0 0 0.1"', '0 1 0').format(parent='base')
        follows = '' if name == leads else f'<mimic joint="{leads}"/>'
        text += joint.replace('<limit', f'{follows}<limit')
    assert RobotModel(f'{text}</robot>').tip_frame == expected


@pytest.mark.parametrize(
    ('inside', 'expected'),
    [
        ('<collision><geometry><sphere radius="0.1"/></geometry></collision>', 'tip'),
        (
            '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
            '</inertial><collision><geometry><sphere radius="0.1"/></geometry></collision>',
            'tip',
        ),
        ('<visual><geometry><sphere radius="0.1"/></geometry></visual>', 'c_link'),
    ],
)
def test_an_end_that_is_a_shape_of_collision_alone_is_no_branch(inside, expected):
    side = f'<link name="side">{inside}</link><joint name="s" type="fixed">'
    side += '<parent link="c_link"/><child link="side"/></joint></robot>'
    text = ARM.replace('"tool"', '"tip"').replace('</robot>', side)
    assert RobotModel(text).tip_frame == expected


@pytest.mark.parametrize('finger', ['', '<mimic joint="left"/>'])
@pytest.mark.parametrize(
    'says',
    [
        '<end_effector name="e" parent_link="hand_palm" group="hand"/>',
        '<group name="arm"><chain base_link="base" tip_link="hand_palm"/></group>',
    ],
)
def test_an_srdf_next_to_the_urdf_names_the_tool(written, finger, says):
    file = written(with_hand(finger=finger, tool='tcp'), 'arm.urdf')
    written(f'<robot name="arm">{says}</robot>', 'arm.srdf')
    assert RobotModel(find_urdf(file)).tip_frame == 'hand_palm'
    written('<robot', 'arm.srdf')
    assert RobotModel(file if not finger else find_urdf(f'{file} joints:=a,b')).tip_frame == 'tcp'


@pytest.fixture
def confined(tmp_path):
    """Return a function that runs Python code in the confined process of a xacro."""

    def run(code):
        package = tmp_path / 'fake' / 'xacro'
        package.mkdir(parents=True)
        lines = ''.join(f'\n    {line}' for line in code.splitlines())
        document = 'type("D", (), {"toxml": lambda self: told})()'
        text = f'def process_file(*_, **__):{lines}\n    return {document}\n'
        (package / '__init__.py').write_text(text)
        script = Path(mjcf_conversion.__file__).with_name('confined_process.py')
        done = subprocess.run(
            [sys.executable, '-P', str(script), 'x', '{}'],
            env={'PYTHONPATH': str(package.parent), 'PATH': '/usr/bin:/bin'},
            capture_output=True,
        )
        return json.loads(done.stdout)

    return run


def test_a_xacro_writes_no_file(confined, tmp_path):
    file = tmp_path / 'written'
    answer = confined(f'open({str(file)!r}, "w").write("x" * 99)\ntold = "done"')
    assert 'error' in answer
    assert not file.exists() or not file.read_bytes()


@pytest.mark.skipif(
    subprocess.run(['unshare', '-rnm', 'true'], capture_output=True).returncode != 0,
    reason='this system gives a user no namespaces of network and mounts',
)
def test_a_xacro_has_no_network_and_sees_files_read_only(confined, tmp_path):
    answer = confined(
        f'try: open("{tmp_path}/touched", "w")\n'
        'except OSError: pass\n'
        'lines = open("/proc/net/dev").read().splitlines()[2:]\n'
        'told = str([line.partition(":")[0].strip() for line in lines])'
    )
    assert answer == {'urdf': "['lo']"}
    assert not (tmp_path / 'touched').exists()


@pytest.mark.skipif(
    subprocess.run(['unshare', '-rmp', '--fork', 'true'], capture_output=True).returncode != 0,
    reason='this system gives a user no namespaces of processes and mounts',
)
def test_a_xacro_sees_no_process_and_nothing_that_others_have_in_run_and_tmp(confined):
    with TemporaryDirectory() as others, socket.socket(socket.AF_UNIX) as door:
        door.bind(str(Path(others, 'agent')))
        (Path(others) / 'secret').write_text('x')
        answer = confined(
            'import os\n'
            'numbers = [each for each in os.listdir("/proc") if each.isdigit()]\n'
            f'told = str((os.listdir("/run"), os.path.exists({others!r}), numbers))'
        )
    assert answer == {'urdf': "([], False, ['1'])"}


@pytest.mark.skipif(
    platform.machine() not in ('x86_64', 'aarch64'), reason='calls have other numbers'
)
@pytest.mark.parametrize(
    'call',
    [
        'import socket; socket.socket(socket.AF_UNIX)',
        'import os; os.kill(os.getppid(), 0)',
        'import os; os.fork()',
        'import subprocess; subprocess.run(["true"])',
        'import threading; threading.Thread(target=print).start()',
    ],
)
def test_a_xacro_opens_no_socket_signals_nothing_and_starts_nothing(confined, call):
    assert 'error' in confined(f'{call}\ntold = "done"')


@pytest.mark.skipif(platform.machine() != 'x86_64', reason='calls have other numbers')
@pytest.mark.parametrize(
    'call',
    [
        '129, os.getppid(), 0, bytes(8) + b"\\xff" * 4 + bytes(116)',  # rt_sigqueueinfo
        '297, os.getppid(), os.getppid(), 0, bytes(8) + b"\\xff" * 4 + bytes(116)',
        '302, os.getppid(), 7, None, bytes(16)',  # limits of another process
        '442, -100, b"/", 0, (ctypes.c_uint64 * 4)(0, 1, 0, 0), 32',  # writable mounts
        '165, b"none", b"/", None, 32 | 4096, None',  # mounted again, writable
    ],
)
def test_a_xacro_undoes_no_confinement_and_reaches_no_process(confined, call):
    answer = confined(
        'import ctypes, os\n'
        'libc = ctypes.CDLL(None, use_errno=True)\n'
        f'told = str((libc.syscall({call}), ctypes.get_errno()))'
    )
    assert answer == {'urdf': '(-1, 1)'}  # EPERM


def test_xacro_args_inside_the_name_are_those_of_the_xacro():
    argument = RobotArgument.of("arm.xacro xacro_args:='side:=left top:=1' wide:=2")
    assert (argument.name, argument.xacro_args) == ('arm.xacro', 'side:=left top:=1 wide:=2')


def test_a_name_from_the_graph_runs_no_code(written, tmp_path):
    urdf, mjcf = written(ARM, 'arm.urdf'), written(MJCF)
    for robot in ('ur5e', urdf, mjcf):
        check_data_only(robot)
    hidden = written(XACRO.format(package='x'), 'hidden.urdf')
    broken = written('<robot', 'broken.xacro')
    for robot in (hidden, f'{hidden} a:=b', broken, 'panda_description', str(tmp_path), 'x.xacro'):
        with pytest.raises(ArmError, match='came over the graph; allowed: a shipped robot, a URD'):
            check_data_only(robot)


def test_a_robot_description_is_text_and_no_path(written):
    assert RobotModel.from_description(ARM).nv == 3
    with pytest.raises(ArmError, match='does not begin with <'):
        RobotModel.from_description(written(ARM, 'arm.urdf'))


BARE = re.sub('<inertial>.*?</inertial>', '', ARM, flags=re.DOTALL)
BOX = """<collision><origin xyz="0.1 0 0.2" rpy="0 0 1.5707963267948966"/>
  <geometry><box size="0.1 0.2 0.4"/></geometry></collision>"""


def test_estimated_inertia_is_that_of_the_shapes_and_marks_every_report(written, capfd):
    file = written(BARE.replace('_link">', f'_link">{BOX}'), 'arm.urdf')
    robot = Robot.load(f'{file} inertia:=estimate density:=500')
    assert robot.name == 'arm_inertia_estimated'
    said = 'arm.urdf: inertia estimated from shapes at 500 kg/m^3: 3 links, 12 kg'
    assert capfd.readouterr().err.count(said) == 1
    assert 'inertia estimated: that of 3 links follows from their shapes' in robot.model.notes
    assert 'inertia estimated: ' in RobotModel(robot.model.description).notes[0]
    inertia = robot.model.pin_model.inertias[2]
    np.testing.assert_allclose(inertia.mass, 4.0)
    np.testing.assert_allclose(inertia.lever, [0.1, 0.0, 0.2], atol=1e-12)
    x, y, z = 0.2, 0.1, 0.4  # the box is turned by 90 degrees about z
    moments = 4.0 / 12.0 * np.diag([y * y + z * z, x * x + z * z, x * x + y * y])
    np.testing.assert_allclose(inertia.inertia, moments, atol=1e-12)
    scaled = Robot.load(f'{file} inertia:=estimate total_mass:=6').model
    np.testing.assert_allclose([x.mass for x in scaled.pin_model.inertias][1:], 2.0)


@pytest.mark.parametrize(
    ('words', 'says'),
    [
        ('inertia:=guess', "inertia is 'guess'; allowed: 'estimate'"),
        ('density:=500', 'density and total_mass need inertia:=estimate'),
        ('inertia:=estimate density:=much', "density is 'much'; it must be a number"),
        ('inertia:=estimate density:=nan', 'density is nan'),
        ('inertia:=estimate total_mass:=0', 'total_mass is 0'),
        ('inertia:=estimate density:=1 total_mass:=1', 'exclude each other'),
        ('inertia:=estimate', 'no link without mass has a shape'),
    ],
)
def test_an_estimate_that_cannot_be_is_refused(written, words, says):
    with pytest.raises(ArmError, match=says):
        find_urdf(f'{written(BARE, "arm.urdf")} {words}')


def test_an_estimate_of_which_no_link_has_need_is_refused(written):
    with pytest.raises(ArmError, match='each link with a shape has mass: leave it out'):
        find_urdf(f'{written(ARM, "arm.urdf")} inertia:=estimate')


def test_a_total_mass_below_that_of_the_other_links_is_refused(written):
    file = written(ARM.replace('<link name="base"/>', f'<link name="base">{BOX}</link>'), 'a.urdf')
    with pytest.raises(ArmError, match='total_mass is 5 kg; the links with mass have 5.7 kg'):
        find_urdf(f'{file} inertia:=estimate total_mass:=5')


@pytest.mark.slow
def test_packages_of_a_sibling_repository_are_found_and_lines_name_real_folders(tmp_path):
    optional('xacro', 'xacro')
    for name in ('src/one/arm_description', 'src/two/arm_parts'):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / 'package.xml').write_text(f'<package><name>{folder.name}</name></package>')
    parts = tmp_path / 'src' / 'two' / 'arm_parts'
    (parts / 'parts').mkdir()
    (parts / 'parts' / 'rod.xacro').write_text(ROD)
    file = tmp_path / 'src' / 'one' / 'arm_description' / 'arm.urdf.xacro'
    file.write_text(XACRO.format(package='arm_parts'))
    assert find_urdf(str(file)).is_file()
    (parts / 'parts' / 'rod.xacro').unlink()
    file.write_text(XACRO.format(package='arm_parts') + '\n')
    with pytest.raises(ArmError) as refusal:
        find_urdf(str(file))
    assert f'{parts}/parts/rod.xacro' in str(refusal.value)
    with pytest.raises(ArmError, match="write xacro_args:='gripper:=true'"):
        find_urdf(f'{file} gripper:=true')


def test_a_model_that_is_called_nearly_as_a_shipped_one_is_doubted(monkeypatch, capfd):
    find_urdf('ur3_joint_limited_robot')
    assert 'did you mean' not in capfd.readouterr().err
    monkeypatch.setattr(robots, 'robot_names', lambda: ['ur10e', 'planar_3r'])
    find_urdf('ur10')
    line = capfd.readouterr().err
    assert 'ur10_robot.urdf of another package' in line
    assert line.endswith('did you mean ur10e?\n')


@pytest.mark.parametrize(
    'robot', [5000 * 'x', f'{300 * "x"}.urdf joints:=a', f'/tmp/{300 * "x"}/']
)
def test_a_name_that_is_too_long_for_a_file_is_refused_like_others(robot):
    # A traceback, OSError: also of an arm with a list of many joints, which is no path.
    with pytest.raises(ArmError, match='is neither a shipped robot'):
        find_urdf(robot)
