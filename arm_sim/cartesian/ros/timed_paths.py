"""Timed trajectories of paths, as requests ask for them."""

from typing import Any

from arm_controllers.ros.messages import trajectory_message
from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.paths.pose_path import CORNER, pose_path
from arm_dynamics.paths.time_scaling import for_cubics, limits_of, time_motion
from arm_sim.cartesian.linear_move import timed_goal

_PERIOD = 0.01  # [s]


def answer_timed(
    model: RobotModel, poses: Array, start: Array, frame: str | None, request: Any, response: Any
) -> None:
    """Time a path (n, 4, 4) of a frame from the configuration `start` (nq,) as a request asks.

    Raises:
        ArmError: the request is malformed, or asks for a package that is not there.
    """
    bounds = {
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
