"""Paths through poses: where they stop, how fast the tip is, and that a controller takes them."""

import numpy as np
import pinocchio as pin
import pytest
from arms import load_arm
from following import DT, make, run
from numpy.testing import assert_allclose

from arm_dynamics import ArmError
from arm_dynamics.paths.cartesian_path import Lines
from arm_dynamics.paths.pose_path import pose_path
from arm_dynamics.paths.time_scaling import for_cubics, limits_of, time_motion
from arm_tools.cartesian.linear_move import timed_goal

HALF = np.pi / 2
START = np.array([-HALF, -HALF, HALF, -HALF, -HALF, 0.0])
TOOL = load_arm('ur5e').forward_kinematics(START)


def poses(*ways, turn=(0.0, 0.0, 0.0)):
    """Return poses at these ways from the tool's at the start, each turned further."""
    turns = [pin.exp3(k * np.array(turn)) for k in range(len(ways))]
    rotations = [TOOL.rotation @ each for each in turns]
    places = [TOOL.translation + np.array(way) for way in ways]
    return np.array([pin.SE3(*each).homogeneous for each in zip(rotations, places, strict=True)])


SQUARE = poses((0, 0, 0), (0.1, 0, 0), (0.1, 0.1, 0), (0, 0.1, 0), (0, 0, 0))


def circle(n):
    angles = np.linspace(0.0, 2 * np.pi, n)
    return poses(*(0.05 * np.array([1 - np.cos(x), np.sin(x), 0.0]) for x in angles))


def test_path_goes_straight_from_pose_to_pose_and_turns_about_one_axis():
    given = poses((0, 0, 0), (0.1, 0, 0), (0.1, 0.2, 0.05), turn=(0.1, 0.2, -0.3))
    path = Lines(given, 1.0)
    parts = np.linspace(0.0, 1.0, 1001)
    found, tangents = path.at(parts)
    assert_allclose(found[[0, -1]], given[[0, -1]], rtol=0, atol=0)
    distances = np.linalg.norm(found[:, None, :3, 3] - given[None, :, :3, 3], axis=2)
    assert (distances.min(axis=0) < 1e-3).all()
    moved = np.diff(found[:, :3, 3], axis=0)
    assert_allclose(moved, 1e-3 * tangents[:-1, :3], atol=3e-4)  # but at the corner
    assert np.abs(moved - 1e-3 * tangents[:-1, :3]).max(axis=1)[:100].max() < 1e-12
    turned = pin.log3(found[0, :3, :3].T @ found[1, :3, :3])
    assert_allclose(found[0, :3, :3] @ turned, 1e-3 * tangents[0, 3:], atol=1e-12)


def test_path_stops_at_corners_and_not_on_a_curve_of_many_poses():
    assert len(pose_path(SQUARE).motions) == 4
    assert len(pose_path(circle(200)).motions) == 1
    assert len(pose_path(SQUARE, corner=3.0).motions) == 1
    straight = poses((0, 0, 0), (0.1, 0, 0), (0.1, 0, 0), (0.3, 0, 0))  # one pose twice
    assert len(pose_path(straight).motions) == 1


def test_given_times_are_kept_from_corner_to_corner():
    path = pose_path(SQUARE, [0.0, 2.0, 5.0, 6.0, 9.0])
    assert [motion.duration for motion in path.motions] == [2.0, 3.0, 1.0, 3.0]
    timed = time_motion(load_arm('ur5e'), path, START, timing='given')
    assert timed.success, timed.reason
    assert_allclose(timed.times[-1], 9.0)
    rests = timed.times[np.abs(timed.v).max(axis=1) < 1e-9]
    assert_allclose(rests, [0.0, 2.0, 5.0, 6.0, 9.0])


