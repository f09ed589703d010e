"""Timed Cartesian motions stay on their path and within velocity, acceleration and torque."""

import re

import numpy as np
import pinocchio as pin
import pytest
from arms import load_arm
from numpy.testing import assert_allclose

from arm_dynamics import ArmError, RobotModel
from arm_dynamics.inverse_kinematics.path import solve_path_ik
from arm_dynamics.paths.cartesian_path import Lines, Sequential, polyline
from arm_dynamics.paths.time_scaling import time_motion
from arm_dynamics.robots import find_urdf

HALF = np.pi / 2
STARTS = {
    'ur5e': np.array([-HALF, -HALF, HALF, -HALF, -HALF, 0.0]),
    'Panda': np.array([0, -0.6, 0, -2.2, 0, 1.6, 0.8, 0.02, 0.02]),
}
LIMITS = {'acceleration_limit': 6.0}


def motion(name: str) -> Sequential:
    tool = pin.SE3(load_arm(name).forward_kinematics(STARTS[name]))
    to = pin.SE3(
        tool.rotation @ pin.exp3(np.array([0.2, 0.1, 0.0])),
        tool.translation + np.array([-0.05, 0.2, 0.1]),
    )
    turn = tool.rotation @ pin.exp3(np.array([0.0, 0.3, -0.2]))
    on = pin.SE3(turn, to.translation + np.array([0.08, -0.06, 0.0]))
    return Sequential([Lines([tool, to], 1.0), Lines([to, on], 1.0)])


@pytest.mark.parametrize('name', STARTS)
@pytest.mark.parametrize('timing', ['given', 'quintic', 'toppra'])
def test_every_limit_holds_and_the_path_is_kept(name, timing):
    model = load_arm(name)
    timed = time_motion(model, motion(name), STARTS[name], timing=timing, **LIMITS)
    assert timed.success, timed.reason
    assert (np.abs(timed.v) <= model.velocity_limit * (1 + 1e-9)).all()
    assert (np.abs(timed.a) <= 6.0 * (1 + 1e-9)).all()
    assert (np.abs(timed.effort) <= model.effort_limit * (1 + 1e-9)).all()
    assert (timed.q >= model.position_lower - 1e-9).all()
    assert (timed.q <= model.position_upper + 1e-9).all()
    assert timed.path_error < 1e-6
    assert timed.orientation_error < 1e-6


@pytest.mark.parametrize('timing', ['quintic', 'toppra'])
def test_a_fastest_timing_reaches_a_limit(timing):
    timed = time_motion(
        load_arm('ur5e'), motion('ur5e').motions[0], STARTS['ur5e'], timing=timing, **LIMITS
    )
    used = max(timed.velocity_share, timed.acceleration_share, timed.effort_share)
    assert_allclose(used, 1.0, atol=1e-3)


def test_time_optimal_is_faster_than_quintic():
    arguments = load_arm('ur5e'), motion('ur5e'), STARTS['ur5e']
    fast = time_motion(*arguments, timing='toppra', **LIMITS)
    smooth = time_motion(*arguments, timing='quintic', **LIMITS)
    assert fast.times[-1] < 0.8 * smooth.times[-1]


@pytest.mark.parametrize('timing', ['quintic', 'toppra'])
def test_a_torque_limit_slows_the_motion_down(timing):
    model = load_arm('ur5e')
    arguments = model, motion('ur5e'), STARTS['ur5e']
    free = time_motion(*arguments, timing=timing, acceleration_limit=50.0)
    gravity = np.abs([model.gravity_torque(q) for q in free.q]).max(axis=0)
    limit = gravity + 0.4 * (np.abs(free.effort).max(axis=0) - gravity) + 0.01
    tight = time_motion(*arguments, timing=timing, acceleration_limit=50.0, effort_limit=limit)
    assert tight.success, tight.reason
    assert (np.abs(tight.effort) <= limit * (1 + 1e-9)).all()
    assert tight.times[-1] > free.times[-1]
    used = np.maximum(np.abs(tight.effort) / limit, np.abs(tight.a) / 50.0).max(axis=1)
    assert (timing == 'toppra') == (np.mean(used > 0.95) > 0.8)  # it is at a limit all the way


@pytest.mark.parametrize('timing', ['given', 'quintic', 'toppra'])
def test_friction_counts_to_the_torque(timing):
    model = RobotModel(find_urdf('ur5e'), friction=8.0, damping=6.0)
    limit = [40.0, 80.0, 60.0, 20.0, 20.0, 20.0]
    timed = time_motion(
        model, motion('ur5e'), STARTS['ur5e'], timing=timing, effort_limit=limit, **LIMITS
    )
    assert timed.success, timed.reason
    assert (np.abs(timed.effort) <= np.array(limit) * (1 + 1e-9)).all()
    refused = time_motion(
        model, motion('ur5e'), STARTS['ur5e'], timing=timing, effort_limit=[*limit[:5], 7.9]
    )
    assert "joint 'wrist_3_joint': torque against gravity and friction" in refused.reason


