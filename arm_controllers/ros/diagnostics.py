"""The status of a controller on /diagnostics."""

import time
from collections.abc import Callable, Mapping

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.node import Node

from arm_controllers.cycle_state import CycleState
from arm_controllers.ros.active_controllers import ActiveControllers
from arm_controllers.ros.control_cycle import ControlCycle
from arm_controllers.ros.log import Log, once_a_minute, shortened
from arm_controllers.ros.messages import prefix_of
from arm_controllers.ros.state_input import STATES
from arm_dynamics.checks import ArmError

# A refusal or a failed goal stays in the words for this time [s].
MEMORY = 10.0
# Goals that wait for more seconds than this, while time is stopped, are logged.
WAITING = 10
# The words mention states that are delayed by more than this time [s].
SILENCE = 1.0
WHO_SENDS = 'is the simulator, or the supervisor of drive, running?'

_OK, _WARN, _ERROR = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR


def why_still(node: Node, time_ns: int) -> str:
    """Return why the newest state, of this time [ns], comes again, and how a pause ends."""
    return (
        f'time is stopped at {time_ns * 1e-9:.3f} s: the simulator is paused, or waits for '
        'another node; this ends a pause: ros2 service call '
        f"/{prefix_of(node)}simulator/pause std_srvs/srv/SetBool '{{data: false}}'"
    )


def status_publisher(node: Node) -> Callable[[bytes, str, Mapping[str, object]], None]:
    """Return what publishes a node's status: its level, words and values."""
    publisher = node.create_publisher(DiagnosticArray, '/diagnostics', 10)
    name = prefix_of(node) + node.get_name()

    def publish(level: bytes, words: str, values: Mapping[str, object]) -> None:
        status = DiagnosticStatus(level=level, name=name, message=words)
        status.values = [KeyValue(key=key, value=str(value)) for key, value in values.items()]
        message = DiagnosticArray(status=[status])
        message.header.stamp = node.get_clock().now().to_msg()
        publisher.publish(message)

    return publish


class ControllerDiagnostics:
    """Counts dropped states, and reports the controller with what a user can do about it."""

    def __init__(self, node: Node):
        """Open the publisher."""
        self._log, self._publish = Log(node, 1.0), status_publisher(node)
        self._node, self._waits = node, once_a_minute(node)
        self._why_dropped, self._dropped, self._pause = '', 0, 0
        self._last_drop = -float('inf')

    def drop(self, error: ArmError) -> None:
        """Count a state that could not be used, and say why."""
        self._dropped += 1
        self._why_dropped = shortened(str(error))
        self._last_drop = time.monotonic()
        self._log.warning(f'state dropped: {self._why_dropped}')

    def report(self, cycle: ControlCycle | None, claims: ActiveControllers | None) -> None:
        """Publish level, words and values.

        `cycle`: the controller's, if configured; `claims`: by the simulator, None if not known.
        """
        level, words = self.words(cycle)
        names = 'not known' if claims is None else ', '.join(claims.claims) or 'none'
        values = {'dropped states': self._dropped, 'active controllers': names}
        if cycle is not None:
            values['overtaken states'] = (states := cycle.states).overtaken
            values['refused goals'] = cycle.goals.refused
            values['CPU time of a cycle, mean [ms]'] = f'{cycle.times.mean * 1e3:.3f}'
            values['CPU time of a cycle, worst [ms]'] = f'{cycle.times.worst * 1e3:.3f}'
            values['missed deadlines'] = cycle.times.missed
            self._pause = (self._pause + 1) * bool(cycle.follower.goals and states.time_is_stopped)
            if self._pause > WAITING:
                self._waits(f'goals wait: {why_still(self._node, states.sequence.time_ns)}')
        self._publish(level, words, values)

    def words(self, cycle: ControlCycle | None) -> tuple[bytes, str]:
        """Return the level and the words."""
        if cycle is None:
            return _OK, 'not configured: configure and activate it'
        if not cycle.active:
            return _OK, 'inactive: activate it to command the arm'
        if cycle.state is CycleState.REJECTED:
            return _WARN, f'silent: {cycle.goals.refusal}'
        if time.monotonic() - self._last_drop < SILENCE:
            return _ERROR, f'states cannot be used, the arm gets no command: {self._why_dropped}'
        if cycle.state is not CycleState.COMMANDING:
            where = f'waiting for a state on {self._node.resolve_topic_name(STATES)}'
            return _WARN, f'{where}: is the simulator running, in this ROS_DOMAIN_ID?'
        if cycle.states.silence > SILENCE:
            if cycle.states.time_is_stopped:
                return _WARN, why_still(self._node, cycle.states.sequence.time_ns)
            return _WARN, f'no state for {cycle.states.silence:.0f} s: {WHO_SENDS}'
        goals, doing = cycle.goals, _doing(cycle)
        if goals.problem and time.monotonic() - goals.problem_since < MEMORY:
            return _WARN, f'{doing}; {goals.problem}'
        return _OK, doing


def _doing(cycle: ControlCycle) -> str:
    follower = cycle.follower
    goal = follower.active_goal
    waiting = len(follower.goals) - (goal is not None)
    behind = f', {waiting} more waiting for their start' if waiting else ''
    if goal is None:
        return f'holding{behind}'
    t, end = follower.time_in_goal(follower.time_ns), float(goal.times[-1])
    if t > end:
        return f'settling, {t - end:.2f} s after the end of the goal{behind}'
    share = follower.scaling.wanted
    speed = '' if share == 1.0 else f' at {share:.0%} of its speed'
    return f'following a goal, {t:.2f} of {end:.2f} s{speed}{behind}'
