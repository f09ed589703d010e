"""LinearMove messages: planning of a goal, and feedback on it."""

from typing import Any

import numpy as np
import pinocchio as pin
from rclpy.node import Node

from arm_controllers.ros.messages import to_ns
from arm_controllers.ros.pose_messages import pose_to_message, poses_from_message
from arm_controllers.ros.serialized_messages import JointReader
from arm_controllers.ros.wrench_input import TOPIC as WRENCHES
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.paths.pose_path import CORNER
from arm_dynamics.paths.time_scaling import TimedPath
from arm_interfaces.action import LinearMove
from arm_sim.cartesian.linear_move import LinearMoveParameters, plan_move


def plan_goal(
    model: RobotModel, start: Array, goal: Any, prefix: str, p: LinearMoveParameters
) -> TimedPath | None:
    """Return the timed path of a goal from `start` (nq,); None: the tip is there already.

    Args:
        model: the arm.
        start: (nq,) configuration at rest.
        goal: a LinearMove.Goal.
        prefix: of the arm's frames.
        p: values for fields that the goal leaves empty.

    Raises:
        ArmError: no such motion exists; the message says why.
    """
    frame = goal.path.header.frame_id.removeprefix(prefix) or model.base_frame
    base = model.forward_kinematics(start, frame).homogeneous
    return plan_move(
        model,
        start,
        base @ poses_from_message(goal.path, first=1),
        moved_frame(goal, prefix),
        timing=goal.timing or 'quintic',
        limits={
            'velocity_limit': goal.velocity_limits or None,
            'acceleration_limit': goal.acceleration_limits or p.acceleration_limit,
            'effort_limit': goal.effort_limits or None,
        },
        tip_speed=goal.tip_speed_limit or p.tip_speed_limit,
        corner=goal.corner_angle or CORNER,
        free={
            'position_only': goal.position_only,
            'axis_tolerances': goal.axis_tolerances or None,
        },
    )


def end_values(node: Node, goal: Any, prefix: str) -> dict[str, Any]:
    """Return the controller's parameters of a motion that ends on force; empty: as they are.

    Raises:
        ArmError: no force can end a motion.
    """
    along = [getattr(goal.end_direction, axis) for axis in 'xyz']
    if (any(along) or goal.end_frame) and not goal.end_force:
        raise ArmError('end_direction and end_frame are of end_force, which is 0')
    if goal.end_force and not node.count_publishers(WRENCHES):
        raise ArmError(f'end_force needs a sensor, and no node publishes {WRENCHES}')
    if not (goal.end_force or goal.end_distance):
        return {}
    return {
        'end_on_force.force': goal.end_force,
        'end_on_force.direction': along,
        'end_on_force.frame': goal.end_frame.removeprefix(prefix),
        'end_on_force.distance': goal.end_distance,
    }


def moved_frame(goal: Any, prefix: str) -> str | None:
    """Return the frame that a goal moves; None: the model's tool frame."""
    return goal.tip_frame.removeprefix(prefix) or None


def feedback(
    model: RobotModel, reader: JointReader, joints: Any, duration: float, goal: Any, prefix: str
) -> LinearMove.Feedback:
    """Return the progress of a motion, from the controller's feedback.

    Args:
        model: the arm.
        reader: of its joints.
        joints: the feedback of FollowJointTrajectory.
        duration: of the motion [s].
        goal: the LinearMove.Goal.
        prefix: of the arm's frames.

    Raises:
        ArmError: the positions are not the arm's.
    """
    names, frame = list(joints.joint_names), moved_frame(goal, prefix)
    message = LinearMove.Feedback()
    over = to_ns(joints.desired.time_from_start) * 1e-9
    message.progress = float(np.clip(over / duration, 0.0, 1.0))
    message.remaining = max(duration - over, 0.0)
    wanted, tip = (
        pin.SE3(model.forward_kinematics(reader.read(names, q, 'positions'), frame))
        for q in (joints.desired.positions, joints.actual.positions)
    )
    message.position_error = float(np.linalg.norm(wanted.translation - tip.translation))
    message.tip = pose_to_message(tip, prefix + model.base_frame)
    return message
