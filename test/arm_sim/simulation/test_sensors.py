"""Sensors: each error alone against its definition, for one arm and for many."""

import numpy as np
import pytest

from arm_dynamics.checks import ArmError
from arm_sim.simulation.sensors import SensorParameters, Sensors

JOINTS, PERIOD = ('a', 'b'), 0.01
COUNT = 4000


def readings(count=COUNT, **parameters):
    """Return true and measured positions and velocities (count, 2) of a moving arm."""
    sensors = Sensors([SensorParameters(**parameters)], JOINTS, PERIOD)
    t = PERIOD * np.arange(count)
    q = np.column_stack([np.sin(t), 0.5 * t])
    v = np.column_stack([np.cos(t), np.full(count, 0.5)])
    seen = [sensors.reset(q[:1], v[:1])]
    seen += [sensors.read(q[k : k + 1], v[k : k + 1]) for k in range(1, count)]
    return q, v, np.array([each.q[0] for each in seen]), np.array([each.v[0] for each in seen])


def test_exact_sensors_report_the_state():
    q, v, q_seen, v_seen = readings(50)
    np.testing.assert_array_equal(q_seen, q)
    np.testing.assert_array_equal(v_seen, v)
    assert SensorParameters().exact
    assert SensorParameters(sensor_seed=5).exact
    assert not SensorParameters(dropout=0.1).exact


def test_bias_is_added():
    q, v, q_seen, v_seen = readings(50, position_bias=(0.1, -0.2), velocity_bias=(0.3,))
    np.testing.assert_allclose(q_seen - q, np.tile((0.1, -0.2), (50, 1)))
    np.testing.assert_allclose(v_seen - v, 0.3)


def test_noise_has_the_stated_deviation_and_repeats_by_its_seed():
    told = {'position_noise': 1e-3, 'velocity_noise': 2e-2, 'sensor_seed': 7}
    q, v, q_seen, v_seen = readings(**told)
    np.testing.assert_allclose(np.std(q_seen - q, axis=0), 1e-3, rtol=0.05)
    np.testing.assert_allclose(np.std(v_seen - v, axis=0), 2e-2, rtol=0.05)
    np.testing.assert_array_equal(readings(**told)[2], q_seen)
    assert not np.array_equal(readings(**told | {'sensor_seed': 8})[2], q_seen)


def test_an_encoder_rounds_positions_and_differences_give_the_velocities():
    q, _, q_seen, v_seen = readings(200, encoder_resolution=(1e-3, 2e-3))
    np.testing.assert_allclose(q_seen, np.rint(q / (1e-3, 2e-3)) * (1e-3, 2e-3), atol=1e-15)
    np.testing.assert_allclose(v_seen[1:], np.diff(q_seen, axis=0) / PERIOD, atol=1e-9)


def test_a_delay_reports_the_reading_of_so_many_periods_ago():
    q, v, q_seen, v_seen = readings(50, sensor_delay=3)
    np.testing.assert_array_equal(q_seen[3:], q[:-3])
    np.testing.assert_array_equal(v_seen[3:], v[:-3])
    np.testing.assert_array_equal(q_seen[:3], np.tile(q[0], (3, 1)))


def test_a_dropout_repeats_the_reading_before_as_often_as_stated():
    q, _, q_seen, _ = readings(dropout=0.25, sensor_seed=1)
    repeated = (q_seen[1:] == q_seen[:-1]).all(axis=1)
    assert 0.22 < repeated.mean() < 0.28
    fresh = np.flatnonzero(~repeated) + 1
    np.testing.assert_array_equal(q_seen[fresh], q[fresh])


def test_every_arm_has_sensors_of_its_own():
    each = [SensorParameters(position_noise=0.1, sensor_seed=k, dropout=0.2 * k) for k in range(3)]
    together = Sensors(each, JOINTS, PERIOD)
    alone = [Sensors([one], JOINTS, PERIOD) for one in each]
    q, v = np.random.default_rng(0).normal(size=(2, 150, 3, 2))
    for k in range(150):
        seen = together.read(q[k], v[k]) if k else together.reset(q[k], v[k])
        for arm, own in enumerate(alone):
            state = q[k, arm : arm + 1], v[k, arm : arm + 1]
            expected = own.read(*state) if k else own.reset(*state)
            np.testing.assert_array_equal(seen.q[arm], expected.q[0])
            np.testing.assert_array_equal(seen.v[arm], expected.v[0])


def test_the_seed_of_a_reset_counts_up_from_arm_to_arm():
    several = Sensors([SensorParameters(position_noise=0.1)] * 3, JOINTS, PERIOD)
    one = Sensors([SensorParameters(position_noise=0.1)], JOINTS, PERIOD)
    zeros = np.zeros((3, 2))
    seen = several.reset(zeros, zeros, seed=11)
    for arm in range(3):
        expected = one.reset(zeros[:1], zeros[:1], seed=11 + arm)
        np.testing.assert_array_equal(seen.q[arm], expected.q[0])


@pytest.mark.parametrize(
    ('told', 'why'),
    [
        ({'dropout': 1.5}, 'sensors.dropout is 1.5'),
        ({'position_noise': -1.0}, 'sensors.position_noise is -1'),
        ({'sensor_delay': -1}, 'sensors.delay is -1'),
    ],
)
def test_numbers_that_are_not_allowed_are_refused_by_the_parameters_name(told, why):
    with pytest.raises(ArmError, match=why):
        SensorParameters(**told)
