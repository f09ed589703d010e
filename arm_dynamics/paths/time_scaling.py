"""Timing of Cartesian motions: as fast as joint limits allow, on exactly the given path."""

from typing import Literal, NamedTuple, get_args

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline, make_interp_spline

from arm_dynamics.arrays import Array
from arm_dynamics.checks import in_range, one_of, per_joint
from arm_dynamics.errors import ArmError, limit_error
from arm_dynamics.inverse_kinematics.path import solve_path_ik
from arm_dynamics.model import RobotModel
from arm_dynamics.paths.cartesian_path import Motion, Sequential, quintic

Timing = Literal['given', 'quintic', 'toppra']

_POINTS = 201  # path poses per motion, through which the joint path is interpolated


class TimedPath(NamedTuple):
    """A joint trajectory along a Cartesian path, or why there is none.

    Attributes:
        success: the trajectory follows the path within every limit.
        times: (n,) [s].
        q, v, a: (n, nv) positions, velocities, accelerations.
        effort: (n, nv) torque [N.m] or force [N] that inverse dynamics asks.
        velocity_share, acceleration_share, effort_share: largest share of a limit that is used.
        path_error: [m] largest distance of the tool from the path, also between the points.
        orientation_error: [rad] likewise.
        reason: empty on success, else why not.
    """

    success: bool
    times: Array
    q: Array
    v: Array
    a: Array
    effort: Array
    velocity_share: float
    acceleration_share: float
    effort_share: float
    path_error: float
    orientation_error: float
    reason: str


class _Limits(NamedTuple):
    velocity: Array
    acceleration: Array
    effort: Array


class _Piece(NamedTuple):
    """One motion's joint path q(s) and timing s(t)."""

    motion: Motion
    joints: BSpline
    times: Array
    s: Array
    rate: Array
    acceleration: Array


def time_motion(
    model: RobotModel,
    motion: Motion | Sequential,
    seed: ArrayLike | None = None,
    *,
    timing: Timing = 'quintic',
    sample_period: float = 0.01,
    frame: str | None = None,
    velocity_limit: ArrayLike | None = None,
    acceleration_limit: ArrayLike | None = None,
    effort_limit: ArrayLike | None = None,
) -> TimedPath:
    """Solve a Cartesian motion's inverse kinematics and time it within the joint limits.

    Rest to rest for each motion of a sequence, so that corners stay corners. Timing changes when
    the tool is where on its path, never the path.

    Args:
        model: the arm.
        motion: the path; its own durations count for timing 'given' only.
        seed: (nq,) what the first configuration should be near.
        timing: 'given': the motion's own, slowed down where limits demand it; 'quintic': the
            fastest rest-to-rest quintic, smooth; 'toppra': the fastest there is (time-optimal,
            with jumps of acceleration; needs PyPI's toppra).
        sample_period: [s] of the trajectory's points.
        frame: the frame that moves; None: the tool frame.
        velocity_limit, acceleration_limit, effort_limit: (nv,) or one for all joints; None: the
            model's, and no limit of acceleration.

    Raises:
        ArmError: malformed arguments, or timing 'toppra' without toppra.
    """
    one_of('timing', timing, get_args(Timing))
    in_range('sample_period', sample_period, 1e-5, 10.0)
    limits = _Limits(
        _limit('velocity_limit', velocity_limit, model.velocity_limit, model),
        _limit('acceleration_limit', acceleration_limit, np.full(model.nv, np.inf), model),
        _limit('effort_limit', effort_limit, model.effort_limit, model),
    )
    endless = np.isinf(limits.velocity) & np.isinf(limits.acceleration) & np.isinf(limits.effort)
    if timing != 'given' and endless.any():
        joint = model.joint_names[int(endless.argmax())]
        raise ArmError(f'joint {joint!r} has no limit at all, hence no fastest motion: give one')
    motions = motion.motions if isinstance(motion, Sequential) else [motion]
    parts = np.linspace(0.0, 1.0, _POINTS)
    poses = np.concatenate([each.at(parts).poses for each in motions])
    solution = solve_path_ik(
        model, poses, seed, frame=frame, position_tolerance=1e-9, orientation_tolerance=1e-9
    )
    if not solution.success:
        return _refused(model, solution.reason)
    pieces = []
    for index, each in enumerate(motions):
        rows = solution.q[index * _POINTS : (index + 1) * _POINTS]
        joints = make_interp_spline(parts, rows, k=5)
        try:
            pieces.append(_time_piece(model, each, joints, timing, sample_period, limits))
        except ArmError as error:
            return _refused(model, f'motion {index}: {error}')
    return _joined(model, pieces, limits, frame)


