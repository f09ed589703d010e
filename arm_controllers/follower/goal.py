"""A trajectory goal, its result, and the error of a refused goal."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError, Array


class ResultCode(IntEnum):
    """How a goal ended: the error codes of control_msgs/action/FollowJointTrajectory."""

    SUCCESSFUL = 0
    INVALID_GOAL = -1
    INVALID_JOINTS = -2
    OLD_HEADER_TIMESTAMP = -3
    PATH_TOLERANCE_VIOLATED = -4
    GOAL_TOLERANCE_VIOLATED = -5


class GoalError(ArmError):
    """A goal that is refused.

    Attributes:
        code: error code of the action's result.
        joint, value, lower, upper, point, time: where the fault is, or None; time [s] from the
            goal's start.
    """

    joint = value = lower = upper = point = time = None

    def __init__(
        self, message: str, code: ResultCode = ResultCode.INVALID_GOAL, **offender: object
    ):
        super().__init__(message)
        self.code = code
        vars(self).update(offender)


@dataclass(frozen=True)
class JointTolerance:
    """Largest allowed error of one joint: > 0 a bound, 0 the controller's own, -1 none.

    Attributes:
        joint: name.
        position: [rad | m].
        velocity: [rad/s | m/s].
        acceleration: [rad/s^2 | m/s^2]; bounds nothing, since accelerations are not measured.
    """

    joint: str
    position: float = 0.0
    velocity: float = 0.0
    acceleration: float = 0.0


@dataclass(frozen=True)
class Goal:
    """A joint trajectory to follow, as trajectory_msgs/JointTrajectory holds it.

    A goal without points stops the arm.

    Attributes:
        joint_names: the n joints of the columns, in any order.
        times: (m,) instants of the points [s] from the start.
        positions: (m, n) [rad | m].
        velocities: (m, n) [rad/s | m/s], or None.
        accelerations: (m, n) [rad/s^2 | m/s^2], or None.
        effort: (m, n) feedforward [N.m | N], or None.
        start_ns: stamp of the start [ns]; 0 is now.
        has_velocity, has_acceleration: (m,) bool, points whose row above counts; None: every one.
        has_position: whether positions count; else they are the integral of what there is.
        path_tolerance, goal_tolerance: of this goal, on the way and at its end.
        goal_time_tolerance: [s] how late the arm may arrive: > 0 a bound, 0 the controller's own,
            -1 only the controller's time limit.
        identifier: the caller's name for this goal; given back with its end.
    """

    joint_names: tuple[str, ...]
    times: Array
    positions: Array
    velocities: Array | None = None
    accelerations: Array | None = None
    effort: Array | None = None
    start_ns: int = 0
    has_velocity: NDArray[np.bool_] | None = None
    has_acceleration: NDArray[np.bool_] | None = None
    has_position: bool = True
    path_tolerance: tuple[JointTolerance, ...] = ()
    goal_tolerance: tuple[JointTolerance, ...] = ()
    goal_time_tolerance: float = 0.0
    identifier: object = None

    def error_at(self, point: int, message: str, remedy: str = '', **offender: Any) -> GoalError:
        """Return the error at a point: message, place of the point, remedy."""
        time = float(self.times[point])
        text = f'{message} (point {point}, t = {time:.6g} s){remedy}'
        return GoalError(text, point=point, time=time, **offender)


@dataclass(frozen=True)
class GoalResult:
    """The end of a goal.

    Attributes:
        identifier: the goal's.
        code, message: how it ended, in one line; empty after a plain success.
        canceled: it was ended on request (then `code` is SUCCESSFUL).
    """

    identifier: object
    code: ResultCode
    message: str = ''
    canceled: bool = False
