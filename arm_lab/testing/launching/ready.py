"""Actions that begin when an arm is ready, for launch descriptions of tests."""

from collections.abc import Sequence
from typing import Any

from launch import LaunchContext
from launch.actions import RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited
from launch_ros.actions import Node


def when_ready(
    controllers: Sequence[str], actions: Sequence[Any], timeout: float = 120.0
) -> list[Any]:
    """Return the actions that start others, such as ReadyToTest(), once an arm is ready.

    Args:
        controllers: names of those that must command the arm.
        actions: to start then.
        timeout: longest wait [s]; after it the launch fails.
    """
    words = [*controllers, '--timeout', str(timeout)]
    wait = Node(package='arm_sim', executable='wait_ready', arguments=words, output='screen')

    def go_on(event: ProcessExited, context: LaunchContext) -> list[Any] | None:
        if event.returncode == 0:
            return [*actions]
        if context.is_shutdown:
            return None
        raise RuntimeError(f'the arm is not ready: {", ".join(controllers)}')

    handler = OnProcessExit(target_action=wait, on_exit=go_on)
    return [RegisterEventHandler(handler), wait]
