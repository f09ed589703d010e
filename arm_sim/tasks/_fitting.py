"""Whether an arm's limits allow a task, and how large a task is by default on any arm."""

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np

from arm_dynamics.checks import ArmError, Array, per_joint
from arm_sim.loop.goals import goal_reference
from arm_sim.tasks._task import Task

_OF_LIMITS = 0.9  # of a speed or of an effort, and of half a range, which a task asks for at most
_HALVINGS = 8


def check(task: Task) -> None:
    """Raise ArmError where a controller would refuse the task's goal; it names the parameters."""
    if task.is_known_to_fit:
        return
    goal = task.goal()
    if goal is None or task.gripper or {*goal.joint_names} != {*task.robot.model.joint_names}:
        return
    try:
        goal_reference(goal, task.robot.model, task.start.q, task.start.v)
    except ArmError as error:
        raise ArmError(f'{error}{task.remedy}') from None


def fit(task: Task, use: Callable[[Array], None], sizes: Array, usual: float) -> None:
    """Let a task use the largest share of its sizes (n,), of 1, 1/2, 1/4 ..., that is allowed."""
    for share in 0.5 ** np.arange(_HALVINGS):
        vars(task).pop('start', None)  # of another share
        use(share * sizes)
        with suppress(ArmError):
            check(task)
            note_smaller(task, share * sizes, usual)
            return


def note_smaller(task: Task, sizes: Array | float, usual: float, unit: str = 'rad or m') -> None:
    """Note sizes below the usual one, since small motions and loads have small errors."""
    if (least := np.min(sizes)) < usual:
        who = task.robot.model.joint_names[np.argmin(sizes)] if np.ptp(sizes) else 'the arm'
        task.notes += (f'{least:.3g} {unit}: the limits of {who} forbid the usual {usual:g}',)


def fit_amplitude(
    task: Task, use: Callable[[Array], None], given: Sequence[float], usual: float, speed: float
) -> None:
    """Let a task use the amplitudes given, or those of `within` as far as they are allowed."""
    if given:
        use(per_joint('amplitude', given, task.robot.model.joint_names))
        return
    fit(task, use, within(task, usual, speed), usual)


def within(task: Task, usual: float, speed: float) -> Array:
    """Return amplitudes (n,) [rad | m]: the usual one, or less where range or speed is short.

    `speed`: largest velocity of the motion over its amplitude [1/s].
    """
    model = task.robot.model
    half = 0.5 * (model.position_upper - model.position_lower)
    return np.minimum(usual, _OF_LIMITS * np.minimum(half, model.velocity_limit / speed))


def share_of_effort(task: Task, torque: Array, q: Array, load: Array) -> float:
    """Return the largest factor of a load at which an arm keeps within its efforts.

    Args:
        task: has the arm.
        torque: (m, n) that it needs without the load [N.m | N].
        q: (m, n) configurations.
        load: (3,) force at the tool, in base axes [N].
    """
    model = task.robot.model
    asked = np.array([np.abs(model.jacobian(each)[:3].T @ load) for each in q])
    left = (_OF_LIMITS * model.effort_limit - np.abs(torque)).clip(0.0)
    return float(np.min(left[asked > 0.0] / asked[asked > 0.0], initial=np.inf))
