"""What a robot's file says to other programs, or in other units, is named or refused."""

import re

import numpy as np
import pytest
import trimesh
from arms import chain, revolute
from optional import optional

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.clearance import Clearance
from arm_dynamics.surroundings import Surroundings
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.robot import Robot
from arm_sim.simulation.model_check import check_model
from arm_sim.simulation.plant import PlantParameters

ARM = chain('arm', [revolute(name, 'xyz="0 0 0.3"', '0 1 0') for name in 'ab'])
LIMIT = '<limit lower="-2.5" upper="2.2" effort="50" velocity="3"/>'
JOINT = """<ros2_control name="r" type="system"><joint name="a">{}
  <command_interface name="position">{}</command_interface>{}</joint>
  <joint name="b"><command_interface name="position"/></joint>{}</ros2_control>"""
STATE = '<state_interface name="position"><param name="initial_value">{}</param></state_interface>'


def ros2_control(params='', bounds='', state='', more=''):
    return '</robot>', JOINT.format(params, bounds, state, more) + '</robot>'


def gazebo(reference, inside):
    return '</robot>', f'<gazebo reference="{reference}">{inside}</gazebo></robot>'


@pytest.mark.parametrize(
    ('old', 'new', 'says'),
    [
        (*gazebo('b', '<springStiffness>40</springStiffness>'), 'of b is not used: the joint has'),
        (
            *gazebo('a_link', '<turnGravityOff>true</turnGravityOff>'),
            'a_link switches gravity off',
        ),
        (*gazebo('a_link', '<gravity>0</gravity>'), 'a_link switches gravity off'),
        (
            *gazebo('a', '<joint name="z"/>'),
            'joint z in <gazebo> is not used: the loop stays open',
        ),
        (*ros2_control(more='<joint name="c"/>'), 'names c, which is no joint of the URDF'),
        (*ros2_control('<param name="mimic">b</param>'), 'of a is not used: write <mimic> in the'),
        (
            *ros2_control(bounds='<param name="max">1</param>'),
            'of a are not used: limits are thos',
        ),
        (
            *ros2_control(state=STATE.format(0.5)),
            'the start is initial_positions of the simulator',
        ),
        (
            '</robot>',
            re.sub('<joint name="b">.*?</joint>', '', ros2_control()[1]),
            'b: without a c',
        ),
        (
            '</robot>',
            '<transmission xmlns:d="d"><joint name="a"/><actuator><d:rotor_inertia value="1"/>'
            '</actuator></transmission></robot>',
            'rotor_inertia in <transmission> of a is not used: write <dynamics armature="">',
        ),
        (
            '</robot>',
            '<mujoco><option/></mujoco></robot>',
            'options of MuJoCo are parameters of t',
        ),
        (LIMIT, f'{LIMIT}<dynamics damping="1">0.3</dynamics>', ': text in <dynamics>; is it a s'),
        (LIMIT, f'{LIMIT}<dynamics damping="1"/>0.3', ': text in <joint>; is it a slip'),
        ('xyz="0 0 0.3"', 'xyz="0 0 30"', 'a: more than 5 m from the joint before; are lengths i'),
        (
            'xyz="0.03 -0.02 0.1"',
            'xyz="0.03 -0.02 1.1"',
            'a_link: centre of mass beyond 1 m; is i',
        ),
        ('velocity="3"', 'velocity="180"', 'a: faster than 100 rad/s or m/s; is it in degrees or'),
        (
            'upper="2.2"',
            'upper="30"',
            'a: <limit> is beyond 10 rad; is it written in deg',
        ),
        (
            '<mass value="1.7"/>',
            '<mass value="0.02"/>',
            'a_link: moments of inertia of its mass at',
        ),
    ],
)
def test_what_changes_the_arm_elsewhere_or_in_another_unit_is_named(old, new, says):
    text = ARM.replace(old, new, 1)
    assert text != ARM
    (note,) = RobotModel(text).notes
    assert says in note


def test_what_agrees_with_the_urdf_is_not_named():
    bounds = '<param name="min">-2.5</param><param name="max">3.14</param>'
    text = ARM.replace(*ros2_control(bounds=bounds, state=STATE.format('0.0')))
    text = text.replace(*gazebo('a_link', '<gravity>1</gravity><mu1>0.2</mu1>'))
    assert RobotModel(text).notes == ()


def test_centres_of_mass_of_an_arm_with_long_links_may_be_far_from_them():
    long = ARM.replace('xyz="0 0 0.3"', 'xyz="0 0 0.8"', 1)
    assert RobotModel(long.replace('xyz="0.03 -0.02 0.1"', 'xyz="0.03 -0.02 1.1"', 1)).notes == ()


def test_a_slide_in_millimetres_is_named_and_one_without_bounds_is_not():
    slide = ARM.replace('type="revolute"', 'type="prismatic"', 1)
    (note,) = RobotModel(slide.replace('upper="2.2"', 'upper="1200"', 1)).notes
    assert note == 'a: slides by more than 7.12 m; is it in millimetres?'  # ten arms
    rail = slide.replace('"-2.5"', '"0"', 1).replace('"2.2"', '"5"', 1)
    assert RobotModel(rail).notes == ()
    free = slide.replace('"-2.5"', '"-1e9"', 1).replace('"2.2"', '"1e9"', 1)
    assert RobotModel(free).notes == ()


