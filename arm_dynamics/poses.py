"""Poses of a tool as arrays, checked."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array


def pose_matrices(poses: Sequence[object] | ArrayLike, name: str = 'pose {} of the path') -> Array:
    """Return poses as an array (n, 4, 4); raises ArmError unless all are rigid transforms.

    `poses`: (n, 4, 4), or n objects pin.SE3.
    """
    if not isinstance(poses, np.ndarray):
        poses = [getattr(pose, 'homogeneous', pose) for pose in poses]  # type: ignore[union-attr]
    matrices = np.ascontiguousarray(poses, dtype=float)
    if matrices.ndim != 3 or matrices.shape[1:] != (4, 4) or not len(matrices):
        raise ArmError(f'poses are arrays (4, 4), at least one, not of shape {matrices.shape[1:]}')
    for k in np.flatnonzero(~np.isfinite(matrices).all(axis=(1, 2))):
        raise ArmError(f'{name.format(k)} is not finite')
    rotations = matrices[:, :3, :3]
    wrong = np.abs(rotations @ rotations.transpose(0, 2, 1) - np.eye(3)).max(axis=(1, 2))
    for k in np.flatnonzero((wrong > 1e-6) | (np.linalg.det(rotations) < 0.0)):
        raise ArmError(
            f'{name.format(k)} has no rotation matrix: R R^T differs from 1 by {wrong[k]:.1e}'
        )
    return matrices
