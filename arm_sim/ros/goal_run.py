"""The simulator and a controller as a task uses them: reset, follow, collect the states."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import isfinite
from types import MappingProxyType
from typing import Any

import numpy as np
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Time
from control_msgs.action import FollowJointTrajectory
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import WrenchStamped
from rclpy.action import ActionClient
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.task import Future
from std_msgs.msg import UInt8MultiArray
from std_srvs.srv import SetBool, Trigger
from trajectory_msgs.msg import JointTrajectory

from arm_controllers.follower.goal import Goal
from arm_controllers.ros.cdr import stamp_ns
from arm_controllers.ros.log import Log
from arm_controllers.ros.messages import (
    components,
    deserialized,
    prefix_of,
    stamp_at,
    trajectory_message,
)
from arm_controllers.ros.qos import ACTION_SERVICES, CONTROL_QOS, RECORD_QOS
from arm_controllers.ros.running import wait_until
from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader
from arm_dynamics.checks import ArmError
from arm_sim.loop.record import JointStates
from arm_sim.parent_process import LAUNCH
from arm_sim.ros import loop_messages
from arm_sim.ros.contact_messages import facts_at
from arm_sim.ros.waiting import REPEAT_PERIOD, Waiting
from arm_sim.simulation.pacing import TOO_SLOW_HELP

# In lock-step simulated time runs at most this number of states ahead of those that have arrived:
# Fast DDS keeps 512 KiB for a process that lags behind.
_AHEAD = 600
# The node that takes goals where the controller is not one of this package.
EXTERNAL = 'external_controller'
SOON = Duration(seconds=0.01)
# Number of answers after the receipt of a goal until the controller surely knows the goal: one may
# be under way, one before it in line.
_KNOWN = 3
# In real time a command is older than this only on a machine that is too slow [ms].
_TOO_OLD_MS = 50.0
Messages = Sequence[tuple[int, bytes]]


def joint_states(
    raw: Sequence[bytes],
    reader: JointStateReader,
    contacts: Sequence[bytes] = (),
    wrenches: Mapping[int, bytes] = MappingProxyType({}),
) -> JointStates:
    """Return serialised states as arrays, a row for each stamp, with contacts and wrenches."""
    time_ns, fields = reader.read_all(raw)
    newest = {stamp: row for row, stamp in enumerate(time_ns.tolist())}
    rows = list(newest.values()) if len(newest) < len(time_ns) else slice(None)
    found = JointStates(time_ns[rows], *(fields[name][rows] for name in FIELDS))
    found = replace(found, contacts=facts_at(found.time_ns, contacts))
    if not wrenches:
        return found
    felt = [deserialized(wrenches[ns], WrenchStamped).wrench for ns in found.time_ns.tolist()]
    return replace(found, wrench=np.array([components(x.force, x.torque) for x in felt]))


def sender_of(command: bytes) -> str:
    """Return who sent a serialised command; '' where it is none, which the simulator refuses."""
    reader = JointStateReader((), ())
    try:
        reader.open(command)
    except ArmError:
        return ''
    return reader.sender


class GoalRun:
    """A run of the arm in simulated time.

    The states come in batches, on the simulator's `loop_messages`, and stay bytes until the end of
    the run: the control loop serves no other subscriber.

    Attributes:
        states, contacts: every joint state since the reset and its contacts, serialised.
        objects: stamps [ns] and messages of the objects around the arm since then.
        latest_ns: stamp of the newest state [ns]; -1 before the first one.
        commands: serialised commands since the newest state.
        diagnostics: values of the simulator's newest diagnostic status.
        fault: why physics has stopped, or ''.
        wall_time: duration of the last run [s of the wall clock].
        waiting: how this node waits for others; wait_until, call: its methods.
    """

    def __init__(
        self,
        node: Node,
        executor,
        joints: tuple[str, ...],
        server: str,
        timeout: float,
        on_messages: Callable[[Messages], None] = lambda messages: None,
        is_recorded: Callable[[], bool] = lambda: True,
    ):
        """Open clients.

        Args:
            node, executor: the task's node, and the executor that dispatches its callbacks.
            joints: in the order of the arm.
            server: the node that takes goals.
            timeout: longest wait for another node [s].
            on_messages: is called with all messages of the control loop, batch by batch.
            is_recorded: whether an accepted goal is recorded; in lock-step time waits for that.
        """
        self._on_messages, self._is_recorded = on_messages, is_recorded
        self._node, self._executor, self._log = node, executor, Log(node, 1.0)
        self.waiting = Waiting(node, executor, timeout)
        self.wait_until, self.call = self.waiting.wait_until, self.waiting.call
        self._reader = JointStateReader(joints, FIELDS)
        self._server, self._timeout = server, timeout
        self._pause = node.create_client(SetBool, 'simulator/pause')
        self._reset = node.create_client(Trigger, 'simulator/reset')
        action, topic = f'{server}/follow_joint_trajectory', f'{server}/joint_trajectory'
        self._follow = ActionClient(node, FollowJointTrajectory, action, **ACTION_SERVICES)
        # An external controller needs no more than a subscription to its goals.
        self._topic: Any = None
        if server == EXTERNAL:
            self._topic = node.create_publisher(JointTrajectory, topic, CONTROL_QOS)
        self._run_until = node.create_publisher(Time, 'simulator/run_until', CONTROL_QOS)
        node.create_subscription(DiagnosticArray, '/diagnostics', self._on_diagnostics, 10)
        self._goal: Any = None
        self._clear()
        self.diagnostics: dict[str, str] = {}
        self.fault = ''
        self._oldest_ms = self.wall_time = 0.0
        self._on_progress: Callable[[], object] = lambda: None
        node.create_subscription(
            UInt8MultiArray, loop_messages.TOPIC, self.on_batch, RECORD_QOS, raw=True
        )

    def reset(self) -> tuple[np.ndarray, np.ndarray]:
        """Wait for all nodes, pause, reset; return the initial state q, v, each (n,).

        Raises:
            ArmError: a node is missing.
        """
        self.wait_until(lambda: bool(self.states), 'states of the simulator', 'simulator')
        self._reader.open(self.states[-1])
        launch, sender = os.environ.get(LAUNCH, ''), self._reader.sender
        if f' of launch {launch} ' not in sender and launch:
            raise ArmError(f'joint_states come from another launch: {sender}; end that first')
        self.wait_until(self._run_until.get_subscription_count, 'simulator')
        self.call(self._pause, SetBool.Request(data=True))
        if self._goal:  # the goal of the pass before, which may last longer than the pass
            self.waiting.answer(self._goal.cancel_goal_async, self._server)
        self._clear()
        self.call(self._reset, Trigger.Request())
        self.fault = ''
        self.wait_until(lambda: self.latest_ns == 0, 'state after the reset')
        if self._topic is None:  # a controller that starts, and may compile, has no server yet
            self.wait_until(self._follow.server_is_ready, self._server, self._server)
        if self._server != 'simulator':
            self._wait_for_command()
        states = self.joint_states()
        return states.q[-1], states.v[-1]

    def _clear(self) -> None:
        self.states, self.contacts, self.commands = list[bytes](), list[bytes](), list[bytes]()
        self.objects: list[tuple[int, bytes]] = []
        self.latest_ns, self._wrenches = -1, dict[int, bytes]()

    def _wait_for_command(self, count: int = 1) -> None:
        """Wait for answers of the controller, which refuses goals before the first one."""
        enough = self.answers + count if self._topic is not None else 1
        topic = self._node.resolve_topic_name('joint_commands')
        self.wait_until(lambda: self.answers >= enough, f'command of {self._server} on {topic}')

    @property
    def answers(self) -> int:
        """The number of commands of the controller to the newest state.

        Other controllers command other joints, such as those of a gripper. An external controller
        has any name.
        """
        if self._topic is not None:
            return len(self.commands)
        name = self._server.rpartition('/')[2]
        return sum(sender_of(raw) == name for raw in self.commands)

    def follow(
        self,
        goal: Goal | None,
        end_ns: int,
        period_ns: int,
        on_time: Callable[[int], None],
        may_end: bool = False,
    ) -> None:
        """Send a goal, if any, let time run until the stamp `end_ns`, and pause.

        `period_ns`: control period in lock-step, where time never runs far ahead of the states
        that have arrived; 0: real time. `on_time` is called with the newest stamp [ns] repeatedly.
        `may_end`: a goal that ends without success does not end the run.

        Raises:
            ArmError: the goal was refused, or ended without success; physics has stopped.
        """
        result = None if goal is None else self._send(goal)
        if goal is not None and self._topic is None and period_ns:
            # A goal that is recorded at a later time has another meaning for a law with a horizon.
            result = self._recorded(goal, result)
        begin, until_ns, ahead_ns = time.monotonic(), 0, _AHEAD * period_ns
        if not ahead_ns:
            self.call(self._pause, SetBool.Request(data=False))

        def failed() -> bool:
            over = not may_end and result is not None and result.done()
            return bool(over and result and result.result().status != GoalStatus.STATUS_SUCCEEDED)

        def ended() -> bool:
            nonlocal until_ns
            on_time(self.latest_ns)
            if ahead_ns and until_ns < min(end_ns, self.latest_ns + ahead_ns // 2):
                until_ns = min(max(self.latest_ns, 0) + ahead_ns, end_ns)
                self._run_until.publish(stamp_at(until_ns))
            return self.latest_ns >= end_ns or failed() or bool(self.fault)

        def advanced(before_ns: int) -> bool:
            return ended() or self.latest_ns > before_ns

        self._on_progress = ended  # so that time need not wait until the condition is checked
        cause = '' if self._topic is None else f': no answer of {EXTERNAL} to it on joint_commands'
        while not ended():
            what = f'state after t = {self.latest_ns * 1e-9:g} s{cause}'
            self.wait_until(partial(advanced, self.latest_ns), what)
        self._on_progress = lambda: None
        self.wall_time = time.monotonic() - begin
        self.call(self._pause, SetBool.Request(data=True))
        if self.fault:
            raise ArmError(f'simulator: {self.fault}')
        if result is not None and failed():
            reason = result.result().result.error_string
            raise ArmError(f'{self._server}: {reason}{"" if ahead_ns else self.too_slow()}')

    def _send(self, goal: Goal):
        """Return the future of a goal's result; None for a goal on the topic.

        Raises:
            ArmError: the goal is refused.
        """
        if self._topic is not None:
            subscribers = self._topic.get_subscription_count
            self.wait_until(subscribers, f'subscription to {self._topic.topic_name}')
            self._topic.publish(trajectory_message(goal))
            self.wait_until(lambda: self._topic.wait_for_all_acked(SOON), 'receipt of the goal')
            if not goal.start_ns:  # the goal holds for the state that is published repeatedly
                self._wait_for_command(_KNOWN)
            return None
        self.wait_until(self._follow.server_is_ready, self._server)
        request = FollowJointTrajectory.Goal(trajectory=trajectory_message(goal))
        handle = self.waiting.answer(partial(self._follow.send_goal_async, request), self._server)
        if not handle.accepted:
            raise ArmError(f'{self._server} rejected the goal; its log says why')
        self._goal = handle
        return handle.get_result_async()

    def _recorded(self, goal: Goal, result: Any) -> Future:
        """Wait until a goal is recorded; return the future of its result.

        The goal is sent again every REPEAT_PERIOD, while simulated time is paused: a controller
        publishes a goal only for the recorders that it has discovered by then.

        Raises:
            ArmError: it is not recorded within the timeout, or is refused.
        """
        what, end = f'goal on {self._server}/goals', time.monotonic() + self._timeout
        while True:
            try:
                wait_until(self._executor, self._is_recorded, what, REPEAT_PERIOD)
                return result
            except ArmError as error:
                if time.monotonic() > end:
                    raise ArmError(f'no {what} within {self._timeout:g} s') from error
            result = self._send(goal)

    def joint_states(self) -> JointStates:
        """Return the states that were received since the reset."""
        return joint_states(self.states, self._reader, self.contacts, self._wrenches)

    def on_batch(self, raw: bytes) -> None:
        """Collect the states of a batch of the control loop's messages."""
        try:
            messages = list(loop_messages.gathered(raw))
            for what, data in messages:
                if what == loop_messages.COMMAND:
                    self.commands.append(data)
                elif what == loop_messages.OBJECTS:
                    self.objects.append((self.latest_ns, data))
                elif what == loop_messages.STATE and data not in self.states[-1:]:
                    time_ns = stamp_ns(data)
                    if time_ns <= self.latest_ns:  # after a reset
                        self._clear()
                    self.states.append(data)
                    self.latest_ns = time_ns
                    self.commands.clear()
                elif what == loop_messages.CONTACTS:
                    self.contacts.append(data)
                elif what == loop_messages.WRENCH:
                    self._wrenches[stamp_ns(data)] = data
        except ArmError as error:
            self._log.warning(f'batch of states dropped: {error}')
            return
        self._on_messages(messages)
        self._on_progress()

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == prefix_of(self._node) + 'simulator':
                self.diagnostics = {value.key: value.value for value in status.values}
                self.fault = status.message if status.level == DiagnosticStatus.ERROR else ''
                self._oldest_ms = max(self._oldest_ms, self._number('oldest command [ms]'))

    def _number(self, name: str) -> float:
        """Return a finite number of the newest diagnostic status, 0 where there is none."""
        with suppress(KeyError, ValueError):  # another node uses the simulator's name
            number = float(self.diagnostics[name])
            return number if isfinite(number) else 0.0
        return 0.0

    def too_slow(self) -> str:
        """Return how far the machine was behind real time, with a remedy; '' if it was not."""
        self.diagnostics = {}
        with suppress(ArmError):
            wait_until(self._executor, lambda: bool(self.diagnostics), 'diagnostics', 30.0)
        skipped = self._number('skipped periods')
        if not skipped and self._oldest_ms < _TOO_OLD_MS:
            return ''
        return (
            f'; the machine was too slow for real time: {skipped:.0f} control periods were '
            f'skipped, a command was {self._oldest_ms:.0f} ms old; {TOO_SLOW_HELP}'
        )
