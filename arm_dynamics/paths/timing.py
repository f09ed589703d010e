"""Timing of one motion within limits of velocity, acceleration and torque."""

import importlib.util
import warnings
from collections.abc import Callable
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline

from arm_dynamics.checks import ArmError, Array, JointLimitError, typed
from arm_dynamics.model import RobotModel
from arm_dynamics.paths.cartesian_path import Lines, quintic

Timing = Literal['given', 'quintic', 'toppra']
MOST_POINTS = 100_000  # per motion


class TimingLimits(NamedTuple):
    """Limits (nv,) of velocity, acceleration and torque or force."""

    velocity: Array
    acceleration: Array
    effort: Array


class Piece(NamedTuple):
    """One motion's joint path q(s) and timing s(t), with the rate and acceleration of s."""

    motion: Lines
    joints: BSpline
    times: Array
    s: Array
    rate: Array
    acceleration: Array

    def joint_motion(self) -> tuple[Array, Array, Array]:
        """Return q, v, a (n, nv)."""
        first, second = self.joints(self.s, 1), self.joints(self.s, 2)
        v = first * self.rate[:, None]
        a = first * self.acceleration[:, None] + second * self.rate[:, None] ** 2
        return self.joints(self.s), v, a

    def tip_speed(self) -> Array:
        """Return the speed (n,) [m/s] of the tool on its path."""
        tangents = self.motion.at(self.s)[1]
        return np.linalg.norm(tangents[:, :3], axis=1) * self.rate

    def stretched(self, factor: float) -> Self:
        """Return the same motion, slower by a factor."""
        return self._replace(
            times=factor * self.times,
            rate=self.rate / factor,
            acceleration=self.acceleration / factor**2,
        )


def timed_piece(
    model: RobotModel,
    motion: Lines,
    joints: BSpline,
    timing: Timing,
    period: float,
    limits: TimingLimits,
    tip_speed: float = np.inf,
) -> Piece:
    """Return one motion with the requested timing, slowed down until it meets every limit."""
    piece = _smooth(motion, joints, motion.duration, period)
    slower = _slow_down(model, piece, limits, tip_speed)
    optimal = timing == 'toppra'
    if optimal:
        piece = _time_optimal(model, motion, joints, period, limits, tip_speed)
        slower = _slow_down(model, piece, limits, tip_speed)
    if timing != 'quintic' and slower <= 1.0 + 1e-9:
        return piece
    for _ in range(20):  # other sample times may meet a higher peak, and friction stays
        if optimal:
            piece = piece.stretched(slower)
        else:
            piece = _smooth(motion, joints, slower * piece.times[-1], period)
        slower = _slow_down(model, piece, limits, tip_speed) * (1.0 + 1e-9)
        if slower <= 1.0 + 1e-9:
            break
    return piece


def _sample_times(duration: float, period: float) -> Array:
    if duration > MOST_POINTS * period:
        raise ArmError(
            f'{duration:.6g} s in samples of {period:g} s are {duration / period:.3g} points; '
            f'allowed: {MOST_POINTS}; larger velocity, acceleration or tip speed limits help'
        )
    return np.linspace(0.0, duration, max(int(np.ceil(duration / period)), 50) + 1)


def _smooth(motion: Lines, joints: BSpline, duration: float, period: float) -> Piece:
    """Return the quintic timing."""
    times = _sample_times(duration, period)
    return Piece(motion, joints, times, *quintic(times, duration))


def check_toppra() -> None:
    """Raise ArmError where toppra is not installed."""
    if importlib.util.find_spec('toppra') is None:
        raise ArmError("time-optimal timing needs PyPI's toppra: " + typed('pip install toppra'))


