"""What a controller says about itself on /diagnostics."""

import time
from collections.abc import Callable

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from arm_controllers.follower.follower import TrajectoryFollower
from arm_controllers.ros.goal_server import GoalServer

# A refusal or a failed goal stays in the words for so long [s].
_MEMORY = 10.0
# States that are late by less are not worth a word [s].
_SILENCE = 1.0

_OK, _WARN, _ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


class ControllerDiagnostics:
    """Publishes a controller's state once a second, in words that say what to do.

    Attributes:
        configured, active, taken_over: what the controller has reached.
        last_state: when the last good state came (time.monotonic()).
        dropped: number of states that could not be used.
    """

    def __init__(self, node: Node, every_second: Callable[[], None]):
        """`every_second` is called before each report."""
        self._node = node
        self._every_second = every_second
        self._publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
        self._timer = node.create_timer(1.0, self._report)
        self.configured = self.active = self.taken_over = False
        self.last_state = time.monotonic()
        self.dropped = 0
        self._why_dropped = ''
        self._last_drop = -float('inf')
        self.goals: GoalServer | None = None
        self.follower: TrajectoryFollower | None = None

    def drop(self, why: str) -> None:
        """Count a state that could not be used."""
        self.dropped += 1
        self._why_dropped = why
        self._last_drop = time.monotonic()

    @property
    def silence(self) -> float:
        """Time since the last good state [s]."""
        return time.monotonic() - self.last_state

    def words(self) -> tuple[bytes, str]:
        """Return the level and the words."""
        if not self.configured:
            return _OK, 'not configured: configure and activate it'
        if not self.active:
            return _OK, 'inactive: activate it to command the arm'
        if time.monotonic() - self._last_drop < _SILENCE:
            return _ERROR, f'states cannot be used, the arm gets no command: {self._why_dropped}'
        if not self.taken_over:
            return _WARN, 'waiting for a state: is the simulator running, in this ROS_DOMAIN_ID?'
        if self.silence > _SILENCE:
            return _WARN, f'no state for {self.silence:.0f} s: the simulator is paused or gone'
        assert self.goals is not None
        if self.goals.trouble and time.monotonic() - self.goals.trouble_since < _MEMORY:
            return _WARN, f'{self._doing()}; {self.goals.trouble}'
        return _OK, self._doing()

    def _doing(self) -> str:
        assert self.follower is not None
        follower = self.follower
        goal = follower.active_goal
        waiting = len(follower.goals) - (goal is not None)
        behind = f', {waiting} more waiting for their start' if waiting else ''
        if goal is None:
            return f'holding{behind}'
        t, end = follower.time_in_goal(follower.time_ns), float(goal.times[-1])
        if t > end:
            return f'settling, {t - end:.2f} s after the end of the goal{behind}'
        return f'following a goal, {t:.2f} of {end:.2f} s{behind}'

    def _report(self) -> None:
        self._every_second()
        level, words = self.words()
        status = DiagnosticStatus(level=level, name=self._node.get_name(), message=words)
        values = {'dropped states': self.dropped}
        if self.goals is not None:
            values['refused goals'] = self.goals.refused
        status.values = [KeyValue(key=key, value=str(value)) for key, value in values.items()]
        message = DiagnosticArray(status=[status])
        message.header.stamp = self._node.get_clock().now().to_msg()
        self._publisher.publish(message)
