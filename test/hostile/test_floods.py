"""Floods of trajectories: many small ones, or few that are huge."""

import threading
import time

import numpy as np
import pytest
from arm_system import HOME, NAMES, ArmSystem, trajectory
from long_wait import LONG_WAIT
from oracle import assert_all_is_well, assert_within_limits
from rclpy.duration import Duration
from rclpy.qos import QoSProfile
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from arm_controllers.ros.cdr import stamp_ns
from arm_controllers.ros.messages import MOST_POINTS

CONTROLLER = 'computed_torque_controller'
RATE = 2700.0  # of small ones [Hz]
LOG = 300_000  # bytes that a flood may make a node print


def small():
    """Trajectories near home: every third is refused, and one has a name too long for a log."""
    times = np.linspace(0.5, 2.0, 4)
    good = [trajectory(times, [HOME + 0.002 * k for k in range(4)])]
    good.append(trajectory([1.0], [HOME]))
    bad = [trajectory([1.0], [HOME + 99.0])]
    bad.append(trajectory([1.0], [HOME], names=['x' * 100_000, *NAMES[1:]]))
    return [bytes(serialize_message(each)) for each in (*good, bad[0], *good, bad[1])]


def huge(points):
    """A trajectory of many points, and one that is refused at its last."""
    times = np.arange(1, points + 1) * 0.001
    rows = HOME + 0.01 * np.sin(times)[:, None] ** 2 * np.ones(6)
    good = bytes(serialize_message(trajectory(times, rows)))
    rows[-1] += 99.0
    return [good, bytes(serialize_message(trajectory(times, rows)))]


class Flood(threading.Thread):
    """Publishes messages over and over at a rate, until their number is reached or it is ended."""

    def __init__(self, arm, messages, rate, count):
        super().__init__()
        qos = QoSProfile(depth=10)
        topic = f'/{CONTROLLER}/joint_trajectory'
        self.publisher = arm.node.create_publisher(JointTrajectory, topic, qos)
        arm.wait(lambda: self.publisher.get_subscription_count() > 0, 'listener')
        self.messages, self.period, self.count = messages, 1.0 / rate, count
        self.sent, self.ended = 0, False

    def run(self):
        begin = time.monotonic()
        while self.sent < self.count and not self.ended:
            self.publisher.publish(self.messages[self.sent % len(self.messages)])
            self.sent += 1
            time.sleep(max(0.0, begin + self.sent * self.period - time.monotonic()))
        self.seconds = time.monotonic() - begin


def longest_pause(stamps):
    """Return the longest time between two commands [s of the states' time]."""
    return float(np.diff(np.unique(stamps)).max(initial=0.0)) * 1e-9


@pytest.mark.parametrize('mode', ['lockstep', 'realtime'])
@pytest.mark.parametrize('kind', ['small', 'huge'])
def test_flood_of_trajectories_leaves_the_arm_with_commands_and_ctrl_c_heard(kind, mode, hostile):
    if kind == 'small':
        messages, rate, count = small(), RATE, 2000 * hostile
    else:
        messages, rate, count = huge(MOST_POINTS), 10.0, 2 + hostile
    with ArmSystem(mode) as arm:
        arm.simulator()
        arm.controller('computed_torque', 'time_jump_limit:=5.0')
        arm.wait_for_motion_control(CONTROLLER)
        stamps = []
        arm.node.create_subscription(
            JointState, 'joint_commands', lambda m: stamps.append(stamp_ns(m)), 1000, raw=True
        )
        arm.wait(lambda: len(stamps) > 500, 'commands')
        quiet = len(stamps)
        flood = Flood(arm, messages, rate, count)
        begin = time.monotonic()
        flood.start()
        try:
            while flood.is_alive():
                arm.spin(0.1)
        finally:
            flood.ended = True
            flood.join()
        # What is still on its way would take the place of the normal goal.
        assert flood.publisher.wait_for_all_acked(Duration(seconds=LONG_WAIT))
        arm.assert_alive()
        assert_all_is_well(arm, CONTROLLER)
        seconds, seen = time.monotonic() - begin, stamps[quiet:]
        print(
            f'{kind}, {mode}: {flood.sent} in {flood.seconds:.1f} s, {len(seen)} commands in '
            f'{seconds:.1f} s, longest pause {1e3 * longest_pause(seen):.0f} ms (simulated), '
            f'without a flood {1e3 * longest_pause(stamps[10:quiet]):.0f} ms, '
            f'refused: {arm.values[CONTROLLER]["refused goals"]}, '
            f'log: {len(arm.log(CONTROLLER))} bytes'
        )
        assert len(arm.log(CONTROLLER)) < LOG
        if mode == 'lockstep':
            # Time waits for commands. (A listener on a busy machine does not hear all of them.)
            assert 'no command for' not in arm.log('simulator')
        flood = Flood(arm, messages, rate, 10**6)
        flood.start()
        arm.spin(1.0)
        try:
            assert arm.stop(CONTROLLER) == 0, arm.log(CONTROLLER)[-2000:]
        finally:
            flood.ended = True
            flood.join()
        assert_within_limits(arm)
