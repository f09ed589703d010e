"""The motion model as an engine: it moves as its second-order design says."""

import numpy as np
import pytest

from arm_controllers.laws.servo import Servo, ServoParameters
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_lab.published.motion_model_plant import MotionModelParameters, MotionModelPlant
from arm_lab.published.motion_models import MOTION_TYPES
from arm_lab.published.second_order import step_response
from arm_sim.loop.events import Push
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.robot import Robot
from arm_sim.simulation.model_check import check_model
from arm_sim.tasks.sinusoid import JointSinusoid

Q = np.array([0.1, -1.2, 1.1, -0.6, 0.9, 0.2])


@pytest.fixture(scope='module')
def ur5e():
    return RobotModel.from_urdf(find_urdf('ur5e'))


def positions_only(model):
    """The servo law that sends the reference's position and nothing else."""
    return Servo(model, ServoParameters('none'))


@pytest.mark.parametrize('motion_type', ['computed_torque', 'independent_joint'])
def test_a_step_is_answered_as_designed(ur5e, motion_type):
    plant = MotionModelPlant(
        ur5e,
        MotionModelParameters(
            motion_type=motion_type, natural_frequency=(10.0,), damping_ratio=(0.5,)
        ),
    )
    plant.reset(Q)
    plant.step(Q + 0.2)  # the reference moves there within one period
    start, positions = plant.q.copy(), []
    for _ in range(500):
        plant.step(Q + 0.2)
        positions.append(plant.q.copy())
    t = 0.002 * np.arange(1, 501)
    expected = step_response(t + 0.002, 10.0, 0.5)  # one period has passed before
    share = (np.array(positions) - Q) / 0.2
    np.testing.assert_allclose(share, expected[:, np.newaxis] * np.ones(6), atol=1e-6)
    assert np.abs(start - Q).max() < 0.2


def test_settling_time_and_overshoot_are_parameters(ur5e):
    plant = MotionModelPlant(ur5e, MotionModelParameters(settling_time=(0.5,), overshoot=(0.1,)))
    plant.reset(Q)
    share = []
    for _ in range(400):
        plant.step(Q + 0.2)
        share.append((plant.q[0] - Q[0]) / 0.2)
    share = np.array(share)
    np.testing.assert_allclose(share.max(), 1.1, atol=1e-3)
    settled = 0.002 * (1 + np.flatnonzero(np.abs(share - 1.0) > 0.02)[-1])
    np.testing.assert_allclose(settled, 0.5, atol=0.004)


@pytest.mark.slow
def test_a_moving_reference_is_followed_by_each_type(ur5e):
    sinusoid = JointSinusoid((0.2,) * 6, 0.5, Q)
    for motion_type in ('computed_torque', 'pd', 'independent_joint'):
        parameters = MotionModelParameters(motion_type=motion_type)
        record = run_closed_loop(
            MotionModelPlant(ur5e, parameters), positions_only(ur5e), sinusoid.evaluate, 2.0
        )
        assert record.completed
        assert np.abs(record.q - record.q_reference).max() < 0.06


def follow(plant, sinusoid, seconds):
    """Drive a plant by references at both ends of each period; return the largest joint error."""
    now, after, worst = Reference(6), Reference(6), 0.0
    sinusoid.evaluate(0.0, now)
    plant.reset(now.q, now.v)
    for k in range(round(seconds / plant.period)):
        sinusoid.evaluate(k * plant.period, now)
        sinusoid.evaluate((k + 1) * plant.period, after)
        plant.step(np.array([[each.q, each.v, each.a] for each in (now, after)]))
        worst = max(worst, np.abs(plant.q - after.q).max())
    return worst


@pytest.mark.parametrize('motion_type', ['computed_torque', 'independent_joint'])
def test_a_reference_with_its_derivatives_is_followed_without_lag(ur5e, motion_type):
    # What is left is Runge-Kutta's error and the quintic's, both far below h^4.
    sinusoid = JointSinusoid((0.2,) * 6, 0.5, Q)
    plant = MotionModelPlant(ur5e, MotionModelParameters(motion_type=motion_type))
    assert follow(plant, sinusoid, 1.0) < 1e-9
    end = Reference(6)
    sinusoid.evaluate(1.0, end)
    np.testing.assert_allclose(plant.acceleration(), end.a, atol=1e-6)


def test_pd_moves_as_designed_where_its_gains_come_from_the_inertia(ur5e):
    plant = MotionModelPlant(
        ur5e, MotionModelParameters(motion_type='pd', natural_frequency=(10.0,))
    )
    start = ur5e.neutral()
    plant.reset(start)
    hold = np.zeros((2, 3, 6))
    hold[:, 0] = start + 1e-4  # so small a step that the inertia stays
    for _ in range(100):
        plant.step(hold)
    expected = step_response(np.array([0.2]), 10.0, 1.0)[0]
    np.testing.assert_allclose((plant.q - start) / 1e-4, expected, rtol=1e-3)


@pytest.mark.quick(6)
@pytest.mark.parametrize(
    'name', ['ur5e', 'ur5e_menagerie', 'planar_3r', 'mr_three_link', 'five_joint_arm']
)
@pytest.mark.parametrize('motion_type', [*MOTION_TYPES, 'task_space'])
def test_every_motion_type_moves_every_shipped_robot(name, motion_type):
    robot = Robot.load(name, '')
    timestep = robot.parameters('simulator').get('timestep', 0.002)
    plant = MotionModelPlant(
        robot.model, MotionModelParameters(motion_type=motion_type, timestep=timestep)
    )
    plant.reset(robot.start)
    goal = np.zeros((2, 3, robot.model.nv))
    goal[:, 0] = robot.start + 0.05
    tip = robot.model.forward_kinematics
    wanted = tip(goal[0, 0]).translation
    before = np.linalg.norm(tip(robot.start).translation - wanted)
    for _ in range(min(round(0.3 / plant.period), 300)):
        plant.step(goal)
    assert np.linalg.norm(tip(plant.q).translation - wanted) < before


