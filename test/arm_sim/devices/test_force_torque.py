"""The force-torque sensor of plants: statics, pushes, contacts, compensation, tare, batches."""

from functools import partial

import numpy as np
import pinocchio as pin
import pytest
import yaml
from scipy.spatial.transform import Rotation

from arm_dynamics.checks import ArmError
from arm_dynamics.model_error import ModelError, with_error
from arm_sim.devices.force_torque import ForceTorqueParameters, ForceTorqueSensor
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.batch_plant import BatchPlant
from arm_sim.loop.mujoco_batch import MujocoBatch
from arm_sim.robot import Robot
from arm_sim.simulation.plant import RIGID_BODY_ENGINES, plant_class

ROBOT = Robot.load('planar_3r')
UR5E = Robot.load('ur5e')
PAYLOADS = [with_error(ROBOT.model, ModelError(payload=mass)) for mass in (0.5, 1.5, 2.5)]
PARAMETERS = {
    'actuator': 'torque', 'timestep': 1e-3, 'integrator': 'implicitfast',
    'force_torque_frame': ROBOT.model.tip_frame,
}  # fmt: skip
ERRORS = {
    'force_noise': 0.1, 'torque_noise': 0.01, 'wrench_bias': (1.0, 0.0, 0.0, 0.0, 0.2, 0.0),
    'wrench_bandwidth': 80.0, 'wrench_delay': 2, 'tare_at_reset': True,
}  # fmt: skip


def plant_of(engine, model, **parameters):
    plant = plant_class(engine)
    return plant(model, plant.Parameters(**PARAMETERS | parameters))


def wrenches(plant, commands, push=()):
    """Return the wrenches (periods, ..., 6) of a motion from the start, with a push at the end."""
    plant.reset(ROBOT.start)
    seen = [plant.measured.wrench]
    for k, command in enumerate(commands):
        if k == 40 and len(push):
            plant.apply_wrench(ROBOT.model.tip_frame, push)
        plant.step(np.ascontiguousarray(np.broadcast_to(command, plant.q.shape)))
        seen.append(plant.measured.wrench)
    return np.array(seen)


COMMANDS = np.random.default_rng(1).normal(0.0, 5.0, (60, 3)).cumsum(axis=0) / 3.0


def test_the_sensor_has_weight_push_and_inertia_of_what_is_beyond():
    model, mass, tip = PAYLOADS[1], 1.5, ROBOT.model.tip_frame
    plant, push = plant_of('mujoco', model), np.array([3.0, -2.0, 1.0, 0.1, 0.2, -0.3])
    plant.reset(ROBOT.start)
    rotation = model.forward_kinematics(plant.q, tip).rotation
    np.testing.assert_allclose(
        plant.measured.wrench[:3], mass * rotation.T @ model.gravity, atol=1e-12
    )
    for k, command in enumerate(COMMANDS):
        if k == 40:
            plant.apply_wrench(tip, push)
        before = plant.v.copy()
        plant.step(command)
        motion = model.frame_motion(plant.q, plant.v, (plant.v - before) / 1e-3, tip)
        pushed = push[:3] * (k >= 40)  # Newton's law of the payload
        force = motion.rotation.T @ (mass * (model.gravity - motion.acceleration[:3]) + pushed)
        np.testing.assert_allclose(plant.measured.wrench[:3], force, atol=1e-9)


def test_both_engines_report_the_same_wrenches():
    one, other = (
        wrenches(plant_of(engine, ROBOT.model, force_torque_frame='link_3'), COMMANDS, np.ones(6))
        for engine in RIGID_BODY_ENGINES
    )
    assert np.ptp(one, axis=0).max() > 1.0
    np.testing.assert_allclose(one, other, atol=1e-8)


@pytest.mark.parametrize('engine', RIGID_BODY_ENGINES)
def test_a_sensor_changes_no_bit_of_the_motion(engine):
    parameters = {'timestep': 5e-4, 'control_decimation': 4}
    ends = []
    for frame in ('', ROBOT.model.tip_frame):
        plant = plant_of(engine, ROBOT.model, force_torque_frame=frame, **parameters)
        for command in COMMANDS:
            plant.step(command)
        ends.append((plant.q.copy(), plant.v.copy(), plant.effort.copy()))
    np.testing.assert_array_equal(*ends)


