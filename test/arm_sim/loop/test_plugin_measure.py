"""A measure of another package is looked at: its name, what it returns, what it writes."""

import ctypes

import numpy as np
import pytest

from arm_dynamics.checks import ArmError
from arm_sim.loop.measures import Measure, samples_of, track, values_of
from arm_sim.loop.plugin_measure import check_measure
from arm_sim.loop.record import Record
from arm_sim.robot import Robot


@pytest.fixture(scope='module')
def samples():
    rows, model = np.ones((5, 3)), Robot.load('planar_3r').model
    record = Record(np.arange(5.0), rows, rows, rows.copy(), rows, rows, np.ones(3))
    return samples_of(record, track(model, record))


def values(samples, function):
    return values_of(Measure('mine', '', '', function, 'max'), samples)


def test_masked_samples_are_none(samples):
    found = values(samples, lambda s: np.ma.masked_greater(s.t, 2.0))
    np.testing.assert_array_equal(found, [0.0, 1.0, 2.0, np.nan, np.nan])


@pytest.mark.parametrize(
    ('function', 'words'),
    [
        (lambda s: s.t + 1j, 'returns numbers of type complex128; they must be real'),
        (lambda s: s.t.astype(str), 'returns numbers of type <U32'),
        (lambda s: s.t[:2], r'returns an array of shape \(2,\); expected: \(5,\)'),
        (lambda s: {}['a\nb'], r"fails: 'a\\nb'$"),
        (lambda s: [].pop().x, 'fails: pop from empty list$'),
    ],
)
def test_anything_but_a_real_number_per_sample_is_refused_in_one_line(samples, function, words):
    with pytest.raises(ArmError, match=f"^measure 'mine' {words}") as refused:
        values(samples, function)
    assert '\n' not in str(refused.value)


def test_a_measure_that_writes_past_a_read_only_view_writes_into_a_copy(samples):
    def erase(s):
        ctypes.memset(s.q_reference.ctypes.data, 0, s.q_reference.nbytes)
        return s.t

    values(samples, erase)
    np.testing.assert_array_equal(samples.q_reference, np.ones((5, 3)))


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        ({'name': 'energy_j'}, "'energy_j' is the name of another one"),
        ({'name': 'checksum'}, "'checksum' is the name of another one"),
        ({'name': 'a\nb'}, r"its name is 'a\\nb'; allowed: letters, digits"),
        ({'name': 5}, 'its name is 5; allowed'),
        ({'sample': 5}, 'its sample is 5; it must be a function'),
        ({'format': 'zzz'}, 'format'),
        ({'needs': 'luck'}, "it needs 'luck'; allowed: '', 'force', 'contacts'"),
    ],
)
def test_a_measure_that_no_table_can_have_is_refused(change, words):
    measure = Measure('mine', 'mine', '.3g', lambda s: s.t, 'max')
    check_measure(measure, {'energy_j'})
    with pytest.raises(ValueError, match=words):
        check_measure(measure._replace(**change), {'energy_j'})
