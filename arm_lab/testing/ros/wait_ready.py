"""Waits until controllers command the arm: `ros2 run arm_sim wait_ready servo_controller`."""

import os
import sys
import time
from dataclasses import MISSING, dataclass
from typing import Annotated

import rclpy
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.task import Future
from tyro.conf import Positional

from arm_controllers.ros.active_controllers import ActiveControllers, watch_active_controllers
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import parameter
from arm_lab.command_line import CommandOptions, command

_LOOK = 0.2  # period of looking [s]


@dataclass(frozen=True)
class Options(CommandOptions):
    """Wait until controllers command the arm. The exit code is 1 if one does not in time."""

    controllers: Positional[Annotated[tuple[str, ...], 'CONTROLLER ...']] = parameter(
        MISSING, 'names of the controllers, such as servo_controller'
    )
    timeout: float = parameter(120.0, 'longest wait [s]', above=0)


@command(Options)
def main(options: Options) -> None:
    """Return once all controllers are active; raise ArmError after the timeout."""
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)  # SIGINT ends it
    try:
        missing, active = wait_ready(rclpy.create_node('wait_ready'), options)
    finally:
        rclpy.try_shutdown()
    if missing:
        others = f'active: {", ".join(active)}' if active else 'none is; is the launch running?'
        raise ArmError(
            f'{", ".join(missing)} not active within {options.timeout:g} s; {others} '
            f'(ROS_DOMAIN_ID is {os.environ.get("ROS_DOMAIN_ID", "0")})'
        )


def wait_ready(node: Node, options: Options) -> tuple[list[str], list[str]]:
    """Return the controllers that are not active in time, and those that are active.

    Active are those whose commands the simulator uses, and those that a controller_manager lists
    as active.
    """
    found: list[ActiveControllers] = [ActiveControllers()]
    watch_active_controllers(node, found.append)
    listed, end = _Listed(node), time.monotonic() + options.timeout
    while True:
        active = {*found[-1].claims} | listed.active()
        missing = sorted({*options.controllers} - active)
        if not missing or time.monotonic() > end:
            return missing, sorted(active)
        rclpy.spin_once(node, timeout_sec=_LOOK)


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
