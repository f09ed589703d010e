"""A goal's trajectory, built and checked, in slices between control cycles."""

from collections.abc import Generator
from concurrent.futures import Executor
from typing import Any

import numpy as np

from arm_controllers.follower.goal import Array, Goal
from arm_controllers.follower.goal_trajectory import goal_trajectory
from arm_controllers.follower.motion_limits import check_limits, check_torque
from arm_controllers.follower.parameters import FollowerParameters, Limits
from arm_controllers.follower.trajectory import Trajectory
from arm_controllers.reference import Reference
from arm_dynamics.model import RobotModel


def checked_trajectory(
    goal: Goal,
    model: RobotModel,
    state: Reference,
    late: float,
    rules: FollowerParameters,
    limits: Limits,
    executor: Executor | None,
) -> Generator[None, None, tuple[Trajectory, Array]]:
    """Return the result of `goal_trajectory`, checked against all limits.

    Arguments as there; `executor` builds the trajectory, which takes 0.1 s and more for 100 000
    points. Yields after each part of the work.

    Raises:
        GoalError: says which joint, value, limit, point and time.
    """
    arguments = goal, model, state, late, rules, limits.deceleration
    if executor is None:
        trajectory, point_times = _built(*arguments)
    else:
        building = executor.submit(_built, *arguments)
        while not building.done():
            yield
        trajectory, point_times = building.result()
    yield
    bounds = limits.acceleration, point_times, rules.limit_overshoot
    yield from check_limits(trajectory, model, *bounds)
    if rules.interpolation_method == 'none':
        trajectory = trajectory.in_steps()
    yield from check_torque(trajectory, model, point_times)
    return trajectory, point_times


def _built(*arguments: Any) -> tuple[Trajectory, Array]:
    with np.errstate(all='ignore'):  # check_limits refuses an overflow
        return goal_trajectory(*arguments)
