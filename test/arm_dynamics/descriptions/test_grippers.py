"""An arm and a gripper joined to one robot."""

import numpy as np
import pytest
from foreign_files import PINCER, three_fingers

from arm_controllers.gripper import gripper_joint
from arm_controllers.parameter_values import read_fields
from arm_dynamics import ArmError, RobotModel
from arm_dynamics.robots import RobotArgument, check_data_only, find_urdf
from arm_dynamics.self_contact import touching_links
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.robot import Robot
from arm_sim.simulation.model_check import check_model
from arm_sim.simulation.plant import PlantParameters

HAND = """<robot name="hand">
  <link name="base_link"><inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="base_joint" type="fixed"><parent link="base_link"/><child link="hand_tcp"/>
    <origin xyz="0 0 0.2"/></joint>
  <link name="hand_tcp"/>
</robot>"""


@pytest.fixture
def hand(tmp_path):
    file = tmp_path / 'hand.urdf'
    file.write_text(HAND)
    return file


def total_mass(model):
    return sum(inertia.mass for inertia in model.pin_model.inertias)


def test_the_gripper_is_on_the_flange_in_place_of_the_tool():
    arm, both = Robot.load('ur5e').model, Robot.load('ur5e gripper:=parallel').model
    assert both.tip_frame == 'grasp'
    with pytest.raises(ArmError):
        both.frame_id('tool0')
    np.testing.assert_allclose(total_mass(both) - total_mass(arm), 0.8, rtol=1e-12)
    q = np.linspace(-1.0, 1.0, 6)
    flange = arm.forward_kinematics(q, 'flange')
    base = both.forward_kinematics(np.append(q, np.zeros(both.nv - 6)), 'gripper_base')
    np.testing.assert_allclose(base.homogeneous, flange.homogeneous, atol=1e-12)


def test_what_the_srdf_of_the_arm_disables_stays_so_and_no_line_is_about_the_new_one(tmp_path):
    pairs = '<disable_collisions link1="{}" link2="forearm_link" reason="Never"/>'
    links = ('shoulder_link', 'tool0')  # the second one goes with the arm's own tool
    (tmp_path / 'arm.urdf').write_text(find_urdf('ur5e').read_text())
    (tmp_path / 'arm.srdf').write_text(
        f'<robot name="ur5e">{"".join(map(pairs.format, links))}</robot>'
    )
    model = Robot.load(f'{tmp_path / "arm.urdf"} gripper:=parallel').model
    assert 'arm_parallel.srdf disables 1' in touching_links(model, '')[1]
    assert [note for note in model.notes if 'SRDF' in note] == []


def test_each_joint_has_the_numbers_of_its_own_file():
    robot = Robot.load('ur5e gripper:=parallel')
    arm = Robot.load('ur5e')
    assert robot.name == 'ur5e_parallel'
    np.testing.assert_array_equal(robot.start[:6], arm.start)
    np.testing.assert_array_equal(robot.model.armature[:6], arm.model.armature)
    gains = robot.parameters('simulator')['servo_kp']
    assert gains == [*arm.parameters('simulator')['servo_kp'], 5000.0]
    assert robot.start[6] == robot.model.position_upper[6] == 0.0425
    assert robot.parameters('gripper_controller')['goal_tolerance'] == 0.001


def test_a_gripper_file_takes_the_frame_that_is_named_and_a_prefix_where_names_clash(hand):
    robot = f'ur5e gripper:={hand} gripper_frame:=tool0'
    assert RobotArgument.of(robot).label == 'ur5e with hand'
    model, arm = RobotModel(find_urdf(robot)), RobotModel(find_urdf('ur5e'))
    assert model.tip_frame == 'hand_tcp'
    q = np.linspace(-1.0, 1.0, 6)
    beyond = arm.forward_kinematics(q, 'tool0').act(np.array([0.0, 0.0, 0.2]))
    np.testing.assert_allclose(model.forward_kinematics(q).translation, beyond, atol=1e-12)
    model.frame_id('gripper_base_link')


@pytest.mark.parametrize(
    ('robot', 'message'),
    [
        ('ur5e gripper:=none_such', 'gripper:=none_such: .*shipped gripper .*parallel'),
        ('ur5e gripper:=ur5e', "gripper 'ur5e' is neither a shipped gripper"),
        ('ur5e gripper:=parallel gripper_frame:=tool1', "unknown link in gripper_frame:= 'tool1'"),
        ('ur5e gripper_frame:=tool0', 'gripper_frame needs gripper:='),
    ],
)
def test_what_cannot_be_joined_is_refused(robot, message):
    with pytest.raises(ArmError, match=message) as refusal:
        find_urdf(robot)
    assert '\n' not in str(refusal.value)


def test_a_gripper_from_the_graph_may_not_run_code(tmp_path):
    check_data_only('ur5e gripper:=parallel')
    xacro = tmp_path / 'hand.urdf.xacro'
    xacro.write_text(HAND)
    with pytest.raises(ArmError, match='came over the graph'):
        check_data_only(f'ur5e gripper:={xacro}')


@pytest.fixture
def foreign(tmp_path):
    """Give the words of a UR5e with a gripper of one of two foreign files."""

    def words(name):
        file = tmp_path / name
        file.write_text(PINCER if name == 'pincer.xml' else three_fingers())
        return f'ur5e gripper:={file} gripper_frame:=tool0'

    return words


@pytest.mark.parametrize(
    ('name', 'joint', 'shares', 'mass'),
    [('pincer.xml', 'right', [1.0], 0.5), ('hand.urdf', 'thumb_base_joint', [1, 0.6], 0.74)],
)
def test_a_foreign_gripper_moves_on_the_arm_with_all_that_follow_its_joint(
    foreign, capfd, name, joint, shares, mass
):
    arm, robot = Robot.load('ur5e'), Robot.load(foreign(name))
    model = robot.model
    assert model.joint_names == (*arm.model.joint_names, joint)
    assert gripper_joint(model) == joint
    assert total_mass(model) == pytest.approx(total_mass(arm.model) + mass, rel=1e-9)
    plant = MujocoPlant(model, read_fields(PlantParameters, robot.parameters('simulator')))
    assert check_model(plant, model) < 1e-9
    plant.reset(robot.start)
    for _ in range(500):
        plant.step(np.append(robot.start[:6], 0.03))
    places = [plant.mj_model.joint(each).qposadr[0] for each in model.moving_joints[6:]]
    assert plant.q[6] == pytest.approx(0.03, rel=0.1)
    assert {round(x / plant.q[6], 3) for x in plant.mj_data.qpos[places]} == set(shares)
    assert 'equalities' not in capfd.readouterr().err


def test_a_gripper_whose_joints_are_all_in_loops_needs_an_arm_as_an_mjcf(tmp_path):
    file, loop = tmp_path / 'loop.xml', '<connect body1="left" body2="right" anchor="0 0 0"/>'
    file.write_text(PINCER.replace('<joint joint1="left" joint2="right"/>', loop))
    with pytest.raises(ArmError, match='all joints are in loops .* an arm that is an MJCF'):
        Robot.load(f'ur5e gripper:={file}')
