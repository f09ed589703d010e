"""Joint trajectories: interpolation, knots, tails."""

import numpy as np
import pytest
from following import states_at

from arm_controllers.follower.trajectory import Trajectory, hold, stop, through
from arm_controllers.reference import Reference

N = 3


def random_states(rng, count):
    return tuple(rng.normal(size=(count, N)) for _ in range(3))


def build(rng, order, segments=5):
    times = np.cumsum(rng.uniform(0.1, 1.0, segments + 1))
    points = random_states(rng, segments + 1)[:order]
    return times, points, through(times, points)


@pytest.mark.parametrize('order', [1, 2, 3])
def test_segments_pass_through_every_given_position_velocity_and_acceleration(order):
    times, points, trajectory = build(np.random.default_rng(1), order)
    inner = (times[:-1] + 1e-12, times[1:] - 1e-12)
    for t, rows in zip(inner, (slice(None, -1), slice(1, None)), strict=True):
        for found, given in zip(states_at(trajectory, t), points, strict=False):
            np.testing.assert_allclose(found, given[rows], atol=1e-8)


def test_polynomials_have_the_lowest_degree_the_fields_allow():
    for order, degree in ((1, 1), (2, 3), (3, 5)):
        _, _, trajectory = build(np.random.default_rng(2), order)
        assert np.any(trajectory.coefficients[:, degree])
        assert not np.any(trajectory.coefficients[:, degree + 1 :])


def test_evaluation_equals_the_polynomial_and_its_derivatives():
    rng = np.random.default_rng(3)
    _, _, trajectory = build(rng, 3)
    reference = Reference(N)
    for t in rng.uniform(trajectory.start, trajectory.end, 50):
        trajectory.evaluate(t, reference)
        q, v, a = states_at(trajectory, np.array([t]))
        np.testing.assert_allclose(reference.q, q[0], atol=1e-12)
        np.testing.assert_allclose(reference.v, v[0], atol=1e-12)
        np.testing.assert_allclose(reference.a, a[0], atol=1e-11)


def test_velocity_is_the_derivative_of_position_and_acceleration_that_of_velocity():
    _, _, trajectory = build(np.random.default_rng(4), 3)
    t = trajectory.start + np.linspace(0.01, 0.09, 7)
    step = 1e-6
    before, after = states_at(trajectory, t - step), states_at(trajectory, t + step)
    _, v, a = states_at(trajectory, t)
    np.testing.assert_allclose((after[0] - before[0]) / (2 * step), v, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * step), a, rtol=1e-6, atol=1e-6)


def test_outside_its_knots_a_trajectory_rests_at_its_ends():
    times, states, trajectory = build(np.random.default_rng(5), 2)
    reference = Reference(N)
    for t, q in ((times[0] - 1.0, states[0][0]), (times[-1] + 1.0, states[0][-1])):
        trajectory.evaluate(t, reference)
        np.testing.assert_allclose(reference.q, q, atol=1e-12)
        assert not reference.v.any()
        assert not reference.a.any()


def test_effort_is_linear_between_points_and_keeps_its_last_value():
    efforts = np.array([[0.0, 1.0, 2.0], [4.0, 1.0, 0.0]])
    trajectory = Trajectory(np.array([0.0, 2.0]), np.zeros((1, 6, N)), efforts)
    reference = Reference(N)
    trajectory.evaluate(0.5, reference)
    np.testing.assert_allclose(reference.effort, [1.0, 1.0, 1.5])
    trajectory.evaluate(9.0, reference)
    np.testing.assert_allclose(reference.effort, [4.0, 1.0, 0.0])


def test_more_knots_leave_the_motion_as_it_is():
    rng = np.random.default_rng(6)
    times, _, trajectory = build(rng, 3)
    knots = np.union1d(times, rng.uniform(times[0], times[-1] + 1, 20))
    other = trajectory.with_knots(knots)
    one, two = Reference(N), Reference(N)
    for t in rng.uniform(times[0] - 0.5, times[-1] + 0.5, 100):
        trajectory.evaluate(t, one)
        other.evaluate(t, two)
        np.testing.assert_allclose(two.row, one.row, atol=1e-9)


def test_braking_keeps_the_joints_direction_and_ends_at_rest():
    q, v = np.array([1.0, 2.0, 3.0]), np.array([1.0, -0.5, 0.0])
    trajectory = stop(q, v, 2.0)
    reference = Reference(N)
    for t in (0.0, 0.7, 1.9):
        trajectory.evaluate(t, reference)
        np.testing.assert_allclose(reference.v, v * (1 - t / 2), atol=1e-14)
    trajectory.evaluate(2.0, reference)
    np.testing.assert_allclose(reference.q, q + v * 2.0 / 2)
    assert not reference.v.any()


def test_holding_is_the_same_numbers_for_ever():
    q = np.array([0.1, 0.2, 0.3])
    trajectory = hold(q)
    reference = Reference(N)
    for t in (-1.0, 0.0, 0.5, 1.0, 1e9):
        trajectory.evaluate(t, reference)
        assert (reference.q == q).all()
        assert not reference.row[N:].any()
