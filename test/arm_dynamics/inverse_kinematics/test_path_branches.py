"""Which branch and which turns a joint path takes, against following every branch by itself."""

import re

import numpy as np
import pinocchio as pin
import pytest
from arms import chain, load_arm, revolute, turned_about_base_axis
from numpy.testing import assert_allclose

from arm_dynamics import RobotModel
from arm_dynamics.inverse_kinematics.path import solve_path_ik
from arm_dynamics.inverse_kinematics.solve import inverse_kinematics, solve_ik
from arm_dynamics.paths.cartesian_path import Lines
from arm_dynamics.robots import find_urdf

TURN = 2 * np.pi
Q = np.array([0.2, -1.2, 1.4, -0.4, 1.1, 0.3])


@pytest.fixture(scope='module')
def ur5e() -> RobotModel:
    return RobotModel.from_urdf(find_urdf('ur5e'))


def with_limits(model: RobotModel, lower, upper) -> RobotModel:
    """Return a model with other position limits."""
    urdf = model.urdf
    for name, *bounds in zip(model.joint_names, lower, upper, strict=True):
        low, high = (repr(float(bound)) for bound in bounds)
        pattern = rf'(<joint name="{name}".*?<limit[^>]*?lower=")[^"]*(" upper=")[^"]*"'
        urdf, count = re.subn(pattern, rf'\g<1>{low}\g<2>{high}"', urdf, count=1, flags=re.DOTALL)
        assert count == 1
    made = RobotModel.from_urdf(urdf)
    assert_allclose([made.position_lower, made.position_upper], [lower, upper])
    return made


def follow(model: RobotModel, q, poses):
    """Follow a branch by Newton steps with Pinocchio's Jacobian; None where it is nearly lost."""
    path = []
    for pose in poses:
        for _ in range(6):
            here = model.forward_kinematics(q)
            turn = pin.log3(pose[:3, :3] @ here.rotation.T)
            away = np.concatenate([pose[:3, 3] - here.translation, turn])
            jacobian = model.jacobian(q)
            if np.abs(away).max() < 1e-10:
                break
            q = q + np.linalg.solve(jacobian, away)
        if np.linalg.cond(jacobian) > 60 or (path and np.abs(q - path[-1]).max() > 0.2):
            return None
        path.append(q)
    return np.array(path)


def with_turns(model: RobotModel, path, seed):
    """Return how many poses are within limits at best, and the path with those turns, if all."""
    reached, shifts = len(path), []
    for column, low, high, near in zip(
        path.T, model.position_lower, model.position_upper, seed, strict=True
    ):
        turned = column[:, None] + TURN * np.arange(-4, 5)
        inside = (turned >= low - 1e-9) & (turned <= high + 1e-9)
        counts = np.where(inside.all(axis=0), len(path), inside.argmin(axis=0))
        reached = min(reached, counts.max())
        allowed = np.where(counts == counts.max(), np.abs(turned[0] - near), np.inf)
        shifts.append(turned[0, allowed.argmin()] - column[0])
    return reached, path + shifts


def random_problem(model: RobotModel, rng):
    """Return a model with random limits, poses of a line, a seed, and every branch's path.

    Limits leave a joint a full turn or more, or keep it between -pi and pi.
    """
    while True:
        wide = rng.random(6) < 0.5
        lower = np.where(wide, rng.uniform(-5, -np.pi, 6), rng.uniform(-3, -1, 6))
        upper = np.where(wide, rng.uniform(np.pi, 5, 6), rng.uniform(1, 3, 6))
        start, seed = rng.uniform(lower, upper, (2, 6))
        tool = pin.SE3(model.forward_kinematics(start))
        turn = pin.exp3(0.8 * rng.normal(size=3))
        end = pin.SE3(tool.rotation @ turn, tool.translation + 0.25 * rng.normal(size=3))
        poses = Lines([tool, end], 1.0).sample(np.linspace(0, 1, 40)).poses
        closed_form = inverse_kinematics(model).analytic.candidates(tool.homogeneous)
        paths = []
        for q in closed_form:
            path = follow(model, np.remainder(q + np.pi, TURN) - np.pi, poses)
            if path is None:
                break
            paths.append(path)
        else:
            return with_limits(model, lower, upper), poses, seed, paths


