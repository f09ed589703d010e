"""The compiled parts of inverse kinematics one by one: residual, posture, steps, one branch."""

from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from arm_dynamics import RobotModel
from arm_dynamics.inverse_kinematics import solve_ik
from arm_dynamics.inverse_kinematics.residual import State, linearise, residual_at
from arm_dynamics.inverse_kinematics.solve import inverse_kinematics
from arm_dynamics.inverse_kinematics.solvers import damped_least_squares
from arm_dynamics.inverse_kinematics.task import ik_task
from arm_dynamics.inverse_kinematics.tracking import follow, pose_between
from arm_dynamics.inverse_kinematics.verification import posture_cost, posture_descent
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


def test_position_and_rotation_are_missed_separately(model, arrays):
    shift, turn = np.array([0.03, -0.04, 0.12]), np.array([0.2, -0.1, 0.2])
    target = model.forward_kinematics(Q)
    target = pin.SE3(target.rotation @ pin.exp3(turn), target.translation + shift)
    state = State(np.empty((4, 4)), np.empty((6, 6)), np.empty(6), np.empty((6, 6)))
    missed = residual_at(arrays, ik_task(), target.homogeneous, Q, state)
    assert_allclose(missed, (0.13, 0.3), atol=1e-12)


def test_a_posture_is_better_nearer_to_its_reference_and_away_from_limits(arrays):
    rng, middle = np.random.default_rng(3), 0.5 * (arrays.lower + arrays.upper)
    half = arrays.upper - middle
    place = np.array([-0.98, -0.85, -0.1, 0.3, 0.87, 0.95])  # 1: at the upper limit
    q, reference = middle + place * half, middle + 0.2 * rng.normal(size=6)
    beyond = np.maximum(abs(place) - 0.8, 0.0) * half  # the outer tenth of the range
    cost = 0.5 * ((q - reference) ** 2).sum() + 5.0 * (beyond**2).sum()
    assert_allclose(posture_cost(arrays, reference, q), cost, rtol=1e-13)
    slope = q - reference + 10.0 * np.sign(place) * beyond
    jacobian, direction = np.zeros((6, 6)), np.empty(6)
    jacobian[:3] = rng.normal(size=(3, 6))
    largest = posture_descent(arrays, reference, q, jacobian, direction)
    still = np.eye(6) - np.linalg.pinv(jacobian) @ jacobian  # does not move the task
    # Damping of 1e-10 leaves this much of rounding where the task has fewer components than 6.
    assert_allclose(direction, -still @ slope, atol=1e-3)
    assert largest == abs(direction).max()


def test_damping_follows_the_residual_within_its_bounds():
    rng = np.random.default_rng(4)
    jacobian, residual, step = rng.normal(size=(6, 6)), rng.normal(size=6), np.empty(6)
    state, factor = SimpleNamespace(jacobian=jacobian, residual=residual), np.nan
    for fallen in (True, True, False, *12 * (True,), *15 * (False,), True):
        expected = factor * (0.5 if fallen else 2.0)
        expected = 0.1 if np.isnan(factor) else np.clip(expected, 1e-4, 1.0)
        factor = damped_least_squares.rule.py_func(state, factor, fallen, step)
        assert factor == expected
        damped = jacobian @ jacobian.T + factor**2 * np.eye(6)
        assert_allclose(step, jacobian.T @ np.linalg.solve(damped, residual), rtol=1e-6)


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
