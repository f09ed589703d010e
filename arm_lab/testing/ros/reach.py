"""A goal of a controller that runs, from its start to its end, for tests of launch_testing."""

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from uuid import uuid4

from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.task import Future
from sensor_msgs.msg import JointState
from unique_identifier_msgs.msg import UUID

from arm_controllers.ros.messages import to_ns
from arm_controllers.ros.qos import ACTION_SERVICES
from arm_controllers.ros.ros_types import AnyMessage
from arm_controllers.ros.running import wait_until
from arm_dynamics.checks import ArmError, in_range
from arm_lab.testing.ros.goals import (
    SETTLING,
    Positions,
    goal_to,
    not_found,
    not_there,
    raise_reason,
    takers,
)

_AGAIN = 5.0  # time without an answer, after which the result is requested again [s]


def reach(
    node: Node,
    controller: str,
    positions: Positions,
    seconds: float = 2.0,
    tolerance: float = 0.01,
    timeout: float = 60.0,
) -> None:
    """Send a goal to a controller that runs; return when its joints are there.

    Args:
        node: of the test. The goal is sent in its namespace; where no executor has the node, its
            callbacks run meanwhile.
        controller: name, such as 'joint_trajectory_controller'.
        positions: by joint, or in the order of the controller's joints [rad | m].
        seconds: time of the motion [s].
        tolerance: largest distance of a joint from its position then [rad | m].
        timeout: longest wait for the controller, and after `seconds` for the end of the goal [s
            of the wall clock].

    Raises:
        ArmError: no such controller, no success, no end, or a joint is not there: says why.
    """
    in_range('tolerance', tolerance, 0.0)
    in_range('timeout', timeout, 0.0, exclusive=True)
    with _own_node(node) as own:
        if not isinstance(positions, Mapping):
            names = _joints_of(own, controller, timeout)
            goal_to(positions, names, seconds)  # as many as joints
            positions = dict(zip(names, positions, strict=True))
        goal = goal_to(positions, (), seconds)
        client = _client_of(own, controller, timeout)
        try:
            answer = _end_of(client, own, controller, goal, timeout + seconds)
        finally:
            client.destroy()
        raise_reason(controller, answer)
        _settle(own, controller, positions, tolerance, timeout)


class _InTurn(SingleThreadedExecutor):
    """Dispatches all ready callbacks in turn.

    A timed spin of rclpy's begins again at the first node: one whose callbacks take long would
    keep the other one waiting for ever.
    """

    def spin_until_future_complete(self, future: Future, timeout_sec: float | None = None) -> None:
        """Dispatch callbacks until the future is done, for a time [s]."""
        end = time.monotonic() + (math.inf if timeout_sec is None else timeout_sec)
        while not future.done() and time.monotonic() < end:
            self.spin_once(timeout_sec=0.01)  # always the same: another time would begin again


@contextmanager
def _own_node(node: Node) -> Iterator[Node]:
    """Lend a node next to another one; its executor has both, if the other has none.

    The test's node may be in an executor that spins in another thread, or that nothing spins:
    Node.executor, which rclpy does not clear when the node leaves, cannot tell. A node of our own
    needs neither.
    """
    executor = _InTurn(context=node.context)
    own = Node(f'reach_{uuid4().hex[:8]}', context=node.context, namespace=node.get_namespace())
    is_free = node.executor is None or node not in node.executor.get_nodes()
    try:
        executor.add_node(own)
        if is_free:
            executor.add_node(node)
        yield own
    finally:
        if is_free:
            node.executor = None  # also removes the node from the executor
        own.destroy_node()
        executor.shutdown()


def _joints_of(own: Node, controller: str, timeout: float) -> list[str]:
    """Return the controller's joints, in its order."""
    found: list[list[str]] = []
    own.create_subscription(
        JointTrajectoryControllerState,
        topic := f'{controller}/controller_state',
        lambda state: found.append(list(state.joint_names)),
        qos_profile_sensor_data,
    )
    try:
        wait_until(own.executor, lambda: bool(found), topic, timeout)
    except ArmError as error:
        raise ArmError(f'{error}; positions by joint, {{name: position}}, need none') from None
    return found[0]


def _client_of(own: Node, controller: str, timeout: float) -> ActionClient:
    """Return a client of the controller's action, which is there."""
    action = f'{controller}/follow_joint_trajectory'
    client = ActionClient(own, FollowJointTrajectory, action, **ACTION_SERVICES)
    try:
        wait_until(own.executor, client.server_is_ready, f'action {action}', timeout)
    except ArmError as error:
        client.destroy()
        raise not_found(controller, takers(own), error) from None
    return client


def _end_of(
    client: ActionClient,
    own: Node,
    controller: str,
    goal: FollowJointTrajectory.Goal,
    timeout: float,
) -> AnyMessage:
    """Send a goal; return status and result at its end.

    ROS can lose an answer to a new client, so the result is requested again: that changes
    nothing, while a second goal would end the first one. The end of a goal is an answer to the
    goal as well.
    """
    end, identifier = time.monotonic() + timeout, UUID(uuid=list(uuid4().bytes))
    sent = client.send_goal_async(goal, goal_uuid=identifier)
    handle, asked = ClientGoalHandle(client, identifier, None), list[Future]()

    def ended() -> list[AnyMessage]:
        answers = [each.result() for each in asked if each.done()]
        return [each for each in answers if each.status != GoalStatus.STATUS_UNKNOWN]

    with suppress(ArmError):
        wait_until(own.executor, sent.done, 'answer', min(_AGAIN, timeout))
    while (left := end - time.monotonic()) > 0.0:
        if sent.done() and not sent.result().accepted:
            raise ArmError(f'{controller} rejected the goal; its log says why')
        asked.append(handle.get_result_async())
        with suppress(ArmError):
            wait_until(own.executor, lambda: bool(ended()), 'end', min(_AGAIN, left))
            return ended()[0]
    raise ArmError(f'{controller}: the goal has not ended within {timeout:g} s')


def _settle(
    own: Node, controller: str, positions: Mapping[str, float], tolerance: float, timeout: float
) -> None:
    """Wait until the joints are at their positions, at most 1 s of the states' time."""
    where, stamps = dict[str, float](), list[int]()

    def note(state: JointState) -> None:
        where.update(zip(state.name, state.position, strict=False))
        stamps.append(to_ns(state.header.stamp))

    def distance(name: str) -> float:
        return abs(where[name] - positions[name])

    def is_over() -> bool:
        near = all(distance(name) <= tolerance for name in positions)
        return near or stamps[-1] > stamps[0] + SETTLING * 1e9

    own.create_subscription(JointState, 'joint_states', note, qos_profile_sensor_data)
    what = f'joint_states with {", ".join(positions)}'
    wait_until(own.executor, lambda: positions.keys() <= where.keys(), what, timeout)
    with suppress(ArmError):  # their time stands still
        wait_until(own.executor, is_over, '', timeout)
    worst = max(positions, key=distance)
    if distance(worst) > tolerance:
        raise not_there(controller, worst, where[worst], positions[worst], tolerance, stamps[-1])
