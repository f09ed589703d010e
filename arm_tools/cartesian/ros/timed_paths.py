"""Timed trajectories of paths, as services are requested to make them."""

from typing import Any

from arm_controllers.ros.messages import trajectory_message
from arm_controllers.ros.ros_types import Request, Response
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.paths.pose_path import CORNER, pose_path
from arm_dynamics.paths.time_scaling import for_cubics, limits_of, time_motion
from arm_tools.cartesian.linear_move import timed_goal

_PERIOD = 0.01  # [s]
MOST_TIMED_POSES = 2000  # more would keep a node busy for seconds


def answer_timed(
    model: RobotModel,
    poses: Array,
    start: Array,
    frame: str | None,
    request: Request,
    response: Response,
) -> None:
    """Write the trajectory that a request wants along a path into its response.

    Args:
        model: the arm.
        poses: (n, 4, 4) of `frame`, in the base frame.
        start: (nq,) configuration at the first pose.
        frame: the moved frame; None: the model's tool frame.
        request, response: of ComputeIKPath.

    Raises:
        ArmError: the path is too long, the request is malformed, or its timing needs a package
            that is not installed.
    """
    if len(poses) > MOST_TIMED_POSES:
        raise ArmError(
            f'the path has {len(poses)} poses; allowed with a timing: {MOST_TIMED_POSES}'
        )
    bounds: dict[str, Any] = {
        'velocity_limit': request.velocity_limits or None,
        'acceleration_limit': request.acceleration_limits or None,
        'effort_limit': request.effort_limits or None,
    }
    timed = time_motion(
        model,
        pose_path(poses, request.times or None, request.corner_angle or CORNER),
        start,
        timing=request.timing,
        sample_period=request.sample_period or _PERIOD,
        frame=frame,
        tip_speed_limit=request.tip_speed_limit or None,
        position_only=request.position_only,
        axis_tolerances=request.axis_tolerances or None,
        **bounds,
    )
    response.success, response.reason = timed.success, timed.reason
    if timed.success:
        if request.timing == 'toppra':
            timed = for_cubics(model, timed, limits_of(model, *bounds.values()))
        response.trajectory = trajectory_message(timed_goal(model, timed, request.timing))
        for name in ('velocity_share', 'acceleration_share', 'effort_share', 'tip_speed'):
            setattr(response, name, getattr(timed, name))
