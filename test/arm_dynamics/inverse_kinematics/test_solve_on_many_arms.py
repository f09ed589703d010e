"""Inverse kinematics of arms of every kind: closed form, redundant, five joints, slides."""

import numpy as np
import pinocchio as pin
import pytest
from arms import ARMS, load_arm
from numpy.testing import assert_allclose

from arm_dynamics import RobotModel
from arm_dynamics.inverse_kinematics.path import solve_path_ik
from arm_dynamics.inverse_kinematics.solve import inverse_kinematics, solve_ik
from arm_dynamics.paths.cartesian_path import Lines

CLOSED_FORM = ('ur5e', 'ur5e_menagerie', 'UR3', 'UR5', 'UR10', 'Kinova', 'Talos arm')
PANDA = np.array([0, -0.6, 0, -2.2, 0, 1.6, 0.8, 0.02, 0.02])


def assert_meets(model: RobotModel, result, target: pin.SE3) -> None:
    assert result.success, result.reason
    assert (result.q >= model.position_lower).all()
    assert (result.q <= model.position_upper).all()
    away = target.actInv(model.forward_kinematics(result.q))
    assert np.linalg.norm(away.translation) <= 1.0001e-6
    assert np.linalg.norm(pin.log3(away.rotation)) <= 1.0001e-6


@pytest.mark.parametrize('name', ARMS)
def test_every_reachable_pose_of_every_arm_is_solved(name):
    model = load_arm(name)
    rng = np.random.default_rng(1)
    for _ in range(100):
        target = pin.SE3(model.forward_kinematics(model.random_configuration(rng)))
        assert_meets(model, solve_ik(model, target, model.random_configuration(rng)), target)


def test_one_continuous_joint_between_links_without_mass_is_solved():
    model = RobotModel(
        '<robot name="turntable"><link name="base"/><link name="plate"/>'
        '<joint name="turn" type="continuous"><parent link="base"/><child link="plate"/>'
        '<axis xyz="0 0 1"/></joint></robot>'
    )
    result = solve_ik(model, model.forward_kinematics([0.7]), [0.5])
    assert result.success, result.reason
    assert_allclose(result.q, [0.7], atol=1e-6)


@pytest.mark.parametrize('name', CLOSED_FORM)
def test_closed_form_is_found_for_the_arms_that_have_one(name):
    assert inverse_kinematics(load_arm(name)).analytic is not None


@pytest.mark.parametrize('name', ['Panda', 'five_joint_arm', 'endless and skew', 'with slides'])
def test_arms_without_closed_form_are_solved_iteratively(name):
    assert inverse_kinematics(load_arm(name)).analytic is None


def test_five_joints_meet_position_and_approach_direction():
    model = load_arm('five_joint_arm')
    tolerances = (1e-6, 1e-6, 1e-6, 1e-6, 1e-6, np.inf)
    rng = np.random.default_rng(2)
    for _ in range(200):
        target = pin.SE3(model.forward_kinematics(model.random_configuration(rng)))
        seed = model.random_configuration(rng)
        result = solve_ik(model, target, seed, axis_tolerances=tolerances)
        assert result.success, result.reason
        pose = model.forward_kinematics(result.q)
        assert_allclose(pose.translation, target.translation, atol=2e-6)
        assert_allclose(pose.rotation[:, 2], target.rotation[:, 2], atol=3e-6)


def test_a_redundant_arm_stays_near_the_seed_along_its_self_motion():
    model = load_arm('Panda')
    rng = np.random.default_rng(3)
    for _ in range(50):
        q = PANDA + np.append(0.15 * rng.normal(size=7), [0.0, 0.0])
        seed = np.append(q[:7] + 0.05 * rng.normal(size=7), [0.02, 0.02])
        target = pin.SE3(model.forward_kinematics(q))
        result = solve_ik(model, target, seed)
        assert_meets(model, result, target)
        # q itself is a solution, far from the limits: the answer is no further from the seed.
        assert np.linalg.norm(result.q - seed) <= np.linalg.norm(q - seed) + 1e-3


def test_the_self_motion_is_at_its_best_posture():
    model = load_arm('Panda')
    seed = PANDA + np.append(0.1 * np.arange(7) - 0.3, [0.0, 0.0])
    target = pin.SE3(model.forward_kinematics(PANDA))
    result = solve_ik(model, target, seed)
    jacobian = model.jacobian(result.q)[:, :7]
    self_motion = np.linalg.svd(jacobian)[2][-1]
    # In the middle of all ranges the posture cost is the distance from the seed alone.
    assert abs(self_motion @ (result.q - seed)[:7]) < 0.02 * np.linalg.norm((result.q - seed)[:7])


def test_a_redundant_arm_follows_a_line_continuously_within_limits():
    model = load_arm('Panda')
    tool = pin.SE3(model.forward_kinematics(PANDA))
    end = pin.SE3(tool.rotation, tool.translation + np.array([0.1, 0.4, 0.1]))
    poses = Lines([tool, end], 1.0).sample(np.linspace(0, 1, 3000)).poses
    result = solve_path_ik(model, poses, PANDA)
    assert result.success, result.reason
    assert_allclose(result.q[0], PANDA, atol=0.2)
    assert result.max_joint_step < 5e-3
    assert result.max_position_error < 1e-6
    assert (result.q >= model.position_lower).all()
    assert (result.q <= model.position_upper).all()


def test_joints_beyond_the_frame_keep_the_seed():
    model = load_arm('Panda')
    seed = np.append(PANDA[:7] + 0.1, [0.011, 0.033])
    result = solve_ik(model, model.forward_kinematics(PANDA), seed)
    assert_allclose(result.q[7:], (0.011, 0.033), rtol=0, atol=0)


@pytest.mark.parametrize('name', ['Panda', 'five_joint_arm', 'UR10'])
def test_unreachable_poses_are_answered_with_the_nearest_pose(name):
    model = load_arm(name)
    rng = np.random.default_rng(4)
    for _ in range(20):
        direction = rng.normal(size=3)
        target = pin.SE3(pin.exp3(rng.normal(size=3)), 4.0 * direction / np.linalg.norm(direction))
        result = solve_ik(model, target, model.random_configuration(rng))
        assert not result.success
        assert 'out of reach' in result.reason
        pose = model.forward_kinematics(result.q)
        distance = np.linalg.norm(pose.translation - target.translation)
        assert_allclose(distance, result.position_error, rtol=1e-9)
