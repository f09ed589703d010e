"""Inverse kinematics: solutions checked by Pinocchio, refusals with reason and amount."""

import re

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.inverse_kinematics.solve import inverse_kinematics, solve_ik
from arm_dynamics.robots import find_urdf

SOLVERS = ('analytic', 'levenberg_marquardt', 'damped_least_squares', 'pseudo_inverse')


@pytest.fixture(scope='module')
def ur5e() -> RobotModel:
    return RobotModel.from_urdf(find_urdf('ur5e'))


def errors(model: RobotModel, q, target: pin.SE3) -> tuple[float, float]:
    pose = model.forward_kinematics(q)
    return (
        float(np.linalg.norm(pose.translation - target.translation)),
        float(np.linalg.norm(pin.log3(pose.rotation.T @ target.rotation))),
    )


def random_problems(model: RobotModel, count: int, seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        target = pin.SE3(model.forward_kinematics(model.random_configuration(rng)))
        yield target, model.random_configuration(rng)


def near_singular_configurations(model: RobotModel, count: int, seed: int):
    rng = np.random.default_rng(seed)
    for index in range(count):
        q = model.random_configuration(rng)
        offset = rng.normal() * 10.0 ** rng.uniform(-9, -2)
        if index % 4 == 0:
            q[4] = rng.choice([0.0, np.pi]) + offset
        elif index % 4 == 1:
            q[2] = offset
        elif index % 4 == 2:
            q[2] = q[4] = 0.0
        else:
            q[4] = 0.0
        yield np.clip(q, model.position_lower, model.position_upper)


def assert_within_limits(model: RobotModel, q) -> None:
    assert (q >= model.position_lower).all()
    assert (q <= model.position_upper).all()


def test_every_reachable_pose_is_solved_to_a_micron(ur5e):
    for target, seed in random_problems(ur5e, 300, 1):
        result = solve_ik(ur5e, target, seed)
        assert result.success
        assert result.solver == 'analytic'
        assert_within_limits(ur5e, result.q)
        assert_allclose(errors(ur5e, result.q, target), 0.0, atol=1e-6)


def test_every_singular_and_nearly_singular_pose_is_solved(ur5e):
    rng = np.random.default_rng(2)
    for q in near_singular_configurations(ur5e, 200, 2):
        target = pin.SE3(ur5e.forward_kinematics(q))
        result = solve_ik(ur5e, target, ur5e.random_configuration(rng))
        assert result.success, result.reason
        assert_within_limits(ur5e, result.q)
        assert_allclose(errors(ur5e, result.q, target), 0.0, atol=1.0001e-6)


@pytest.mark.parametrize('solver', SOLVERS)
def test_each_solver_returns_what_forward_kinematics_confirms(ur5e, solver):
    solved = 0
    for target, seed in random_problems(ur5e, 60, 3):
        result = solve_ik(ur5e, target, seed, solver=solver)
        assert_within_limits(ur5e, result.q)
        found = errors(ur5e, result.q, target)
        assert_allclose(found, (result.position_error, result.orientation_error), atol=1e-9)
        assert result.success == (max(found) <= 1e-6)
        solved += result.success
    assert solved == 60


def test_the_closed_form_answer_is_the_solution_nearest_to_the_seed(ur5e):
    ik = inverse_kinematics(ur5e)
    for target, seed in random_problems(ur5e, 50, 4):
        result = solve_ik(ur5e, target, seed)
        best = np.inf
        for solution in ik.analytic.candidates(target.homogeneous):
            if max(errors(ur5e, solution, target)) > 1e-6:
                continue
            turns = 2 * np.pi * np.arange(-2, 3)
            options = solution[:, None] + turns
            inside = (options >= ur5e.position_lower[:, None]) & (
                options <= ur5e.position_upper[:, None]
            )
            apart = np.where(inside, np.abs(options - seed[:, None]), np.inf).min(axis=1)
            best = min(best, float(np.linalg.norm(apart)))
        assert_allclose(np.linalg.norm(result.q - seed), best, atol=1e-6)


def test_a_stream_at_a_singularity_stays_where_the_arm_is(ur5e):
    """The closed form has only other branches there, 2.6 rad away."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        q = ur5e.random_configuration(rng)
        q[4] = 0.0
        target = ur5e.forward_kinematics(q)
        assert_allclose(solve_ik(ur5e, target, q).q, q, atol=1e-9)
    seed = q = np.array([-1.57, -1.57, 1.57, -1.57, 0.0, 0.3])
    target = ur5e.forward_kinematics(q)
    for _ in range(20):
        target.translation[2] += 1e-3
        result = solve_ik(ur5e, target, seed)
        assert result.success
        assert np.abs(result.q - seed).max() < 0.02
        seed = result.q


def test_a_seed_beyond_half_a_turn_keeps_its_turn(ur5e):
    q = np.array([5.0, -1.0, 1.0, 4.5, -5.0, 6.0])
    result = solve_ik(ur5e, ur5e.forward_kinematics(q), q + 0.01)
    assert_allclose(result.q, q, atol=1e-9)


def test_equal_calls_give_equal_answers(ur5e):
    target, seed = next(random_problems(ur5e, 1, 5))
    first = solve_ik(ur5e, target, seed, solver='levenberg_marquardt', random_seed=7)
    second = solve_ik(ur5e, target, seed, solver='levenberg_marquardt', random_seed=7)
    assert first.iterations == second.iterations
    assert_allclose(first.q, second.q, rtol=0, atol=0)


def test_position_only_leaves_the_orientation_free(ur5e):
    for target, seed in random_problems(ur5e, 40, 6):
        result = solve_ik(ur5e, target, seed, position_only=True)
        assert result.success
        assert errors(ur5e, result.q, target)[0] <= 1e-6


def test_a_free_last_axis_is_position_and_approach_direction(ur5e):
    tolerances = (1e-6, 1e-6, 1e-6, 1e-6, 1e-6, np.inf)
    for target, seed in random_problems(ur5e, 40, 7):
        result = solve_ik(ur5e, target, seed, axis_tolerances=tolerances)
        assert result.success, result.reason
        pose = ur5e.forward_kinematics(result.q)
        assert_allclose(pose.translation, target.translation, atol=1.1e-6)
        assert_allclose(pose.rotation[:, 2], target.rotation[:, 2], atol=3e-6)


def test_a_loosened_axis_is_used_no_further_than_allowed(ur5e):
    box = np.array([1e-6, 1e-6, 0.05, 1e-6, 1e-6, 1e-6])
    outward = pin.SE3(ur5e.forward_kinematics(np.array([0.3, -0.4, 0.0, -1.0, -1.2, 0.2])))
    target = outward * pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.03]))
    result = solve_ik(ur5e, target, np.ones(6), axis_tolerances=box)
    assert result.success, result.reason
    away = target.actInv(ur5e.forward_kinematics(result.q))
    assert (np.abs(away.translation) <= box[:3] * 1.001).all()
    assert_allclose(pin.log3(away.rotation), 0.0, atol=1.1e-6)


def test_a_pose_out_of_reach_is_refused_with_reason_and_distance(ur5e):
    target = pin.SE3(np.eye(3), np.array([2.0, 0.0, 0.3]))
    result = solve_ik(ur5e, target)
    assert not result.success
    assert 'out of reach' in result.reason
    millimetres = float(re.search(r'nearest pose is ([\d.]+) mm', result.reason)[1])
    assert_allclose(errors(ur5e, result.q, target)[0], 1e-3 * millimetres, rtol=1e-4)
    assert_allclose(errors(ur5e, result.q, target)[0], result.position_error, rtol=1e-9)


def test_the_nearest_pose_is_a_minimum(ur5e):
    target = pin.SE3(np.eye(3), np.array([1.3, 0.2, 0.3]))
    result = solve_ik(ur5e, target)

    def cost(q):
        position, orientation = errors(ur5e, q, target)
        return position**2 + orientation**2

    rng = np.random.default_rng(8)
    around = [cost(result.q + 1e-3 * rng.normal(size=6)) for _ in range(200)]
    assert cost(result.q) <= min(around)


def test_a_solution_beyond_a_limit_is_refused_naming_the_joint(ur5e):
    q = np.array([0.3, -1.0, 1.2, -0.5, 1.0, 0.4])
    urdf = ur5e.urdf.replace(
        'lower="-6.283185307179586" upper="6.283185307179586"', 'lower="-0.2" upper="0.2"'
    )
    narrow = RobotModel.from_urdf(urdf)
    result = solve_ik(narrow, ur5e.forward_kinematics(q))
    assert not result.success
    assert re.search(r"joint '\w+': position .* limit", result.reason)
    assert_within_limits(narrow, result.q)


def test_the_solution_that_breaks_limits_least_is_named(ur5e):
    narrow = RobotModel.from_urdf(
        ur5e.urdf.replace(
            'lower="-6.283185307179586" upper="6.283185307179586"', 'lower="-0.5" upper="0.3"'
        )
    )
    low, high = narrow.position_lower, narrow.position_upper
    seen = 0
    for target, _ in random_problems(ur5e, 40, 12):
        result = solve_ik(narrow, target)
        if result.success or 'beyond joint limits' not in result.reason:
            continue
        least = np.inf
        for q in inverse_kinematics(ur5e).analytic.candidates(target.homogeneous):
            if max(errors(ur5e, q, target)) > 1e-6:
                continue
            beyond = []
            for k in range(6):
                turned = q[k] + 2 * np.pi * np.arange(-3, 4)
                beyond.append(np.maximum(low[k] - turned, turned - high[k]).clip(0.0).min())
            least = min(least, max(beyond))
        joint, position, side, limit = re.search(
            r"joint '(\w+)': position ([-\d.e]+) rad is (above|below) its .* limit ([-\d.e]+)",
            result.reason,
        ).groups()
        k = narrow.joint_names.index(joint)
        assert float(limit) == (high if side == 'above' else low)[k]
        over = float(position) - float(limit)
        assert_allclose(over if side == 'above' else -over, least, atol=2e-5)
        seen += 1
    assert seen > 10


def test_without_a_seed_the_middle_of_all_ranges_is_near(ur5e):
    text = 'lower="-6.283185307179586" upper="6.283185307179586"'
    lopsided = RobotModel.from_urdf(ur5e.urdf.replace(text, 'lower="-4.0" upper="6.0"'))
    middle = (lopsided.position_lower + lopsided.position_upper) / 2
    target = lopsided.forward_kinematics(middle)
    assert_allclose(solve_ik(lopsided, target, solver='levenberg_marquardt').q, middle, atol=1e-9)
    free = RobotModel.from_urdf(ur5e.urdf.replace('type="revolute"', 'type="continuous"'))
    assert not inverse_kinematics(free).middle.any()


def test_prefer_manipulability_takes_the_best_of_all_solutions(ur5e):
    target, seed = next(random_problems(ur5e, 1, 9))
    solutions = inverse_kinematics(ur5e).all_solutions(
        target.homogeneous, inverse_kinematics_task()
    )
    best = max(abs(np.linalg.det(ur5e.jacobian(q))) for q in solutions)
    result = solve_ik(ur5e, target, seed, prefer='manipulability')
    assert_allclose(abs(np.linalg.det(ur5e.jacobian(result.q))), best, rtol=1e-6)


def inverse_kinematics_task():
    from arm_dynamics.inverse_kinematics.solve import ik_task

    return ik_task()


def test_another_frame_moves_only_its_joints(ur5e):
    q = np.array([0.5, -1.0, 0.7, 0.1, 0.2, 0.3])
    target = ur5e.forward_kinematics(q, 'wrist_1_link')
    seed = np.array([0.0, 0.0, 0.5, 0.9, 0.8, 0.7])
    result = solve_ik(ur5e, pin.SE3(target), seed, frame='wrist_1_link')
    assert result.success, result.reason
    assert_allclose(result.q[4:], seed[4:], rtol=0, atol=0)
    found = ur5e.forward_kinematics(result.q, 'wrist_1_link')
    assert_allclose(found.homogeneous, target.homogeneous, atol=2e-6)


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ({'seed': [0.0] * 5}, r'seed has shape \(5,\)'),
        ({'seed': [np.nan] * 6}, r'seed\[0\] is nan; it must be finite'),
        ({'position_tolerance': 0.0}, 'tolerances must be positive'),
        ({'axis_tolerances': [1.0] * 5}, 'six positive numbers'),
        ({'solver': 'magic'}, "no IK solver 'magic'; there are: auto, analytic"),
        ({'prefer': 'beauty'}, "no preference 'beauty'"),
        ({'restarts': -1}, 'restarts must be an integer'),
        ({'frame': 'nose'}, "no frame 'nose'"),
        ({'solver': 'analytic', 'position_only': True}, 'no closed-form solver'),
    ],
)
def test_a_malformed_argument_is_refused_in_one_line(ur5e, arguments, message):
    with pytest.raises(ArmError, match=message):
        solve_ik(ur5e, pin.SE3.Identity(), **arguments)


@pytest.mark.parametrize('entry', [np.nan, np.inf, 3.0])
def test_a_target_that_is_no_pose_is_refused(ur5e, entry):
    pose = np.eye(4)
    pose[0, 0] = entry
    with pytest.raises(ArmError, match='pose'):
        solve_ik(ur5e, pose)
