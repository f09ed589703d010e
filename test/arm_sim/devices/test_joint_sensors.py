"""Sensors: each error alone against its definition, for one arm and for many."""

import numpy as np
import pytest
from plugins import write_plugins

from arm_dynamics.checks import ArmError
from arm_sim.devices import SensorParameters
from arm_sim.devices.joint_sensors import SENSOR_MODELS, Sensors

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
    parameters = {'position_noise': 1e-3, 'velocity_noise': 2e-2, 'sensor_seed': 7}
    q, v, q_seen, v_seen = readings(**parameters)
    np.testing.assert_allclose(np.std(q_seen - q, axis=0), 1e-3, rtol=0.05)
    np.testing.assert_allclose(np.std(v_seen - v, axis=0), 2e-2, rtol=0.05)
    np.testing.assert_array_equal(readings(**parameters)[2], q_seen)
    assert not np.array_equal(readings(**parameters | {'sensor_seed': 8})[2], q_seen)


def test_an_encoder_rounds_positions_and_differences_give_the_velocities():
    q, _, q_seen, v_seen = readings(200, encoder_resolution=(1e-3, 2e-3))
    np.testing.assert_allclose(q_seen, np.rint(q / (1e-3, 2e-3)) * (1e-3, 2e-3), atol=1e-15)
    np.testing.assert_allclose(v_seen[1:], np.diff(q_seen, axis=0) / PERIOD, atol=1e-9)


def test_a_delay_reports_the_reading_of_that_number_of_periods_ago():
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
    ('parameters', 'why'),
    [
        ({'dropout': 1.5}, 'sensors.dropout is 1.5'),
        ({'position_noise': -1.0}, 'sensors.position_noise is -1'),
        ({'sensor_delay': -1}, 'sensors.delay is -1'),
    ],
)
def test_numbers_that_are_not_allowed_are_refused_by_the_parameters_name(parameters, why):
    with pytest.raises(ArmError, match=why):
        SensorParameters(**parameters)


MODELS = """
import numpy as np

def drift(seeds, period):
    return lambda t, q, v: (q + 0.1 * t, v)

def lag(seeds, period):  # reports the state before
    kept = []
    def read(t, q, v):
        kept.append((q, v))
        q += 1.0  # its own copy
        return kept[max(0, len(kept) - 2)]
    return read

def noise(seeds, period):
    streams = [np.random.default_rng(seed) for seed in seeds]
    return lambda t, q, v: (q + np.array([each.normal(size=q.shape[1]) for each in streams]), v)

def flat(seeds, period):
    return lambda t, q, v: q

def fails(seeds, period):
    return lambda t, q, v: (q / {}, v)

def unmade(seeds):
    pass
"""


@pytest.fixture
def models(tmp_path, monkeypatch):
    """A package of a user that brings sensor models."""
    names = 'drift', 'lag', 'noise', 'flat', 'fails', 'unmade'
    entries = {'arm_sim.sensors': {name: f'models:{name}' for name in names}}
    monkeypatch.syspath_prepend(write_plugins(tmp_path / 'site', {'models': MODELS}, entries))
    SENSOR_MODELS.refresh()
    yield
    monkeypatch.undo()
    SENSOR_MODELS.refresh()


def test_a_model_of_a_package_changes_the_state_before_the_other_errors(models):
    q, v, q_seen, v_seen = readings(50, sensor_model='drift', position_bias=(1.0,))
    t = PERIOD * np.arange(50)[:, np.newaxis]
    np.testing.assert_allclose(q_seen, q + 0.1 * t + 1.0, rtol=1e-14)
    np.testing.assert_array_equal(v_seen, v)
    _, _, coarse, v_seen = readings(50, sensor_model='drift', encoder_resolution=(1e-2,))
    np.testing.assert_allclose(coarse, np.rint((q + 0.1 * t) / 1e-2) * 1e-2, atol=1e-15)
    np.testing.assert_allclose(v_seen[1:], np.diff(coarse, axis=0) / PERIOD, atol=1e-12)
    assert not SensorParameters(sensor_model='drift').exact


def test_a_model_has_a_memory_of_its_own_that_a_reset_empties(models):
    sensors, v = Sensors([SensorParameters(sensor_model='lag')], JOINTS, PERIOD), np.zeros((1, 2))
    for start in (0.0, 10.0):
        states = [np.full((1, 2), start + k) for k in range(3)]
        seen = [sensors.reset(states[0], v), *(sensors.read(q, v) for q in states[1:])]
        np.testing.assert_array_equal([x.q[0, 0] for x in seen], start + np.array([1, 1, 2]))
        np.testing.assert_array_equal([q[0, 0] for q in states], start + np.arange(3))


def test_a_model_gets_the_seed_of_each_arm(models):
    each, zeros = [SensorParameters(sensor_model='noise', sensor_seed=k) for k in (4, 9)], (2, 2)
    sensors = Sensors(each, JOINTS, PERIOD)
    for seed, seeds in ((None, (4, 9)), (7, (7, 8))):
        seen = sensors.reset(np.zeros(zeros), np.zeros(zeros), seed).q
        expected = [np.random.default_rng(each).normal(size=2) for each in seeds]
        np.testing.assert_array_equal(seen, expected)


@pytest.mark.parametrize(
    ('name', 'why'),
    [
        ('drfit', "sensors.model is 'drfit'; allowed: drift, fails, flat, lag, noise, unmade"),
        ('flat', r"sensor model 'flat' returns arrays of shape \(1, 2\); expected: \(2, 1, 2\)"),
        ('fails', "sensor model 'fails' fails: unsupported operand"),
        ('unmade', r"sensor model 'unmade' fails: unmade\(\) takes 1 positional argument but 2"),
    ],
)
def test_a_model_that_does_not_work_is_named_in_one_line(models, name, why):
    with pytest.raises(ArmError, match=f'^{why}') as refused:
        readings(2, sensor_model=name)
    assert '\n' not in str(refused.value)


def test_arms_of_a_batch_have_one_model(models):
    each = [SensorParameters(), SensorParameters(sensor_model='drift')]
    with pytest.raises(ArmError, match=r'^sensors.model: all arms of a batch have the same one'):
        Sensors(each, JOINTS, PERIOD)