@pytest.mark.slow
def test_the_path_is_on_the_branch_nearest_to_the_seed_that_is_feasible_to_its_end(ur5e):
    rng = np.random.default_rng(0)
    successes = later_branches = 0
    for _ in range(30):
        narrow, poses, seed, paths = random_problem(ur5e, rng)
        result = solve_path_ik(narrow, poses, seed)
        endless = narrow.position_upper - narrow.position_lower >= TURN

        def apart(path, seed=seed, endless=endless):
            step = path[0] - seed
            wrapped = np.arctan2(np.sin(step), np.cos(step))
            return np.linalg.norm(np.where(endless, wrapped, step))

        found = [with_turns(narrow, path, seed) for path in sorted(paths, key=apart)]
        reached = [count for count, _ in found]
        assert result.success == (max(reached) == len(poses))
        if result.success:
            first = reached.index(len(poses))
            assert_allclose(result.q, found[first][1], atol=1e-6)
            assert result.max_joint_step == np.abs(np.diff(result.q, axis=0)).max()
            successes, later_branches = successes + 1, later_branches + (first > 0)
        else:
            assert result.first_failure == len(result.q) == max(reached)
    assert 5 < successes < 25
    assert later_branches > 2


def test_of_branches_that_end_at_the_same_pose_the_nearest_is_reported(ur5e):
    tool = pin.SE3(ur5e.forward_kinematics(Q))
    away = pin.SE3(tool.rotation, 3.0 * tool.translation)
    poses = Lines([tool, away], 1.0).sample(np.linspace(0, 1, 50)).poses
    seeds = inverse_kinematics(ur5e).analytic.candidates(tool.homogeneous)
    results = [solve_path_ik(ur5e, poses, seed) for seed in seeds]
    assert len({result.first_failure for result in results}) == 1
    begins = np.array([result.q[0] for result in results])
    assert np.ptp(begins, axis=0).max() > 0.5  # there are several such branches
    for seed, begin in zip(seeds, begins, strict=True):
        step = begins - seed
        distances = np.linalg.norm(np.arctan2(np.sin(step), np.cos(step)), axis=1)
        turns = (begin - begins[distances.argmin()]) / TURN
        assert_allclose(turns, np.round(turns), atol=1e-6)


def test_near_is_counted_along_the_way_that_limits_leave(ur5e):
    # No joint has a full turn: from 3 to -3 rad it goes all the way back.
    narrow, rng = with_limits(ur5e, np.full(6, -3.1), np.full(6, 3.1)), np.random.default_rng(3)
    around = 0
    for _ in range(60):
        q, seed = rng.uniform(-3.1, 3.1, (2, 6))
        pose = narrow.forward_kinematics(q)
        others = [
            np.arctan2(np.sin(other), np.cos(other))
            for other in inverse_kinematics(ur5e).analytic.candidates(pose.homogeneous)
            if narrow.forward_kinematics(other).isApprox(pose, 1e-6)
        ]
        steps = np.array([other for other in others if np.abs(other).max() < 3.1]) - seed
        wrapped = np.arctan2(np.sin(steps), np.cos(steps))
        nearest = np.linalg.norm(steps, axis=1).argmin()
        around += nearest != np.linalg.norm(wrapped, axis=1).argmin()
        assert_allclose(solve_path_ik(narrow, [pose], seed).q[0] - seed, steps[nearest], atol=1e-6)
    assert around > 5


@pytest.mark.parametrize('turns', [2.0, 0.9, -0.9, -2.0])
def test_a_joint_of_many_turns_begins_where_the_whole_path_has_room(ur5e, turns):
    lower, upper = np.full(6, -TURN), np.full(6, TURN)
    room = abs(turns) * TURN + 3.0
    lower[0], upper[0] = (-0.5, room) if turns < 0 else (-room, 0.5)
    model = with_limits(ur5e, lower, upper)
    tool = pin.SE3(model.forward_kinematics(Q))
    poses = turned_about_base_axis(tool, np.linspace(0.0, turns * TURN, 400))
    result = solve_path_ik(model, poses, Q)
    assert result.success, result.reason
    assert_allclose(result.q[-1] - result.q[0], turns * TURN * np.eye(6)[0], atol=1e-6)
    assert ((result.q >= lower) & (result.q <= upper)).all()


@pytest.mark.parametrize('at_upper', [False, True])
def test_a_path_may_lie_at_a_limit(ur5e, at_upper):
    # The path turns the base only: every other joint stays where it is, at its limit.
    lower, upper = ur5e.position_lower.copy(), ur5e.position_upper.copy()
    (upper if at_upper else lower)[1:] = Q[1:]
    model = with_limits(ur5e, lower, upper)
    poses = turned_about_base_axis(ur5e.forward_kinematics(Q), np.linspace(0.0, 1.0, 50))
    result = solve_path_ik(model, poses, Q)
    assert result.success, result.reason
    assert_allclose(result.q[:, 1:], np.tile(Q[1:], (50, 1)), atol=1e-9)
    assert ((result.q >= lower) & (result.q <= upper)).all()


