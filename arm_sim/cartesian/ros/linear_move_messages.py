"""What a LinearMove goal asks for, and what its client is told on the way."""

from typing import Any

import numpy as np
import pinocchio as pin

from arm_controllers.ros.messages import to_ns
from arm_controllers.ros.pose_messages import pose_to_message, poses_from_message
from arm_controllers.ros.serialized_messages import JointReader
from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.paths.pose_path import CORNER
from arm_dynamics.paths.time_scaling import TimedPath
from arm_interfaces.action import LinearMove
from arm_sim.cartesian.linear_move import LinearMoveParameters, plan_move


def plan_goal(
    model: RobotModel, start: Array, asked: Any, prefix: str, p: LinearMoveParameters
) -> TimedPath | None:
    """Return the timed path that a goal asks for from `start` (nq,); None: the tip is there.

    Args:
        model: the arm.
        start: (nq,) where it rests.
        asked: a LinearMove.Goal.
        prefix: of the arm's frames.
        p: what holds where the goal says nothing.

    Raises:
        ArmError: why there is no such motion.
    """
    frame = asked.path.header.frame_id.removeprefix(prefix) or model.base_frame
    base = model.forward_kinematics(start, frame).homogeneous
    return plan_move(
        model,
        start,
        base @ poses_from_message(asked.path, first=1),
        moved_frame(asked, prefix),
        timing=asked.timing or 'quintic',
        limits={
            'velocity_limit': asked.velocity_limits or None,
            'acceleration_limit': asked.acceleration_limits or p.acceleration_limit,
            'effort_limit': asked.effort_limits or None,
        },
        tip_speed=asked.tip_speed_limit or p.tip_speed_limit,
        corner=asked.corner_angle or CORNER,
        free={
            'position_only': asked.position_only,
            'axis_tolerances': asked.axis_tolerances or None,
        },
    )


def moved_frame(asked: Any, prefix: str) -> str | None:
    """Return the frame that a goal moves; None: the model's tool frame."""
    return asked.tip_frame.removeprefix(prefix) or None


def feedback(
    model: RobotModel, reader: JointReader, said: Any, duration: float, asked: Any, prefix: str
) -> LinearMove.Feedback:
    """Return how far a motion is, from what the controller says of its goal.

    Args:
        model: the arm.
        reader: of its joints.
        said: the feedback of FollowJointTrajectory.
        duration: of the motion [s].
        asked: the LinearMove.Goal.
        prefix: of the arm's frames.

    Raises:
        ArmError: positions that are not the arm's.
    """
    names, frame, told = list(said.joint_names), moved_frame(asked, prefix), LinearMove.Feedback()
    over = to_ns(said.desired.time_from_start) * 1e-9
    told.progress = float(np.clip(over / duration, 0.0, 1.0))
    told.remaining = max(duration - over, 0.0)
    wanted, tip = (
        pin.SE3(model.forward_kinematics(reader.read(names, q, 'positions'), frame))
        for q in (said.desired.positions, said.actual.positions)
    )
    told.position_error = float(np.linalg.norm(wanted.translation - tip.translation))
    told.tip = pose_to_message(tip, prefix + model.base_frame)
    return told