def _time_piece(
    model: RobotModel,
    motion: Motion,
    joints: BSpline,
    timing: Timing,
    period: float,
    limits: _Limits,
) -> _Piece:
    """Return one motion with the timing asked for, stretched until it meets every limit."""
    if timing == 'toppra':
        piece = _toppra_piece(model, motion, joints, period, limits)
    else:
        piece = _quintic_piece(motion, joints, motion.duration, period)
    slower = _slow_down(model, piece, limits)
    if timing == 'given' and slower <= 1.0:
        return piece
    if timing == 'toppra':
        if slower <= 1.0 + 1e-9:
            return piece
        duration = slower * piece.times[-1]
        times = slower * piece.times
        return piece._replace(
            times=times, rate=piece.rate / slower, acceleration=piece.acceleration / slower**2
        )
    duration = slower * motion.duration
    for _ in range(20):  # other sample times may meet a slightly higher peak
        piece = _quintic_piece(motion, joints, duration, period)
        slower = _slow_down(model, piece, limits)
        if slower <= 1.0:
            break
        duration *= slower * (1.0 + 1e-9)
    return piece


def _quintic_piece(motion: Motion, joints: BSpline, duration: float, period: float) -> _Piece:
    count = max(int(np.ceil(duration / period)), 50)
    times = np.linspace(0.0, duration, count + 1)
    return _Piece(motion, joints, times, *quintic(times, duration))


def _toppra_piece(
    model: RobotModel, motion: Motion, joints: BSpline, period: float, limits: _Limits
) -> _Piece:
    """Return the time-optimal timing: s(t) of piecewise constant acceleration."""
    try:
        from toppra import algorithm, constraint
        from toppra.interpolator import AbstractGeometricPath
    except ImportError:
        raise ArmError("timing 'toppra' needs PyPI's toppra: pip install toppra") from None

    class Path(AbstractGeometricPath):
        """The joint path as toppra takes it."""

        dof = model.nv
        path_interval = np.array([0.0, 1.0])

        def __call__(self, s, order=0):
            return joints(s, order)

    def both(limit: Array) -> Array:
        return np.column_stack([-limit, limit])

    bounded = [constraint.JointVelocityConstraint(both(np.minimum(limits.velocity, 1e6)))]
    if np.isfinite(limits.acceleration).any():
        bounded.append(
            constraint.JointAccelerationConstraint(both(np.minimum(limits.acceleration, 1e8)))
        )
    if np.isfinite(limits.effort).any():
        bounded.append(
            constraint.SecondOrderConstraint.joint_torque_constraint(
                model.inverse_dynamics, both(np.minimum(limits.effort, 1e9)), np.zeros(model.nv)
            )
        )
    grid = np.linspace(0.0, 1.0, 1001)
    solver = algorithm.TOPPRA(bounded, Path(), gridpoints=grid)
    accelerations, rates, _ = solver.compute_parameterization(0.0, 0.0)
    if rates is None:
        raise ArmError('no timing within the limits exists, not even a slow one (TOPP-RA)')
    spans = 2.0 * np.diff(grid) / (rates[1:] + rates[:-1])
    knots = np.concatenate([[0.0], np.cumsum(spans)])
    times = np.linspace(0.0, knots[-1], max(int(np.ceil(knots[-1] / period)), 50) + 1)
    which = np.clip(np.searchsorted(knots, times, side='right') - 1, 0, len(spans) - 1)
    since = times - knots[which]
    rate = rates[which] + accelerations[which] * since
    s = grid[which] + (rates[which] + 0.5 * accelerations[which] * since) * since
    return _Piece(motion, joints, times, np.clip(s, 0.0, 1.0), rate, accelerations[which])


def _joint_motion(piece: _Piece) -> tuple[Array, Array, Array]:
    """Return q, v, a (n, nv) of a piece."""
    first, second = piece.joints(piece.s, 1), piece.joints(piece.s, 2)
    v = first * piece.rate[:, None]
    a = first * piece.acceleration[:, None] + second * piece.rate[:, None] ** 2
    return piece.joints(piece.s), v, a


