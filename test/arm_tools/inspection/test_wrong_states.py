"""States that were not measured when they say: repeated, zero, frozen, after a new zero."""

import numpy as np
import pytest

from arm_dynamics import ArmError
from arm_lab.identification.signals import MotionSamples
from arm_tools.inspection.clipped_efforts import efforts_at_limit
from arm_tools.inspection.wrong_states import measured_states_of

NAMES = ['a', 'b']
TIMES = 0.01 * np.arange(1000)
PHASES = 3.0 * TIMES[:, np.newaxis] + [0.0, 1.0]
RNG = np.random.default_rng(0)
Q = np.sin(PHASES)
EFFORT = 20.0 * np.cos(PHASES) + 0.1 * RNG.standard_normal(Q.shape)
MIDDLE = slice(400, 500)


def changed(values, which, to):
    """Return a copy with other values there."""
    copy = values.copy()
    copy[which] = to
    return copy


def outcome(q=Q, effort=EFFORT):
    samples, lines = measured_states_of(MotionSamples(TIMES, q, effort), NAMES)
    return samples, '\n'.join(lines)


def test_a_motion_with_noise_or_coarse_steps_is_read_as_it_is():
    for step in (1e-6, 2.0 * np.pi / 4096.0):
        samples, lines = outcome(q=np.round(Q / step) * step)
        assert not lines
        assert len(samples.times) == len(TIMES)


def test_the_noise_of_an_effort_that_is_not_recorded_takes_no_states_away():
    noise = np.repeat(0.001 * RNG.integers(-3, 4, 100), 10)
    noise[:100] = 0.001
    samples, lines = outcome(effort=np.column_stack([EFFORT[:, 0], noise]))
    assert not lines
    assert len(samples.times) == len(TIMES)


def test_an_arm_at_rest_between_motions_is_read_as_it_is():
    q = np.clip(Q, -0.8, 0.8)
    rest = np.clip(EFFORT, -15.0, 15.0) * (np.abs(Q) < 0.8)
    samples, lines = outcome(q=q, effort=rest + EFFORT.min() - 1.0)
    assert not lines
    assert len(samples.times) == len(TIMES)


@pytest.mark.parametrize('to', [0.0, Q[MIDDLE.start]])
def test_positions_of_zero_or_the_last_ones_for_a_second_are_left_out(to):
    samples, lines = outcome(q=changed(Q, MIDDLE, to))
    assert lines == 'positions: a, b stand still up to a jump in 100 of 1000 states, not read'
    np.testing.assert_array_equal(samples.q, np.delete(Q, MIDDLE, axis=0))


def test_old_positions_at_the_end_are_left_out():
    end = slice(950, 1000)
    samples, lines = outcome(q=changed(Q, end, Q[700]))
    assert lines == 'positions: a, b stand still up to a jump in 50 of 1000 states, not read'
    np.testing.assert_array_equal(samples.q, Q[:950])


def test_positions_of_one_joint_that_stand_still_up_to_a_jump_are_left_out():
    one = changed(Q, (MIDDLE, 1), Q[MIDDLE.start, 1])
    samples, lines = outcome(q=one)
    assert lines == 'positions: b stand still up to a jump in 100 of 1000 states, not read'
    np.testing.assert_array_equal(samples.q, np.delete(Q, MIDDLE, axis=0))


@pytest.mark.parametrize('to', [0.0, EFFORT[MIDDLE.start, 1]])
def test_efforts_of_one_joint_that_stand_still_while_it_moves_are_left_out(to):
    samples, lines = outcome(effort=changed(EFFORT, (MIDDLE, 1), to))
    assert lines == 'efforts: b: the same in 100 of 1000 states while it moves, not read'
    np.testing.assert_array_equal(samples.effort, np.delete(EFFORT, MIDDLE, axis=0))


@pytest.mark.parametrize(('which', 'to'), [(slice(500, 508), -999.0), (slice(500, 501), 1e6)])
def test_efforts_that_no_drive_gives_are_left_out(which, to):
    samples, lines = outcome(effort=changed(EFFORT, (which, 0), to))
    count = which.stop - which.start
    assert lines == (
        f'efforts: a: up to {abs(to):.3g} in {count} of 1000 states, over 10 times all others, '
        'not read'
    )
    np.testing.assert_array_equal(samples.effort, np.delete(EFFORT, which, axis=0))


def test_efforts_that_fall_to_zero_and_rise_from_it_are_read():
    one = EFFORT[:, :1] - np.clip(EFFORT[:, :1], -10.0, 10.0)  # 0 for a third of the time
    samples, lines = outcome(effort=one * [1.0, -1.0])
    assert not lines
    assert len(samples.times) == len(TIMES)


def test_positions_that_come_more_rarely_than_the_states_are_read_once():
    samples, lines = outcome(q=np.repeat(Q[::5], 5, axis=0))
    assert lines == ('positions: new in about one of 5 states; the others repeat them, not read')
    np.testing.assert_array_equal(samples.q, Q[::5])
    np.testing.assert_array_equal(samples.times, TIMES[::5])


def test_efforts_that_are_zero_in_every_second_state_are_left_out():
    samples, lines = outcome(effort=changed(EFFORT, slice(None, None, 2), 0.0))
    assert lines == 'efforts: all are 0 between large ones in 500 of 1000 states, not read'
    np.testing.assert_array_equal(samples.effort, EFFORT[1::2])


def test_of_a_joint_whose_zero_is_set_in_motion_the_longer_part_is_read():
    samples, lines = outcome(q=Q + [0.0, 0.3] * (np.arange(1000) >= 600)[:, np.newaxis])
    assert lines == 'positions: b jump and stay (was a zero set?): read from 0 to 5.99 s alone'
    np.testing.assert_array_equal(samples.q, Q[:600])


def test_efforts_without_a_sign_are_not_read():
    samples, lines = outcome(effort=np.abs(EFFORT) * [1, 0] + EFFORT * [0, 1])
    assert lines == 'efforts: a: magnitudes without a sign, not read'
    np.testing.assert_array_equal(samples.effort, EFFORT * [0, 1])
    with pytest.raises(ArmError, match='a, b: magnitudes without a sign; record efforts with a'):
        outcome(effort=np.abs(EFFORT))


def test_efforts_at_the_limit_of_a_drive_are_named():
    effort = np.clip(EFFORT, -15.0, [15.0, np.inf])
    are_clipped, (line,) = efforts_at_limit(MotionSamples(TIMES, Q, effort), NAMES)
    limits = 'at their limit 15, 15 in 46%, 24% of the states; record a slower motion'
    assert line == f'efforts: a, b: {limits}'
    assert are_clipped.all()
    are_clipped, lines = efforts_at_limit(MotionSamples(TIMES, Q, EFFORT), NAMES)
    assert not are_clipped.any()
    assert not lines
