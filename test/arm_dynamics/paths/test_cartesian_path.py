"""Cartesian motions and their joint paths: straight, continuous, within limits, or refused."""

import numpy as np
import pinocchio as pin
import pytest
from arms import turned_about_base_axis
from numpy.testing import assert_allclose

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.inverse_kinematics.path import solve_path_ik
from arm_dynamics.inverse_kinematics.solve import solve_ik
from arm_dynamics.paths.cartesian_path import (
    Lines,
    Sequential,
    joint_path_derivatives,
    polyline,
    quintic,
)
from arm_dynamics.robots import find_urdf

HALF = np.pi / 2
READY = np.array([-HALF, -HALF, HALF, -HALF, -HALF, 0.0])


@pytest.fixture(scope='module')
def ur5e() -> RobotModel:
    return RobotModel.from_urdf(find_urdf('ur5e'))


@pytest.fixture(scope='module')
def cube(ur5e) -> Sequential:
    corners = np.array([0.3, 0.2, 0.55]) + 0.05 * np.array(
        [
            (-1, -1, -1),
            (1, -1, -1),
            (1, 1, -1),
            (-1, 1, -1),
            (-1, -1, 1),
            (1, -1, 1),
            (1, 1, 1),
            (-1, 1, 1),
        ]
    )
    walk = [0, 1, 2, 3, 0, 4, 5, 1, 5, 6, 2, 6, 7, 3, 7, 4]
    rotation = ur5e.forward_kinematics(READY).rotation.copy()
    return polyline(corners[walk], rotation, 2.0)


def motions() -> list:
    rng = np.random.default_rng(1)
    start, end = pin.SE3.Random(), pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3))
    return [
        Lines([start, end], 1.3),
        Lines([start, start], 0.5),
        Sequential([Lines([start, end], 0.5), Lines([end, start], 0.7)]),
    ]


@pytest.mark.parametrize('motion', motions(), ids=['line', 'rest', 'sequence'])
def test_twist_and_its_rate_are_the_derivatives_of_the_pose(motion):
    h = 1e-5
    times = np.linspace(0.05, motion.duration - 0.05, 40)
    before, here, after = (motion.sample(times + k * h) for k in (-1, 0, 1))
    velocity = (after.poses[:, :3, 3] - before.poses[:, :3, 3]) / (2 * h)
    spin = np.array(
        [
            pin.log3(b[:3, :3] @ a[:3, :3].T) / (2 * h)
            for a, b in zip(before.poses, after.poses, strict=True)
        ]
    )
    assert_allclose(here.twists[:, :3], velocity, atol=1e-6)
    assert_allclose(here.twists[:, 3:], spin, atol=1e-6)
    assert_allclose(here.twist_rates, (after.twists - before.twists) / (2 * h), atol=1e-5)


def test_a_line_starts_and_ends_at_rest_at_its_ends():
    start, end = pin.SE3.Random(), pin.SE3.Random()
    samples = Lines([start, end], 1.3).sample([-1.0, 0.0, 1.3, 2.3])
    assert_allclose(samples.twists, 0.0, atol=1e-12)
    assert_allclose(samples.twist_rates, 0.0, atol=1e-12)
    assert_allclose(samples.poses[:2], np.tile(start.homogeneous, (2, 1, 1)), atol=1e-15)
    assert_allclose(samples.poses[2:], np.tile(end.homogeneous, (2, 1, 1)), atol=0.0)


def test_the_quintic_is_the_published_one():
    u = np.linspace(0, 1, 11)
    s, rate, acceleration = quintic(2.0 * u, 2.0)
    assert_allclose(s, 10 * u**3 - 15 * u**4 + 6 * u**5, atol=1e-14)
    assert_allclose(rate, (30 * u**2 - 60 * u**3 + 30 * u**4) / 2, atol=1e-13)
    assert_allclose(acceleration, (60 * u - 180 * u**2 + 120 * u**3) / 4, atol=1e-13)


def test_the_cube_is_followed_straight_and_without_a_jump(ur5e, cube):
    samples = cube.sample(np.arange(15001) * 0.002)
    result = solve_path_ik(ur5e, samples.poses, READY)
    assert result.success, result.reason
    assert result.first_failure == -1
    assert result.max_position_error < 1e-12
    assert result.max_orientation_error < 1e-12
    assert result.max_joint_step < 1e-3
    assert (result.q >= ur5e.position_lower).all()
    assert (result.q <= ur5e.position_upper).all()


def test_joint_derivatives_are_those_of_the_joint_path(ur5e, cube):
    h = 1e-4
    for t in (0.7, 1.3, 9.1, 17.2, 28.9):
        samples = cube.sample([t - h, t, t + h])
        q = solve_path_ik(ur5e, samples.poses, READY).q
        v, a = joint_path_derivatives(ur5e, q, samples.twists, samples.twist_rates)
        assert_allclose(v[1], (q[2] - q[0]) / (2 * h), atol=1e-7)
        assert_allclose(a[1], (v[2] - v[0]) / (2 * h), atol=1e-6)


def test_the_cube_is_found_from_any_start(ur5e, cube):
    poses = cube.sample(np.linspace(0, 30, 600)).poses
    rng = np.random.default_rng(3)
    for _ in range(30):
        result = solve_path_ik(ur5e, poses, ur5e.random_configuration(rng))
        assert result.success, result.reason
        assert result.max_joint_step < 0.1