@pytest.mark.quick(2)
@pytest.mark.parametrize('timing', ['quintic', 'toppra'])
@pytest.mark.parametrize('path', [SQUARE, circle(200)], ids=['square', 'circle'])
def test_tip_is_as_fast_as_allowed_and_no_faster(timing, path):
    model = load_arm('ur5e')
    timed = time_motion(
        model, pose_path(path), START, timing=timing, tip_speed_limit=0.1, acceleration_limit=6.0
    )
    assert timed.success, timed.reason
    tips = np.array([model.forward_kinematics(q).translation for q in timed.q])
    speeds = np.linalg.norm(np.diff(tips, axis=0), axis=1) / np.diff(timed.times)
    assert speeds.max() <= 0.1 * (1 + 1e-4)
    assert_allclose(timed.tip_speed, 0.1, rtol=2e-3)
    assert (speeds > 0.099).mean() > (0.75 if timing == 'toppra' else 0.02)
    assert timed.path_error < 1e-6 if path is SQUARE else timed.path_error < 2e-5


@pytest.mark.parametrize('timing', ['given', 'quintic', 'toppra'])
def test_timed_path_is_taken_by_the_follower_and_followed_along_the_path(timing):
    model = load_arm('ur5e')
    times = [0.0, 0.1, 0.2, 0.3, 0.4] if timing == 'given' else None
    limit = 8.0
    timed = time_motion(
        model, pose_path(SQUARE, times), START, timing=timing, acceleration_limit=limit
    )
    assert timed.success, timed.reason
    if timing == 'toppra':
        slower = for_cubics(model, timed, limits_of(model, None, limit, None))
        assert 1.0 < slower.times[-1] / timed.times[-1] < 1.3
        timed = slower
    arm = make(model, START, max_acceleration=limit)
    arm.set_goal(timed_goal(model, timed, timing), 0)
    q, v, _ = run(arm, 0, int(timed.times[-1] * 1e9) + 2 * DT)
    assert_allclose(q[-1], timed.q[-1], atol=1e-12)
    assert (np.abs(v) <= model.velocity_limit * 1.02).all()
    tips = np.array([model.forward_kinematics(each).translation for each in q])
    ways = tips - TOOL.translation  # along the square's edges
    off = np.minimum(np.abs(ways[:, :2]), np.abs(ways[:, :2] - 0.1)).min(axis=1)
    assert off.max() < 2e-5
    assert np.abs(ways[:, 2]).max() < 2e-5


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ({'poses': SQUARE[:1]}, 'two poses that differ'),
        ({'poses': SQUARE, 'times': [0.0, 1.0]}, '2 times for 5 poses'),
        ({'poses': SQUARE, 'times': [0, 1, 1, 2, 3]}, 'time 1 s of pose 2 is not after'),
        ({'poses': SQUARE, 'times': [0, 1, np.inf, 2, 3]}, 'time inf s of pose 2'),
        ({'poses': SQUARE, 'corner': -1.0}, 'corner_angle is -1'),
    ],
)
def test_malformed_path_is_refused(arguments, message):
    with pytest.raises(ArmError, match=message):
        pose_path(**arguments)


def test_tip_speed_limit_must_be_positive():
    with pytest.raises(ArmError, match='tip_speed_limit is -1'):
        time_motion(load_arm('ur5e'), pose_path(SQUARE), START, tip_speed_limit=-1.0)


def test_a_path_of_more_points_than_anybody_can_follow_is_refused_with_their_number():
    line = poses((0, 0, 0), (0.1, 0, 0))
    slow = time_motion(load_arm('ur5e'), pose_path(line, [0.0, 1e9]), START, timing='given')
    assert (
        slow.reason
        == 'on the way to pose 1: 1e+09 s in samples of 0.01 s are 1e+11 points; allowed: 100000; '
        'larger velocity, acceleration or tip speed limits help'
    )
    model = load_arm('ur5e')
    slow = time_motion(model, pose_path(line), START, timing='quintic', tip_speed_limit=1e-9)
    assert 'points; allowed: 100000' in slow.reason
