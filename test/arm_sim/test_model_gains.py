"""Arms without a parameter file: gains from the model, which hold and move them."""

import numpy as np
import pytest
from arms import ARM

from arm_controllers.laws import law_class
from arm_controllers.parameter_values import read_fields
from arm_controllers.reference import Reference
from arm_sim.engines.mujoco import MujocoPlant
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.model_gains import LAW_FREQUENCY, SERVO_FREQUENCY, with_law_gains
from arm_sim.robot import Robot
from arm_sim.simulation.plant import PlantParameters


@pytest.fixture
def robot(tmp_path):
    (tmp_path / 'arm.urdf').write_text(ARM)
    return Robot.load(str(tmp_path / 'arm.urdf'))


def test_servos_of_an_arm_without_a_file_are_critically_damped_by_its_inertia(robot):
    parameters = robot.parameters('simulator')
    kp, kd = np.array(parameters['servo_kp']), np.array(parameters['servo_kd'])
    np.testing.assert_allclose(kd, 2.0 * kp / SERVO_FREQUENCY, rtol=1e-12)
    rng = np.random.default_rng(7)
    poses = [robot.model.random_configuration(rng) for _ in range(2000)]
    m = np.mean([robot.model.mass_matrix(q).diagonal() for q in poses], axis=0)
    np.testing.assert_allclose(kp / SERVO_FREQUENCY**2, m, rtol=0.2)  # 400 other poses


def test_servos_hold_a_joint_with_friction_half_a_milliradian_off_at_most(robot, tmp_path):
    (tmp_path / 'dry.yaml').write_text('/**: {ros__parameters: {friction: [0.0, 30.0, 0.0]}}')
    dry = Robot.load(str(tmp_path / 'arm.urdf'), tmp_path / 'dry.yaml')
    with_friction, plain = (each.parameters('simulator') for each in (dry, robot))
    assert with_friction['servo_kp'][1] == 30.0 / 5e-4 > plain['servo_kp'][1]
    assert with_friction['servo_kp'][::2] == plain['servo_kp'][::2]
    assert with_friction['servo_kd'][1] == 2.0 * with_friction['servo_kp'][1] / SERVO_FREQUENCY


def test_servos_move_a_joint_with_damping_far_beyond_its_inertia(robot, tmp_path):
    (tmp_path / 'oil.yaml').write_text('/**: {ros__parameters: {damping: [0.0, 3000.0, 0.0]}}')
    oily = Robot.load(str(tmp_path / 'arm.urdf'), tmp_path / 'oil.yaml')
    damped, plain = (each.parameters('simulator') for each in (oily, robot))
    assert damped['servo_kp'][1] == pytest.approx(SERVO_FREQUENCY * 3000.0)
    assert 0.0 < damped['servo_kd'][1] < 3000.0
    for name in ('servo_kp', 'servo_kd'):
        assert damped[name][::2] == pytest.approx(plain[name][::2], rel=1e-12)


def test_gains_that_a_file_gives_are_kept(tmp_path, robot):
    config = tmp_path / 'own.yaml'
    config.write_text('/**: {ros__parameters: {servo_kp: [7.0], kp: [5.0]}}')
    own = Robot.load(str(tmp_path / 'arm.urdf'), config)
    assert own.parameters('simulator')['servo_kp'] == [7.0]
    assert 'servo_kd' not in own.parameters('simulator')
    assert with_law_gains(own.sections, own.model, own.start, 'pd') == own.sections
    assert with_law_gains(robot.sections, robot.model, robot.start, 'servo') == robot.sections


def test_a_shipped_robot_keeps_the_gains_of_its_file():
    assert Robot.load('planar_3r').parameters('simulator')['servo_kp'] == [200.0, 200.0, 80.0]
    assert 'servo_kp' not in Robot.load('mr_three_link').parameters('simulator')


def test_a_law_is_designed_for_the_inertia_where_the_arm_starts(robot):
    parameters = with_law_gains(robot.sections, robot.model, robot.start, 'pd')['pd_controller']
    m = robot.model.mass_matrix(robot.start).diagonal()
    np.testing.assert_allclose(parameters['kp'], m * LAW_FREQUENCY**2, rtol=1e-12)
    np.testing.assert_allclose(parameters['kd'], 2.0 * m * LAW_FREQUENCY, rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize('name', ['panda', 'so100', 'z1', 'kinova'])
def test_an_arm_without_a_file_ends_a_goal_within_a_milliradian(name):
    robot = Robot.load(name)
    end = np.clip(robot.start + 0.3, robot.model.position_lower, robot.model.position_upper)

    def quintic(t, reference: Reference):
        s = min(t / 2.0, 1.0)
        reference.row[:] = 0.0
        reference.q[:] = robot.start + (10 * s**3 - 15 * s**4 + 6 * s**5) * (end - robot.start)
        reference.v[:] = 15 * (s**2 - 2 * s**3 + s**4) * (end - robot.start)
        reference.a[:] = 15 * (s - 3 * s**2 + 2 * s**3) * (end - robot.start)

    law = law_class('servo')
    gains = read_fields(law.Parameters, robot.parameters('servo_controller'))
    plant = MujocoPlant(robot.model, read_fields(PlantParameters, robot.parameters('simulator')))
    record = run_closed_loop(plant, law(robot.model, gains), quintic, 2.5)
    assert record.completed
    assert np.abs(record.q[-1] - end).max() < 1e-3
