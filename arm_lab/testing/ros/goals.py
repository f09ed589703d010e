"""A goal and its end, with the reason where it does not succeed."""

from collections.abc import Callable, Mapping, Sequence
from threading import Event
from typing import Any

from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.task import Future
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_controllers.ros.messages import set_stamp
from arm_dynamics.checks import ArmError, finite, in_range

# Positions [rad | m] of joints by name, or in the order of the joints.
Positions = Mapping[str, float] | Sequence[float]
_CODES = {
    value: name
    for name, value in vars(FollowJointTrajectory.Result).items()
    if name.isupper() and isinstance(value, int)
}
_STATUS = {
    GoalStatus.STATUS_ABORTED: 'aborted',
    GoalStatus.STATUS_CANCELED: 'canceled',
}


def goal_to(
    positions: Positions, joint_names: Sequence[str], seconds: float
) -> FollowJointTrajectory.Goal:
    """Return the goal of one point, at rest.

    Args:
        positions: see `Positions`.
        joint_names: the joints, where `positions` does not name them.
        seconds: time from the start to the point [s].

    Raises:
        ArmError: another number of positions than joints, or no finite number.
    """
    if isinstance(positions, Mapping):
        joint_names, positions = list(positions), list(positions.values())
    values = finite('positions', positions, (len(joint_names),))
    in_range('seconds', seconds, 0.0, exclusive=True)
    rest = [0.0] * len(values)
    point = JointTrajectoryPoint(positions=values.tolist(), velocities=rest, accelerations=rest)
    set_stamp(point.time_from_start, round(seconds * 1e9))
    trajectory = JointTrajectory(joint_names=list(joint_names), points=[point])
    return FollowJointTrajectory.Goal(trajectory=trajectory)


def raise_reason(controller: str, answer: Any, said: Callable[[], str] = lambda: '') -> None:
    """Raise ArmError with the reason why a goal of a controller did not succeed, if so.

    Args:
        controller: its name.
        answer: the action's answer: status and result.
        said: returns what the controller logged, for a result without a reason.
    """
    result = answer.result
    if answer.status == GoalStatus.STATUS_SUCCEEDED and result.error_code == result.SUCCESSFUL:
        return
    code = _CODES.get(result.error_code, result.error_code)
    how = f'{_STATUS.get(answer.status, f"status {answer.status}")}, {code}'
    raise ArmError(f'{controller}: {result.error_string or said() or "no reason"} ({how})')


def reach(
    node: Node,
    controller: str,
    positions: Positions,
    seconds: float = 2.0,
    timeout: float = 60.0,
) -> None:
    """Send a goal to a joint_trajectory_controller that runs, and wait for its end.

    Args:
        node: any node; where no executor has the node, this function spins it.
        controller: name of the controller, such as 'joint_trajectory_controller'.
        positions: by joint, or in the order of `joint_states`.
        seconds: time of the motion [s].
        timeout: longest wait for states, for the action server and, after `seconds`, for the end
            [s of wall-clock time].

    Raises:
        ArmError: no controller, no end, or no success: says why.
    """
    names: Future = Future()

    def note(message: JointState) -> None:
        if not names.done():
            names.set_result(list(message.name))

    action = f'{controller}/follow_joint_trajectory'
    states = node.create_subscription(JointState, 'joint_states', note, 10)
    client = ActionClient(node, FollowJointTrajectory, action)
    try:
        joints = (
            []
            if isinstance(positions, Mapping)
            else _awaited(node, names, timeout, 'joint_states')
        )
        goal = goal_to(positions, joints, seconds)
        if not client.wait_for_server(timeout):
            raise ArmError(f'no action server {action} within {timeout:g} s')
        handle = _awaited(node, client.send_goal_async(goal), timeout, f'answer of {action}')
        if not handle.accepted:
            raise ArmError(f'{controller} rejected the goal; its log says why')
        end = handle.get_result_async()
        answer = _awaited(node, end, timeout + seconds, f'end of the goal of {controller}')
    finally:
        client.destroy()
        node.destroy_subscription(states)
    raise_reason(controller, answer)


def _awaited(node: Node, future: Future, timeout: float, what: str) -> Any:
    """Return the result of a future; raise ArmError where there is none in time [s]."""
    if node.executor is None:
        executor = SingleThreadedExecutor(context=node.context)
        executor.add_node(node)
        try:
            executor.spin_until_future_complete(future, timeout)
        finally:
            executor.remove_node(node)
            executor.shutdown()
    else:
        done = Event()
        future.add_done_callback(lambda _: done.set())
        done.wait(timeout)
    if not future.done():
        raise ArmError(f'no {what} within {timeout:g} s')
    return future.result()
