"""Tasks of inverse kinematics: tolerances and target poses, checked."""

from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, all_finite
from arm_dynamics.poses import pose_matrices


class IkTask(NamedTuple):
    """Tolerances that a solution has to meet, made by `ik_task`.

    Attributes:
        dead_zone: (6,) ignored error [m, m, m, rad, rad, rad] in the target's axes.
        tolerances: (2,) allowed position [m] and orientation [rad] error beyond the dead zone.
        full_pose: whether the dead zone is zero, so that every component counts.
    """

    dead_zone: Array
    tolerances: Array
    full_pose: bool


_ZEROS = np.zeros(16)
_FULL_POSE = IkTask(np.zeros(6), np.full(2, 1e-6), True)


def ik_task(
    position_tolerance: float = 1e-6,
    orientation_tolerance: float = 1e-6,
    position_only: bool = False,
    axis_tolerances: ArrayLike | None = None,
) -> IkTask:
    """Return the task of a set of tolerances; arguments as for `solve_ik`."""
    usual = position_tolerance == orientation_tolerance == 1e-6 and not position_only
    if usual and axis_tolerances is None:
        return _FULL_POSE
    tolerances = np.array([position_tolerance, orientation_tolerance], dtype=float)
    if not (tolerances > 0.0).all():
        raise ArmError(
            'IK tolerances must be positive, not '
            f'{position_tolerance} m and {orientation_tolerance} rad'
        )
    dead_zone = np.zeros(6)
    if axis_tolerances is not None:
        box = np.asarray(axis_tolerances, dtype=float)
        if box.shape != (6,) or not (box > 0.0).all():
            raise ArmError(
                'axis_tolerances must be six positive numbers [m, m, m, rad, rad, rad] '
                f'(inf for a free axis), not {axis_tolerances}'
            )
        tolerances = np.minimum(tolerances, (box[:3].min(), box[3:].min()))
        dead_zone = np.maximum(box - np.repeat(tolerances, 3), 0.0)
    if position_only:
        dead_zone[3:] = np.inf
    return IkTask(dead_zone, tolerances, not dead_zone.any())


def pose_matrix(pose: pin.SE3 | ArrayLike) -> Array:
    """Return the target pose as an array (4, 4), checked."""
    if not isinstance(pose, pin.SE3):
        return pose_matrices(np.asarray(pose, dtype=float)[None], 'the target pose')[0]
    matrix = pose.homogeneous
    if not all_finite(matrix.ravel(), _ZEROS):
        raise ArmError('the target pose is not finite')
    return matrix