def test_the_branch_is_chosen_for_the_whole_path_not_for_its_start(ur5e):
    # The elbow's limits exclude the branch nearest to the seed only at the path's end.
    start = np.array([0.2, -1.2, 1.4, -0.4, 1.1, 0.3])
    end = pin.SE3(ur5e.forward_kinematics(start)) * pin.SE3(np.eye(3), np.array([0.1, 0.15, -0.1]))
    line = Lines([ur5e.forward_kinematics(start), end], 1.0)
    poses = line.sample(np.linspace(0, 1, 50)).poses
    greedy = solve_path_ik(ur5e, poses, start)
    assert_allclose(greedy.q[0], start, atol=1e-9)
    low, high = greedy.q[:, 2].min(), greedy.q[:, 2].max()
    cut = (
        high - 0.3 * (high - low) if greedy.q[0, 2] < greedy.q[-1, 2] else low + 0.3 * (high - low)
    )
    limits = (-3.1, cut) if greedy.q[0, 2] < greedy.q[-1, 2] else (cut, 3.1)
    urdf = ur5e.urdf.replace(
        'lower="-3.141592653589793" upper="3.141592653589793"',
        f'lower="{limits[0]}" upper="{limits[1]}"',
    )
    narrow = RobotModel.from_urdf(urdf)
    assert limits[0] < start[2] < limits[1]
    result = solve_path_ik(narrow, poses, start)
    assert result.success, result.reason
    assert np.abs(result.q[0] - start).max() > 0.5
    assert (result.q <= narrow.position_upper).all()
    assert (result.q >= narrow.position_lower).all()


def test_full_turns_are_chosen_for_the_whole_path(ur5e):
    # Four half turns about the base's axis: from -5.5 rad there is room upwards only.
    start = np.array([-5.5, -1.2, 1.4, -0.4, 1.1, 0.3])
    tool = pin.SE3(ur5e.forward_kinematics(start))
    poses = turned_about_base_axis(tool, np.linspace(0.0, -2.0, 80))
    result = solve_path_ik(ur5e, poses, start)
    assert result.success, result.reason
    assert_allclose(result.q[0, 0], start[0] + 2 * np.pi, atol=1e-9)
    assert_allclose(result.q[-1, 0] - result.q[0, 0], -2.0, atol=1e-6)
    assert result.max_joint_step < 0.1


def test_a_path_that_leaves_the_reach_names_its_first_impossible_pose(ur5e):
    tool = pin.SE3(ur5e.forward_kinematics(READY))
    line = Lines([tool, pin.SE3(tool.rotation, tool.translation + np.array([0, -1.5, 0]))], 1.0)
    result = solve_path_ik(ur5e, line.sample(np.linspace(0, 1, 200)).poses, READY)
    assert not result.success
    assert len(result.q) == result.first_failure > 0
    assert result.reason.startswith(f'pose {result.first_failure}: out of reach')
    assert result.max_position_error < 1e-6


def test_poses_far_apart_are_joined_by_following_the_straight_way_between(ur5e, cube):
    dense = solve_path_ik(ur5e, cube.sample(np.linspace(0, 30, 1501)).poses, READY)
    sparse = solve_path_ik(ur5e, cube.sample(np.linspace(0, 30, 16)).poses, READY)
    assert sparse.success
    assert_allclose(sparse.q, dense.q[::100], atol=1e-6)


def test_a_path_of_one_pose_is_a_path(ur5e):
    result = solve_path_ik(ur5e, [ur5e.forward_kinematics(READY)], READY + 0.1)
    assert result.success
    assert_allclose(result.q, READY[None, :], atol=1e-9)


@pytest.mark.parametrize('poses', [[], np.zeros((3, 3)), np.zeros((2, 4, 4))])
def test_a_malformed_path_is_refused(ur5e, poses):
    with pytest.raises(ArmError):
        solve_path_ik(ur5e, poses)


def test_joint_derivatives_of_a_singular_arm_are_refused(ur5e):
    with pytest.raises(ArmError, match='point 1: the arm is singular'):
        joint_path_derivatives(ur5e, [READY, np.zeros(6)], np.zeros((2, 6)), np.zeros((2, 6)))


@pytest.mark.slow
def test_a_hundred_cubes_anywhere_are_drawn_or_refused_with_a_true_reason(ur5e):
    corners = np.array(
        [(x, y, z) for z in (-1, 1) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    )
    walk = [0, 1, 2, 3, 0, 4, 5, 1, 5, 6, 2, 6, 7, 3, 7, 4]
    rotation = ur5e.forward_kinematics(READY).rotation.copy()
    rng = np.random.default_rng(0)
    drawn = 0
    for _ in range(100):
        center, side = rng.uniform((-0.8, -0.8, 0.0), (0.8, 0.8, 1.0)), rng.uniform(0.03, 0.3)
        path = polyline(center + side / 2 * corners[walk], rotation, 2.0)
        poses = path.sample(np.linspace(0, 30, 751)).poses
        result = solve_path_ik(ur5e, poses, READY)
        if result.success:
            drawn += 1
            assert result.max_position_error < 1e-6
            assert (np.abs(result.q) <= ur5e.position_upper).all()
            continue
        impossible = poses[result.first_failure]
        assert 'out of reach' in result.reason
        alone = solve_ik(ur5e, impossible, READY, solver='levenberg_marquardt', restarts=100)
        assert not alone.success
    assert drawn == 25
