"""From a goal's points to the trajectory that takes over from the running reference."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from arm_controllers.goal import Goal, GoalError, ResultCode
from arm_controllers.reference import Reference
from arm_controllers.trajectory import Array, Trajectory, hermite, stop
from arm_dynamics.model import RobotModel

# Shortest motion to a lone point that is asked for at once [s].
_SHORTEST = 0.02


@dataclass(frozen=True)
class TakeOver:
    """How a goal's motion starts and ends.

    Attributes:
        start_tolerance: (n,) how far a point at the start may be from the reference [rad | m].
        max_deceleration: (n,) for motion that the goal does not ask for [rad/s^2 | m/s^2].
        stream_horizon: a lone point without velocity this near in time [s] is one of a stream:
            it is passed at the segment's mean velocity; a later one is come to rest at.
    """

    start_tolerance: Array
    max_deceleration: Array
    stream_horizon: float


def goal_trajectory(
    goal: Goal, model: RobotModel, state: Reference, late: float, rules: TakeOver
) -> tuple[Trajectory, Array]:
    """Return the goal's motion and the times of the points in it (k,) [s] from the goal's start.

    It leaves the running reference without a jump in position and velocity, nor in acceleration
    where the first point has one: the first segment is a cubic or quintic from `state`. Later
    segments are linear, cubic or quintic by the fields of both their ends. Joints that the goal
    leaves out brake and hold. Where the last point has a velocity, the arm brakes after it.

    Args:
        goal: of good form (`goal_rules.check_form`), with a point at least.
        model: has the joints, their limits, and which are continuous.
        state: the running reference at the instant of the take-over.
        late: that instant [s] from the goal's start; > 0 when the start has passed.
        rules: see `TakeOver`.

    Raises:
        GoalError: every point has passed, or the start is too far from the reference.
    """
    goal, columns = _in_order_of(model, goal)
    times, positions = goal.times, goal.positions.copy()
    now = state.q[columns]
    turning = model.continuous[columns]
    if turning.any():
        # Each point is the nearest of its turns to the one before it.
        steps = np.diff(positions[:, turning], axis=0, prepend=now[np.newaxis, turning])
        steps = np.remainder(steps + np.pi, 2 * np.pi) - np.pi
        positions[:, turning] = now[turning] + np.cumsum(steps, axis=0)

    if times[0] == 0.0 and late == 0.0:
        _check_start(goal, model, positions[0], now, rules.start_tolerance[columns])
        if len(times) == 1:  # as soon as the limits allow
            times = np.array([_quickest(positions[0] - now, model, columns, rules)])
    keep = times > late
    if not keep.any():
        raise GoalError(
            f'the last point lies {late - times[-1]:.6g} s in the past'
            f' (point {len(times) - 1}, t = {times[-1]:.6g} s)',
            code=ResultCode.OLD_HEADER_TIMESTAMP,
            point=len(times) - 1,
            time=float(times[-1]),
        )
    moving = _through_points(goal, positions, times, keep, state, columns, late, rules, model)
    point_times = times[keep]
    others = np.setdiff1d(np.arange(len(model.joint_names)), columns)
    if len(others):
        moving = _with_braking_joints(moving, columns, others, state, late, rules)
    return moving, point_times


def braking_time(v: Array, max_deceleration: Array) -> float:
    """Return the time [s] in which all joints brake together within (n,) decelerations."""
    return float(np.max(np.abs(v) / max_deceleration, initial=0.0))


def _in_order_of(model: RobotModel, goal: Goal) -> tuple[Goal, NDArray[np.intp]]:
    """Return the goal with its joints in the model's order, and their numbers there."""
    columns = np.array([model.joint_names.index(name) for name in goal.joint_names])
    if (np.diff(columns) > 0).all():
        return goal, columns
    order = np.argsort(columns)
    tables = ('positions', 'velocities', 'accelerations', 'effort')
    given = {name: getattr(goal, name) for name in tables}
    ordered = {name: table[:, order] for name, table in given.items() if table is not None}
    names = tuple(goal.joint_names[k] for k in order)
    return replace(goal, joint_names=names, **ordered), columns[order]


def _check_start(
    goal: Goal, model: RobotModel, first: Array, now: Array, tolerance: Array
) -> None:
    error = np.abs(first - now)
    far = np.flatnonzero(error > tolerance)
    if len(far):
        j = far[0]
        name = goal.joint_names[j]
        of = 'm' if model.prismatic[model.joint_names.index(name)] else 'rad'
        raise GoalError(
            f'joint {name!r}: the start {first[j]:.6g} {of} is {error[j]:.6g} {of} from where the'
            f' arm is then, {now[j]:.6g} {of}; allowed: {tolerance[j]:.6g} {of}'
            ' (point 0, t = 0 s)',
            joint=name,
            value=float(first[j]),
            lower=float(now[j] - tolerance[j]),
            upper=float(now[j] + tolerance[j]),
            point=0,
            time=0.0,
        )


