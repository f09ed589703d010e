"""Timing of Cartesian motions within joint limits, on exactly the given path."""

from collections.abc import Sequence
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import BSpline, make_interp_spline

from arm_dynamics.checks import ArmError, Array, in_range, one_of, per_joint
from arm_dynamics.inverse_kinematics.path import path_errors, solve_path_ik
from arm_dynamics.inverse_kinematics.task import IkTask, ik_task
from arm_dynamics.model import RobotModel
from arm_dynamics.paths.cartesian_path import Lines, Sequential
from arm_dynamics.paths.timing import (
    Piece,
    Timing,
    TimingLimits,
    check_toppra,
    slow_down,
    timed_piece,
)


class TimedPath(NamedTuple):
    """A joint trajectory along a Cartesian path, or why there is none.

    Attributes:
        success: the trajectory follows the path within every limit.
        times: (n,) [s].
        q, v, a: (n, nv) positions, velocities, accelerations.
        effort: (n, nv) torque [N.m] or force [N] by inverse dynamics.
        velocity_share, acceleration_share, effort_share: largest used share of a limit.
        path_error: [m] largest distance of the tool from the path, also between the points.
        orientation_error: [rad] largest rotation from the path, also between the points.
        reason: empty on success, else why there is no trajectory.
        tip_speed: [m/s] largest speed of the tool.
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
    tip_speed: float = 0.0


def time_motion(
    model: RobotModel,
    motion: Lines | Sequential,
    seed: ArrayLike | None = None,
    *,
    timing: Timing = 'quintic',
    sample_period: float = 0.01,
    frame: str | None = None,
    velocity_limit: ArrayLike | None = None,
    acceleration_limit: ArrayLike | None = None,
    effort_limit: ArrayLike | None = None,
    tip_speed_limit: float | None = None,
    position_only: bool = False,
    axis_tolerances: ArrayLike | None = None,
    from_seed: bool = False,
) -> TimedPath:
    """Solve a Cartesian motion's inverse kinematics and time it within the joint limits.

    Each motion of a sequence starts and ends at rest, so that corners stay corners. Timing never
    changes the path.

    Args:
        model: the arm.
        motion: the path; its own durations are used by timing 'given' only.
        seed: (nq,) what the first configuration should be near.
        timing: 'given': the motion's own, slowed down where limits demand it; 'quintic': the
            fastest rest-to-rest quintic, smooth; 'toppra': time-optimal, with jumps of
            acceleration (needs PyPI's toppra).
        sample_period: [s] of the trajectory's points.
        frame: the frame that moves; None: the tool frame.
        velocity_limit, acceleration_limit, effort_limit: (nv,) or one for all joints; None: the
            model's.
        tip_speed_limit: [m/s] of the frame's origin; None: none.
        position_only, axis_tolerances: free components, as for `solve_ik`.
        from_seed: the seed is the first configuration, as for `solve_path_ik`.

    Raises:
        ArmError: malformed arguments, or timing 'toppra' without toppra.
    """
    one_of('timing', timing, get_args(Timing))
    in_range('sample_period', sample_period, 1e-5, 10.0)
    if timing == 'toppra':
        check_toppra()
    limits = limits_of(model, velocity_limit, acceleration_limit, effort_limit)
    for joint in np.flatnonzero(np.isinf(limits).all(axis=0)):
        if timing != 'given':
            name = model.joint_names[joint]
            raise ArmError(f'joint {name!r} has no limit at all, so no fastest motion: give one')
    if tip_speed_limit is not None:
        in_range('tip_speed_limit', tip_speed_limit, 0.0, exclusive=True)
    speed = np.inf if tip_speed_limit is None else tip_speed_limit
    motions = motion.motions if isinstance(motion, Sequential) else [motion]
    free: dict[str, Any] = {'position_only': position_only, 'axis_tolerances': axis_tolerances}
    splines, reason = _joint_splines(model, motions, seed, frame, free | {'from_seed': from_seed})
    if reason:
        return _refused(model, reason)
    pieces: list[Piece] = []
    try:
        for each, joints in zip(motions, splines, strict=True):
            pieces.append(timed_piece(model, each, joints, timing, sample_period, limits, speed))
        return _joined(model, pieces, limits, frame, ik_task(**free))
    except ArmError as error:
        failed = len(pieces)
        where = motions[failed].name or f'motion {failed}' if failed < len(motions) else ''
        return _refused(model, f'{where}: {error}' if where else str(error))


def _joint_splines(
    model: RobotModel,
    motions: Sequence[Lines],
    seed: ArrayLike | None,
    frame: str | None,
    options: dict[str, Any],
) -> tuple[list[BSpline], str]:
    """Return each motion's joint path q(s), and why there is none; `options`: of path IK."""
    parts = [np.linspace(0.0, 1.0, each.parts) for each in motions]
    poses = np.concatenate([m.at(s)[0] for m, s in zip(motions, parts, strict=True)])
    exact: dict[str, Any] = {'position_tolerance': 1e-9, 'orientation_tolerance': 1e-9}
    solution = solve_path_ik(model, poses, seed, frame=frame, **exact, **options)
    if not solution.success:
        return [], solution.reason
    rows = np.split(solution.q, np.cumsum([len(s) for s in parts])[:-1])
    return [make_interp_spline(s, q, k=5) for s, q in zip(parts, rows, strict=True)], ''


def limits_of(model: RobotModel, *given: ArrayLike | None) -> TimingLimits:
    """Return limits of velocity, acceleration, effort; None: the model's."""
    usual = model.velocity_limit, model.acceleration_limit, model.effort_limit
    limits = [
        default
        if values is None
        else per_joint(f'{name}_limit', values, model.joint_names, 0.0, exclusive=True)
        for name, values, default in zip(TimingLimits._fields, given, usual, strict=True)
    ]
    return TimingLimits(*limits)


def _joined(
    model: RobotModel, pieces: list[Piece], limits: TimingLimits, frame: str | None, task: IkTask
) -> TimedPath:
    """Return the sequence of pieces; raises ArmError beyond a position limit."""
    rows: list[tuple[Array, ...]] = []
    errors, speeds, start = [], [], 0.0
    for piece in pieces:
        first = 1 if rows else 0  # a corner is one point
        rows.append(tuple(x[first:] for x in (start + piece.times, *piece.joint_motion())))
        start += float(piece.times[-1])
        between = np.union1d(piece.s, np.linspace(0.0, 1.0, 2 * piece.motion.parts - 1))
        poses = piece.motion.at(between)[0]
        errors.append(path_errors(model, frame, piece.joints(between), poses, task))
        speeds.append(float(piece.tip_speed().max()))
    times, q, v, a = (np.concatenate(column) for column in zip(*rows, strict=True))
    outside = ((q < model.position_lower - 1e-9) | (q > model.position_upper + 1e-9)).any(axis=1)
    for row in np.flatnonzero(outside):
        model.check_configuration(q[row], f't = {times[row]:.3f} s')
    effort = model.torques_along(q, v, a)
    used = zip((v, a, effort), limits, strict=True)
    velocity, acceleration, torque = (float((np.abs(x) / limit).max()) for x, limit in used)
    path, turn = np.max(errors, axis=0).tolist()
    shares = velocity, acceleration, torque
    return TimedPath(True, times, q, v, a, effort, *shares, path, turn, '', max(speeds))


def for_cubics(model: RobotModel, timed: TimedPath, limits: TimingLimits) -> TimedPath:
    """Return a timed path slowed down until the cubics between its points are within the limits.

    Where acceleration jumps between two points, as in time-optimal motions, the cubic through
    their positions and velocities has up to 1.5 times the acceleration.
    """
    for _ in range(20):
        h = np.diff(timed.times)[:, None]
        q, v = timed.q, timed.v
        mean = 6.0 * np.diff(q, axis=0) / h
        first, last = mean - 4.0 * v[:-1] - 2.0 * v[1:], 2.0 * v[:-1] + 4.0 * v[1:] - mean
        rows = zip((q[:-1], v[:-1], first / h), (q[1:], v[1:], last / h), strict=True)
        ends = tuple(np.concatenate(pair) for pair in rows)
        share = timed.times / timed.times[-1]
        shares = np.concatenate([share[:-1], share[1:]])
        slower = slow_down(model, (ends[0], ends[1], ends[2]), limits, shares)
        if slower <= 1.0 + 1e-9:
            break
        slower *= 1.0 + 1e-9
        timed = timed._replace(
            times=timed.times * slower,
            v=v / slower,
            a=timed.a / slower**2,
            velocity_share=timed.velocity_share / slower,
            tip_speed=timed.tip_speed / slower,
        )
    effort = model.torques_along(*ends)
    return timed._replace(
        effort=model.torques_along(timed.q, timed.v, timed.a),
        acceleration_share=float((np.abs(ends[2]) / limits.acceleration).max()),
        effort_share=float((np.abs(effort) / limits.effort).max()),
    )


def _refused(model: RobotModel, reason: str) -> TimedPath:
    none = np.empty((0, model.nv))
    return TimedPath(False, np.empty(0), none, none, none, none, 0.0, 0.0, 0.0, 0.0, 0.0, reason)
