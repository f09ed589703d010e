"""What a node does every now and then, by one timer."""

import pytest

pytest.importorskip('rclpy')

from arm_controllers.ros import running as module
from arm_controllers.ros.running import now_and_then


class NodeOfTimers:
    """A node that has nothing but timers."""

    def __init__(self):
        self.timers = []

    def create_timer(self, period, callback):
        self.timers.append(type('Timer', (), {'period': period, 'callback': callback}))


def test_one_timer_calls_each_at_its_own_period_and_makes_up_for_none(monkeypatch):
    node, called, now = NodeOfTimers(), [], [0.0]
    monkeypatch.setattr(module.time, 'monotonic', lambda: now[0])
    now_and_then(node, 0.25, lambda: called.append(('a', now[0])))
    now_and_then(node, 1.0, lambda: called.append(('b', now[0])))
    (timer,) = node.timers
    for now[0] in (0.02, 0.24, 0.26, 0.5, 0.8, 1.02):
        timer.callback()
    assert called == [('a', 0.26), ('a', 0.5), ('a', 0.8), ('a', 1.02), ('b', 1.02)]
    del called[:]
    for now[0] in (9.0, 9.02, 9.27):  # it stood still for long
        timer.callback()
    assert called == [('a', 9.0), ('b', 9.0), ('a', 9.27)]
