"""`wait_ready`: when it ends, and what it prints where it does not become ready."""

import pytest

pytest.importorskip('rclpy')

import rclpy
from domains import fresh_domain
from std_msgs.msg import String

from arm_controllers.ros.active_controllers import TOPIC, ActiveControllers
from arm_controllers.ros.qos import LATCHED_QOS
from arm_lab.testing.ros.wait_ready import Options, main, wait_ready


@pytest.fixture
def node():
    """Return a node, next to one that shows `a` as active."""
    rclpy.init(domain_id=int(fresh_domain()))
    made, other = rclpy.create_node('waits'), rclpy.create_node('simulator')
    shown = other.create_publisher(String, TOPIC, LATCHED_QOS)
    shown.publish(ActiveControllers({'a': ['joint_1']}).to_message())
    yield made
    for each in (made, other):
        each.destroy_node()
    rclpy.try_shutdown()


def test_it_ends_once_all_are_active_and_otherwise_returns_who_is(node):
    assert wait_ready(node, Options(('a',), timeout=30.0)) == ([], ['a'])
    assert wait_ready(node, Options(('a', 'b'), timeout=2.0)) == (['b'], ['a'])


@pytest.mark.parametrize(
    ('words', 'code', 'says'),
    [
        ([], 2, 'missing: CONTROLLER'),
        (['a', '--timeout', 'soon'], 2, "--timeout is 'soon'; it must be a number"),
        (['a', '--timeout', '-1'], 1, '--timeout is -1; it must be finite, > 0'),
        (['a', '--timeut', '3'], 2, "unknown option '--timeut'; nearest known: '--timeout'"),
        (
            ['a', 'b', '--timeout', '0.3'],
            1,
            'a, b not active within 0.3 s; none is; is the launch running? (ROS_DOMAIN_ID is ',
        ),
    ],
)
def test_what_it_does_not_do_is_one_line(words, code, says, capsys, monkeypatch):
    monkeypatch.setenv('ROS_DOMAIN_ID', fresh_domain())
    monkeypatch.setattr('sys.argv', ['wait_ready'])
    assert main(words) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f'wait_ready: {says}')
