"""Subscriptions whose messages are fetched, while who takes them leaves topics."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy')

from arm_tools.recording.ros import recorded_topics
from arm_tools.recording.ros.recorded_topics import RecordedTopics

TEXT = 'std_msgs/msg/String'


def test_who_takes_a_message_may_leave_another_topic(monkeypatch):
    """As when a simulator that stood still goes on: its batches replace its states."""
    waiting = {'batches': [b'1'], 'states': [b'2'], 'wrenches': [b'3']}
    destroyed = []

    def taken(subscription):
        assert subscription not in destroyed
        return waiting[subscription].pop(0) if waiting[subscription] else None

    listener = SimpleNamespace(
        resolve_topic_name=str,
        create_subscription=lambda what, name, *_, **__: name,
        destroy_subscription=destroyed.append,
    )
    monkeypatch.setattr(recorded_topics, 'quiet_node', lambda node, name: listener)
    monkeypatch.setattr(recorded_topics, 'taken', taken)
    topics = RecordedTopics(SimpleNamespace(get_name=lambda: 'recorder'))
    found = []
    for name in waiting:
        topics.listen(name, TEXT, found.append)
    for take, data in topics.arrived():
        take(data)
        topics.leave('states')
    assert found == [b'1', b'3']
    assert destroyed == ['states']
