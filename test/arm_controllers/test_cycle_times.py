"""Computing times of cycles."""

import time

import pytest

from arm_controllers.cycle_times import CycleTimes


def test_a_cycle_that_waits_misses_its_deadline_without_cpu_time():
    times = CycleTimes(0.5)  # longer than a busy machine holds up the first cycle
    times.begin()
    assert not times.end()
    times.begin()
    time.sleep(0.51)
    assert times.end()
    assert (times.missed, times.worst < 0.01) == (1, True)
    assert times.longest >= 0.51


def test_mean_and_worst_are_of_the_cpu_time_of_all_cycles():
    times = CycleTimes(float('inf'))
    assert times.mean == 0.0
    for seconds in (0.0, 0.02):
        times.begin()
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass
        assert not times.end()
    assert times.worst >= 0.02
    assert times.mean == pytest.approx(0.5 * times.worst, rel=0.2)
