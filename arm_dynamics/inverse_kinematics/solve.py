"""Joint positions for one pose: one call, any solver, always an answer with its reason."""

from typing import Literal, get_args

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.inverse_kinematics.arm import (
    DEFAULT_RESTARTS,
    IkResult,
    InverseKinematics,
    inverse_kinematics,
)
from arm_dynamics.inverse_kinematics.residual import singular_values_at
from arm_dynamics.inverse_kinematics.task import IkTask, ik_task, pose_matrix
from arm_dynamics.model import RobotModel

Preference = Literal['nearest', 'manipulability', 'limits']


def solve_ik(
    model: RobotModel,
    target: pin.SE3 | ArrayLike,
    seed: ArrayLike | None = None,
    *,
    frame: str | None = None,
    position_tolerance: float = 1e-6,
    orientation_tolerance: float = 1e-6,
    position_only: bool = False,
    axis_tolerances: ArrayLike | None = None,
    solver: str = 'auto',
    prefer: Preference = 'nearest',
    restarts: int = DEFAULT_RESTARTS,
    random_seed: int = 0,
) -> IkResult:
    """Find q within the joint limits that brings a frame to a target pose.

    Args:
        model: the arm.
        target: pose of the frame in the base frame, pin.SE3 or (4, 4).
        seed: (nq,) where to start, and what to stay near; None: the middle of the limits.
        frame: name of the frame; None: the tool frame. Joints that do not move it keep `seed`.
        position_tolerance: [m] allowed distance from the target.
        orientation_tolerance: [rad] allowed rotation from the target.
        position_only: the orientation is free.
        axis_tolerances: (6,) allowed error per component of (translation [m], rotation vector
            [rad]) in the target's axes; inf: free. (1e-6, 1e-6, 1e-6, 1e-6, 1e-6, inf) is a
            position and the approach direction z.
        solver: one of `solver_names()`; 'auto': 'analytic' where there is a closed form and the
            whole pose counts, else 'levenberg_marquardt'. Without a solution, 'analytic' uses
            'levenberg_marquardt' for the nearest pose.
        prefer: of several closed-form solutions the 'nearest' to the seed, the one of the highest
            'manipulability', or the one furthest from its joint 'limits'.
        restarts: random starts after the seed, for the iterative solvers.
        random_seed: of those starts: equal calls give equal answers.

    Returns:
        The solution, checked by forward kinematics, or the nearest pose (least squares of metres
        and radians) and the reason.

    Raises:
        ArmError: a malformed argument, or solver 'analytic' where there is no closed form.
    """
    ik = inverse_kinematics(model, frame)
    matrix = pose_matrix(target)
    start = ik.checked_seed(seed)
    task = ik_task(position_tolerance, orientation_tolerance, position_only, axis_tolerances)
    if not isinstance(restarts, int) or not 0 <= restarts <= 10_000:
        raise ArmError(f'restarts must be an integer from 0 to 10000, not {restarts!r}')
    if prefer != 'nearest':
        start = _preferred(ik, matrix, task, start, prefer)
    return ik.solve(matrix, start, task, solver, restarts, random_seed)


def _preferred(
    ik: InverseKinematics, target: Array, task: IkTask, seed: Array, prefer: Preference
) -> Array:
    """Return the seed with the chain's joints at the best closed-form solution, if any."""
    if prefer not in get_args(Preference):
        raise ArmError(f'no preference {prefer!r}; there are: {", ".join(get_args(Preference))}')
    if ik.analytic is None or not task.full_pose:
        return seed
    solutions = ik.all_solutions(target, task)
    if not len(solutions):
        return seed
    chain = ik.chain
    if prefer == 'limits':
        scores = np.minimum(solutions - chain.lower, chain.upper - solutions).min(axis=1)
    else:
        scores = np.array([singular_values_at(chain.arrays, q).prod() for q in solutions])
    return ik.all_joints(solutions[int(scores.argmax())], seed)
