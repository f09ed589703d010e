"""How a simulator whose arm commands itself lets time go on between a node's other callbacks."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy')

from arm_lab.published.ros import own_goals


def test_an_overdue_timer_that_is_called_twice_makes_one_slice_and_is_reset_once(monkeypatch):
    now, steps, resets, called = SimpleNamespace(s=0.0), [], [], []
    monkeypatch.setattr(own_goals.time, 'monotonic', lambda: now.s)
    timer = SimpleNamespace(reset=lambda: resets.append(now.s))

    def create_timer(period, call):
        called.extend([period, call])
        return timer

    def step():
        steps.append(now.s)
        now.s += 1e-3
        return True

    own_goals.let_time_go_on(SimpleNamespace(create_timer=create_timer), step)
    period, call = called
    for _ in range(3):
        call()
    assert len(steps) == 5
    assert resets == [now.s]
    now.s += 1.001 * period
    call()
    assert len(steps) == 10
    assert len(resets) == 2
