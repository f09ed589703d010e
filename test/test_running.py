"""How a node ends when it is told to more than once, as launch does on a busy machine."""

import os
import signal
import subprocess
import sys

import pytest
from domains import fresh_domain

NODE = """
import sys, time
from rclpy.node import Node
from arm_controllers.ros.running import run_node

class Slow(Node):
    def __init__(self):
        super().__init__('slow')
        self.create_timer(0.05, self.tell)

    def tell(self):
        print('up', flush=True)

    def destroy_node(self):
        print('ending', flush=True)
        time.sleep(1.0)
        super().destroy_node()
        print('ended', flush=True)

sys.exit(run_node('slow', Slow))
"""


@pytest.mark.parametrize('again', [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_does_not_break_off_the_end(again):
    environment = os.environ | {'ROS_DOMAIN_ID': fresh_domain()}
    node = subprocess.Popen(
        [sys.executable, '-c', NODE],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
    )
    node.stdout.readline()
    node.send_signal(signal.SIGINT)
    while node.stdout.readline() == 'up\n':
        pass
    node.send_signal(again)
    printed = node.communicate(timeout=60)[0]
    assert printed == 'ended\n'
    assert node.returncode == 0
