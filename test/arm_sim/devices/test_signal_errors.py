"""Errors of signals: each alone against its definition."""

import numpy as np

from arm_sim.devices._signal_errors import Errors, SignalErrors

PERIOD = 0.002


def readings(signal, *each, seeds=None):
    """Return the readings (count, N, k) of a signal (count, k) that N arms share."""
    errors = SignalErrors(each, signal.shape[1], PERIOD)
    errors.reset(seeds or range(len(each)))
    return np.array([errors.read(np.tile(row, (len(each), 1))) for row in signal])


def test_bias_drift_and_limit():
    signal = np.linspace([0.0, -5.0], [10.0, 5.0], 101)
    seen = readings(signal, Errors(bias=(1.0, -1.0), drift=(0.0, 2.0), limit=(8.0, 4.0)))[:, 0]
    t = PERIOD * np.arange(101)[:, np.newaxis]
    expected = np.clip(signal + (1.0, -1.0) + t * (0.0, 2.0), (-8.0, -4.0), (8.0, 4.0))
    np.testing.assert_allclose(seen, expected, atol=1e-14)


def test_a_step_passes_the_low_pass_filter_as_its_differential_equation_says():
    signal = np.ones((200, 1))
    signal[0] = 0.0
    seen = readings(signal, Errors(bandwidth=5.0), Errors())[:, :, 0]
    t = PERIOD * np.arange(200)
    np.testing.assert_allclose(seen[:, 0], 1.0 - np.exp(-2.0 * np.pi * 5.0 * t), atol=1e-12)
    np.testing.assert_array_equal(seen[:, 1], signal[:, 0])


def test_noise_has_the_stated_deviation_and_each_arm_its_own():
    zeros = np.zeros((4000, 2))
    seen = readings(zeros, Errors(noise=(0.1, 3.0)), Errors(noise=0.5), seeds=(3, 4))
    np.testing.assert_allclose(seen.std(axis=0), [(0.1, 3.0), (0.5, 0.5)], rtol=0.05)
    alone = readings(zeros, Errors(noise=0.5), seeds=(4,))
    np.testing.assert_array_equal(seen[:, 1], alone[:, 0])


def test_the_mean_of_readings_that_do_not_change():
    errors = SignalErrors([Errors(bias=1.0, noise=0.1, limit=2.0)], 1, PERIOD)
    errors.reset([0])
    assert abs(errors.mean(np.zeros((1, 1)), 10_000)[0, 0] - 1.0) < 0.005
    assert errors.mean(np.full((1, 1), 9.0), 10) == 2.0


def test_a_delay_reports_the_reading_of_that_number_of_periods_ago():
    errors = SignalErrors([Errors(), Errors(delay=3)], 1, PERIOD)
    errors.reset([0, 0])
    seen = np.array([errors.read(np.full((2, 1), float(k))) for k in range(10)])[:, :, 0]
    np.testing.assert_array_equal(seen[:, 0], range(10))
    np.testing.assert_array_equal(seen[:, 1], [0, 0, 0, 0, 1, 2, 3, 4, 5, 6])
    errors.reset([0, 0])
    assert errors.read(np.full((2, 1), 7.0))[1, 0] == 7.0