def test_full_gain_matrices_are_taken_row_by_row(ur5e):
    mass = ur5e.mass_matrix(ur5e.neutral())
    given = {'kp': tuple((100.0 * mass).ravel()), 'kd': tuple((20.0 * mass).ravel())}
    by_matrix = MotionModelPlant(ur5e, MotionModelParameters(motion_type='pd', **given))
    by_design = MotionModelPlant(
        ur5e, MotionModelParameters(motion_type='pd', natural_frequency=(10.0,))
    )
    np.testing.assert_allclose(by_matrix.law.motion.kp, by_design.law.motion.kp, rtol=1e-12)
    np.testing.assert_allclose(by_matrix.law.motion.kd, by_design.law.motion.kd, rtol=1e-12)


@pytest.mark.parametrize('frequency', [300.0, 400.0, 800.0])
def test_a_substep_is_at_most_the_reach_of_the_integrator(ur5e, frequency):
    plant = MotionModelPlant(ur5e, MotionModelParameters(natural_frequency=(frequency,)))
    way = plant.parameters.timestep * 2.0 * frequency  # of the fastest mode, critically damped
    assert way / plant.substeps <= 1.4 < way / (plant.substeps - 1 or 1e-9)


@pytest.mark.slow
def test_stiff_gains_get_substeps_and_the_motion_of_a_smaller_time_step(ur5e):
    stiff = {'motion_type': 'pd', 'kp': (40.0,), 'kd': (4.0,)}
    plant = MotionModelPlant(ur5e, MotionModelParameters(**stiff))
    fine = MotionModelPlant(ur5e, MotionModelParameters(**stiff, timestep=1e-5))
    assert plant.substeps > 1
    for each in (plant, fine):
        each.reset(Q)
        for _ in range(round(0.1 / each.period)):
            each.step(np.array([[Q + 0.1, np.zeros(6), np.zeros(6)]] * 2))
    np.testing.assert_allclose(plant.q, fine.q, atol=1e-4)


@pytest.mark.slow
def test_the_task_space_model_brings_the_tip_to_the_references_pose(ur5e):
    plant = MotionModelPlant(ur5e, MotionModelParameters(motion_type='task_space'))
    plant.reset(Q)
    target = np.array([[Q + 0.05, np.zeros(6), np.zeros(6)]] * 2)
    for _ in range(750):
        plant.step(target)
    tip, wanted = ur5e.forward_kinematics(plant.q), ur5e.forward_kinematics(Q + 0.05)
    assert np.abs(tip.translation - wanted.translation).max() < 1e-3
    assert np.abs(tip.rotation - wanted.rotation).max() < 1e-2


def test_a_push_moves_rigid_bodies_but_not_independent_joints(ur5e):
    def hold(t, reference: Reference) -> None:
        reference.row[:] = 0.0
        reference.q[:] = Q

    push = Push(
        'tool0' if 'tool0' in ur5e.frame_names else ur5e.tip_frame, (0, 20.0, 0, 0, 0, 0), 0.1, 0.3
    )
    plant = MotionModelPlant(ur5e, MotionModelParameters())
    record = run_closed_loop(plant, positions_only(ur5e), hold, 1.0, push.events())
    assert np.abs(record.q[140] - Q).max() > 1e-3
    np.testing.assert_allclose(record.q[-1], Q, atol=1e-3)
    stiff = MotionModelPlant(ur5e, MotionModelParameters(motion_type='independent_joint'))
    with pytest.raises(ArmError, match='independent joints have no dynamics'):
        stiff.apply_wrench(push.frame, push.wrench)


def test_model_and_plant_agree(ur5e):
    rough = RobotModel.from_urdf(ur5e.urdf, armature=0.1, damping=0.2, friction=0.3)
    plant = MotionModelPlant(rough, MotionModelParameters())
    assert check_model(plant, rough) < 1e-12


@pytest.mark.parametrize(
    ('fields', 'message'),
    [
        (
            {'motion_type': 'pd', 'kp': (4e5,), 'kd': (4e5,)},
            "'pd' needs .* substeps, at most 200 are made: a smaller timestep or kd",
        ),
        ({'motion_type': 'pd', 'kp': (400.0,)}, 'kp and kd .* belong together'),
        ({'kp': (400.0,), 'kd': (40.0,)}, "no effect with motion_type 'computed_torque'"),
        ({'motion_type': 'pd', 'kp': (1.0, 2.0), 'kd': (1.0, 2.0)}, 'kp has 2 values; allowed: 1'),
        ({'motion_type': 'magic'}, "motion_type is 'magic'; allowed: computed_torque"),
        ({'actuator': 'torque'}, "actuator .* is 'torque'; allowed: servo"),
        ({'damping_ratio': (0.0,)}, 'damping_ratio of joint .* must be > 0'),
        ({'settling_time': (1.0,), 'overshoot': (1.0,)}, r'overshoot is 1.0; it must be a share'),
    ],
)
def test_bad_parameters_are_refused(ur5e, fields, message):
    with pytest.raises(ArmError, match=message):
        MotionModelPlant(ur5e, MotionModelParameters(**fields))
