"""Refusals name the probable mistake: units, noise, order, names; nothing without one."""

import re

import numpy as np
import pytest
from following import HOME, NAMES, assert_names_the_fault, goal, make

from arm_controllers.follower.goal import Goal, GoalError
from arm_controllers.follower.probable_mistakes import doubt
from arm_controllers.follower.refusals import unknown_joint
from arm_sim.robot import Robot

WAY = np.array([0.5, -0.4, 0.6, 0.3, -0.5, 0.7])
PER_DEGREE = 180.0 / np.pi
SIX = tuple(f'joint_{k}' for k in range(1, 7))


def cubic(count, seconds):
    """Return times, positions and velocities of a motion from rest to rest."""
    s = np.arange(1, count + 1)[:, np.newaxis] / count
    positions = HOME + WAY * (3 * s**2 - 2 * s**3)
    return seconds * s[:, 0], positions, WAY * (6 * s - 6 * s**2) / seconds


def line(*fields, **parameters):
    """Return the refusal of a goal."""
    with pytest.raises(GoalError) as refused:
        make(**parameters).set_goal(goal(*fields), 0)
    assert_names_the_fault(refused.value)
    return str(refused.value)


@pytest.mark.parametrize('count', [4, 40])
@pytest.mark.parametrize(
    ('factor', 'cause'),
    [
        (PER_DEGREE, 'are they in degrees per second? Write rad/s'),
        (30.0 / np.pi, 'are they in turns per minute? Write rad/s'),
        (200.0, 'positions, velocities and times do not fit together'),
    ],
)
def test_velocities_in_another_unit_than_positions_are_named(count, factor, cause):
    times, q, v = cubic(count, 0.8)
    text = line(times, q, factor * v)
    assert 'times the slope of its positions: ' in text
    assert text.endswith(cause)


@pytest.mark.parametrize(
    ('factor', 'cause'),
    [(1e3, 'are the times in milliseconds?'), (1e-3, 'are the times too short?')],
)
def test_times_in_another_unit_are_named_by_the_velocities(factor, cause):
    times, q, v = cubic(40, 2.0)
    assert f'{cause} time_from_start is in seconds' in line(factor * times, q, v)


def test_times_in_another_unit_are_named_where_there_are_no_velocities():
    times, q, _ = cubic(40, 2.0)
    assert line(1e-3 * times, q).endswith('are 5e-05 s apart: time_from_start is in seconds')


@pytest.mark.parametrize('fields', ['positions', 'and their velocities', 'and true velocities'])
def test_noise_of_a_recorded_trajectory_is_named_with_its_size(fields):
    times, q, v = cubic(1000, 2.0)
    q += 1e-3 * np.random.default_rng(0).standard_normal(q.shape)
    slopes = np.gradient(q, times, axis=0)
    slopes[-1] = 0.0
    rows = {'positions': (), 'and their velocities': (slopes,), 'and true velocities': (v,)}
    expected = 'its points are noisy, by about 0.001 rad every 0.002 s, as recorded ones are'
    assert f'{expected}: filter them, or send fewer of them' in line(times, q, *rows[fields])


def test_rounded_positions_are_named_with_their_step():
    times, q, v = cubic(1000, 2.0)
    text = line(times, np.round(q, 3), v, max_acceleration=(10.0,))
    assert 'its points are rounded to 0.001 rad, 0.002 s apart: write more digits' in text


def test_positions_in_another_order_than_the_names_are_named():
    times, q, _ = cubic(40, 2.0)
    assert line(times, q[:, ::-1]).endswith('are the positions in the order of joint_names?')


def test_positions_in_reverse_order_are_named():
    times, q, _ = cubic(40, 2.0)
    assert line(times, q[::-1]).endswith('are the points in reverse order?')


def test_a_first_point_far_from_the_arm_is_named_with_way_and_time():
    times, q, _ = cubic(40, 2.0)
    text = line(times, q + 0.7)
    assert 'its first point is 0.701 rad from where it is 0.05 s before: begin where' in text


