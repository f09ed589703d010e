"""Waits until controllers command the arm: `ros2 run arm_sim wait_ready servo_controller`."""

import argparse
import sys
import time

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from rclpy.utilities import remove_ros_args

from arm_controllers.ros.active_controllers import ActiveControllers, watch_active_controllers

_LOOK = 0.2  # period of looking [s]


def main() -> int:
    """Return 0 once all controllers are active, 1 after the timeout."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('controllers', nargs='+', help='names, such as servo_controller')
    parser.add_argument('--timeout', type=float, default=120.0, help='longest wait [s]')
    given = parser.parse_args(remove_ros_args(sys.argv)[1:])
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)  # SIGINT ends it
    missing = wait_ready(rclpy.create_node('wait_ready'), given.controllers, given.timeout)
    rclpy.try_shutdown()
    if missing:
        print(f'wait_ready: {", ".join(missing)} not active within {given.timeout:g} s')
    return int(bool(missing))


def wait_ready(node: Node, controllers: list[str], timeout: float) -> list[str]:
    """Return the controllers that are not active within a time [s].

    Active are those whose commands the simulator uses, and those that a controller_manager lists
    as active.
    """
    found: list[ActiveControllers] = [ActiveControllers()]
    watch_active_controllers(node, found.append)
    listed, end = _Listed(node), time.monotonic() + timeout
    while missing := sorted({*controllers} - {*found[-1].claims} - listed.active()):
        if time.monotonic() > end:
            return missing
        rclpy.spin_once(node, timeout_sec=_LOOK)
    return []


class _Listed:
    """The active controllers of a controller_manager, where there is one."""

    def __init__(self, node: Node):
        self._asked: Future | None = None
        self._active: set[str] = set()
        try:
            from controller_manager_msgs.srv import ListControllers
        except ImportError:
            self._client = None
            return
        self._request = ListControllers.Request()
        self._client = node.create_client(ListControllers, 'controller_manager/list_controllers')

    def active(self) -> set[str]:
        """Return them as the newest answer has them; ask again."""
        if self._asked is not None and self._asked.done():
            answer, self._asked = self._asked.result(), None
            self._active = {each.name for each in answer.controller if each.state == 'active'}
        if self._asked is None and self._client is not None and self._client.service_is_ready():
            self._asked = self._client.call_async(self._request)
        return self._active
