"""How a process of nodes ends where the middleware hangs."""

import signal
import subprocess
import sys
import textwrap

_HANGS = """
    import ctypes
    from arm_controllers.ros import running
    from rclpy.node import Node

    class Hangs(Node):
        def destroy_node(self):
            ctypes.PyDLL(None).sleep(1000)  # in C, with the lock of all threads of Python

    running.LONGEST_END = 1
    def made():
        node = Hangs('hangs')
        node.create_timer(0.01, running.end_node)
        return node
    running.run_node('hangs', made)
"""


def test_a_process_ends_although_the_middleware_waits_for_ever_when_a_node_is_destroyed():
    code = textwrap.dedent(_HANGS)
    ended = subprocess.run([sys.executable, '-c', code], timeout=60, check=False)
    assert ended.returncode == -signal.SIGALRM
