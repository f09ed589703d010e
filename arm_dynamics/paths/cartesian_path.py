"""Cartesian motions with timing: lines and arcs from rest to rest, and their joint motion.

A motion gives the tool's pose, twist and twist rate at any time. Twists are [v; omega] of the
tool frame's origin in axes aligned with the base frame, as the Jacobian of `RobotModel` has them.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from arm_dynamics.checks import ArmError, Array, finite
from arm_dynamics.model import RobotModel

PARTS = 201  # number of points at which a motion's joint path is solved


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


class CartesianGeometry(NamedTuple):
    """A path at n values of its parameter s, 0 at the start and 1 at the end.

    Twist is tangent * sdot, twist rate is tangent * sddot + curvature * sdot^2.

    Attributes:
        poses: (n, 4, 4) of the tool in the base frame.
        tangents: (n, 6) [m, rad] per unit of s.
        curvatures: (n, 6) [m, rad] per unit of s squared.
    """

    poses: Array
    tangents: Array
    curvatures: Array


def quintic(times: ArrayLike, duration: float) -> tuple[Array, Array, Array]:
    """Return s, sdot, sddot (n,) of s = 10 u^3 - 15 u^4 + 6 u^5, u = t / duration within [0, 1].

    From 0 to 1 with velocity and acceleration zero at both ends.
    """
    u = np.clip(np.asarray(times, dtype=float) / duration, 0.0, 1.0)
    s = u**3 * (10.0 + u * (6.0 * u - 15.0))
    rate = 30.0 * (u * (1.0 - u)) ** 2 / duration
    acceleration = 60.0 * u * (1.0 - u) * (1.0 - 2.0 * u) / duration**2
    return s, rate, acceleration


class Motion(ABC):
    """A Cartesian motion from rest to rest: the path is `at`, the timing a quintic's.

    Attributes:
        duration: [s].
        parts: number of even parameter values at which the joint path is solved.
        name: name in messages, may be empty.
    """

    parts = PARTS
    name = ''

    def __init__(self, duration: float):
        """Take a duration [s]."""
        if not (np.isfinite(duration) and duration > 0.0):
            raise ArmError(f'a duration must be positive and finite, not {duration} s')
        self.duration = float(duration)

    @abstractmethod
    def at(self, parts: Array) -> CartesianGeometry:
        """Return the path at parameters s (n,): 0 at its start, 1 at its end."""

    def sample(self, times: ArrayLike) -> CartesianSamples:
        """Return the motion at times [s] from its start; before and after it is at rest."""
        times = np.atleast_1d(np.asarray(times, dtype=float))
        s, rate, acceleration = quintic(times, self.duration)
        poses, tangents, curvatures = self.at(s)
        twists = rate[:, None] * tangents
        twist_rates = acceleration[:, None] * tangents + rate[:, None] ** 2 * curvatures
        return CartesianSamples(times, poses, twists, twist_rates)


class Line(Motion):
    """Straight line p = p0 + (p1 - p0) s(t), rotation about one fixed axis."""

    def __init__(self, start: pin.SE3, end: pin.SE3, duration: float):
        """Go from start to end in `duration` [s]."""
        super().__init__(duration)
        self.start, self.end = pin.SE3(start), pin.SE3(end)
        self._step = self.end.translation - self.start.translation
        self._turn = pin.log3(self.start.rotation.T @ self.end.rotation)

    def at(self, parts: Array) -> CartesianGeometry:
        """Return the path at parts (n,) of the way; see `Motion`."""
        poses = np.tile(self.start.homogeneous, (len(parts), 1, 1))
        poses[:, :3, 3] = self.start.translation + parts[:, None] * self._step
        poses[:, :3, :3] = self.start.rotation @ rotations_about(self._turn, parts)
        # The last pose is exactly the end, where the next motion starts.
        poses[parts == 1.0] = self.end.homogeneous
        along = np.concatenate([self._step, self.start.rotation @ self._turn])
        tangents = np.tile(along, (len(parts), 1))
        return CartesianGeometry(poses, tangents, np.zeros_like(tangents))


class Arc(Motion):
    """Circular arc about an axis; the tool turns with it or keeps its orientation."""

    def __init__(
        self,
        start: pin.SE3,
        center: ArrayLike,
        axis: ArrayLike,
        angle: float,
        duration: float,
        turn_tool: bool = False,
    ):
        """Turn the start's position about `axis` through `center` by `angle` in `duration`.

        Args:
            start: pose at the beginning.
            center, axis: (3,) [m] and direction, base frame.
            angle: [rad], positive by the right hand; may exceed a turn.
            duration: [s].
            turn_tool: the tool turns with the arc; otherwise its orientation is constant.
        """
        super().__init__(duration)
        self.start = pin.SE3(start)
        self.center = finite("an arc's center", center, (3,))
        direction = finite("an arc's axis", axis, (3,))
        if not direction.any():
            raise ArmError("an arc's axis must not be zero")
        self._turn = angle * direction / np.linalg.norm(direction)
        self.turn_tool = turn_tool

    def at(self, parts: Array) -> CartesianGeometry:
        """Return the path at parts (n,) of the way; see `Motion`."""
        rotations = rotations_about(self._turn, parts)
        arms = rotations @ (self.start.translation - self.center)
        poses = np.tile(self.start.homogeneous, (len(parts), 1, 1))
        poses[:, :3, 3] = self.center + arms
        tangents, curvatures = np.zeros((len(parts), 6)), np.zeros((len(parts), 6))
        tangents[:, :3] = np.cross(self._turn, arms)
        curvatures[:, :3] = np.cross(self._turn, tangents[:, :3])
        if self.turn_tool:
            poses[:, :3, :3] = rotations @ self.start.rotation
            tangents[:, 3:] = self._turn
        return CartesianGeometry(poses, tangents, curvatures)

    @property
    def end(self) -> pin.SE3:
        """Pose at the end of the arc."""
        return pin.SE3(self.at(np.ones(1)).poses[0])


class Sequential:
    """A sequence of motions."""

    def __init__(self, motions: Sequence[Motion]):
        """Join motions, each of which starts where the previous one ends."""
        if not motions:
            raise ArmError('a Cartesian path needs at least one motion')
        self.motions = list(motions)
        self.ends = np.cumsum([motion.duration for motion in motions])
        self.duration = float(self.ends[-1])

    def sample(self, times: ArrayLike) -> CartesianSamples:
        """Return the motion at times [s]; see `Motion`."""
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
    return Sequential([Line(a, b, segment_time) for a, b in pairwise(corners)])


def joint_path_derivatives(
    model: RobotModel,
    q: ArrayLike,
    twists: ArrayLike,
    twist_rates: ArrayLike,
    frame: str | None = None,
) -> tuple[Array, Array]:
    """Return joint velocities and accelerations (n, nv) of a joint path that follows a motion.

    v = J^-1 V and a = J^-1 (Vdot - Jdot v).

    Args:
        q: (n, nq) joint path, from `solve_path_ik` for the motion's poses.
        twists, twist_rates: (n, 6) of the same motion.
        frame: the frame that moves; None: the tool frame.

    Raises:
        ArmError: J is not square (the motion does not determine v), or singular at some point.
    """
    q = np.asarray(q, dtype=float)
    if model.nv != 6:
        raise ArmError(
            f'{model.name!r} has {model.nv} joints: a tool motion determines the joint velocities '
            'of six-joint arms only; fit a spline to the joint path instead'
        )
    twists = finite('twists', twists, (len(q), 6))
    twist_rates = finite('twist_rates', twist_rates, (len(q), 6))
    jacobians = np.array([model.jacobian(each, frame) for each in q])
    conditions = np.linalg.cond(jacobians)
    if not (conditions < 1e12).all():
        worst = int(np.argmax(conditions))
        raise ArmError(f'point {worst}: the arm is singular there, joint velocities are undefined')
    velocities = np.linalg.solve(jacobians, twists[:, :, None])[:, :, 0]
    still, pairs = np.zeros(model.nv), zip(q, velocities, strict=True)
    drift = np.array([model.frame_motion(*each, still, frame).acceleration for each in pairs])
    accelerations = np.linalg.solve(jacobians, (twist_rates - drift)[:, :, None])[:, :, 0]
    return velocities, accelerations


def rotations_about(turn: Array, parts: Array) -> Array:
    """Return exp(part * [turn]) (n, 3, 3)."""
    return np.array([pin.exp3(part * turn) for part in parts])
