"""An MJCF that engine mujoco simulates itself: tendons, equalities, springs, own actuators."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from rclpy.serialization import deserialize_message
from tf2_msgs.msg import TFMessage

from arm_controllers.laws import law_class
from arm_controllers.laws.independent_joint import IndependentJoint
from arm_controllers.laws.pd import PD
from arm_controllers.parameter_values import read_fields
from arm_controllers.ros.frame_messages import FrameMessages
from arm_dynamics.checks import ArmError
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.object_shapes import ShapePoses
from arm_dynamics.surroundings import Surroundings
from arm_sim.engines.analytical import AnalyticalPlant
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.batch_plant import batch_of
from arm_sim.loop.loop import Loop
from arm_sim.loop.mujoco_batch import MujocoBatch
from arm_sim.robot import Robot
from arm_sim.simulation.contact import material_of
from arm_sim.simulation.model_check import check_model
from arm_sim.simulation.plant import PlantParameters
from arm_sim.simulation.simulation import Simulation
from arm_tools.view.scene import Scene

# An arm of two joints; between them a flap on a spring, whose joint no controller commands; a
# gripper of two fingers with a tendon, an equality and an actuator from 0 (open) to 255.
MJCF = """<mujoco>
  <compiler angle="radian" autolimits="true"/>
  <option timestep="0.001" integrator="implicitfast"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="upper" pos="0 0 0.4">
      <joint name="shoulder" axis="0 1 0" damping="0.5" armature="0.05" range="-2 2"/>
      <geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.03" mass="2"/>
      <body name="flap" pos="0 0.05 0.15">
        <joint name="flap" axis="1 0 0" stiffness="3" springref="0.2" damping="0.05"/>
        <geom type="box" size="0.02 0.05 0.005" pos="0 0.05 0" mass="0.1"/>
      </body>
      <body name="fore" pos="0 0 0.3">
        <joint name="elbow" axis="0 1 0" damping="0.3" armature="0.02" range="-2.5 2.5"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.2" size="0.02" mass="1"/>
        <site name="wrist" pos="0 0 0.2"/>
        <body name="left" pos="0 0.04 0.22">
          <joint name="left" type="slide" axis="0 -1 0" range="0 0.04" armature="0.1" damping="5"/>
          <geom type="box" size="0.01 0.005 0.03" mass="0.05"/>
        </body>
        <body name="right" pos="0 -0.04 0.22">
          <joint name="right" type="slide" axis="0 1 0" range="0 0.04" armature="0.1" damping="5"/>
          <geom type="box" size="0.01 0.005 0.03" mass="0.05"/>
        </body>
      </body>
    </body>
  </worldbody>
  <tendon><fixed name="grip">
    <joint joint="left" coef="0.5"/><joint joint="right" coef="0.5"/>
  </fixed></tendon>
  <equality><joint name="alike" joint1="left" joint2="right"/></equality>
  <actuator>
    <general name="shoulder" joint="shoulder" gainprm="400" biastype="affine" biasprm="0 -400 -40"
      ctrlrange="-2 2" forcerange="-150 150"/>
    <general name="fingers" tendon="grip" ctrlrange="0 255" gainprm="0.15686274509803921"
      biastype="affine" biasprm="0 -1000 -40"/>
    <position name="elbow" joint="elbow" kp="200" kv="20"/>
  </actuator>
  <sensor>
    <force name="wrist_force" site="wrist"/><jointpos name="flap_place" joint="flap"/>
    <actuatorfrc name="elbow_torque" actuator="elbow"/>
  </sensor>
  <keyframe>
    <key name="home" qpos="0.3 0.25 -0.8 0.01 0.01" ctrl="0.3 63.75 -0.8"/>
  </keyframe>