def _quickest(step: Array, model: RobotModel, columns: Array, rules: TakeOver) -> float:
    """Return the time T [s] of a rest-to-rest cubic within velocity limit and deceleration.

    Over a distance d its peaks are velocity 1.5 d/T and acceleration 6 d/T^2.
    """
    by_velocity = 1.5 * np.abs(step) / model.velocity_limit[columns]
    by_braking = np.sqrt(6.0 * np.abs(step) / rules.max_deceleration[columns])
    return max(_SHORTEST, 1.01 * float(max(by_velocity.max(), by_braking.max())))


def _through_points(
    goal: Goal,
    positions: Array,
    times: Array,
    keep: Array,
    state: Reference,
    columns: Array,
    late: float,
    rules: TakeOver,
    model: RobotModel,
) -> Trajectory:
    """Return the motion of the goal's own joints."""
    count = len(times)
    has_v = _presence(goal.velocities, goal.has_velocity, count)
    has_a = _presence(goal.accelerations, goal.has_acceleration, count) & has_v
    kept = np.flatnonzero(keep)
    has_v, has_a = has_v[kept], has_a[kept]
    knots = np.concatenate([[late], times[kept]])
    h = np.diff(knots)
    q = np.vstack([state.q[columns], positions[kept]])
    v = np.vstack([state.v[columns], _rows(goal.velocities, kept, has_v, q)])
    a = np.vstack([state.a[columns], _rows(goal.accelerations, kept, has_a, q)])
    lone = len(kept) == 1 and not has_v[0]
    if not has_v[0] and not (lone and h[0] > rules.stream_horizon):
        v[1] = (q[1] - q[0]) / h[0]
        if lone:
            v[1] = _with_room(v[1], q[1], model, columns, rules.max_deceleration[columns])

    cubic = np.append(True, has_v[:-1] & has_v[1:])
    quintic = np.append(has_a[0], has_a[:-1] & has_a[1:])
    fields = np.where(quintic, 3, np.where(cubic, 2, 1))
    coefficients = np.empty((len(h), 6, q.shape[1]))
    for count in np.unique(fields):
        i = np.flatnonzero(fields == count)
        starts = tuple(x[i] for x in (q, v, a)[:count])
        ends = tuple(x[i + 1] for x in (q, v, a)[:count])
        coefficients[i] = hermite(h[i], starts, ends)
    efforts = np.zeros_like(q)
    efforts[0] = state.effort[columns]
    if goal.effort is not None:
        efforts[1:] = goal.effort[kept]
    trajectory = Trajectory(knots, coefficients, efforts, q[-1])

    deceleration = rules.max_deceleration[columns]
    if lone and np.any(v[1]):
        # Nothing follows: swing past the point and back to it, at rest, within the deceleration.
        duration = 4.0 * braking_time(v[1], deceleration)
        at_rest = np.zeros((1, len(columns)))
        back = hermite(np.array([duration]), (q[1:], v[1:]), (q[1:], at_rest))
        tail = Trajectory(
            np.array([0.0, duration]), back, np.repeat(efforts[-1:], 2, axis=0), q[1]
        )
        return trajectory.followed_by(tail)
    if has_v[-1] and np.any(v[-1]):
        duration = braking_time(v[-1], deceleration)
        return trajectory.followed_by(stop(q[-1], v[-1], duration, efforts[-1]))
    return trajectory


def _presence(values: Array | None, given: Array | None, count: int) -> Array:
    if values is None:
        return np.zeros(count, dtype=bool)
    return np.ones(count, dtype=bool) if given is None else given


def _rows(values: Array | None, kept: Array, given: Array, q: Array) -> Array:
    """Return the rows of the kept points, zero where a point has none."""
    if values is None:
        return np.zeros((len(kept), q.shape[1]))
    return np.where(given[:, np.newaxis], values[kept], 0.0)


def _with_room(
    v: Array, q: Array, model: RobotModel, columns: Array, deceleration: Array
) -> Array:
    """Return v, zero for joints that have no room to swing past q by 16/27 v^2 / deceleration."""
    duration = 4.0 * braking_time(v, deceleration)
    swing = q + 4.0 / 27.0 * v * duration
    fits = (swing >= model.position_lower[columns]) & (swing <= model.position_upper[columns])
    return np.where(fits, v, 0.0)


def _with_braking_joints(
    moving: Trajectory,
    columns: Array,
    others: Array,
    state: Reference,
    late: float,
    rules: TakeOver,
) -> Trajectory:
    """Return `moving` joined by the other joints, which brake from `state` and hold."""
    v = state.v[others]
    duration = braking_time(v, rules.max_deceleration[others]) or moving.end - late
    braking = stop(state.q[others], v, duration)
    braking = Trajectory(late + braking.times, braking.coefficients)
    knots = np.union1d(moving.times, braking.times)
    moving, braking = moving.with_knots(knots), braking.with_knots(knots)
    n = len(columns) + len(others)
    coefficients = np.zeros((len(knots) - 1, 6, n))
    efforts = np.zeros((len(knots), n))
    last = np.empty(n)
    for part, joints in ((moving, columns), (braking, others)):
        coefficients[:, :, joints] = part.coefficients
        last[joints] = part.last
    efforts[:, columns] = moving.efforts
    return Trajectory(knots, coefficients, efforts, last)
