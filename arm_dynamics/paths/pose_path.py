"""Paths through poses: straight lines from pose to pose, at rest in corners."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, in_range
from arm_dynamics.inverse_kinematics.task import pose_matrices
from arm_dynamics.paths.cartesian_path import (
    PARTS,
    CartesianGeometry,
    Motion,
    Sequential,
)

CORNER = 0.1  # [rad]
_LEVER = 0.1  # [m] length that counts as much as a turn by one radian
_SAME = 1e-9  # [m]


class Lines(Motion):
    """Straight lines through poses without stops; each line turns about one fixed axis."""

    def __init__(self, poses: Array, duration: float):
        """Take poses (n, 4, 4), each different from the previous one, and a duration [s]."""
        super().__init__(duration)
        self._poses, self._steps, self._turns = poses, *_steps(poses)
        ends = np.cumsum(_lengths(self._steps, self._turns))
        self._ends = ends / ends[-1]
        self._shares = np.diff(self._ends, prepend=0.0)
        self.parts = max(PARTS, len(poses))

    def at(self, parts: Array) -> CartesianGeometry:
        """Return the path at parts (n,) of its length; see `Motion`."""
        line = np.minimum(np.searchsorted(self._ends, parts, 'left'), len(self._ends) - 1)
        share = self._shares[line]
        within = 1.0 - (self._ends[line] - parts) / share
        poses = self._poses[line].copy()
        poses[:, :3, 3] += within[:, None] * self._steps[line]
        turns = within[:, None] * self._turns[line]
        poses[:, :3, :3] @= np.array([pin.exp3(turn) for turn in turns])
        ends = within == 1.0
        poses[ends] = self._poses[line[ends] + 1]
        along = np.einsum('nij,nj->ni', self._poses[line, :3, :3], self._turns[line])
        tangents = np.hstack([self._steps[line], along]) / share[:, None]
        return CartesianGeometry(poses, tangents, np.zeros_like(tangents))


def pose_path(
    poses: Sequence[pin.SE3] | ArrayLike,
    times: ArrayLike | None = None,
    corner: float = CORNER,
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
    moves = _lengths(*_steps(matrices)) > _SAME
    if not moves.any():
        raise ArmError('a timed path needs two poses that differ')
    kept = np.flatnonzero(np.append(True, moves))
    matrices, when = matrices[kept], when[kept]
    steps, turns = _steps(matrices)
    turns = np.einsum('nij,nj->ni', matrices[:-1, :3, :3], turns)
    ways = np.hstack([steps, _LEVER * turns])
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    bends = np.arccos(np.clip((ways[1:] * ways[:-1]).sum(axis=1), -1.0, 1.0))
    corners = [0, *(np.flatnonzero(bends > corner) + 1), len(matrices) - 1]
    motions = []
    for a, b in pairwise(corners):
        motions.append(Lines(matrices[a : b + 1], when[b] - when[a]))
        motions[-1].name = f'on the way to pose {kept[b]}'
    return Sequential(motions)


def _steps(poses: Array) -> tuple[Array, Array]:
    """Return translations [m] and turns [rad] (n - 1, 3) from pose to pose."""
    relative = poses[:-1, :3, :3].transpose(0, 2, 1) @ poses[1:, :3, :3]
    turns = np.array([pin.log3(each) for each in relative]).reshape(-1, 3)
    return np.diff(poses[:, :3, 3], axis=0), turns


def _lengths(steps: Array, turns: Array) -> Array:
    """Return the lengths (n,) of steps with turns [m]."""
    return np.hypot(np.linalg.norm(steps, axis=1), _LEVER * np.linalg.norm(turns, axis=1))
