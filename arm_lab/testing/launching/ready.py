"""Actions that begin when an arm is ready, for launch descriptions of tests."""

from collections.abc import Sequence

from launch import LaunchContext
from launch.actions import RegisterEventHandler
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited
from launch_ros.actions import Node


def when_ready(
    controllers: Sequence[str], actions: Sequence[object], timeout: float = 120.0
) -> list[object]:
    """Return the actions that start others, such as ReadyToTest(), once an arm is ready.

    Args:
        controllers: names of those that must command the arm.
        actions: to start then.
        timeout: longest wait [s]; after it the launch fails.
    """
    words = [*controllers, '--timeout', str(timeout)]
    wait = Node(package='arm_sim', executable='wait_ready', arguments=words, output='screen')
    return [RegisterEventHandler(_OnSuccess(target_action=wait, on_exit=[*actions])), wait]


class _OnSuccess(OnProcessExit):
    """Starts actions, which launch_testing looks through, when a process ends with exit code 0."""

    def handle(self, event: ProcessExited, context: LaunchContext) -> object:
        if event.returncode == 0:
            return super().handle(event, context)
        if not context.is_shutdown:
            raise RuntimeError('the arm is not ready')
        return None