def test_a_mesh_in_millimetres_is_named_where_links_keep_apart(tmp_path):
    for size in (0.1, 100.0):
        trimesh.creation.box((size, size, size)).export(tmp_path / 'part.stl')
        shape = '<collision><geometry><mesh filename="part.stl"/></geometry></collision>'
        (tmp_path / 'arm.urdf').write_text(ARM.replace('a_link">', f'a_link">{shape}'))
        note = Clearance(RobotModel(tmp_path / 'arm.urdf'), Surroundings()).note
        large = '; a shape of a_link is larger than 20 m; is it in millimetres?'
        assert note == 'meshes count as their convex hulls' + large * (size > 1.0)


@pytest.mark.parametrize(
    ('text', 'remedy'),
    [
        (' \n', 'the file is empty'),
        ('version https://git-lfs.github.com/spec/v1\noid sha256:1\n', 'run `git lfs pull`'),
        (f'<!-- mine -->\n<?xml version="1.0"?>{ARM}', 'remove what is before <?xml'),
        ('<!doctype html><html><p>404</html>', 'it is a web page: download the file itself'),
        ('<html><body/></html>', 'a web page, not a URDF: download the file itself'),
    ],
)
def test_a_file_that_is_none_is_refused_with_what_to_do(text, remedy, tmp_path):
    (tmp_path / 'arm.urdf').write_text(text)
    with pytest.raises(ArmError, match=re.escape(remedy)):
        RobotModel(tmp_path / 'arm.urdf')


MJCF = """<mujoco><compiler angle="radian" {compiler}/><worldbody><body name="one">
  <joint name="a" axis="0 1 0" range="-2 2"/><inertial pos="0 0 0.1" mass="{mass}"
  diaginertia="0.01 0.01 0.001"/><geom size="0.05"/><site name="end" pos="0 0 0.3"/>
  </body></worldbody></mujoco>"""


@pytest.mark.parametrize(
    'compiler',
    ['boundmass="3"', 'boundinertia="0.1"', 'settotalmass="9"', 'inertiafromgeom="true"'],
)
@pytest.mark.parametrize('error', [1.0, 1.2])
def test_options_for_all_masses_leave_frames_and_a_model_error_as_they_are(
    compiler, error, tmp_path
):
    (tmp_path / 'arm.xml').write_text(MJCF.format(compiler=compiler, mass=1))
    model = Robot.load(str(tmp_path / 'arm.xml')).model
    mass = re.search('<mass value="([^"]*)"', model.urdf)
    text = model.urdf.replace(mass[0], f'<mass value="{error * float(mass[1])!r}"')
    arm = RobotModel(text)
    assert check_model(MujocoPlant(arm, PlantParameters('torque')), arm) < 1e-9
    assert arm.gravity_torque([1.0])[0] == pytest.approx(error * model.gravity_torque([1.0])[0])


def test_a_model_error_of_an_mjcf_with_moments_of_its_own_is_simulated(tmp_path):
    (tmp_path / 'arm.xml').write_text(MJCF.format(compiler='', mass=1))
    text = Robot.load(str(tmp_path / 'arm.xml')).model.urdf
    arm = RobotModel(text.replace('<mass value="1.0"', '<mass value="1.2"'))
    assert check_model(MujocoPlant(arm, PlantParameters('torque')), arm) < 1e-9


def test_a_number_that_is_none_is_refused_and_names_may_have_it(tmp_path):
    file = tmp_path / 'arm.xml'
    file.write_text(MJCF.format(compiler='', mass='nan'))
    with pytest.raises(ArmError, match='mass="nan"; allowed: finite numbers'):
        Robot.load(str(file))
    file.write_text(MJCF.format(compiler='', mass=1).replace('"one"', '"nan"'))
    assert np.isfinite(Robot.load(str(file)).model.mass_matrix([0.0])).all()


def test_a_warning_of_mujoco_is_one_line(tmp_path, capfd):
    (tmp_path / 'old.xml').write_text(MJCF.format(compiler='settotalmass="9"', mass=1))
    Robot.load(str(tmp_path / 'old.xml'))
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("arm_sim: old.xml: MuJoCo: compiler attribute 'settotalmass' is depre")


def xacro(tmp_path, inside, words=''):
    optional('xacro', 'xacro')
    text = ARM.replace('<robot', '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"', 1)
    (tmp_path / 'arm.xacro').write_text(text.replace('<link', f'{inside}<link', 1))
    return Robot.load(f'{tmp_path / "arm.xacro"} {words}'.strip())


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ('inside', 'words', 'says'),
    [
        ('<xacro:include filename="parts/*.xacro"/>', '', '*.xacro" matched no files.'),
        ('${xacro.warning("an old macro")}', '', 'xacro: warning: an old macro'),
        ('<xacro:arg name="side" default="l"/>', 'sid:=r', 'sid:= has no effect, as the file has '
         'no such argument; did you mean side:=?'),
        ('', 'inertja:=estimate', 'file has no such argument; did you mean inertia:=?'),
        ('<xacro:arg name="side" default="l"/>', 'side:=r', ''),
        ('<gazebo reference="$(optenv ARM_SIDE left)"/>', '', 'xacro does not see the environment '
         'variable ARM_SIDE: write its value'),
    ],
)  # fmt: skip
def test_what_a_xacro_leaves_out_is_named(inside, words, says, tmp_path, capfd, monkeypatch):
    monkeypatch.setenv('ARM_SIDE', 'right')
    xacro(tmp_path, inside, words)
    lines = capfd.readouterr().err.splitlines()
    assert [line.endswith(says) for line in lines] == [True] * bool(says)