def pressed(tmp_path, make, **values):
    """Return a UR5e whose flange lies on a block, and the wrench of the block on the arm."""
    x, y, z = UR5E.model.forward_kinematics(UR5E.start).translation.tolist()
    block = {
        'name': 'under', 'shape': 'box', 'size': [0.3, 0.3, z - 0.02],
        'position': [x, y, z / 2 - 0.01], 'stiffness': 2e4, 'damping': 400.0, 'friction': 1.0,
    }  # fmt: skip
    (tmp_path / 'scene.yaml').write_text(yaml.safe_dump([block]))
    own = {
        'actuator': 'servo',
        'scene': str(tmp_path / 'scene.yaml'),
        'timestep': 1e-3,
        'servo_kd': (100.0,),
    }
    parameters = MujocoPlant.Parameters(**PARAMETERS | own | values)
    plant = make(parameters)
    down = UR5E.start + np.array([0.0, 0.05, 0.05, 0.0, 0.0, 0.0])
    plant.reset(UR5E.start)
    for _ in range(1000):
        plant.step(np.ascontiguousarray(np.broadcast_to(down, plant.q.shape)))
    return plant


@pytest.mark.parametrize('frame', ['wrist_3_link', 'wrist_1_link'])
def test_a_press_is_felt_as_contact_force_weight_and_inertia(tmp_path, frame):
    plant = pressed(tmp_path, lambda p: MujocoPlant(UR5E.model, p), force_torque_frame=frame)
    for lower in (0.1, 0.2):
        before = plant.v.copy()
        plant.step(UR5E.start + np.array([0.0, lower, 0.0, 0.0, 0.0, 0.0]))
        points, model = plant.contacts.points(), UR5E.model.pin_model.copy()
        assert {point.shapes[1] for point in points} == {'under'}
        force, data = -sum(point.force for point in points), model.createData()
        assert np.linalg.norm(force) > 10.0
        a = (plant.v - before) / 1e-3
        pin.centerOfMass(model, data, plant.q, plant.v, a, True)
        joint = model.frames[model.getFrameId(frame)].parentJoint
        free = data.oMi[joint].rotation.T @ (force + data.mass[joint] * UR5E.model.gravity)
        expected = free - data.mass[joint] * data.acom[joint]
        np.testing.assert_allclose(plant.measured.wrench[:3], expected, atol=1e-9)


@pytest.mark.slow
def test_pressing_arms_of_a_batch_feel_what_each_feels_alone(tmp_path):
    one = pressed(tmp_path, lambda p: MujocoPlant(UR5E.model, p), force_torque_frame='flange')
    two = pressed(
        tmp_path, lambda p: MujocoBatch([UR5E.model] * 2, p), force_torque_frame='flange'
    )
    for arm in range(2):
        np.testing.assert_array_equal(two.measured.wrench[arm], one.measured.wrench)


@pytest.mark.parametrize('make', [MujocoBatch, partial(BatchPlant, engine='mujoco')])
def test_each_arm_of_a_batch_has_the_sensor_it_has_alone(make):
    batch = make(PAYLOADS, MujocoPlant.Parameters(**PARAMETERS, **ERRORS))
    batch.seed = 5
    together = wrenches(batch, COMMANDS, np.ones(6))
    for arm, model in enumerate(PAYLOADS):
        plant = plant_of('mujoco', model, **ERRORS)
        plant.seed = 5 + arm
        alone = wrenches(plant, COMMANDS, np.ones(6))
        if make is MujocoBatch:
            np.testing.assert_array_equal(together[:, arm], alone)
        np.testing.assert_allclose(together[:, arm], alone, atol=1e-8)


