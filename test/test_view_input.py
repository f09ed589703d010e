"""What the page's node reads: bytes that are no message harm it nowhere."""

import time

import numpy as np
import pytest
from domains import fresh_domain
from patience import PATIENCE

rclpy = pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from arm_dynamics import ArmError, RobotModel  # noqa: E402
from arm_dynamics.robots import find_urdf  # noqa: E402
from arm_sim.view.ros.arm_input import ArmInput  # noqa: E402
from arm_sim.view.ros.view_node import ViewNode  # noqa: E402
from arm_sim.view.watched import Watched  # noqa: E402

UR5E = RobotModel.from_urdf(find_urdf('ur5e'))
BYTES = {'one': b'\x00', 'header only': b'\x00\x01\x00\x00', 'noise': bytes(range(256))}


def wait(condition):
    """Ask until a condition holds."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, 'waited in vain'
        time.sleep(0.02)


@pytest.mark.parametrize('topic', ['joint_states', 'c/controller_state', 'c/goals', 'c/results'])
def test_bytes_that_are_no_message_are_refused_and_the_next_one_is_shown(topic):
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(fresh_domain()))
    node = rclpy.create_node('looks_on', context=context)
    watched = Watched(UR5E)
    source = ArmInput(node, watched)
    source.look_at('c')
    listening = (source._states, *source._of_controller)
    kinds = {each.topic_name: each.msg_type for each in listening}
    hostile = node.create_publisher(kinds[f'/{topic}'], topic, 10)
    states = node.create_publisher(JointState, 'joint_states', 1)
    wait(lambda: hostile.get_subscription_count() and states.get_subscription_count())
    refused = []

    def publish(publisher, message):
        publisher.publish(message)
        try:
            source.read()
        except ArmError as error:
            refused.append(str(error))

    for raw in BYTES.values():
        refused.clear()
        wait(lambda raw=raw: publish(hostile, raw) or refused)
        assert '\n' not in refused[0]
    state = JointState(name=UR5E.joint_names, position=[0.1] * 6)
    state.header.stamp.sec = 7
    wait(lambda: publish(states, state) or watched.time == 7.0)
    source.close()
    node.destroy_node()
    rclpy.try_shutdown(context=context)


class Page:
    """A page that nobody looks at."""

    url, is_watched = 'http://localhost:8080', False

    def __init__(self, host, port, ask):
        self.ask = ask

    def __getattr__(self, name):
        return lambda *given: None


def test_what_a_browser_asks_for_and_nobody_can_do_is_refused_on_the_page(monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    rclpy.init()
    node = ViewNode(Page)
    node._on_description(String(data=UR5E.urdf))
    done = []
    for order in (lambda: round(float('nan')), lambda: np.zeros(6) + 'a', lambda: done.append(1)):
        node._page.ask(order)
    node._picture()
    assert done == [1]
    assert 'cannot convert float NaN to integer' in node._watched.notices.news()
    node.destroy_node()
    rclpy.try_shutdown()
