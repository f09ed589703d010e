"""A task that sends one trajectory goal to a reset arm and records what it does."""

import struct
import time
from collections.abc import Callable

import numpy as np
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from arm_controllers.follower.goal import Goal
from arm_controllers.ros.messages import JointReader, to_ns, trajectory_message
from arm_controllers.ros.qos import CONTROL_INPUT_QOS, RECORD_QOS
from arm_controllers.ros.running import wait_for, wait_until
from arm_dynamics.errors import ArmError
from arm_dynamics.model import RobotModel
from arm_sim.tasks.tracking import JointLog


class GoalRun:
    """The simulator and a goal server, as a task uses them; all in simulated time.

    Attributes:
        states: every joint state since the reset, serialised.
        wall_time: what the last goal took [s].
    """

    def __init__(self, node: Node, model: RobotModel, server: str, timeout: float):
        """Open clients.

        Args:
            node: the task.
            model: of the arm.
            server: node that takes goals.
            timeout: longest wait for another node [s].
        """
        self._node, self._joints = node, model.joint_names
        self._server, self._timeout = server, timeout
        self._pause = node.create_client(SetBool, '/simulator/pause')
        self._reset = node.create_client(Trigger, '/simulator/reset')
        self._follow = ActionClient(
            node, FollowJointTrajectory, f'/{server}/follow_joint_trajectory'
        )
        self.states: list[bytes] = []
        self.wall_time = 0.0
        self._latest_ns = -1
        node.create_subscription(JointState, 'joint_states', self._on_state, RECORD_QOS, raw=True)

    def reset(self, executor) -> np.ndarray:
        """Wait for everybody, pause, reset; return the initial positions (n,).

        Raises:
            ArmError: somebody is missing.
        """
        wait_until(executor, lambda: self._latest_ns >= 0, 'joint_states', self._timeout)
        wait_until(executor, self._follow.server_is_ready, self._server, self._timeout)
        self.call(executor, self._pause, SetBool.Request(data=True))
        self.states.clear()
        self._latest_ns = -1
        self.call(executor, self._reset, Trigger.Request())
        wait_until(executor, lambda: self._latest_ns == 0, 'state after the reset', self._timeout)
        if self._server != 'simulator':
            self._wait_for_command(executor)
        return self._log().q[-1]

    def _wait_for_command(self, executor) -> None:
        """Wait until the controller answers states: before that it refuses goals."""
        commands: list[bytes] = []
        subscription = self._node.create_subscription(
            JointState, 'joint_commands', commands.append, CONTROL_INPUT_QOS, raw=True
        )
        wait_until(executor, lambda: bool(commands), f'command of {self._server}', self._timeout)
        self._node.destroy_subscription(subscription)

    def follow(
        self,
        executor,
        goal: Goal,
        end_ns: int,
        on_time: Callable[[int], None] = lambda time_ns: None,
    ) -> JointLog:
        """Send a goal, let time run until the stamp `end_ns`, pause, and return the states.

        Args:
            executor: that of the node.
            goal: what to follow; where it ends by `end_ns`, its result is waited for.
            end_ns: [ns].
            on_time: called with the newest stamp [ns] again and again.

        Raises:
            ArmError: the goal was refused, or ended without success.
        """
        request = FollowJointTrajectory.Goal(trajectory=trajectory_message(goal))
        sent = self._follow.send_goal_async(request)
        handle = wait_for(executor, sent, 'answer to the goal', self._timeout)
        if not handle.accepted:
            raise ArmError(f'{self._server} rejected the goal; its log says why')
        result = handle.get_result_async()
        whole = goal.start_ns + round(float(goal.times[-1]) * 1e9) <= end_ns

        def ended() -> bool:
            on_time(self._latest_ns)
            reached = self._latest_ns >= end_ns and (result.done() or not whole)
            return reached or _failed(result)

        begin = time.monotonic()
        self.call(executor, self._pause, SetBool.Request(data=False))
        what = f'state at t = {end_ns * 1e-9:g} s'
        wait_until(executor, ended, what, 60.0 + 20.0 * end_ns * 1e-9)
        self.wall_time = time.monotonic() - begin
        self.call(executor, self._pause, SetBool.Request(data=True))
        if _failed(result):
            raise ArmError(f'{self._server}: {result.result().result.error_string}')
        return self._log()

    def _log(self) -> JointLog:
        reader, rows = JointReader(self._joints), {}
        for data in self.states:
            message = deserialize_message(data, JointState)
            rows[to_ns(message.header.stamp)] = tuple(
                reader.read(message.name, getattr(message, field), field).copy()
                for field in ('position', 'velocity', 'effort')
            )
        q, v, effort = (np.array(column) for column in zip(*rows.values(), strict=True))
        return JointLog(np.array(list(rows)), q, v, effort)

    def _on_state(self, data: bytes) -> None:
        self.states.append(data)
        seconds, nanoseconds = struct.unpack_from('<iI', data, 4)
        self._latest_ns = seconds * 1_000_000_000 + nanoseconds

    def call(self, executor, client, request):
        """Return a service's answer. Raises ArmError without one within the timeout."""
        wait_until(executor, client.service_is_ready, f'service {client.srv_name}', self._timeout)
        answer = f'answer from {client.srv_name}'
        return wait_for(executor, client.call_async(request), answer, self._timeout)


def _failed(result) -> bool:
    return result.done() and result.result().status != GoalStatus.STATUS_SUCCEEDED