def fastest_rates(
    model: RobotModel,
    joints: BSpline,
    limits: TimingLimits,
    grid: Array,
    fastest: Callable[[float], Array] | None = None,
) -> tuple[Array, Array, Array]:
    """Return the time-optimal motion along a joint path from rest to rest, by TOPP-RA.

    Source: Pham and Pham 2018, as PyPI's toppra has it.

    Args:
        model: the arm.
        joints: path q(s), twice differentiable.
        limits: of the joints.
        grid: (m,) values of s; d2s/dt2 is constant between them.
        fastest: limits of velocity (nv,) at s, in place of `limits.velocity`.

    Returns:
        d2s/dt2 (m - 1,) between the grid's points, and ds/dt (m,) and time (m,) at them.

    Raises:
        ArmError: no such motion, or toppra is not installed.
    """
    check_toppra()
    with warnings.catch_warnings():  # of escape sequences in its docstrings
        warnings.simplefilter('ignore', SyntaxWarning)
        from toppra import algorithm, constraint
        from toppra.interpolator import AbstractGeometricPath

    class Path(AbstractGeometricPath):
        """The joint path as toppra takes it."""

        dof = model.nv
        path_interval = grid[[0, -1]]

        def __call__(self, s: ArrayLike, order: int = 0) -> Array:
            return joints(s, order)

    def rigid(q: Array, v: Array, a: Array) -> Array:
        return model.inverse_dynamics(q, v, a) - model.friction_torque(v)

    def both(limit: Array, endless: float) -> Array:
        limit = np.minimum(limit, endless)
        return np.column_stack([-limit, limit])

    if fastest is not None:
        bounded = [constraint.JointVelocityConstraintVarying(lambda s: both(fastest(s), 1e6))]
    else:
        bounded = [constraint.JointVelocityConstraint(both(limits.velocity, 1e6))]
    if np.isfinite(limits.acceleration).any():
        bounded.append(constraint.JointAccelerationConstraint(both(limits.acceleration, 1e8)))
    if np.isfinite(limits.effort).any():
        bounded.append(
            constraint.SecondOrderConstraint.joint_torque_constraint(
                rigid, both(limits.effort, 1e9), model.friction
            )
        )
    solver = algorithm.TOPPRA(bounded, Path(), gridpoints=grid)
    accelerations, rates, _ = solver.compute_parameterization(0.0, 0.0)
    if rates is None:
        raise ArmError(
            'no timing within the limits exists, not even a slow one (TOPP-RA); larger '
            'acceleration or effort limits help'
        )
    spans = 2.0 * np.diff(grid) / (rates[1:] + rates[:-1])
    return accelerations, rates, np.concatenate([[0.0], np.cumsum(spans)])


def _time_optimal(
    model: RobotModel,
    motion: Lines,
    joints: BSpline,
    period: float,
    limits: TimingLimits,
    tip_speed: float,
) -> Piece:
    """Return the time-optimal timing: s(t) of piecewise constant acceleration."""

    def fastest(s: float) -> Array:
        """Return the joints' limits at s: where the tip's speed is bounded, its own as well."""
        length = float(np.linalg.norm(motion.at(np.array([s]))[1][0, :3]))
        own = np.abs(joints(s, 1)) * (tip_speed / max(length, 1e-12))
        return np.minimum(limits.velocity, np.maximum(own, 1e-9))

    grid = np.linspace(0.0, 1.0, 1001)
    bounded = fastest if np.isfinite(tip_speed) else None
    accelerations, rates, knots = fastest_rates(model, joints, limits, grid, bounded)
    times = _sample_times(knots[-1], period)
    which = np.clip(np.searchsorted(knots, times, side='right') - 1, 0, len(knots) - 2)
    since = times - knots[which]
    rate = rates[which] + accelerations[which] * since
    s = grid[which] + (rates[which] + 0.5 * accelerations[which] * since) * since
    return Piece(motion, joints, times, np.clip(s, 0.0, 1.0), rate, accelerations[which])


def _slow_down(model: RobotModel, piece: Piece, limits: TimingLimits, tip_speed: float) -> float:
    """Return the factor by which to stretch time so that every limit holds at every point.

    Raises:
        ArmError: as `slow_down`.
    """
    joints = slow_down(model, piece.joint_motion(), limits, piece.s)
    return max(joints, float(piece.tip_speed().max()) / tip_speed)


def slow_down(
    model: RobotModel, motion: tuple[Array, Array, Array], limits: TimingLimits, shares: Array
) -> float:
    """Return the factor by which to stretch time so that the joints' limits hold at every point.

    Stretched by k, v falls by k and a by k^2, and so does the torque beyond gravity and Coulomb
    friction: tau = g + f + (tau_1 - g - f) / k^2. (Viscous friction falls by k only.)

    Args:
        model: the arm.
        motion: q, v, a (n, nv).
        limits: the joints' limits.
        shares: (n,) share of the path at each point, for messages.

    Raises:
        ArmError: gravity and friction alone exceed an effort limit; names the joint.
    """
    q, v, a = motion
    slow = np.array([model.gravity_torque(each) for each in q]) + model.friction * np.sign(v)
    for row, joint in np.argwhere(np.abs(slow) > limits.effort):
        name, limit = model.joint_names[joint], limits.effort[joint]
        where = f'{shares[row]:.0%} of the way'
        quantity = 'torque against gravity and friction'
        values = (slow[row, joint], -limit, limit, model.prismatic[joint])
        raise JointLimitError(name, quantity, *values, where)
    moving = model.torques_along(q, v, a) - slow
    margin = np.where(moving > 0.0, limits.effort - slow, limits.effort + slow)
    with np.errstate(divide='ignore', invalid='ignore'):
        squares = np.where(moving == 0.0, 0.0, np.abs(moving) / margin)
    squared = max(float(squares.max()), float((np.abs(a) / limits.acceleration).max()))
    return max(float((np.abs(v) / limits.velocity).max()), float(np.sqrt(squared)))