def test_a_motion_that_is_only_too_fast_says_how_much_longer_it_must_take():
    times, q, v = cubic(40, 0.3)  # peak 1.5 * 0.7 / 0.3 = 3.5 rad/s of joint 6; limit pi
    text = line(times, q, v)
    factor = float(text.removesuffix(' times as long').rpartition(' ')[2])
    with pytest.raises(GoalError):
        make().set_goal(goal(0.9 * factor * times, q, v / (0.9 * factor)), 0)
    arm = make()
    longer = 1.5 * factor  # torques also have limits, and later points are faster
    arm.set_goal(goal(longer * times, q, v / longer), 0)


def test_a_single_point_and_a_smooth_dense_motion_are_not_blamed():
    for text in (line([0.2], [HOME + 0.7]), line(*cubic(1000, 0.2))):
        assert not any(word in text for word in ('noisy', 'slope', 'rounded', 'order'))


@pytest.mark.parametrize(
    ('name', 'known', 'remedy'),
    [
        ('left_shoulder_pan_joint', NAMES, "; write 'shoulder_pan_joint', without 'left_'"),
        ('left/joint_3', SIX, "; write 'joint_3', without 'left/'"),
        ('joint_3 ', SIX, "; write 'joint_3', without ' '"),
        ('joint_3', tuple(f'left/{x}' for x in SIX), "; write 'left/joint_3'"),
        ('elbow', NAMES, "; write 'elbow_joint'"),
        ('Elbow-Joint', NAMES, "; did you mean 'elbow_joint'?"),
        ('elbow_jiont', NAMES, "; did you mean 'elbow_joint'?"),
        ('joint3', SIX, "; did you mean 'joint_3'?"),
        ('joint_7', SIX, ''),
        ('joint_10', SIX, ''),
        ('wrist', NAMES, ''),
        ('', NAMES, ''),
        ('joint_3' * 100_000, SIX, ''),
    ],
)
def test_an_unknown_joint_is_named_with_what_to_write(name, known, remedy):
    text = str(unknown_joint(name, known))
    assert text == f'joint {name!r} is unknown; this controller has {", ".join(known)}{remedy}'


def test_an_unknown_joint_of_a_tolerance_is_named_with_what_to_write():
    assert str(unknown_joint('joint3', SIX, 'tolerance: ')).startswith("tolerance: joint 'joint3'")


def test_a_joint_without_a_position_is_told_how_to_hold():
    q = np.tile(HOME, (2, 1))
    q[1, 2] = np.nan
    text = line([1.0, 2.0], q)
    assert text.endswith('leave a joint that need not move out, with allow_partial_joints_goal')


def slow_goal(scale, points=20):
    """Return a goal of UR5e far below its limits, whose velocities are `scale` times the slope."""
    model, duration = Robot.load('ur5e').model, 40.0
    s = np.linspace(0.0, 1.0, points + 1)[1:]
    q = 0.3 * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5)
    v = scale * 9.0 / duration * (s**2 - 2.0 * s**3 + s**4)
    rows = [np.repeat(each[:, None], 6, axis=1) for each in (q, v)]
    return Goal(model.joint_names, duration * s, *rows), model


@pytest.mark.parametrize(
    ('scale', 'words'),
    [
        (np.degrees(1.0), 'are they in degrees per second'),
        (np.radians(1.0), 'are the positions in degrees'),
        (30.0 / np.pi, 'turns per minute'),
        (-1.0, 'in reverse order'),
    ],
)
def test_velocities_that_contradict_a_goal_within_all_limits_are_doubted(scale, words):
    found = doubt(*slow_goal(scale))
    assert re.search(rf"^joint 'shoulder_pan_joint'; its velocities .*{words}", found)


@pytest.mark.parametrize('scale', [0.0, 0.8, 1.0, 1.3])
def test_a_goal_whose_velocities_fit_is_not_doubted(scale):
    assert doubt(*slow_goal(scale)) == ''
    assert doubt(*slow_goal(scale, points=3)) == ''