def _slow_down(model: RobotModel, piece: _Piece, limits: _Limits) -> float:
    """Return the factor by which to stretch time so that every limit holds at every point.

    Stretched by k, v falls by k and a by k^2, and with them the torque beyond gravity:
    tau = g + (tau_1 - g) / k^2.

    Raises:
        ArmError: gravity alone exceeds an effort limit; names the joint.
    """
    q, v, a = _joint_motion(piece)
    gravity = np.array([model.gravity_torque(each) for each in q])
    beyond = np.abs(gravity) > limits.effort
    if beyond.any():
        row, joint = np.argwhere(beyond)[0]
        limit = float(limits.effort[joint])
        raise limit_error(
            model.joint_names[joint],
            'torque against gravity',
            float(gravity[row, joint]),
            -limit,
            limit,
            'N.m',
            f'{piece.s[row]:.0%} of the way',
        )
    motion = _effort(model, q, v, a) - gravity
    room = np.where(motion > 0.0, limits.effort - gravity, limits.effort + gravity)
    with np.errstate(divide='ignore', invalid='ignore'):
        squares = np.where(motion == 0.0, 0.0, np.abs(motion) / room)
    squared = max(float(squares.max()), float((np.abs(a) / limits.acceleration).max()))
    return max(float((np.abs(v) / limits.velocity).max()), float(np.sqrt(squared)))


def _effort(model: RobotModel, q: Array, v: Array, a: Array) -> Array:
    return np.array([model.inverse_dynamics(*each) for each in zip(q, v, a, strict=True)])


def _joined(
    model: RobotModel, pieces: list[_Piece], limits: _Limits, frame: str | None
) -> TimedPath:
    """Return the pieces one after the other, measured."""
    rows: list[tuple[Array, ...]] = []
    start, path_error, orientation_error = 0.0, 0.0, 0.0
    for index, piece in enumerate(pieces):
        first = 1 if index else 0  # a corner is one point
        q, v, a = _joint_motion(piece)
        rows.append(tuple(each[first:] for each in (start + piece.times, q, v, a)))
        start += float(piece.times[-1])
        between = np.union1d(piece.s, np.linspace(0.0, 1.0, 2 * _POINTS - 1))
        errors = _distances(model, piece, between, frame)
        path_error = max(path_error, errors[0])
        orientation_error = max(orientation_error, errors[1])
    times, q, v, a = (np.concatenate(column) for column in zip(*rows, strict=True))
    effort = _effort(model, q, v, a)
    outside = (q < model.position_lower - 1e-9) | (q > model.position_upper + 1e-9)
    if outside.any():
        row, joint = np.argwhere(outside)[0]
        error = limit_error(
            model.joint_names[joint],
            'position',
            float(q[row, joint]),
            float(model.position_lower[joint]),
            float(model.position_upper[joint]),
            'rad',
            f't = {times[row]:.3f} s',
        )
        return _refused(model, str(error))
    return TimedPath(
        True,
        times,
        q,
        v,
        a,
        effort,
        float((np.abs(v) / limits.velocity).max()),
        float((np.abs(a) / limits.acceleration).max()),
        float((np.abs(effort) / limits.effort).max()),
        path_error,
        orientation_error,
        '',
    )


def _distances(
    model: RobotModel, piece: _Piece, parts: Array, frame: str | None
) -> tuple[float, float]:
    """Return how far [m], [rad] the joint path is from the Cartesian one, at most."""
    position, orientation = 0.0, 0.0
    for q, pose in zip(piece.joints(parts), piece.motion.at(parts).poses, strict=True):
        found = model.forward_kinematics(q, frame)
        position = max(position, float(np.linalg.norm(found.translation - pose[:3, 3])))
        turn = pin.log3(found.rotation.T @ pose[:3, :3])
        orientation = max(orientation, float(np.linalg.norm(turn)))
    return position, orientation


def _refused(model: RobotModel, reason: str) -> TimedPath:
    none = np.empty((0, model.nv))
    return TimedPath(False, np.empty(0), none, none, none, none, 0.0, 0.0, 0.0, 0.0, 0.0, reason)


def _limit(name: str, values: ArrayLike | None, default: Array, model: RobotModel) -> Array:
    if values is None:
        return default
    return per_joint(name, values, model.joint_names, 0.0, exclusive=True)
