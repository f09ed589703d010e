"""Inverse kinematics of paths: one continuous joint path, or the first impossible pose."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.inverse_kinematics.arm import (
    DEFAULT_RESTARTS,
    InverseKinematics,
    inverse_kinematics,
)
from arm_dynamics.inverse_kinematics.residual import (
    condition_number,
    largest_residuals,
    meets,
    singular_values_at,
)
from arm_dynamics.inverse_kinematics.solvers.levenberg_marquardt import minimise
from arm_dynamics.inverse_kinematics.task import IkTask, ik_task
from arm_dynamics.inverse_kinematics.tracking import follow
from arm_dynamics.inverse_kinematics.verification import is_redundant
from arm_dynamics.kinematics.chain import Chain
from arm_dynamics.model import RobotModel
from arm_dynamics.poses import pose_matrices

STEP_BOUND = 0.15  # [rad | m] largest joint motion in one part of a path
_SAME_SOLUTION = 1e-3  # [rad | m]
_TURN = 2.0 * np.pi


class PathIkResult(NamedTuple):
    """Result of inverse kinematics for a path.

    Attributes:
        success: every pose is met, in order, on one branch and within the joint limits.
        q: (n, nq) joint path; without success the poses before `first_failure`.
        first_failure: index of the first pose that cannot be met, -1 if none.
        reason: empty on success, else why.
        max_position_error: [m] over q, by Pinocchio's forward kinematics.
        max_orientation_error: [rad] over q, by Pinocchio's forward kinematics.
        max_joint_step: [rad | m] largest change of a joint from pose to pose.
    """

    success: bool
    q: Array
    first_failure: int
    reason: str
    max_position_error: float
    max_orientation_error: float
    max_joint_step: float


def solve_path_ik(
    model: RobotModel,
    poses: Sequence[pin.SE3] | ArrayLike,
    seed: ArrayLike | None = None,
    *,
    frame: str | None = None,
    position_tolerance: float = 1e-6,
    orientation_tolerance: float = 1e-6,
    position_only: bool = False,
    axis_tolerances: ArrayLike | None = None,
    restarts: int = DEFAULT_RESTARTS,
    random_seed: int = 0,
    from_seed: bool = False,
) -> PathIkResult:
    """Find one continuous joint path within limits through all poses.

    Every solution of the first pose starts a branch. Branches are followed along the straight
    motions between the poses, nearest to the seed first, and the first that is feasible to the
    end is the answer; full turns of a joint are chosen for the whole path, not pose by pose.

    Args:
        poses: n poses of the frame in the base frame: pin.SE3s or an array (n, 4, 4).
        seed: (nq,) what the first configuration should be near.
        from_seed: the seed is the first configuration and meets the first pose; other branches
            are not tried.
        model, frame, position_tolerance, orientation_tolerance, position_only, axis_tolerances,
            restarts, random_seed: as for `solve_ik`.

    Raises:
        ArmError: malformed arguments.
    """
    ik = inverse_kinematics(model, frame)
    targets = pose_matrices(poses)
    start = ik.checked_seed(seed)
    task = ik_task(position_tolerance, orientation_tolerance, position_only, axis_tolerances)
    if from_seed:
        first, reason = [start[ik.chain.joints]], ''
    else:
        first, reason = _first_configurations(ik, targets[0], start, task, restarts, random_seed)
    reached, path = 0, np.empty((0, ik.chain.n))
    for configuration in first:
        branch = _follow(ik, targets, configuration, task, start[ik.chain.joints], from_seed)
        if branch[0] > reached or not reached:
            reached, path, reason = branch
        if reached == len(targets):
            break
    success = reached == len(targets)
    q = np.tile(start, (reached, 1))
    q[:, ik.chain.joints] = path[:reached]
    position, orientation = path_errors(model, frame, q, targets[:reached], task)
    if success and not meets(task, position / 1.01, orientation / 1.01):
        error = f'{1e3 * position:.1e} mm, {orientation:.1e} rad'
        raise ArmError(f'path IK missed its poses by {error}')
    return PathIkResult(
        success,
        q,
        -1 if success else reached,
        '' if success else f'pose {reached}: {reason}',
        position,
        orientation,
        float(np.abs(np.diff(q, axis=0)).max(initial=0.0)),
    )


def _first_configurations(
    ik: InverseKinematics,
    target: Array,
    seed: Array,
    task: IkTask,
    restarts: int,
    random_seed: int,
) -> tuple[list[Array], str]:
    """Return all solutions (n,) found for the first pose, nearest to the seed first."""
    result = ik.solve(target, seed, task, 'auto', restarts, random_seed)
    start = seed[ik.chain.joints]
    found = [result.q[ik.chain.joints]] if result.success else []
    if ik.analytic is not None and task.full_pose:
        found.extend(ik.all_solutions(target, task, limits=False))
    if result.success and result.solver != 'analytic':
        for q in ik.starts(start, restarts, random_seed):
            _, position, orientation = minimise((40, 6), ik.chain.arrays, task, target, q)
            if meets(task, position, orientation):
                found.append(q)
    endless = ~ik.chain.prismatic & (ik.chain.upper - ik.chain.lower >= _TURN)

    def apart(q: Array, origin: Array) -> Array:
        step = q - origin
        return np.where(endless, np.remainder(step + np.pi, _TURN) - np.pi, step)

    distinct: list[Array] = []
    for q in sorted(found, key=lambda q: float(np.linalg.norm(apart(q, start)))):
        if all(np.abs(apart(q, other)).max() > _SAME_SOLUTION for other in distinct):
            distinct.append(q)
    return distinct, result.reason


def _follow(
    ik: InverseKinematics,
    targets: Array,
    configuration: Array,
    task: IkTask,
    seed: Array,
    fixed: bool,
) -> tuple[int, Array, str]:
    """Follow one branch; return the number of poses it meets, its path (n, chain.n), the reason.

    `fixed`: the branch starts at `configuration`, not a full turn of a joint away.
    """
    chain, reason = ik.chain, ''
    path = np.empty((len(targets), chain.n))
    path[0] = configuration
    redundant = is_redundant(chain.arrays, task)
    arrays = chain.arrays if redundant else chain.unlimited
    reached, part = follow(arrays, task, targets, STEP_BOUND, path)
    if reached < len(targets):
        reason = _why_stopped(ik, targets, reached, part, path, task)
    if reached and not redundant:
        reached, reason = _choose_turns(chain, path[:reached], seed, reason, fixed)
    return reached, path, reason


def _why_stopped(
    ik: InverseKinematics, targets: Array, pose: int, part: float, path: Array, task: IkTask
) -> str:
    seed = ik.all_joints(path[max(pose - 1, 0)], ik.middle)
    alone = ik.solve(targets[pose], seed, task, 'auto', 20, 0)
    if not alone.success:
        return alone.reason
    condition = condition_number(singular_values_at(ik.chain.arrays, path[pose - 1]))
    return (
        f'reachable, but not continuously from the pose before it: the branch ends {part:.0%} of '
        f'the way (condition number {condition:.3g} at pose {pose - 1})'
    )


def _choose_turns(
    chain: Chain, path: Array, seed: Array, reason: str, fixed: bool
) -> tuple[int, str]:
    """Shift each revolute joint of a path (n, chain.n), in place, by full turns into its limits.

    Returns the number of poses that are then within limits, and why the next one is not; `reason`
    if all are.
    """
    reached, slack = len(path), 1e-9
    for i in range(chain.n):
        nearest = np.round((seed[i] - path[0, i]) / _TURN)
        shifts = (
            [0.0]
            if chain.prismatic[i] or fixed
            else _TURN * (nearest + np.array([0, 1, -1, 2, -2]))
        )
        best, best_shift = -1, 0.0
        for shift in sorted(shifts, key=lambda s: abs(path[0, i] + s - seed[i])):
            column = path[:reached, i] + shift
            beyond = (column > chain.upper[i] + slack) | (column < chain.lower[i] - slack)
            count = int(beyond.argmax()) if beyond.any() else reached
            if count > best:
                best, best_shift = count, float(shift)
        path[:, i] += best_shift
        if best < reached:
            reached = best
            error = chain.limit_error(i, path[best, i])
            reason = f'{error} on this branch' + (', and no better branch exists' * (not fixed))
        np.clip(path[:reached, i], chain.lower[i], chain.upper[i], out=path[:reached, i])
    return reached, reason


def path_errors(
    model: RobotModel, frame: str | None, q: Array, targets: Array, task: IkTask
) -> tuple[float, float]:
    """Return the largest errors [m], [rad] of a path (n, nq) from poses (n, 4, 4), by Pinocchio.

    This is independent of the code that solved the path. Infinite for an empty path.
    """
    if not len(q):
        return float('inf'), float('inf')
    poses = np.array([model.forward_kinematics(each, frame).homogeneous for each in q])
    return largest_residuals(task, targets, poses)
