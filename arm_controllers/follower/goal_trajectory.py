"""The trajectory of a goal's points, which takes over from the present reference."""

from collections.abc import Generator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arm_controllers.clamped_spline import knot_velocities
from arm_controllers.follower.braking import braking, braking_time
from arm_controllers.follower.goal import Goal
from arm_controllers.follower.motion_limits import check_limits, check_torque
from arm_controllers.follower.parameters import FollowerParameters, Limits
from arm_controllers.follower.trajectory import Array, Trajectory, hermite, stop
from arm_controllers.reference import Reference
from arm_dynamics.model import RobotModel

_PER_JOINT = ('positions', 'velocities', 'accelerations', 'effort')
_SHORTEST = 0.02  # time to a single point at time zero [s]


def with_policy_times(goal: Goal, rules: FollowerParameters) -> Goal:
    """Return a chunk without times with point i at (i + 1) / policy_frequency.

    A chunk is a goal from the topic whose points have positions alone, as learned policies send
    it, where `upsampling` is set. The rule is that of joint_trajectory_controller's
    `positions_upsampling` (ros2_controllers#2491 and #2573): a cubic spline through the start and
    all points, with continuous acceleration, from the velocity that is commanded now to rest at
    the last point.
    """
    chunk = rules.upsampling and _is_bare(goal)
    if not (chunk and rules.policy_frequency) or goal.times[1:].any():
        return goal
    return replace(goal, times=np.arange(1, len(goal.times) + 1) / rules.policy_frequency)


def _is_bare(goal: Goal) -> bool:
    """Whether a goal is from the topic, and its points have positions alone."""
    return goal.identifier is None and goal.velocities is None and goal.accelerations is None


@dataclass(frozen=True)
class _Joints:
    """Some joints of a model in its order: their reference and deceleration limit, each (k,)."""

    model: RobotModel
    columns: NDArray[np.intp]
    q: Array
    v: Array
    a: Array
    effort: Array
    deceleration: Array

    @property
    def limit(self) -> Array:
        """Velocity limits (k,)."""
        return self.model.velocity_limit[self.columns]


def checked_trajectory(
    goal: Goal,
    model: RobotModel,
    state: Reference,
    late: float,
    rules: FollowerParameters,
    limits: Limits,
    executor: Executor | None,
    running: tuple[Trajectory, float],
) -> Generator[None, None, tuple[Trajectory, Array]]:
    """Return the result of `goal_trajectory`, checked against all limits.

    Arguments as there; `executor` builds the trajectory, which takes 0.1 s and more for 100 000
    points. Yields after each part of the work.

    Raises:
        GoalError: says which joint, value, limit, point and time.
    """
    arguments = goal, model, state, late, rules, limits.deceleration, running
    if executor is None:
        trajectory, point_times = _built(*arguments)
    else:
        building = executor.submit(_built, *arguments)
        while not building.done():
            yield
        trajectory, point_times = building.result()
    yield
    bounds = limits.acceleration, point_times, rules.limit_overshoot
    named = np.isin(model.joint_names, goal.joint_names)
    yield from check_limits(trajectory, model, *bounds, np.asarray(rules.start_tolerance), named)
    if rules.interpolation_method == 'none':
        trajectory = trajectory.in_steps()
    yield from check_torque(trajectory, model, point_times)
    return trajectory, point_times


def _built(*arguments: Any) -> tuple[Trajectory, Array]:
    with np.errstate(all='ignore'):  # check_limits refuses an overflow
        return goal_trajectory(*arguments)


