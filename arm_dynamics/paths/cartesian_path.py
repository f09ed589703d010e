"""Cartesian motions with timing: lines from rest to rest, and their joint motion.

A motion gives the tool's pose, twist and twist rate at any time. Twists are [v; omega] of the
tool frame's origin in axes aligned with the base frame, as the Jacobian of `RobotModel` has them.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from eigenpy import PartialPivLU
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, finite
from arm_dynamics.model import RobotModel
from arm_dynamics.poses import pose_matrices

PARTS = 201  # number of points at which a motion's joint path is solved
LEVER = 0.1  # [m] length that counts as much as a turn by one radian


class CartesianSamples(NamedTuple):
    """A Cartesian motion sampled at n times.

    Attributes:
        times: (n,) [s].
        poses: (n, 4, 4) of the tool in the base frame.
        twists: (n, 6) [m/s, rad/s].
        twist_rates: (n, 6) [m/s^2, rad/s^2].
    """

    times: Array
    poses: Array
    twists: Array
    twist_rates: Array


def quintic(times: ArrayLike, duration: float) -> tuple[Array, Array, Array]:
    """Return s, sdot, sddot (n,) of s = 10 u^3 - 15 u^4 + 6 u^5, u = t / duration within [0, 1].

    From 0 to 1 with velocity and acceleration zero at both ends.
    """
    u = np.clip(np.asarray(times, dtype=float) / duration, 0.0, 1.0)
    s = u * u * u * (10.0 + u * (6.0 * u - 15.0))
    rate = 30.0 * (u * (1.0 - u)) ** 2 / duration
    acceleration = 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / duration**2
    return s, rate, acceleration


class Lines:
    """Straight lines through poses from rest to rest; each line turns about one fixed axis.

    Attributes:
        duration: [s].
        parts: number of even parameter values at which the joint path is solved.
        name: name in messages, may be empty.
    """

    def __init__(self, poses: Sequence[pin.SE3] | ArrayLike, duration: float, name: str = ''):
        """Take poses (n, 4, 4), n >= 2, each different from the previous one, a duration [s].

        Raises:
            ArmError: malformed poses, or a duration that is not positive and finite.
        """
        if not (np.isfinite(duration) and duration > 0.0):
            raise ArmError(f'a duration must be positive and finite, not {duration} s')
        self.duration, self.name = float(duration), name
        self._poses = pose_matrices(poses)
        self._steps, self._turns = steps_between(self._poses)
        lengths = step_lengths(self._steps, self._turns)
        # One line alone may be a rest, of length zero.
        self._ends = np.cumsum(lengths) / lengths.sum() if len(lengths) > 1 else np.ones(1)
        self._shares = np.diff(self._ends, prepend=0.0)
        self.parts = max(PARTS, len(self._poses))

    def at(self, parts: Array) -> tuple[Array, Array]:
        """Return poses (n, 4, 4) and tangents (n, 6) [m, rad] at shares (n,) of the length."""
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
        return poses, np.hstack([self._steps[line], along]) / share[:, None]

    def sample(self, times: ArrayLike) -> CartesianSamples:
        """Return the motion at times [s] from its start; before and after it is at rest."""
        times = np.atleast_1d(np.asarray(times, dtype=float))
        s, rate, acceleration = quintic(times, self.duration)
        poses, tangents = self.at(s)
        twists, twist_rates = rate[:, None] * tangents, acceleration[:, None] * tangents
        return CartesianSamples(times, poses, twists, twist_rates)


def steps_between(poses: Array) -> tuple[Array, Array]:
    """Return translations [m] and turns [rad] (n - 1, 3) from pose to pose (n, 4, 4)."""
    relative = poses[:-1, :3, :3].transpose(0, 2, 1) @ poses[1:, :3, :3]
    turns = np.array([pin.log3(each) for each in relative]).reshape(-1, 3)
    return np.diff(poses[:, :3, 3], axis=0), turns


def step_lengths(steps: Array, turns: Array) -> Array:
    """Return the lengths (n,) of steps with turns [m]."""
    return np.hypot(np.linalg.norm(steps, axis=1), LEVER * np.linalg.norm(turns, axis=1))


class Sequential:
    """A sequence of motions."""

    def __init__(self, motions: Sequence[Lines]):
        """Join motions, each of which starts where the previous one ends."""
        if not motions:
            raise ArmError('a Cartesian path needs at least one motion')
        self.motions = list(motions)
        self.ends = np.cumsum([motion.duration for motion in motions])
        self.duration = float(self.ends[-1])

    def sample(self, times: ArrayLike) -> CartesianSamples:
        """Return the motion at times [s]; see `Lines`."""
        times = np.atleast_1d(np.asarray(times, dtype=float))
        which = np.minimum(np.searchsorted(self.ends, times, side='left'), len(self.motions) - 1)
        poses = np.empty((len(times), 4, 4))
        twists, twist_rates = np.empty((len(times), 6)), np.empty((len(times), 6))
        for index in np.unique(which):
            motion, here = self.motions[index], which == index
            part = motion.sample(times[here] - (self.ends[index] - motion.duration))
            poses[here], twists[here], twist_rates[here] = part[1:]
        return CartesianSamples(times, poses, twists, twist_rates)


def polyline(points: ArrayLike, rotation: ArrayLike, segment_time: float) -> Sequential:
    """Return straight lines through points (n, 3), each from rest to rest, of one orientation."""
    points = np.asarray(points, dtype=float)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 2:
        raise ArmError(f'a polyline needs points (n, 3), n >= 2, not {points.shape}')
    corners = [pin.SE3(np.asarray(rotation, dtype=float), point) for point in points]
    return Sequential([Lines(pair, segment_time) for pair in pairwise(corners)])


def joint_path_derivatives(
    model: RobotModel, q: ArrayLike, twists: ArrayLike, twist_rates: ArrayLike
) -> tuple[Array, Array]:
    """Return velocities and accelerations (n, nv) of a joint path that follows a tool motion.

    v = J^-1 V and a = J^-1 (Vdot - Jdot v).

    Args:
        q: (n, nq) joint path, from `solve_path_ik` for the motion's poses.
        twists, twist_rates: (n, 6) of the same motion.

    Raises:
        ArmError: J is not square (the motion does not determine v), or singular at some point.
    """
    q = np.asarray(q, dtype=float)
    twists = finite('twists', twists, (len(q), 6))
    twist_rates = finite('twist_rates', twist_rates, (len(q), 6))
    jacobians = np.array([model.jacobian(each) for each in q])
    moving = np.abs(jacobians).max(axis=(0, 1)) > 0.0  # not the fingers of a gripper
    if moving.sum() != 6:
        raise ArmError(
            f'{model.name!r} has {moving.sum()} joints: a tool motion determines the joint '
            'velocities of six-joint arms only; fit a spline to the joint path instead'
        )
    jacobians = jacobians[:, :, moving]
    conditions = np.linalg.cond(jacobians)
    if not (conditions < 1e12).all():
        worst = int(np.argmax(conditions))
        raise ArmError(f'point {worst}: the arm is singular there, joint velocities are undefined')
    velocities, accelerations = np.zeros((2, len(q), model.nv))
    velocities[:, moving] = _solved(jacobians, twists)
    still, pairs = np.zeros(model.nv), zip(q, velocities, strict=True)
    drift = np.array([model.frame_motion(*each, still).acceleration for each in pairs])
    accelerations[:, moving] = _solved(jacobians, twist_rates - drift)
    return velocities, accelerations


def _solved(matrices: Array, right: Array) -> Array:
    """Return matrix^-1 right (k, n) of matrices (k, n, n), with the bits of Eigen on all CPUs."""
    return np.array([PartialPivLU(a).solve(b) for a, b in zip(matrices, right, strict=True)])
