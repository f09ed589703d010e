"""Where commands go: on their topic, straight to a simulator in this process, or on both ways."""

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('rclpy')

from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from arm_controllers.ros.command_output import CommandOutput
from arm_controllers.ros.in_process import InProcessTransport
from arm_controllers.ros.messages import to_ns


class Publisher:
    """A publisher that keeps what it publishes, for a number of subscribers."""

    def __init__(self):
        self.raw, self.subscribers = [], 1

    def publish(self, raw):
        self.raw.append(raw)

    def get_subscription_count(self):
        return self.subscribers


@pytest.fixture
def publisher():
    return Publisher()


@pytest.fixture
def transport():
    return InProcessTransport()


def output(publisher, transport, interface='effort'):
    node = SimpleNamespace(
        get_name=lambda: 'pd_controller',
        resolve_topic_name=lambda topic: f'/left/{topic}',
        create_publisher=lambda *_: publisher,
    )
    return CommandOutput(node, transport, ['a', 'b'], interface)


@pytest.mark.parametrize(
    ('interface', 'field'),
    [
        ('position', 'position'),
        ('velocity', 'velocity'),
        ('effort', 'effort'),
        ('voltage', 'effort'),
    ],
)
def test_a_command_is_in_the_field_of_its_interface_with_the_stamp_of_its_state(
    publisher, transport, interface, field
):
    made = output(publisher, transport, interface)
    assert made.send(np.array([1.0, -2.0]), 7)
    made.send_again()
    first, again = publisher.raw
    assert first == again
    message = deserialize_message(first, JointState)
    assert (message.header.frame_id, to_ns(message.header.stamp)) == ('pd_controller', 7)
    assert list(message.name) == ['a', 'b']
    numbers = {name: list(getattr(message, name)) for name in ('position', 'velocity', 'effort')}
    assert numbers.pop(field) == [1.0, -2.0]
    assert list(numbers.values()) == [[], []]


def test_a_command_that_is_not_finite_is_not_sent_and_a_release_has_no_joints(
    publisher, transport
):
    made = output(publisher, transport)
    assert not made.answered
    assert not made.send(np.array([0.0, np.inf]), 5)
    assert not made.send(np.array([np.nan, 0.0]), 5)
    assert publisher.raw == []
    assert made.send(np.zeros(2), 5)
    assert made.answered
    made.release(5)
    assert not made.answered
    release = deserialize_message(publisher.raw[-1], JointState)
    assert (release.header.frame_id, to_ns(release.header.stamp)) == ('pd_controller', 5)
    assert list(release.name) == []


def test_a_simulator_in_this_process_gets_commands_directly_and_how_many_were_published(
    publisher, transport
):
    made, taken = output(publisher, transport), []

    def send(time_ns):
        made.send(np.zeros(2), time_ns)

    send(0)  # there is no simulator yet
    transport.serve_commands('/left/joint_commands', lambda *command: taken.append(command))
    send(1)
    publisher.subscribers = 2
    send(2)  # the simulator has not looked who subscribes
    transport.looks += 1
    send(3)
    send(4)
    assert [count for _, count in taken] == [0, 0, 1, 2]
    stamps = [to_ns(deserialize_message(raw, JointState).header.stamp) for raw in publisher.raw]
    assert stamps == [0, 3, 4]
