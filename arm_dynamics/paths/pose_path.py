"""Paths through poses: straight lines from pose to pose, at rest in corners."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, in_range
from arm_dynamics.paths.cartesian_path import LEVER, Lines, Sequential, step_lengths, steps_between
from arm_dynamics.poses import pose_matrices

CORNER = 0.1  # [rad]
_SAME = 1e-9  # [m]


def pose_path(
    poses: Sequence[pin.SE3] | ArrayLike, times: ArrayLike | None = None, corner: float = CORNER
) -> Sequential:
    """Return the motion through poses: straight lines, rest to rest between corners.

    Args:
        poses: n poses in the base frame, (n, 4, 4); repetitions of a pose count once.
        times: (n,) [s] of the poses, increasing; None: one second each. Exact at corners; between
            them the timing is a quintic's, and the tool is at a pose a little earlier or later.
        corner: [rad] the tool stops where the path turns by more. A turn of the tool by one radian
            counts as 0.1 m.

    Raises:
        ArmError: no two poses differ; malformed poses or times.
    """
    matrices = pose_matrices(poses)
    in_range('corner_angle', corner, 0.0, np.pi)
    when = np.arange(len(matrices), dtype=float) if times is None else np.array(times, dtype=float)
    if when.shape != (len(matrices),):
        raise ArmError(f'{when.size} times for {len(matrices)} poses; one per pose is allowed')
    for k in np.flatnonzero(~(np.isfinite(when) & (np.diff(when, prepend=-np.inf) > 0.0))):
        raise ArmError(f'time {when[k]:g} s of pose {k} is not after the one before it')
    moves = step_lengths(*steps_between(matrices)) > _SAME
    if not moves.any():
        raise ArmError('a timed path needs two poses that differ')
    kept = np.flatnonzero(np.append(True, moves))
    matrices, when = matrices[kept], when[kept]
    steps, turns = steps_between(matrices)
    turns = np.einsum('nij,nj->ni', matrices[:-1, :3, :3], turns)
    ways = np.hstack([steps, LEVER * turns])
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    bends = np.arccos(np.clip((ways[1:] * ways[:-1]).sum(axis=1), -1.0, 1.0))
    corners = [0, *(np.flatnonzero(bends > corner) + 1), len(matrices) - 1]
    motions = []
    for a, b in pairwise(corners):
        name = f'on the way to pose {kept[b]}'
        motions.append(Lines(matrices[a : b + 1], when[b] - when[a], name))
    return Sequential(motions)