def test_the_tools_weight_is_compensated_in_every_pose():
    mass, tip = 1.5, ROBOT.model.tip_frame
    plant = plant_of('mujoco', PAYLOADS[1], tool_mass=mass)
    for q in (ROBOT.start, ROBOT.start + 0.4):
        plant.reset(q)
        np.testing.assert_allclose(plant.measured.wrench, 0.0, atol=1e-9)
    com = (0.02, 0.0, 0.05)
    plant = plant_of('mujoco', ROBOT.model, tool_mass=mass, tool_com=com)
    plant.reset(ROBOT.start)
    g = ROBOT.model.forward_kinematics(ROBOT.start, tip).rotation.T @ ROBOT.model.gravity
    expected = -np.concatenate([mass * g, np.cross(com, mass * g)])
    np.testing.assert_allclose(plant.measured.wrench, expected, atol=1e-9)


def test_a_tare_makes_the_mean_of_readings_zero():
    parameters = {
        'wrench_bias': (1.0, 2.0, 3.0, 0.1, 0.2, 0.3),
        'force_noise': 0.1,
        'tare_periods': 50,
    }
    sensor = ForceTorqueSensor([ForceTorqueParameters(**parameters)], 1e-3)
    sensor.reset([3])
    wrench, gravity = np.array([[5.0, 0.0, -9.0, 0.0, 1.0, 0.0]]), np.zeros((1, 3))
    sensor.tare()
    seen = np.array([sensor.read(wrench, gravity)[0] for _ in range(150)])
    np.testing.assert_allclose(
        seen[:49].mean(axis=0), wrench[0] + parameters['wrench_bias'], atol=0.1
    )
    assert np.abs(seen[50:, :3].mean(axis=0)).max() < 0.05
    np.testing.assert_allclose(seen[50:, 3:], 0.0, atol=1e-12)


def test_a_sensor_that_is_tared_at_reset_begins_at_zero():
    parameters = {'tare_at_reset': True, 'wrench_bias': (1.0, 2.0, 3.0, 0.1, 0.2, 0.3)}
    plant = plant_of('mujoco', PAYLOADS[0], **parameters)
    for q in (ROBOT.start, ROBOT.start + 0.4):
        plant.reset(q)
        np.testing.assert_allclose(plant.measured.wrench, 0.0, atol=1e-12)
    push = np.array([3.0, -2.0, 1.0, 0.1, 0.2, -0.3])
    sensor = ForceTorqueSensor([ForceTorqueParameters(**parameters)], 1e-3)
    sensor.reset([0])
    for wrench in (np.ones((1, 6)), np.ones((1, 6)) + push):
        seen = sensor.read(wrench, np.zeros((1, 3)))
    np.testing.assert_allclose(seen[0], push, atol=1e-12)


def test_what_is_not_possible_is_refused():
    with pytest.raises(ArmError, match=r"force_torque.frame: no frame 'hand'"):
        plant_of('mujoco', ROBOT.model, force_torque_frame='hand')
    with pytest.raises(ArmError, match=r"imu.frame: no frame 'hand'"):
        plant_of('mujoco', ROBOT.model, imu_frame='hand')
    without = plant_of('mujoco', ROBOT.model, force_torque_frame='')
    assert without.devices.get('force_torque') is None
    with pytest.raises(ArmError, match=r'force_torque.tool_com is .* three finite numbers'):
        plant_of('mujoco', ROBOT.model, tool_com=(1.0,))


@pytest.mark.parametrize('engine', RIGID_BODY_ENGINES)
def test_joint_torque_sensors_have_what_drives_give_without_rotor_and_friction(engine):
    parameters = {'force_torque_frame': '', 'joint_torque': True}
    plant = plant_of(engine, ROBOT.model, **parameters)
    model = ROBOT.model
    plant.reset(ROBOT.start)
    np.testing.assert_allclose(plant.measured.effort, model.gravity_torque(plant.q), atol=1e-12)
    for command in COMMANDS:
        before = plant.v.copy()
        plant.step(command)
    a = (plant.v - before) / 1e-3
    expected = model.inverse_dynamics(plant.q, plant.v, a) - model.friction_torque(plant.v)
    np.testing.assert_allclose(plant.measured.effort, expected - model.armature * a, atol=1e-9)
    assert np.abs(plant.measured.effort - command).max() > 0.1
    parameters |= {'torque_bias': (1.0,), 'torque_limit': (2.0, 3.0, 4.0), 'torque_delay': 1}
    late = plant_of(engine, ROBOT.model, **parameters)
    late.reset(ROBOT.start)
    np.testing.assert_allclose(
        late.measured.effort,
        np.clip(model.gravity_torque(ROBOT.start) + 1.0, (-2, -3, -4), (2, 3, 4)),
    )


