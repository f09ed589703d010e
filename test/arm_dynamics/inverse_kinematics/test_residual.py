"""The compiled parts of inverse kinematics one by one: residual, way between poses, one branch."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from arm_dynamics import RobotModel
from arm_dynamics.inverse_kinematics import solve_ik
from arm_dynamics.inverse_kinematics.residual import State, linearise, residual_at
from arm_dynamics.inverse_kinematics.solve import inverse_kinematics
from arm_dynamics.inverse_kinematics.task import ik_task
from arm_dynamics.inverse_kinematics.tracking import follow, pose_between
from arm_dynamics.robots import find_urdf

Q = np.array([0.4, -1.2, 1.3, -0.7, 1.1, 0.2])
STEP = 0.2  # the bound of a joint's step along a branch [rad]


@pytest.fixture(scope='module')
def model() -> RobotModel:
    return RobotModel.from_urdf(find_urdf('ur5e'))


@pytest.fixture(scope='module')
def arrays(model):
    return inverse_kinematics(model).chain.arrays


@pytest.mark.parametrize('free', [[3], [4], [5], [0, 5], [3, 4, 5], [1, 2, 3]])
@pytest.mark.parametrize('width', [0.05, np.inf])
def test_jacobian_of_a_task_with_free_components_is_that_of_its_residual(
    model, arrays, free, width
):
    box = np.full(6, 1e-6)
    box[free] = width
    task, target = ik_task(axis_tolerances=box), model.forward_kinematics(Q).homogeneous
    q = Q + np.array([0.3, -0.2, 0.4, 0.3, -0.4, 0.5])
    state = State(np.empty((4, 4)), np.empty((6, 6)), np.empty(6), np.empty((6, 6)))

    def residual(q):
        residual_at(arrays, task, target, q, state)
        return state.residual.copy()

    h, rows = 1e-6, np.eye(6)
    expected = np.column_stack([residual(q - h * e) - residual(q + h * e) for e in rows]) / (2 * h)
    assert (residual(q)[free] == 0.0).all() == np.isinf(width)
    linearise(arrays, task, target, state)
    assert_allclose(state.jacobian, expected, atol=1e-8)


@pytest.mark.parametrize('part', [0.0, 0.3, 0.5, 1.0])
def test_pose_between_two_is_on_the_straight_line_and_turned_about_one_axis(part):
    rng = np.random.default_rng(2)
    for size in (1e-6, 0.5, 3.0):
        start = pin.SE3.Random()
        turn = rng.normal(size=3)
        turn *= size / np.linalg.norm(turn)
        end = pin.SE3(start.rotation @ pin.exp3(turn), start.translation + rng.normal(size=3))
        pose = np.eye(4)
        pose_between(start.homogeneous, end.homogeneous, part, pose)
        assert_allclose(pose[:3, :3], start.rotation @ pin.exp3(part * turn), atol=1e-12)
        line = (1.0 - part) * start.translation + part * end.translation
        assert_allclose(pose[:3, 3], line, atol=1e-12)


@pytest.mark.parametrize('reached', [0, 3, 5])
def test_a_branch_is_followed_up_to_the_first_pose_that_is_out_of_reach(model, arrays, reached):
    poses = [model.forward_kinematics(Q + 0.02 * k).homogeneous for k in range(5)]
    for pose in poses[reached:]:
        pose[0, 3] += 3.0
    path = np.zeros((5, 6))
    path[0] = Q + 1e-3
    count, part = follow(arrays, ik_task(), np.array(poses), STEP, path)
    assert count == reached
    assert (0.0 < part < 1.0) == (reached == 3)
    for k in range(reached):
        assert_allclose(path[k], Q + 0.02 * k, atol=1e-6)


def test_closed_form_solution_preferred_for_limits_or_manipulability_is_the_best_of_all(model):
    lower, upper = model.position_lower, model.position_upper

    def margin(q):
        return np.minimum(q - lower, upper - q).min()

    def manipulability(q):
        return abs(np.linalg.det(model.jacobian(q)))

    target = model.forward_kinematics(Q)
    solutions = inverse_kinematics(model).all_solutions(target.homogeneous, ik_task())
    for prefer, score in {'limits': margin, 'manipulability': manipulability}.items():
        scores = [score(q) for q in solutions]
        assert max(scores) > min(scores) + 0.01
        assert_allclose(score(solve_ik(model, target, prefer=prefer).q), max(scores), atol=1e-6)
