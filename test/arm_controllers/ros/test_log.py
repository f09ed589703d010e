"""The log of nodes: short lines, few warnings."""

import pytest
from arm_system import ArmSystem
from geometry_msgs.msg import WrenchStamped

from arm_controllers.ros import log
from arm_controllers.ros.log import Log, once_a_minute, shortened


class Recorder:
    """A node, and its logger, which keeps what is logged."""

    def __init__(self):
        self.said = []

    def get_logger(self):
        return self

    def info(self, text):
        self.said.append(text)

    warning = error = info

    def debug(self, text):
        self.debugged = text


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets: a list of one number [s]."""
    now = [100.0]
    monkeypatch.setattr(log.time, 'monotonic', lambda: now[0])
    return now


def test_every_line_is_one_line_of_at_most_500_characters():
    node = Recorder()
    for say in (Log(node).info, Log(node).warning, Log(node).error):
        say('a\nb' + 1000 * 'x')
    assert {len(line) for line in node.said} == {500}
    assert all(line.startswith('a bxxx') for line in node.said)
    assert all(line.endswith('x ... (1003 characters)') for line in node.said)
    assert shortened(500 * 'x') == 500 * 'x'


def test_ten_warnings_a_second_are_said_and_the_others_counted(clock):
    node = Recorder()
    own = Log(node)
    for _ in range(25):
        own.warning('w')
    own.error('e')
    clock[0] += 0.999
    own.warning('w')
    assert node.said == [*['w'] * 10, 'e']
    clock[0] += 0.002
    own.warning('w')
    own.warning('w')
    assert node.said[11:] == ['w (and 16 warnings before it)', 'w']


def test_less_than_one_warning_a_second_is_one_in_a_longer_time(clock):
    node = Recorder()
    own = Log(node, 0.1)
    for seconds in (0.0, 5.0, 4.9, 0.2, 0.0):
        clock[0] += seconds
        own.warning('w')
    assert node.said == ['w', 'w (and 2 warnings before it)']


def test_warnings_of_one_kind_are_one_a_minute_with_their_number(clock):
    """As of an arm that is braked 188 times in five minutes, on a machine that is too slow."""
    node = Recorder()
    warn = once_a_minute(node)
    for k in range(188):
        warn(f'no command for 0.1{k} s (t = {k} s): braking')
        clock[0] += 300.0 / 188.0
    warn('another warning')
    *stops, other = node.said
    assert other == 'another warning'
    assert len(stops) == 5
    assert stops[0] == 'no command for 0.10 s (t = 0 s): braking'
    assert all(line.endswith('(and 37 warnings before it)') for line in stops[1:])


def test_of_very_many_kinds_of_warnings_all_further_ones_are_one(clock):
    node = Recorder()
    warn = once_a_minute(node)
    for k in range(100):
        warn(f'{"x" * k} 1')
    assert len(node.said) < 30


def test_what_the_simulator_refuses_is_logged_in_short_however_long_it_is():
    with ArmSystem() as system:
        system.simulator()
        system.wait(lambda: 'simulator' in system.diagnostics, 'simulator')
        wrenches = system.node.create_publisher(WrenchStamped, 'external_wrench', 10)
        system.wait(lambda: wrenches.get_subscription_count() > 0, 'subscription')
        message = WrenchStamped()
        message.header.frame_id = 100_000 * 'x'
        refused = lambda: ' characters)' in system.log('simulator')  # noqa: E731
        system.publish_until(wrenches, message, refused, 'refusal')
        lines = [each for each in system.log('simulator').splitlines() if 'no frame' in each]
        assert max(map(len, lines)) < 600
