"""Subscriptions whose messages are fetched, while who takes them leaves topics."""

import pytest

pytest.importorskip('rclpy')

from arm_tools.recording.ros import recorded_topics
from arm_tools.recording.ros.recorded_topics import RecordedTopics


def test_who_takes_a_message_may_leave_another_topic(monkeypatch):
    """As when a simulator that stood still goes on: its batches replace its states."""
    waiting = {'batches': [b'1'], 'states': [b'2'], 'wrenches': [b'3']}

    def taken(subscription):
        assert subscription in topics._inputs, 'fetched from a subscription that is destroyed'
        return waiting[subscription].pop(0) if waiting[subscription] else None

    monkeypatch.setattr(recorded_topics, 'taken', taken)
    topics = object.__new__(RecordedTopics)
    topics._inputs = {name: (name, name) for name in waiting}
    found = []
    for take, data in topics.arrived():
        found.append((take, data))
        topics._inputs.pop('states', None)
    assert found == [('batches', b'1'), ('wrenches', b'3')]