@pytest.mark.slow
def test_a_branch_that_ends_says_how_near_to_singular_it_was(ur5e):
    rng, seen = np.random.default_rng(0), 0
    while seen < 5:
        start, end = (pin.SE3(ur5e.forward_kinematics(q)) for q in rng.uniform(-2, 2, (2, 6)))
        poses = Lines([start, end], 1.0).sample(np.linspace(0, 1, 20)).poses
        result = solve_path_ik(ur5e, poses)
        if 'not continuously' not in result.reason:
            continue
        k = result.first_failure
        message = re.search(rf'condition number ([\d.e+]+) at pose {k - 1}\)', result.reason)
        assert message, result.reason
        condition = np.linalg.cond(ur5e.jacobian(result.q[k - 1]))
        assert_allclose(float(message[1]), condition, rtol=0.01)
        seen += 1


def test_slides_of_a_path_have_no_turns():
    slide = [
        revolute(name, 'xyz="0 0 0.1"', axis, 'prismatic')
        for name, axis in zip('xyz', ('1 0 0', '0 1 0', '0 0 1'), strict=True)
    ]
    wrist = [
        revolute(name, 'xyz="0 0 0.1"', axis)
        for name, axis in zip('abc', ('0 0 1', '0 1 0', '1 0 0'), strict=True)
    ]
    model = RobotModel.from_urdf(chain('gantry', slide + wrist))
    q = np.array([0.3, -0.2, 0.5, 0.4, -0.3, 0.6])
    tool = pin.SE3(model.forward_kinematics(q))
    way = np.array([0.5, 0.4, -0.3])
    line = Lines([tool, pin.SE3(tool.rotation, tool.translation + way)], 1.0)
    result = solve_path_ik(model, line.sample(np.linspace(0, 1, 30)).poses, q)
    assert result.success, result.reason
    assert_allclose(result.q[0], q, atol=1e-5)
    assert_allclose(result.q[-1], [*(q[:3] + way), *q[3:]], atol=1e-5)


@pytest.mark.slow
def test_branches_without_closed_form_are_found_as_well():
    model = load_arm('endless and skew')
    assert inverse_kinematics(model).analytic is None
    rng = np.random.default_rng(5)
    tried = 0
    while tried < 3:
        q = rng.uniform(-1.5, 1.5, 6)
        tool = pin.SE3(model.forward_kinematics(q))
        end = pin.SE3(tool.rotation, tool.translation + 0.1 * rng.normal(size=3))
        poses = Lines([tool, end], 1.0).sample(np.linspace(0, 1, 40)).poses
        seeds = [solve_ik(model, tool, rng.uniform(-2, 2, 6)).q for _ in range(6)]
        near, *others = (follow(model, seed, poses) for seed in (q, *seeds))
        for other in others:
            if near is None or other is None:
                continue
            low, high = near[:, 2].min(), near[:, 2].max()
            if high - low < 0.02 or other[:, 2].max() > high - 0.01 or other[:, 2].min() < -2.5:
                continue
            upper = model.position_upper.copy()
            upper[2] = high - 0.005  # joint c, on the nearest branch, comes too far
            if near[0, 2] > upper[2]:
                continue
            urdf = re.sub(
                r'(<joint name="c".*?upper=")2.2', rf'\g<1>{upper[2]}', model.urdf, flags=re.DOTALL
            )
            narrow = RobotModel.from_urdf(urdf)
            result = solve_path_ik(narrow, poses, q)
            assert result.success, result.reason
            assert np.abs(result.q[0] - q).max() > 0.01
            assert result.q[:, 2].max() <= upper[2]
            assert result.max_position_error < 1e-6
            tried += 1
            break


def test_a_redundant_path_begins_at_the_answer_to_its_first_pose():
    model = load_arm('Panda')
    q = np.array([0, -0.6, 0, -2.2, 0, 1.6, 0.8, 0.02, 0.02])
    tool = pin.SE3(model.forward_kinematics(q + 0.1))
    end = pin.SE3(tool.rotation, tool.translation + np.array([0.05, 0.1, 0.0]))
    poses = Lines([tool, end], 1.0).sample(np.linspace(0, 1, 30)).poses
    result = solve_path_ik(model, poses, q)
    assert result.success, result.reason
    assert_allclose(result.q[0], solve_ik(model, tool, q).q, atol=1e-9)