</mujoco>"""


def robot_of(tmp_path, text=MJCF, words=''):
    file = tmp_path / 'arm.xml'
    file.write_text(text)
    return Robot.load(f'{file} {words}')


def parameters_of(robot, **others):
    given = {**robot.parameters('simulator'), **others}
    return read_fields(PlantParameters, given)


@pytest.fixture
def robot(tmp_path):
    return robot_of(tmp_path)


def test_an_mjcf_moves_as_mujoco_moves_the_file(robot):
    assert robot.model.joint_names == ('shoulder', 'elbow')  # not the first places of a state
    of_file = {'timestep': 0.001, 'control_decimation': 2, 'integrator': 'implicitfast'}
    plant = MujocoPlant(robot.model, parameters_of(robot, **of_file))
    assert plant.mjcf.actuators == ('fingers',)
    plant.reset(robot.start)
    m = mujoco.MjModel.from_xml_string(MJCF)
    data = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, data, 0)
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    for k in range(300):
        command = robot.start + 0.2 * np.sin(0.02 * k)
        fingers = 63.75 if k < 100 else 200.0
        plant.mjcf.set('fingers', fingers)
        plant.step(command)
        data.ctrl[:] = command[0], fingers, command[1]
        mujoco.mj_step(m, data, 2)
    assert_allclose(plant.q, data.qpos[[0, 2]], atol=1e-12)
    assert_allclose(plant.v, data.qvel[[0, 2]], atol=1e-11)
    assert_allclose(plant.mj_data.qpos, data.qpos, atol=1e-12)
    assert_allclose(plant.effort, data.qfrc_actuator[[0, 2]], atol=1e-9)
    assert_allclose(plant.mj_data.sensordata, data.sensordata, atol=1e-9)
    assert abs(data.qpos[3:] - 200 / 255 * 0.04).max() < 2e-3
    plant.reset(robot.start)
    assert_array_equal(plant.mj_data.qpos, [0.3, 0.25, -0.8, 0.01, 0.01])
    assert plant.mj_data.ctrl.tolist() == [63.75, 0.3, -0.8]


def test_efforts_of_drives_are_means_of_the_period(robot):
    plant = MujocoPlant(robot.model, parameters_of(robot, timestep=0.002))
    plant.reset(robot.start, [0.5, -1.0])
    plant.step(robot.start)
    kp, kd = parameters_of(robot).servo_gains(robot.model)
    way = plant.q - robot.start
    assert abs(kp * 0.5 * way + kd * (plant.v - way / 0.002)).min() > 1.0  # at the end, and mean
    curve = kp * 0.002 * (plant.v - [0.5, -1.0]) / 12.0
    assert_allclose(plant.effort, curve - kp * 0.5 * way - kd * way / 0.002, rtol=1e-9)


def test_the_model_of_the_controllers_is_the_plants_with_the_others_held_at_home(robot):
    plant = MujocoPlant(robot.model, parameters_of(robot))
    assert check_model(plant, robot.model) < 1e-12
    wrong = with_error(
        robot.model, ModelError(payload=0.5, mass_scale=(1.2,), com_shift=(0, 0.01, 0))
    )
    heavier = MujocoPlant(wrong, parameters_of(robot))
    assert check_model(heavier, wrong) < 1e-12
    assert (
        heavier.mass_matrix()[0, 0] > 1.2 * robot.model.mass_matrix(heavier.q)[0, 0] - 0.2 * 0.05
    )


def test_springs_at_a_commanded_joint_are_a_note_with_their_size(tmp_path):
    stiff = MJCF.replace('name="elbow" axis', 'name="elbow" stiffness="4" axis')
    robot = robot_of(tmp_path, stiff)
    plant = MujocoPlant(robot.model, parameters_of(robot))
    check_model(plant, robot.model)
    (note,) = plant.notes
    assert 'which the controllers do not know, give up to' in note
    assert float(note.split('up to ')[1].split()[0]) <= 4 * 2.5
    assert note.endswith(" N.m at joint 'elbow'")
    refusal = "joint 'elbow': a spring, stiffness 4, is not simulated"
    with pytest.raises(ArmError, match=refusal):
        AnalyticalPlant(robot.model, AnalyticalPlant.Parameters())


def test_a_law_that_needs_the_model_is_refused_where_springs_act_and_not_converted(
    tmp_path, capfd
):
    stiff = MJCF.replace('name="elbow" axis', 'name="elbow" stiffness="4" axis')
    robot = robot_of(tmp_path, stiff)
    said = "law PD: .* give up to .* at joint 'elbow', which is not in its model.*mjcf:=converted"
    with pytest.raises(ArmError, match=said):
        PD(robot.model, PD.Parameters(kp=(1.0,), kd=(1.0,)))
    designed = IndependentJoint.designed(robot.model, robot.start, 5.0, 1.0)
    assert IndependentJoint(robot.model, designed).model is robot.model
    assert robot_of(tmp_path, MJCF).model.springs == ''
    capfd.readouterr()
    converted = robot_of(tmp_path, stiff, 'mjcf:=converted')
    assert 'not simulated: springs of joints' in capfd.readouterr().err
    PD(converted.model, PD.Parameters(kp=(1.0,), kd=(1.0,)))
    plant = MujocoPlant(converted.model, parameters_of(converted))
    assert check_model(plant, converted.model) < 1e-12


def test_the_law_and_not_gravcomp_carries_the_weight(tmp_path, capfd):
    light = MJCF.replace('<body name="fore"', '<body name="fore" gravcomp="1"')
    robot = robot_of(tmp_path, light)
    assert 'gravcomp (carried by the law) fore' in capfd.readouterr().err
    plant, q = MujocoPlant(robot.model, parameters_of(robot)), np.array([0.4, 0.9])
    assert check_model(plant, robot.model) < 1e-12
    assert plant.notes == ()
    plant.reset(q)
    assert_array_equal(plant.mj_data.qfrc_gravcomp, 0.0)
    assert_allclose(plant.bias_torque(), robot.model.gravity_torque(q), rtol=1e-12)


def test_what_the_model_of_the_controllers_lacks_is_listed(tmp_path, capfd):
    robot_of(tmp_path)
    listed = (
        "arm.xml: not in the controllers' model: springs of joints flap; tendons grip; "
        'equalities alike; actuators fingers; sensors wrist_force, flap_place, elbow_torque\n'
    )
    assert listed in capfd.readouterr().err
    robot_of(tmp_path, words='mjcf:=converted joints:=shoulder,elbow')
    assert listed.partition(': ')[2].partition(': ')[2] in capfd.readouterr().err


@pytest.mark.parametrize(
    ('name', 'value', 'says'),
    [
        ('finger', 1.0, "unknown actuator 'finger'; nearest known: 'fingers'"),
        ('elbow', 1.0, "unknown actuator 'elbow'"),
        ('fingers', 256.0, "control of actuator 'fingers' is 256"),
        ('fingers', np.nan, "actuator 'fingers': control nan is not a finite number"),
    ],
)
def test_a_control_that_an_actuator_does_not_have_is_refused(robot, name, value, says):
    plant = MujocoPlant(robot.model, parameters_of(robot))
    plant.mjcf.set('fingers', 30.0)
    with pytest.raises(ArmError, match=says):
        plant.mjcf.set(name, value)
    assert plant.mj_data.ctrl[0] == 30.0
    with pytest.raises(ArmError, match="no actuator 'fingers': only an MJCF in engine mujoco"):
        AnalyticalPlant(robot.model, AnalyticalPlant.Parameters()).mjcf.set('fingers', 1.0)


def test_sensors_and_actuators_report_the_present_state_and_change_nothing(robot):
    plant = MujocoPlant(robot.model, parameters_of(robot))
    other = MujocoPlant(robot.model, parameters_of(robot))
    axes = tuple(f'wrist_force_{axis}' for axis in 'xyz')
    assert plant.mjcf.sensors == (*axes, 'flap_place', 'elbow_torque')
    for each in (plant, other):
        each.reset(robot.start)
        each.mjcf.set('fingers', 100.0)
    for _ in range(100):
        sensors, (length, velocity, force) = plant.mjcf.readings()
        for each in (plant, other):
            each.step(robot.start)
    sensors, (length, velocity, force) = plant.mjcf.readings()
    assert_array_equal(plant.mj_data.qpos, other.mj_data.qpos)
    qpos, qvel = plant.mj_data.qpos, plant.mj_data.qvel
    assert sensors[3] == qpos[1]
    assert length == pytest.approx(qpos[3:].mean(), abs=1e-15)
    assert velocity == pytest.approx(qvel[3:].mean(), abs=1e-15)
    assert force == pytest.approx(100 / 255 * 40 - 1000 * length - 40 * velocity, abs=1e-12)


def test_controls_are_set_from_their_stamp_on_or_all_refused(robot):
    plant = MujocoPlant(robot.model, parameters_of(robot))
    simulation = Simulation(plant, robot.model, robot.start)
    later = 3 * simulation.period_ns
    simulation.set_actuators({'fingers': 90.0}, later)
    seen = []
    for _ in range(5):
        simulation.advance(None)
        seen.append(plant.mj_data.ctrl[0])
    assert seen == [63.75, 63.75, 63.75, 90.0, 90.0]
    with pytest.raises(ArmError, match="unknown actuator 'other'"):
        simulation.set_actuators({'fingers': 10.0, 'other': 1.0})
    with pytest.raises(ArmError, match='actuator_commands is stamped .* ahead of simulated time'):
        simulation.set_actuators({'fingers': 10.0}, 10**18)
    assert plant.mj_data.ctrl[0] == 90.0


def test_an_arm_holds_under_a_law_while_its_gripper_closes(robot):
    def rest(t, reference):
        reference.row[:] = 0.0
        reference.q[:] = robot.start

    cls = law_class('servo')
    law = cls(robot.model, read_fields(cls.Parameters, robot.controller_parameters('servo')))

    def close(plant):
        plant.mjcf.set('fingers', 255.0)
        return plant

    loop = Loop(MujocoPlant(robot.model, parameters_of(robot)), law, rest, [(0.5, close)])
    loop.run(1.5)
    assert abs(loop.plant.q - robot.start).max() < 1e-3
    assert_allclose(loop.plant.mj_data.qpos[3:], 0.04, atol=1e-3)


FLAP = MJCF[MJCF.index('<body name="flap"') : MJCF.index('<body name="fore"')]
WITHOUT_FLAP = (
    MJCF.replace(FLAP, '').replace('<jointpos name="flap_place" joint="flap"/>', '')
).replace('0.3 0.25 -0.8', '0.3 -0.8')


def test_an_arm_of_a_batch_is_the_arm_alone_to_the_last_bit(tmp_path):
    robot = robot_of(tmp_path, WITHOUT_FLAP)
    errors = [ModelError(payload=kg) for kg in (0.1, 0.4, 0.9)]
    models, p = [with_error(robot.model, error) for error in errors], parameters_of(robot)
    batch = batch_of(models, p, 'mujoco')
    assert isinstance(batch, MujocoBatch)
    batch.reset(robot.start)
    alone = [MujocoPlant(model, p) for model in models]
    for plant in alone:
        plant.reset(robot.start)
    other = batch_of(models, p, 'mujoco')
    for k in range(200):
        if k == 50:
            for plant in (batch, *alone):
                plant.mjcf.set('fingers', 200.0)
        if k == 100:
            other.continue_from(batch)
            batch = other
        command = robot.start + 0.1 * np.sin(0.03 * k) * np.arange(1.0, 4.0)[:, np.newaxis]
        batch.step(command)
        for plant, own in zip(alone, command, strict=True):
            plant.step(own)
        rows = np.array([plant.q for plant in alone])
        assert_array_equal(batch.q, rows)
    assert np.ptp(rows, axis=0).max() > 1e-3


def test_one_arm_of_a_batch_with_another_joint_between_its_joints_is_one_arm_alone(robot):
    batch = batch_of([robot.model] * 2, parameters_of(robot), 'mujoco')
    plant = MujocoPlant(robot.model, parameters_of(robot))
    for each in (batch, plant):
        each.reset(robot.start)
    for _ in range(50):
        batch.step(robot.start + np.array([[0.1], [0.2]]))
        plant.step(robot.start + 0.2)
    assert_array_equal(batch.q[1], plant.q)
    assert_array_equal(batch.v[1], plant.v)
    assert abs(batch.q[1] - batch.q[0]).min() > 1e-4


GRIPPER = MJCF[
    MJCF.index('<body name="left"') : MJCF.index('</body>\n    </body>\n  </worldbody>')
]
COUPLING = MJCF[MJCF.index('<tendon>') : MJCF.index('<actuator>')]
FINGERS = MJCF[MJCF.index('<general name="fingers"') : MJCF.index('<position name="elbow"')]
HAND = (
    '<mujoco><compiler autolimits="true"/><worldbody>'
    f'<body name="palm">{GRIPPER}</body></worldbody>'
    f'{COUPLING}<actuator>{FINGERS}</actuator>'
    '<keyframe><key qpos="0.02 0.02" ctrl="127.5"/></keyframe></mujoco>'
)
ARM = WITHOUT_FLAP.replace(GRIPPER, '').replace(COUPLING, '').replace(FINGERS, '')
ARM = ARM.replace('-0.8 0.01 0.01', '-0.8').replace('0.3 63.75 -0.8', '0.3 -0.8')
ARM = ARM.replace('name="wrist"', 'name="flange"').replace('site="wrist"', 'site="flange"')


def test_an_mjcf_gripper_is_attached_to_an_mjcf_arm(tmp_path):
    hand = tmp_path / 'hand.xml'
    hand.write_text(HAND)
    robot = robot_of(tmp_path, ARM, f'gripper:={hand}')
    assert robot.model.joint_names == ('shoulder', 'elbow')
    plant = MujocoPlant(robot.model, parameters_of(robot))
    assert plant.mjcf.actuators == ('gripper_fingers',)
    assert check_model(plant, robot.model) < 1e-12
    plant.reset(robot.start)
    assert_array_equal(plant.mj_data.qpos, [0.3, -0.8, 0.02, 0.02])
    assert plant.mj_data.ctrl.tolist() == [127.5, 0.3, -0.8]
    plant.mjcf.set('gripper_fingers', 255.0)
    for _ in range(500):
        plant.step(robot.start)
    assert_allclose(plant.mj_data.qpos[2:], 0.04, atol=2e-3)
    low = robot_of(tmp_path, ARM, f'gripper:={hand} gripper_frame:=fore').model
    palms = [x.forward_kinematics(robot.start, 'gripper_palm') for x in (robot.model, low)]
    assert np.linalg.norm(palms[0].translation - palms[1].translation) == pytest.approx(0.2)
    with pytest.raises(ArmError, match="gripper_frame:= 'flang'; nearest known: 'flange'"):
        robot_of(tmp_path, ARM, f'gripper:={hand} gripper_frame:=flang')


def test_defaults_pairs_and_flags_of_the_file_are_the_files_own(tmp_path):
    text = MJCF.replace(
        '<default>', '<default><motor ctrllimited="true" ctrlrange="-0.1 0.1" gear="3"/>'
    )
    text = text.replace(
        '<option ', '<option gravity="0 0 -5"><flag gravity="disable"/></option><option '
    )
    text = text.replace('size="0.01 0.005 0.03"', 'name="{}" size="0.01 0.005 0.03"')
    text = text.replace('{}', 'one', 1).replace('{}', 'two', 1)
    pair = '<contact><pair geom1="one" geom2="two" solref="0.05 1"/></contact>'
    robot = robot_of(tmp_path, text.replace('<tendon>', f'{pair}<tendon>'))
    assert robot.model.gravity.tolist() == [0.0, 0.0, 0.0]
    plant = MujocoPlant(robot.model, parameters_of(robot, actuator='torque', scene='blocks'))
    assert check_model(plant, robot.model) < 1e-12
    m = plant.mj_model
    (own,) = (k for k in range(m.npair) if m.pair(k).name)
    assert m.npair > 1
    assert m.pair_solref[own].tolist() == [0.05, 1.0]
    plant.reset(robot.start)
    plant.step(np.array([2.0, -1.0]))
    assert plant.effort.tolist() == [2.0, -1.0]


def test_user_data_of_a_robot_or_a_scene_makes_no_object(tmp_path):
    marked = MJCF.replace('conaffinity="0"', 'conaffinity="0" user="7e4 3"')
    marked = marked.replace('<body name="flap"', '<body name="flap" user="1"')
    marked = marked.replace('size="0.03" mass="2"', 'size="0.03" mass="2" user="5 6 0.7 8 9"')
    robot, scene = robot_of(tmp_path, marked), tmp_path / 'scene.xml'
    scene.write_text(
        '<mujoco><worldbody><body name="post" user="4" pos="3 0 1"><geom size="0.1"/></body>'
        '<body name="ball" pos="3 1 1"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'
    )
    plant = MujocoPlant(robot.model, parameters_of(robot, scene=str(scene), table=(1.0,) * 6))
    assert plant.scene.objects == ('ball',)
    assert {each.name for each in plant.scene.shapes} == {'post', 'ball'}
    for name in ('floor', 'table'):
        assert material_of(plant.mj_model, plant.mj_model.geom(name).id) is None


def test_links_that_other_joints_move_have_the_poses_of_the_mjcf(robot):
    plant = MujocoPlant(robot.model, parameters_of(robot))
    assert plant.scene.loose_links == ('flap', 'left', 'right')
    plant.reset(robot.start)
    for link, pose in zip(plant.scene.loose_links, plant.scene.link_poses(), strict=True):
        at_home = pin.SE3ToXYZQUAT(robot.model.forward_kinematics(robot.start, link))
        assert_allclose(pose[:3], at_home[:3], atol=1e-12)
        assert abs(pose[3:] @ at_home[3:]) == pytest.approx(1.0, abs=1e-12)
    messages = FrameMessages(robot.model, '', plant.scene.loose_links)
    standing = deserialize_message(messages.standing, TFMessage).transforms
    assert {each.child_frame_id for each in standing} == {'wrist'}
    plant.mjcf.set('fingers', 255.0)
    for _ in range(500):
        plant.step(robot.start)
    moving = deserialize_message(
        messages.at(plant.q, 0, plant.scene.link_poses()), TFMessage
    ).transforms
    found = {each.child_frame_id: each.transform.translation for each in moving}
    assert set(found) == {'upper', 'fore', 'flap', 'left', 'right'}
    gap = [getattr(found['left'], axis) - getattr(found['right'], axis) for axis in 'xyz']
    assert np.linalg.norm(gap) == pytest.approx(0.0, abs=4e-3)  # 80 mm when open


def test_links_that_other_joints_move_are_shown_where_they_are(tmp_path):
    text = MJCF.replace(
        '<worldbody>', '<asset><material name="red" rgba="1 0 0 1"/></asset><worldbody>'
    )
    text = text.replace('name="flap" axis', 'name="flap" pos="0.01 0 0.02" axis')
    robot = robot_of(
        tmp_path,
        text.replace('<geom type="box" size="0.02', '<geom material="red" type="box" size="0.02'),
    )
    plant = MujocoPlant(robot.model, parameters_of(robot))
    assert plant.scene.shapes == ()
    assert [each.name for each in plant.scene.link_shapes] == ['flap', 'left', 'right']
    assert plant.scene.link_shapes[0].colour == (1.0, 0.0, 0.0, 1.0)
    plant.reset(robot.start)
    plant.mjcf.set('fingers', 255.0)
    for _ in range(300):
        plant.step(robot.start)
    mujoco.mj_kinematics(plant.mj_model, plant.mj_data)
    poses = ShapePoses(plant.scene.link_shapes, plant.scene.loose_links).at(
        plant.scene.link_poses()
    )
    scene = Scene(robot.model, Surroundings(), plant.scene.link_shapes)
    scene.place(poses)
    scene.show(robot.start)
    m, data = scene.mj_model, scene.mj_data
    geoms = scene.visible_geoms()
    shown = {m.body(m.geom_bodyid[geom]).name for geom in geoms}
    assert shown == {'upper', 'fore', 'object 0', 'object 1', 'object 2'}
    for k, name in enumerate(plant.scene.loose_links):
        (geom,) = np.flatnonzero(plant.mj_model.geom_bodyid == plant.mj_model.body(name).id)
        body = m.body(f'object {k}').id
        assert_allclose(data.xpos[body], plant.mj_data.geom_xpos[geom], atol=1e-12)
        own, turn = plant.mj_data.geom_xmat[geom], data.xmat[body]
        assert_allclose(turn, own, atol=1e-12)