def test_an_imu_reports_turn_rate_and_acceleration_with_gravity():
    tip = ROBOT.model.tip_frame
    plant = plant_of('mujoco', ROBOT.model, force_torque_frame='link_3', imu_frame=tip)
    plant.reset(ROBOT.start)
    upright = (
        Rotation.from_quat(plant.measured.readings['imu'][:4]).as_matrix()
        @ plant.measured.readings['imu'][7:]
    )
    np.testing.assert_allclose(upright, -ROBOT.model.gravity, atol=1e-12)
    for command in COMMANDS:
        before = plant.v.copy()
        plant.step(command)
    motion = ROBOT.model.frame_motion(plant.q, plant.v, (plant.v - before) / 1e-3, tip)
    to_frame, g = motion.rotation.T, ROBOT.model.gravity
    np.testing.assert_allclose(
        Rotation.from_quat(plant.measured.readings['imu'][:4]).as_matrix(),
        motion.rotation,
        atol=1e-12,
    )
    np.testing.assert_allclose(
        plant.measured.readings['imu'][4:7], to_frame @ motion.velocity[3:], atol=1e-12
    )
    np.testing.assert_allclose(
        plant.measured.readings['imu'][7:], to_frame @ (motion.acceleration[:3] - g), atol=1e-9
    )
    assert np.abs(motion.velocity[3:]).max() > 0.1
    noisy = plant_of('mujoco', ROBOT.model, imu_frame=tip, gyro_bias=(0.1, 0.2, 0.3))
    np.testing.assert_allclose(noisy.measured.readings['imu'][4:7], (0.1, 0.2, 0.3))


def test_a_contact_switch_closes_on_contact(tmp_path):
    plant = pressed(
        tmp_path,
        lambda p: MujocoPlant(UR5E.model, p),
        force_torque_frame='',
        contact_switches=('tool0', 'forearm_link'),
    )
    assert plant.measured.readings['contact_switches'].tolist() == [1.0, 0.0]
    plant.reset(UR5E.start)
    assert not plant.measured.readings['contact_switches'].any()
    with pytest.raises(ArmError, match="contact_switches: 'tool': an arm without scene"):
        plant_of('mujoco', ROBOT.model, contact_switches=('tool',))


def test_another_plant_goes_on_with_the_sensors(tmp_path):
    light, heavy = (plant_of('mujoco', model, wrench_bias=(1.0,) * 6) for model in PAYLOADS[:2])
    light.reset(ROBOT.start)
    light.step(np.zeros(3))
    heavy.continue_from(light)
    np.testing.assert_array_equal(heavy.measured.wrench, light.measured.wrench)
    heavy.step(np.zeros(3))
    assert np.shares_memory(heavy.measured.q, heavy.q)
    assert np.linalg.norm(heavy.measured.wrench[:3] - light.measured.wrench[:3]) > 1.0


def test_another_plant_goes_on_with_the_imu():
    tip, biases = ROBOT.model.tip_frame, (0.1, 0.0)
    light, heavy = (
        plant_of('mujoco', model, imu_frame=tip, gyro_bias=(bias,) * 3)
        for model, bias in zip(PAYLOADS[:2], biases, strict=True)
    )
    light.reset(ROBOT.start)
    heavy.continue_from(light)
    heavy.step(np.zeros(3))
    motion = PAYLOADS[1].frame_motion(heavy.q, heavy.v, np.zeros(3), tip)
    turns = motion.rotation.T @ motion.velocity[3:]
    np.testing.assert_allclose(heavy.measured.readings['imu'][4:7] - turns, biases[0], atol=1e-12)
