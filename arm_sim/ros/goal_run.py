"""The simulator and a controller as a task uses them: reset, follow, record."""

import time
from collections.abc import Callable

import numpy as np
from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

from arm_controllers.follower.goal import Goal
from arm_controllers.ros.messages import trajectory_message
from arm_controllers.ros.qos import CONTROL_INPUT_QOS, RECORD_QOS
from arm_controllers.ros.running import wait_for, wait_until
from arm_controllers.ros.serialized_messages import FIELDS, JointStateReader
from arm_dynamics.checks import ArmError
from arm_sim.runs.record import JointStates

# In lock-step the simulator does not wait for those who only listen, and may leave them behind:
# time then runs in slices of so many states; the simulator keeps 1000.
SLICE_STATES = 300


class GoalRun:
    """A run of the arm in simulated time.

    Attributes:
        states: every joint state since the reset, serialised.
        wall_time: what the last run took [s].
    """

    def __init__(self, node: Node, executor, joints: tuple[str, ...], server: str, timeout: float):
        """Open clients; `server` takes goals, `timeout` [s] bounds the wait for other nodes."""
        self._node, self._executor = node, executor
        self._reader = JointStateReader(joints, FIELDS)
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

    def reset(self) -> tuple[np.ndarray, np.ndarray]:
        """Wait for everybody, pause, reset; return the initial state q, v, each (n,).

        Raises:
            ArmError: somebody is missing.
        """
        self.wait_until(lambda: self._latest_ns >= 0, 'joint_states')
        self.wait_until(self._follow.server_is_ready, self._server)
        self.call(self._pause, SetBool.Request(data=True))
        self.states.clear()
        self._latest_ns = -1
        self.call(self._reset, Trigger.Request())
        self.wait_until(lambda: self._latest_ns == 0, 'state after the reset')
        if self._server != 'simulator':
            self._wait_for_command()
        states = self.joint_states()
        return states.q[-1], states.v[-1]

    def _wait_for_command(self) -> None:
        """Wait until the controller answers states: before that it refuses goals."""
        commands: list[bytes] = []
        subscription = self._node.create_subscription(
            JointState, 'joint_commands', commands.append, CONTROL_INPUT_QOS, raw=True
        )
        self.wait_until(lambda: bool(commands), f'command of {self._server}')
        self._node.destroy_subscription(subscription)

    def follow(
        self, goal: Goal | None, end_ns: int, slice_ns: int, on_time: Callable[[int], None]
    ) -> None:
        """Send a goal, if any, let time run until the stamp `end_ns`, and pause.

        `slice_ns`: how long time runs between two pauses, in which all states arrive; `on_time` is
        called with the newest stamp [ns] again and again.

        Raises:
            ArmError: the goal was refused, or ended without success.
        """
        result = None if goal is None else self._send(goal)

        def failed() -> bool:
            succeeded = GoalStatus.STATUS_SUCCEEDED
            return bool(result and result.done() and result.result().status != succeeded)

        def ended() -> bool:
            on_time(self._latest_ns)
            return self._latest_ns >= until_ns or failed()

        begin, until_ns = time.monotonic(), 0
        while until_ns < end_ns and not failed():
            until_ns = min(max(until_ns, self._latest_ns) + slice_ns, end_ns)
            self.call(self._pause, SetBool.Request(data=False))
            what, timeout = f'state at t = {until_ns * 1e-9:g} s', 60.0 + 20.0 * end_ns * 1e-9
            wait_until(self._executor, ended, what, timeout)
            self.wall_time = time.monotonic() - begin
            self.call(self._pause, SetBool.Request(data=True))
        if failed():
            raise ArmError(f'{self._server}: {result.result().result.error_string}')

    def _send(self, goal: Goal):
        """Return the future of a goal's result. Raises ArmError if the goal is refused."""
        request = FollowJointTrajectory.Goal(trajectory=trajectory_message(goal))
        sent = self._follow.send_goal_async(request)
        handle = wait_for(self._executor, sent, 'answer to the goal', self._timeout)
        if not handle.accepted:
            raise ArmError(f'{self._server} rejected the goal; its log says why')
        return handle.get_result_async()

    def joint_states(self) -> JointStates:
        """Return the states that were received since the reset."""
        reader, rows = self._reader, {}
        for data in self.states:
            reader.open(data)
            rows[reader.time_ns] = [reader.values(field).copy() for field in FIELDS]
        q, v, effort = (np.array(column) for column in zip(*rows.values(), strict=True))
        return JointStates(np.array(list(rows)), q, v, effort)

    def _on_state(self, data: bytes) -> None:
        try:
            self._reader.open(data)
        except ArmError as error:
            self._node.get_logger().warning(f'state dropped: {error}', throttle_duration_sec=1.0)
            return
        self.states.append(data)
        self._latest_ns = self._reader.time_ns

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Dispatch callbacks until a condition holds. Raises ArmError after the timeout."""
        wait_until(self._executor, condition, what, self._timeout)

    def call(self, client, request):
        """Return a service's answer. Raises ArmError without one within the timeout."""
        self.wait_until(client.service_is_ready, f'service {client.srv_name}')
        answer = f'answer from {client.srv_name}'
        return wait_for(self._executor, client.call_async(request), answer, self._timeout)
