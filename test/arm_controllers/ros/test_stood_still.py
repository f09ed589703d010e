"""A process that stood still lets its clients find it again before it answers."""

import os
import signal
import subprocess
import sys
import time
from threading import Timer

import pytest
from domains import fresh_domain
from long_wait import LONG_WAIT

from arm_controllers.ros import running

# A controller's threads; they print for how long they wait, and a line when they run.
NODE = r"""
import os, threading, time
from types import SimpleNamespace
from rclpy.node import Node
from arm_controllers.ros import running
from arm_controllers.ros.goal_endpoints import GoalEndpoints

def sleep(seconds):
    # One call per line: the threads write at the same time.
    os.write(1, f'waits {threading.current_thread().name} {seconds}\n'.encode())

running._DEAD = 0.5
running.time = SimpleNamespace(monotonic=time.monotonic, sleep=sleep)

def made():
    node = Node('arm')
    GoalEndpoints(node, True, print, print)
    node.create_timer(0.3, lambda: os.write(1, b'turn\n'))
    return node

running.run_node('arm', made)
"""


def test_main_loop_and_goals_wait_once_after_their_process_stood_still():
    environment = os.environ | {'ROS_DOMAIN_ID': fresh_domain()}
    node = subprocess.Popen(
        [sys.executable, '-c', NODE], stdout=subprocess.PIPE, text=True, env=environment
    )
    end = Timer(LONG_WAIT, node.kill)  # then no line comes any more
    end.start()

    def until(*awaited):
        missing = {*awaited}
        while missing:
            line = node.stdout.readline().strip()
            assert line, f'no {missing}'
            missing.discard(line)

    until('turn')
    node.send_signal(signal.SIGSTOP)
    time.sleep(2.0)
    node.send_signal(signal.SIGCONT)
    until('waits MainThread 3.0', f'waits {running.SPINS} 3.0')
    until('turn')
    node.send_signal(signal.SIGINT)
    node.communicate()
    end.cancel()
    assert node.returncode == 0


@pytest.mark.parametrize(('stood', 'waits'), [(14.9, []), (15.1, [3.0])])
def test_a_shorter_pause_is_none(monkeypatch, stood, waits):
    slept = []
    monkeypatch.setattr(running.time, 'sleep', slept.append)
    running.let_clients_return(running.time.monotonic() - stood)
    assert slept == waits
