"""Chunks of positions: the spline that follows them, against SciPy's, late and for many arms."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.interpolate import CubicSpline

from arm_controllers.position_chunks import PositionChunks
from arm_sim.robot import Robot

MODEL, DT, RATE, CHUNK = Robot.load('planar_3r').model, 2e-3, 25.0, 6


def chunks_of(arms, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-0.5, 0.5, (*arms, CHUNK, 3))


@pytest.mark.parametrize('since', [0, 20, 33, 100])
def test_a_late_chunk_is_a_clamped_spline_from_the_reference_through_what_is_left(since):
    chunks = PositionChunks(MODEL, RATE, CHUNK)
    q, v = np.zeros((2, 3)), np.full((2, 3), 0.3)
    start, q = chunks.start(q, v), chunks_of((2,))
    assert_array_equal(chunks.reference(start, 0, 0, DT).v, v)
    assert_array_equal(chunks.reference(start, 20, 0, DT).row[:, 3:], np.zeros((2, 9)))
    first = chunks.joined(start, 0, 0, q, 0, DT)
    age = 47  # the second chunk arrives in the middle of a segment of the first
    now = chunks.reference(first, age, 0, DT)
    assert np.abs(now.v).max() > 0.1
    later = chunks_of((2,), 1)
    knots = chunks.joined(first, age, 0, later, since, DT)
    times = np.arange(1, CHUNK + 1) / RATE
    left = times > since * DT + 1e-9
    t = np.concatenate([[since * DT], times[left]])
    for arm in range(2):
        points = np.vstack([now.q[arm], later[arm, left]])
        spline = CubicSpline(t, points, bc_type=((1, now.v[arm]), (1, np.zeros(3))))
        for k in range(since, round(CHUNK / RATE / DT)):
            found = chunks.reference(knots, k, since, DT)
            for order, value in enumerate((found.q, found.v, found.a)):
                assert_allclose(value[arm], spline(k * DT, order), atol=1e-7)
            ahead = found.ahead(3).q[arm]
            assert_array_equal(ahead, chunks.reference(knots, k + 3, since, DT).q[arm])
    end = chunks.reference(knots, round(CHUNK / RATE / DT), since, DT)
    assert_array_equal([end.q, end.v, end.a], [later[:, -1], 0.0 * end.q, 0.0 * end.q])


def test_a_chunk_whose_time_is_up_is_not_joined_and_limits_bound_the_others():
    chunks = PositionChunks(MODEL, RATE, CHUNK)
    start = chunks.start(np.zeros(3), np.zeros(3))
    periods = round(CHUNK / RATE / DT)
    assert chunks.joined(start, 0, 0, chunks_of(()), periods, DT) is None
    knots = chunks.joined(start, 0, 0, np.full((CHUNK, 3), 99.0), periods - 1, DT)
    assert_array_equal(chunks.reference(knots, periods, periods - 1, DT).q, MODEL.position_upper)


def test_a_continuous_joint_takes_the_short_way():
    free = np.full(2, np.inf)
    model = SimpleNamespace(
        nv=2, position_lower=-free, position_upper=free, continuous=np.array([False, True])
    )
    chunks, joint, q = PositionChunks(model, RATE, 2), 1, np.full((2, 2), 4.0)
    q[:, joint] = np.pi - 0.1, -np.pi + 0.2  # 0.3 rad apart
    start = np.zeros(model.nv)
    start[joint] = -np.pi
    knots = chunks.joined(chunks.start(start, 0.0 * start), 0, 0, q, 0, DT)
    end = chunks.reference(knots, 1000, 0, DT).q
    assert_allclose(end, [4.0, -np.pi + 0.2], atol=1e-12)
    middle = chunks.reference(knots, round(1 / RATE / DT), 0, DT).q
    assert_allclose(middle[joint], -np.pi - 0.1, atol=1e-12)