def goal_trajectory(
    goal: Goal,
    model: RobotModel,
    state: Reference,
    late: float,
    rules: FollowerParameters,
    max_deceleration: Array,
    running: tuple[Trajectory, float] | None = None,
) -> tuple[Trajectory, Array]:
    """Return the goal's trajectory and the times of its points (m,) [s] from the goal's start.

    The trajectory continues the present reference without a jump in position and velocity, nor in
    acceleration where the first point has one: the first segment is a cubic or quintic from
    `state`, and from its effort, unless a point at the start has an effort. Later segments are
    linear, cubic or quintic, by the fields of both their ends. Joints that the goal leaves out
    continue the running trajectory. Where the last point has a velocity, the arm brakes after it.

    Args:
        goal: of good form (`goal_rules.check_form`), with at least one point.
        model: has the joints, their limits, and which are continuous.
        state: the present reference at the take-over.
        late: time of the take-over from the goal's start [s]; > 0 when the start has passed.
        rules: `start_tolerance` (n,): how far a point at the start may be from the reference;
            `upsampling`: see `knot_velocities`; `stream_horizon`: a single point without
            velocity that is this near in time [s] is passed at the segment's mean velocity; at a
            later single point the arm stops.
        max_deceleration: (n,) of braking and of the return to a passed point [rad/s^2 | m/s^2].
        running: the running trajectory, and its time at the goal's start [s]; without it, without
            replacement and without interpolation, joints that the goal leaves out brake and hold.

    Raises:
        GoalError: every point has passed, or the start is too far from the reference.
    """
    columns = np.array([model.joint_names.index(name) for name in goal.joint_names])
    goal = _select(goal, _PER_JOINT, (slice(None), np.argsort(columns)))  # in the model's order
    columns.sort()
    q, v, a, effort = state.row.reshape(4, -1)[:, columns]
    joints = _Joints(model, columns, q, v, a, effort, max_deceleration[columns])
    if not goal.has_position:
        goal = _integrated(_still_to_come(goal, late), joints, late)
    else:
        turning = np.flatnonzero(model.continuous[joints.columns])
        if len(turning):
            from arm_controllers.follower.turns import unwound  # few arms need it

            rows = goal, turning, joints.q[turning], joints.v[turning], late
            goal = replace(goal, positions=unwound(*rows))
    if goal.times[0] == 0.0 and late == 0.0:
        _check_start(goal, joints, np.asarray(rules.start_tolerance))
        if goal.effort is not None:
            joints = replace(joints, effort=goal.effort[0])
        if len(goal.times) == 1:  # as soon as the limits allow
            time = _shortest_time(goal.positions[0] - joints.q, joints)
            goal = replace(goal, times=np.array([time]))
    time = float(goal.times[0]) - late
    bare = _is_bare(goal)
    slider = bare and len(goal.times) == 1 and not rules.upsampling
    if slider and time > rules.stream_horizon:
        time = _time_within_limit(goal.positions[0] - joints.q, joints, time, rules)
        goal = replace(goal, times=np.array([late + time]))
    to_come = _still_to_come(goal, late)
    if bare and rules.upsampling:
        h = np.diff(to_come.times, prepend=late)
        v = knot_velocities(h, np.vstack([joints.q, to_come.positions]), joints.v)
        to_come = replace(to_come, velocities=v[1:])
    motion = _through_points(to_come, joints, late, rules.stream_horizon)
    if len(columns) < len(model.joint_names):
        goes_on = rules.allow_trajectory_replacement and rules.interpolation_method == 'splines'
        if not (running and goes_on):
            running = braking(model, state.q, state.v, state.effort, max_deceleration), -late
        motion = _with_other_joints(motion, columns, *running)
    return motion, goal.times


def _shortest_time(way: Array, joints: _Joints) -> float:
    """Return the time T [s] of a rest-to-rest cubic over `way` (k,) within the joints' limits.

    Over a distance d its peaks are velocity 1.5 d/T and acceleration 6 d/T^2.
    """
    distance = np.abs(way)
    by_velocity = (1.5 * distance / joints.limit).max()
    by_acceleration = np.sqrt(6.0 * distance / joints.deceleration).max()
    return max(_SHORTEST, 1.01 * float(max(by_velocity, by_acceleration)))


