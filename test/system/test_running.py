"""How nodes end: by more than one signal, as launch does on a busy machine, or by an error."""

import os
import signal
import subprocess
import sys

import pytest
from domains import fresh_domain
from long_wait import LONG_WAIT

NODE = """
import sys, time
from rclpy.node import Node
from arm_controllers.ros.running import run_node

class Slow(Node):
    def __init__(self):
        super().__init__('slow')
        self.create_timer(0.05, self.report)

    def report(self):
        print('up', flush=True)

    def destroy_node(self):
        print('ending', flush=True)
        time.sleep(1.0)
        super().destroy_node()
        print('ended', flush=True)

sys.exit(run_node('slow', Slow))
"""


def read_until(process, line):
    """Read what a process prints up to a line; on a busy machine Fast DDS has words of its own."""
    while (said := process.stdout.readline()) != line:
        assert said, f'it has ended without {line!r}'


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
    read_until(node, 'up\n')
    node.send_signal(signal.SIGINT)
    read_until(node, 'ending\n')
    node.send_signal(again)
    printed = node.communicate(timeout=LONG_WAIT)[0]
    assert printed == 'ended\n'
    assert node.returncode == 0


NODES = """
import sys
from rclpy.node import Node
from arm_controllers.ros.running import run_nodes
from arm_dynamics.checks import ArmError

class Quiet(Node):
    def __init__(self):
        super().__init__('quiet')
        self.create_timer(0.05, self.report)

    def report(self):
        print('up', flush=True)

    def destroy_node(self):
        print('quiet has ended', flush=True)
        super().destroy_node()

class Wrong(Node):
    def __init__(self):
        super().__init__('wrong')
        if 'built' in sys.argv:
            raise ArmError('mass is -1')
        if 'moving' in sys.argv:
            self.create_timer(0.2, lambda: 1 // 0)

sys.exit(run_nodes({'quiet': Quiet, 'wrong': Wrong}))
"""


def run_together(when, do=lambda nodes: None):
    environment = os.environ | {'ROS_DOMAIN_ID': fresh_domain()}
    nodes = subprocess.Popen(
        [sys.executable, '-c', NODES, when],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    do(nodes)
    printed, said = nodes.communicate(timeout=LONG_WAIT)
    assert printed.splitlines()[-1:] == ['quiet has ended']
    return nodes.returncode, said


def test_of_nodes_in_one_process_one_that_cannot_be_built_ends_all_with_its_name_in_one_line():
    assert run_together('built') == (1, 'wrong: mass is -1\n')


def test_of_nodes_in_one_process_an_error_of_one_ends_all_and_names_it():
    code, said = run_together('moving')
    assert code == 1
    assert '[wrong]: Exception' in said
    assert "quiet, wrong: all nodes end after ZeroDivisionError('" in said


def test_ctrl_c_ends_all_nodes_of_a_process_in_order():
    def interrupt(nodes):
        read_until(nodes, 'up\n')
        nodes.send_signal(signal.SIGINT)

    assert run_together('never', interrupt) == (0, '')


SWALLOWED = """
import ctypes, sys, time
from arm_controllers.ros.running import run_node

def work():
    while True:  # a signal just before a single long sleep would be looked at after it
        time.sleep(0.01)

@ctypes.CFUNCTYPE(None)
def compiled():
    print('called by C', flush=True)
    work()

def make_node():
    compiled()
    work()

sys.exit(run_node('compiling', make_node))
"""


def test_ctrl_c_ends_a_node_also_where_a_library_in_c_swallows_it():
    node = subprocess.Popen(
        [sys.executable, '-c', SWALLOWED],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {'ROS_DOMAIN_ID': fresh_domain()},
    )
    read_until(node, 'called by C\n')
    node.send_signal(signal.SIGINT)
    assert node.communicate(timeout=LONG_WAIT)[0] == ''
    assert node.returncode == 0
