"""Computing times of cycles."""

import time

import pytest

from arm_controllers.cycle_times import CycleTimes


def test_a_cycle_that_waits_misses_its_deadline_without_cpu_time():
    times = CycleTimes(0.5)  # longer than a busy machine holds up the first cycle
    times.begin(time.monotonic())
    assert not times.end()
    times.begin(time.monotonic())
    time.sleep(0.51)
    assert times.end()
    assert (times.missed, times.worst < 0.01) == (1, True)
    assert times.longest >= 0.51


def test_mean_and_worst_are_of_the_cpu_time_of_all_cycles():
    times = CycleTimes(100.0)
    assert times.mean == 0.0
    for seconds in (0.0, 0.02):
        times.begin(time.monotonic())
        end = time.thread_time() + seconds
        while time.thread_time() < end:
            pass
        assert not times.end()
    assert times.worst >= 0.02
    assert times.mean == pytest.approx(0.5 * times.worst, rel=0.2)


def test_without_a_deadline_the_cpu_time_of_a_few_cycles_is_read():
    times, read = CycleTimes(float('inf')), []
    for _ in range(100):
        times.begin(0.0)
        before = time.thread_time()
        while time.thread_time() < before + 1e-4:
            pass
        mean = times.mean
        assert not times.end()  # none is missed, however long ago it began
        read.append(times.mean != mean)
    assert read[0]
    assert 5 <= sum(read) <= 10
    assert 1e-4 <= times.mean <= times.worst


def test_missed_deadlines_are_reported_at_once_and_then_once_a_minute(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, 'monotonic', lambda: now[0])
    times = CycleTimes(0.003)

    def cycle(seconds):
        times.begin(now[0])
        now[0] += seconds
        return times.end()

    assert cycle(0.25)
    assert times.news() == (1, pytest.approx(0.25))
    for _ in range(3):
        assert cycle(0.004)
        assert times.news() == (0, 0.0)
    assert not cycle(0.001)
    now[0] += 60.0
    assert cycle(0.005)
    assert times.news() == (4, pytest.approx(0.005))  # the 250 ms were reported before
    assert (times.missed, times.longest) == (5, pytest.approx(0.25))
