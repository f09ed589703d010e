"""The latency of inferences: its three forms, and what is refused."""

import pytest
from numpy.testing import assert_array_equal

from arm_controllers.latency import latency_of
from arm_dynamics.checks import ArmError


def test_a_latency_is_fixed_drawn_or_from_a_trace(tmp_path):
    def drawn(text, seed=0, count=200):
        latency = latency_of(text)
        return [latency(seed, k) for k in range(count)]

    assert set(drawn('0.1')) == {0.1}
    spread = drawn('0.1..0.3')
    assert 0.1 <= min(spread) < 0.11 < 0.29 < max(spread) <= 0.3
    assert spread == drawn('0.1..0.3') != drawn('0.1..0.3', seed=1)
    trace = tmp_path / 'trace.csv'
    trace.write_text('0.1\n0.2\n0.05\n')
    assert_array_equal(drawn(str(trace), count=4), [0.1, 0.2, 0.05, 0.1])
    trace.write_text('0.1\n11\n')
    for text, message in (
        ('soon', 'latency is .soon.; it must be seconds such as 0.1'),
        ('-0.1', 'each one must be from 0 to 10 s'),
        (str(trace), 'each one must be from 0 to 10 s'),
        ('nan', 'each one must be from 0 to 10 s'),
    ):
        with pytest.raises(ArmError, match=message):
            latency_of(text)