def _time_within_limit(
    way: Array, joints: _Joints, time: float, rules: FollowerParameters
) -> float:
    """Return the time T >= `time` [s] of a cubic over `way` (k,) from the joints' v to rest.

    A slider sends a position, and the time to it at constant speed; the peak of the cubic is up
    to 1.5 times faster, and a publisher would not hear of a refusal. Where the mean velocity is
    within the limit times (1 + limit_overshoot), T is the shortest time with the peak within the
    limit; else T is `time`, and the goal is too fast.
    """
    limit = joints.limit
    if (np.abs(way) > time * limit * (1.0 + rules.limit_overshoot)).any():
        return time
    times = time * np.linspace(1.0, 2.0, 101)
    s = np.linspace(0.01, 1.0, 100)[:, np.newaxis]  # share of T
    mean = way / times[:, np.newaxis, np.newaxis]
    speeds = np.abs((1.0 - 4.0 * s + 3.0 * s**2) * joints.v + 6.0 * (s - s**2) * mean)
    return float(times[(speeds <= limit).all(axis=(1, 2)).argmax()])


def _select(goal: Goal, fields: tuple[str, ...], part: object) -> Goal:
    """Return the goal with a part of each of these fields, where they are not None."""
    columns = {field: getattr(goal, field) for field in fields}
    return replace(goal, **{k: rows[part] for k, rows in columns.items() if rows is not None})


def _integrated(goal: Goal, joints: _Joints, late: float) -> Goal:
    """Return the goal with positions that integrate its velocities or accelerations.

    Between points velocities are linear; with accelerations as well they are cubic, with
    accelerations alone quadratic: what `hermite` makes of the positions has these derivatives.
    """
    h = np.diff(goal.times, prepend=late)[:, np.newaxis]
    _, v = _known(goal.velocities, None, joints.v, len(h))
    bend: Array | float = 0.0
    if goal.accelerations is not None:
        _, a = _known(goal.accelerations, None, joints.a, len(h))
        bend = h**2 * (a[:-1] - a[1:]) / 12
        if goal.velocities is None:
            v[1:] += joints.v + np.cumsum(h * (a[:-1] + a[1:]) / 2, axis=0)
            goal = replace(goal, velocities=v[1:], has_velocity=None)
    steps = h * (v[:-1] + v[1:]) / 2 + bend
    return replace(goal, positions=joints.q + np.cumsum(steps, axis=0))


def _check_start(goal: Goal, joints: _Joints, tolerances: Array) -> None:
    first = goal.positions[0]
    far = np.flatnonzero(np.abs(first - joints.q) > tolerances[joints.columns])
    if len(far):
        from arm_controllers.follower.refusals import far_start

        j, k = far[0], joints.columns[far[0]]
        name, prismatic = joints.model.joint_names[k], joints.model.prismatic[k]
        now, tolerance = float(joints.q[j]), float(tolerances[k])
        least = _shortest_time(first - joints.q, joints)
        raise far_start(goal, name, j, now, tolerance, prismatic, least)


def _still_to_come(goal: Goal, late: float) -> Goal:
    """Return the goal without past points, and without a point at its start."""
    keep = goal.times > late
    if not keep.any():
        from arm_controllers.follower.refusals import all_passed

        raise all_passed(goal, late)
    return _select(goal, (*_PER_JOINT, 'times', 'has_velocity', 'has_acceleration'), keep)