def test_the_given_timing_is_kept_where_it_is_slow_enough():
    ends, _ = motion('ur5e').motions[0].at(np.array([0.0, 1.0]))
    slow = Lines(ends, 10.0)
    timed = time_motion(load_arm('ur5e'), slow, STARTS['ur5e'], timing='given', **LIMITS)
    assert_allclose(timed.times[-1], 10.0, atol=1e-12)
    hurried = Lines(ends, 0.01)
    timed = time_motion(load_arm('ur5e'), hurried, STARTS['ur5e'], timing='given', **LIMITS)
    assert timed.times[-1] > 0.1


@pytest.mark.parametrize('timing', ['quintic', 'toppra'])
def test_velocities_and_accelerations_are_the_derivatives_of_the_positions(timing):
    timed = time_motion(
        load_arm('ur5e'),
        motion('ur5e'),
        STARTS['ur5e'],
        timing=timing,
        sample_period=1e-4,
        **LIMITS,
    )
    dt = np.diff(timed.times)[:, None]
    assert_allclose(np.diff(timed.q, axis=0) / dt, 0.5 * (timed.v[1:] + timed.v[:-1]), atol=2e-4)
    if timing == 'quintic':
        assert_allclose(
            np.diff(timed.v, axis=0) / dt, 0.5 * (timed.a[1:] + timed.a[:-1]), atol=2e-3
        )


@pytest.mark.parametrize('period', [0.003, 0.0071, 0.02])
def test_points_are_no_further_apart_than_asked(period):
    timed = time_motion(
        load_arm('ur5e'), motion('ur5e'), STARTS['ur5e'], sample_period=period, **LIMITS
    )
    assert np.diff(timed.times).max() <= period + 1e-12


@pytest.mark.parametrize(('end', 'far'), [('upper', 1.0), ('lower', -1.0)])
def test_a_limit_that_is_passed_between_the_poses_of_inverse_kinematics_is_noticed(end, far):
    model = load_arm('ur5e')
    tool = pin.SE3(model.forward_kinematics(STARTS['ur5e']))
    ways = np.array([(-0.15, 0.0, 0.0), (0.2, 0.03, 0.05)])  # past the base: some joints turn back
    line = Lines([pin.SE3(tool.rotation, tool.translation + way) for way in ways], 1.0)
    poses, _ = line.at(np.linspace(0.0, 1.0, 201))
    furthest = (far * solve_path_ik(model, poses, STARTS['ur5e']).q).max(axis=0)
    fine = time_motion(model, line, STARTS['ur5e'], sample_period=1e-4, **LIMITS)
    beyond = (far * fine.q).max(axis=0) - furthest
    joint = int(beyond.argmax())  # it turns back between two of the poses
    assert beyond[joint] > 1e-8
    name, limit = model.joint_names[joint], float(far * furthest[joint])
    before, after = model.urdf.split(f'<joint name="{name}"')
    after = re.sub(f'{end}="[^"]*"', f'{end}="{limit!r}"', after, count=1)
    narrow = RobotModel.from_urdf(f'{before}<joint name="{name}"{after}')
    refused = time_motion(narrow, line, STARTS['ur5e'], sample_period=1e-4, **LIMITS)
    assert not refused.success
    assert f'joint {name!r}: position' in refused.reason
    assert 't = ' in refused.reason


def test_corners_are_passed_at_rest():
    tool = load_arm('ur5e').forward_kinematics(STARTS['ur5e'])
    corners = tool.translation + np.array([(0, 0, 0), (0.1, 0, 0), (0.1, 0.1, 0), (0, 0, 0)])
    timed = time_motion(
        load_arm('ur5e'), polyline(corners, tool.rotation, 1.0), STARTS['ur5e'], **LIMITS
    )
    at_rest = np.flatnonzero(np.abs(timed.v).max(axis=1) < 1e-9)
    found = [load_arm('ur5e').forward_kinematics(timed.q[k]).translation for k in at_rest]
    assert_allclose([x.copy() for x in found], corners, atol=1e-6)


def test_gravity_beyond_the_effort_limit_is_refused_naming_joint_and_place():
    timed = time_motion(load_arm('ur5e'), motion('ur5e'), STARTS['ur5e'], effort_limit=10.0)
    assert not timed.success
    assert "motion 0: joint 'shoulder_lift_joint': torque against gravity" in timed.reason
    assert '% of the way' in timed.reason


def test_a_path_out_of_reach_is_refused_with_the_reason():
    start = pin.SE3(load_arm('ur5e').forward_kinematics(STARTS['ur5e']))
    far = pin.SE3(start.rotation, start.translation + np.array([0.0, 2.0, 0.0]))
    timed = time_motion(load_arm('ur5e'), Lines([start, far], 1.0), STARTS['ur5e'])
    assert not timed.success
    assert 'out of reach' in timed.reason
    assert [len(rows) for rows in timed[1:6]] == [0] * 5
    assert timed[6:11] == (0.0,) * 5


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ({'timing': 'magic'}, "timing is 'magic'; allowed: given, quintic, toppra"),
        ({'sample_period': 0.0}, 'sample_period'),
        ({'sample_period': 10.5}, 'sample_period'),
        ({'velocity_limit': [1.0, 2.0]}, 'velocity_limit has 2 values'),
        ({'acceleration_limit': -1.0}, 'acceleration_limit of joint'),
    ],
)
def test_a_malformed_argument_is_refused(arguments, message):
    with pytest.raises(ArmError, match=message):
        time_motion(load_arm('ur5e'), motion('ur5e'), STARTS['ur5e'], **arguments)
