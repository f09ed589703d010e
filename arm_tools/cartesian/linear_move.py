"""A linear motion of the tip: timed straight lines from its present pose through others.

Pose 0 is the present one, pose 1 the first of the goal.
"""

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from arm_controllers.follower.goal import Goal
from arm_dynamics.checks import ArmError, Array, JointLimitError, one_of
from arm_dynamics.inverse_kinematics.path import solve_path_ik
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import ParameterValues, PerJoint, parameter
from arm_dynamics.paths.pose_path import CORNER, pose_path
from arm_dynamics.paths.time_scaling import TimedPath, for_cubics, limits_of, time_motion
from arm_tools.cartesian.tip_parameters import TipParameters

TIMINGS = ('quintic', 'toppra')
_SAME = 1e-6  # distance up to which two poses are the same [m | rad]
_REST = 1e-3  # velocity up to which a joint is at rest [rad/s | m/s]


@dataclass(frozen=True)
class LinearMoveParameters(TipParameters):
    """Parameters of the node."""

    controller: str = parameter('servo_controller', 'name of the controller for the goals')
    tip_speed_limit: float = parameter(
        0.25, 'tip speed of goals without a limit [m/s]', above=0, max=100
    )
    acceleration_limit: PerJoint = parameter(
        (10.0,), 'joint acceleration of goals without a limit [rad/s^2 | m/s^2]', above=0
    )
    clearance: float = parameter(
        0.0, 'distance that links keep from objects and from each other [m]; negative: motions are'
        ' not checked', min=-1, max=1,
    )  # fmt: skip


class MoveError(ArmError):
    """A motion that cannot be planned.

    Attributes:
        pose: number of the pose that cannot be reached, from 1; 0: another reason.
    """

    def __init__(self, message: str, pose: int = 0):
        super().__init__(message)
        self.pose = pose


class MovesError(JointLimitError):
    """An arm moves that must be at rest."""


def check_rest(model: RobotModel, v: Array) -> None:
    """Raise MovesError, naming the joint, where an arm moves: v (n,)."""
    for i in np.flatnonzero(np.abs(v) > _REST):
        where = 'a linear motion starts at rest'
        limits = -_REST, _REST, model.prismatic[i], where
        raise MovesError(model.joint_names[i], 'velocity', v[i], *limits)


def plan_move(
    model: RobotModel,
    start: Array,
    poses: Array,
    frame: str | None = None,
    *,
    timing: str = 'quintic',
    limits: ParameterValues,
    tip_speed: float | None = None,
    corner: float = CORNER,
    free: ParameterValues,
) -> TimedPath | None:
    """Return the timed joint path from a configuration (nq,), at rest, through poses (n, 4, 4).

    None where every pose is the present one.

    Args:
        model, start: the arm and its present configuration.
        poses: of its tip in the base frame.
        frame: the tip; None: the model's tool frame.
        timing: one of TIMINGS.
        limits: `velocity_limit`, `acceleration_limit`, `effort_limit` as `time_motion` has them.
        tip_speed: limit [m/s]; None: as fast as the joints allow.
        corner: [rad] as for `pose_path`.
        free: `position_only`, `axis_tolerances`, as for `solve_ik`.

    Raises:
        MoveError: names the pose, the joint and its limit.
        ArmError: malformed arguments.
    """
    one_of('timing', timing, TIMINGS)
    model.check_configuration(start, "the arm's present configuration")
    way = np.vstack([model.forward_kinematics(start, frame).homogeneous[None], poses])
    for k in range(1, len(way)):
        if _is_same(way[k - 1], way[k]):
            way[k] = way[k - 1]
    if (way == way[0]).all():
        return None
    found = solve_path_ik(model, way, start, frame=frame, from_seed=True, **free)
    if not found.success:
        raise MoveError(found.reason, found.first_failure)
    timed = time_motion(
        model,
        pose_path(way, corner=corner),
        start,
        timing=timing,  # type: ignore[arg-type]  # checked above
        frame=frame,
        tip_speed_limit=tip_speed,
        from_seed=True,
        **free,
        **limits,
    )
    if not timed.success:
        raise MoveError(timed.reason)
    return (
        for_cubics(model, timed, limits_of(model, *limits.values()))
        if timing == 'toppra'
        else timed
    )


def timed_goal(model: RobotModel, timed: TimedPath, timing: str) -> Goal:
    """Return a timed path as a goal that starts at once.

    The accelerations of a time-optimal path jump from point to point: they are left out.
    """
    return Goal(
        joint_names=tuple(model.joint_names),
        times=timed.times,
        positions=timed.q,
        velocities=timed.v,
        accelerations=None if timing == 'toppra' else timed.a,
    )


def _is_same(one: Array, other: Array) -> bool:
    turn = pin.log3(one[:3, :3].T @ other[:3, :3])
    return bool(max(np.abs(other[:3, 3] - one[:3, 3]).max(), np.abs(turn).max()) < _SAME)