def _through_points(goal: Goal, joints: _Joints, late: float, horizon: float) -> Trajectory:
    """Return the trajectory of the goal's joints."""
    times = np.concatenate([[late], goal.times])
    h = np.diff(times)
    q = np.vstack([joints.q, goal.positions])
    has_v, v = _known(goal.velocities, goal.has_velocity, joints.v, len(h))
    has_a, a = _known(goal.accelerations, goal.has_acceleration, joints.a, len(h))
    has_a &= has_v
    single = len(h) == 1 and not has_v[1]
    if not has_v[1] and not (single and h[0] > horizon):
        v[1] = (q[1] - q[0]) / h[0]
        if single:
            v[1] = _without_those_near_limits(v[1], q[1], joints)
    has_v[0] = has_a[0] = True
    cubic = has_v[:-1] & has_v[1:]
    cubic[0] = True
    quintic = has_a[:-1] & has_a[1:]
    efforts = np.zeros_like(q)
    efforts[0] = joints.effort
    if goal.effort is not None:
        efforts[1:] = goal.effort
    coefficients = _interpolated(h, (q, v, a), np.where(quintic, 3, np.where(cubic, 2, 1)))
    motion = Trajectory(times, coefficients, efforts, q[-1])
    if single and v[1].any():
        return motion.followed_by(_swing_back(q[1], v[1], efforts[1], joints))
    if has_v[-1] and v[-1].any():
        duration = braking_time(v[-1], joints.deceleration)
        return motion.followed_by(stop(q[-1], v[-1], duration))
    return motion


def _known(
    rows: Array | None, given: NDArray[np.bool_] | None, first: Array, count: int
) -> tuple[NDArray[np.bool_], Array]:
    """Return which of the start and `count` points have a row, and the rows (else zeros)."""
    has = np.zeros(count + 1, dtype=bool)
    found = np.zeros((count + 1, len(first)))
    found[0] = first
    if rows is not None:
        has[1:] = True if given is None else given
        found[1:] = np.where(has[1:, np.newaxis], rows, 0.0)
    return has, found


def _interpolated(h: Array, states: tuple[Array, ...], fields: NDArray[np.intp]) -> Array:
    """Return the segments' coefficients; each uses its first 1, 2 or 3 `fields` of (q, v, a)."""
    coefficients = np.empty((len(h), 6, states[0].shape[1]))
    for count in np.unique(fields):
        i = np.flatnonzero(fields == count)
        starts, ends = (tuple(x[j] for x in states[:count]) for j in (i, i + 1))
        coefficients[i] = hermite(h[i], starts, ends)
    return coefficients


def _without_those_near_limits(v: Array, q: Array, joints: _Joints) -> Array:
    """Return v, but 0 for joints that `_swing_back` takes beyond a limit (4/27 v T past q)."""
    duration = 4.0 * braking_time(v, joints.deceleration)
    swing = q + 4.0 / 27.0 * v * duration
    lower, upper = joints.model.position_lower, joints.model.position_upper
    inside = (swing >= lower[joints.columns]) & (swing <= upper[joints.columns])
    return np.where(inside, v, 0.0)


def _swing_back(q: Array, v: Array, effort: Array, joints: _Joints) -> Trajectory:
    """Return the trajectory past q and back to rest at q, where a stream has ended at q.

    A cubic over T has its largest acceleration 4 v/T at the start: T = 4 v/deceleration.
    """
    duration = 4.0 * braking_time(v, joints.deceleration)
    at_rest = np.zeros((1, len(q)))
    h, q_row = np.array([duration]), q[np.newaxis]
    back = hermite(h, (q_row, v[np.newaxis]), (q_row, at_rest))
    return Trajectory(np.array([0.0, duration]), back, np.array([effort, effort]), q)


def _with_other_joints(
    motion: Trajectory, columns: NDArray[np.intp], running: Trajectory, time: float
) -> Trajectory:
    """Return a trajectory of all joints: some `columns` of a motion, the others of another one.

    `time`: of the other trajectory at the motion's time 0 [s].
    """
    shifted = running.times - time
    running = Trajectory(shifted, running.coefficients, running.efforts, running.last)
    moves = running.coefficients[:, 1:].any()
    times = np.union1d(motion.times, shifted[moves & (shifted > motion.start)])
    motion, whole = motion.with_knots(times), running.with_knots(times)
    last = running.last.copy()
    whole.coefficients[:, :, columns] = motion.coefficients
    whole.efforts[:, columns] = motion.efforts
    last[columns] = motion.last
    return Trajectory(times, whole.coefficients, whole.efforts, last)
