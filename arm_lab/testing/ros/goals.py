"""A goal and its end, with the reason where it does not succeed."""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches

from action_msgs.msg import GoalStatus
from control_msgs.action import FollowJointTrajectory
from rclpy.action import get_action_names_and_types
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from arm_controllers.ros.messages import set_stamp
from arm_controllers.ros.ros_types import AnyMessage
from arm_dynamics.checks import ArmError, finite, in_range

# Positions [rad | m] of joints by name, or in the order of the joints.
Positions = Mapping[str, float] | Sequence[float]
SETTLING = 1.0  # time of the states after a goal until its joints must be there [s]
_CODES = {
    value: name
    for name, value in vars(FollowJointTrajectory.Result).items()
    if name.isupper() and isinstance(value, int)
}
_STATUS = {
    GoalStatus.STATUS_ABORTED: 'aborted',
    GoalStatus.STATUS_CANCELED: 'canceled',
}


def takers(node: Node) -> list[str]:
    """Return the actions and topics that take goals where a node is."""
    actions, kind = get_action_names_and_types(node), 'control_msgs/action/FollowJointTrajectory'
    names = [name for name, types in actions if kind in types]
    for name, types in node.get_topic_names_and_types():
        if 'trajectory_msgs/msg/JointTrajectory' in types and node.count_subscribers(name):
            names.append(name)
    return names


def meant(controller: str, names: Sequence[str]) -> list[str]:
    """Return the controller of these actions and topics, if any, whose name is misspelt."""
    known = [name.rpartition('/')[0].strip('/') for name in names]
    longer = [name for name in known if name.startswith(f'{controller}_')]
    return (longer or get_close_matches(controller, known, cutoff=0.8))[:1]


def not_found(controller: str, names: Sequence[str], why: object) -> ArmError:
    """Return the error of a controller that is not among these actions and topics."""
    near = ''.join(f'; did you mean {name!r}?' for name in meant(controller, names))
    there = ', '.join(names) or 'nothing that takes goals'
    return ArmError(f'{why}; there is {there}{near}')


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
    try:
        values = finite('positions', positions, (len(joint_names),))
    except ArmError as error:
        raise ArmError(f'{error}; the joints are {", ".join(joint_names)}') from None
    in_range('seconds', seconds, 0.0, exclusive=True)
    rest = [0.0] * len(values)
    point = JointTrajectoryPoint(positions=values.tolist(), velocities=rest, accelerations=rest)
    set_stamp(point.time_from_start, round(seconds * 1e9))
    trajectory = JointTrajectory(joint_names=list(joint_names), points=[point])
    return FollowJointTrajectory.Goal(trajectory=trajectory)


def raise_reason(
    controller: str, answer: AnyMessage, said: Callable[[], str] = lambda: ''
) -> None:
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


def not_there(
    controller: str, joint: str, position: float, target: float, tolerance: float, time_ns: int
) -> ArmError:
    """Return the error of a joint that is elsewhere SETTLING after the end of its goal.

    `time_ns`: stamp of the state that shows it [ns].
    """
    return ArmError(
        f'{controller}: joint {joint!r} is at {position:.6g}, not at {target:.6g}, {SETTLING:g} s '
        f'after the end of the goal; tolerance is {tolerance:g} (t = {1e-9 * time_ns:g} s)'
    )
