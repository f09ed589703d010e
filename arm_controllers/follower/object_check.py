"""Trajectories of goals checked against the objects around an arm."""

from collections.abc import Generator, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from arm_controllers.follower.goal import Array, GoalError
from arm_controllers.follower.trajectory import Trajectory
from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel

if TYPE_CHECKING:  # most controllers need neither
    from arm_dynamics.motion_check import MotionCheck, Start
else:
    MotionCheck = Start = Any

_STEP = 0.02  # longest time between two points of a polynomial that are taken as a line [s]
_AT_ONCE = 500  # points of a slice


def object_check(known: MotionCheck | None, model: RobotModel, least: float) -> MotionCheck | None:
    """Return the MotionCheck that keeps `least` [m], if possible the known one.

    None: nothing is checked, where `least` is negative.
    """
    if least < 0.0:
        return None
    if known is None:
        found: MotionCheck = import_module('arm_dynamics.motion_check').MotionCheck(model, least)
        return found
    known.least = least
    return known


def begin(check: MotionCheck, trajectory: Trajectory, q: Array) -> Generator[None, None, Start]:
    """Check a trajectory that is to begin at q (n,), in slices; return its Start for `rest`.

    Raises:
        GoalError: with link, object, place, time and distance.
    """
    start: Start = import_module('arm_dynamics.motion_check').Start(q)
    try:
        check.look()
        yield from rest(check, trajectory, trajectory.start, start)
    except ArmError as error:
        raise GoalError(str(error)) from None
    return start


def rest(
    check: MotionCheck, trajectory: Trajectory, t: float, start: Start | None
) -> Iterator[None]:
    """Check what follows t [s] in a trajectory, in slices; `start` is what `begin` returned.

    Raises:
        ArmError: as `begin`.
    """
    knots, t = trajectory.times, max(t, trajectory.start)
    if start is None or t >= trajectory.end:
        return
    between = np.arange(t, trajectory.end, _STEP)
    times = np.unique(np.concatenate([between, knots[knots > t], [trajectory.end]]))
    for k in range(0, len(times) - 1, _AT_ONCE):
        part = times[k : k + _AT_ONCE + 1]
        segment = np.clip(np.searchsorted(knots, part, 'right') - 1, 0, len(knots) - 2)
        q = trajectory.states_in(segment, part - knots[segment])[0]
        yield from check.slices(part, q, start)
