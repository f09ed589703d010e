"""Words of refusals: joint, value, limit, point, time, and the mistake that is probable.

Loaded at the first refusal.
"""

import re
from difflib import get_close_matches

import numpy as np

from arm_controllers.follower.goal import Goal, GoalError, ResultCode
from arm_controllers.follower.probable_mistakes import mistake
from arm_controllers.follower.trajectory import Array, Trajectory
from arm_dynamics.checks import JointLimitError, unit
from arm_dynamics.model import RobotModel

_SHORT = 1e-5  # [s] a shorter segment is a mistake
_WALL = 1e9  # [s] a wall clock is beyond, simulated time below
_OTHER_CLOCK = 60.0  # [s]
_LONGEST_NAME = 100  # a longer name is not compared with others


def unknown_joint(name: str, known: tuple[str, ...], of: str = '') -> GoalError:
    """Return the refusal of a joint that a controller does not have; `of` begins the line."""
    text = f'{of}joint {name!r} is unknown; this controller has {", ".join(known)}'
    return GoalError(f'{text}{_other_name(name, known)}', joint=name)


def _other_name(name: str, known: tuple[str, ...]) -> str:
    """Return what to write instead of an unknown name, or ''."""
    if len(name) > _LONGEST_NAME:
        return ''
    for one in known:
        extra = _extra(name, one)
        if extra:
            return f'; write {one!r}, without {extra!r}'
    longer = [one for one in known if name and _extra(one, name)]
    if len(longer) == 1:
        return f'; write {longer[0]!r}'
    letters = {_letters(one): one for one in known}
    near = get_close_matches(_letters(name), letters, n=1, cutoff=0.8)
    # 'joint_7' is not a slip for 'joint_6'.
    same = near and re.findall(r'\d+', near[0]) == re.findall(r'\d+', name)
    return f'; did you mean {letters[near[0]]!r}?' if same else ''


def _extra(name: str, one: str) -> str:
    """Return what a name has before or after another one, with what separates them, or ''."""
    for extra in (name.removesuffix(one), name.removeprefix(one)):
        if extra != name and re.fullmatch(r'(.*\W|.*_)|(\W|_).*', extra):
            return extra
    return ''


def _letters(name: str) -> str:
    return ''.join(x for x in name.lower() if x.isalnum())


def not_finite(goal: Goal, field: str, point: int, column: int) -> GoalError:
    """Return the refusal of a number of a field that is not finite."""
    joint, value = goal.joint_names[column], float(getattr(goal, field)[point, column])
    quantity = field.replace('ies', 'y').removesuffix('s')
    text = f'joint {joint!r}: {quantity} {value} is not a finite number'
    remedy = f'; leave {field} out where they are unknown'
    if field == 'positions':
        remedy = '; leave a joint that need not move out, with allow_partial_joints_goal'
    return goal.error_at(point, text, remedy, joint=joint, value=value)


def overflow(trajectory: Trajectory, model: RobotModel, point_times: Array) -> GoalError:
    """Return the refusal of a motion that overflows; of an absurd position that of its limit."""
    segment, _, joint = np.argwhere(~np.isfinite(trajectory.coefficients))[0]
    target = np.vstack([trajectory.coefficients[1:, 0], trajectory.last])[segment, joint]
    time = float(trajectory.times[segment + 1])
    lower, upper = bound = model.position_lower[joint], model.position_upper[joint]
    if not lower <= target <= upper:
        return limit_error(trajectory, time, model, joint, 'position', target, bound, point_times)
    name = model.joint_names[joint]
    text = f'joint {name!r}: its motion until t = {time:.6g} s is too fast for finite numbers'
    return GoalError(f'{text}; are two points too close in time?', joint=name, time=time)


def worst(poly: Array, low: float, high: float) -> tuple[float, float]:
    """Return (value, share in 0..1) where a polynomial is farthest outside its bounds."""
    roots = np.polynomial.polynomial.polyroots(np.polynomial.polynomial.polyder(poly))
    inside = roots.real[(np.abs(roots.imag) < 1e-9) & (roots.real > 0) & (roots.real < 1)]
    shares = np.concatenate([[0.0, 1.0], inside])
    values = np.polynomial.polynomial.polyval(shares, poly)
    worst = np.argmax(np.maximum(values - high, low - values))
    return values[worst], shares[worst]


def limit_error(
    trajectory: Trajectory,
    time: float,
    model: RobotModel,
    joint: int,
    quantity: str,
    value: float,
    bound: tuple[float, float],
    point_times: Array,
) -> GoalError:
    """Return the refusal of a value of a joint beyond its bound, with its place in the goal.

    `trajectory`: the motion, at `time` [s]; `point_times`: (k,) instants of the goal's points [s].
    """
    point = min(int(np.searchsorted(point_times, time - 1e-9)), len(point_times) - 1)
    late = time - point_times[point]
    place = f'between points {point - 1} and {point}' if point else 'before point 0'
    if late >= -1e-9:
        place = f'after point {point}' if late > 1e-9 else f'point {point}'
    value, lower, upper = map(float, (value, *bound))
    where = f'{place}, t = {time:.6g} s'
    name, prismatic = model.joint_names[joint], model.prismatic[joint]
    error = JointLimitError(name, quantity, value, lower, upper, prismatic, where)
    text = f'{error}{_other_unit(value, lower, upper, prismatic) * (quantity == "position")}'
    plain = text == str(error)
    gaps = np.diff(point_times, prepend=min(0.0, point_times[0]))
    near = point + int(gaps[point : point + 2].argmin())
    if quantity != 'position' and 0.0 < gaps[near] < _SHORT:
        since = f'point {near - 1}' if near else 'the start'
        text += (
            f'; point {near} is {gaps[near]:.3g} s after {since}: time_from_start has seconds in'
            ' sec, and only their fraction in nanosec'
        )
    elif plain:
        bound_there = upper if value > upper else lower
        excess = value / bound_there if bound_there else 0.0
        text += mistake(trajectory, time, model, joint, quantity, excess)
    return GoalError(text, point=point, time=float(time), **vars(error))


def _other_unit(value: float, lower: float, upper: float, prismatic: bool) -> str:
    """Return the remedy for a position [rad | m] allowed in degrees, mm or cm, or ''."""
    if prismatic and abs(value) >= 1.0:
        sizes = {name: value * size for name, size in (('mm', 1e-3), ('cm', 1e-2))}
        allowed = [f'{value:.6g} {name} are {x:.6g} m' for name, x in sizes.items()
                   if lower <= x <= upper]  # fmt: skip
        return f'; in metres: {", ".join(allowed)}' if allowed else ''
    if not prismatic and abs(value) > 2.0 * np.pi and lower <= np.radians(value) <= upper:
        return f'; in radians: {value:.6g} degrees are {np.radians(value):.6g} rad'
    return ''


def wrong_turn(goal: Goal, point: int, column: int, before: float, short: float) -> GoalError:
    """Return the refusal of a step of a continuous joint from `before` [rad] to a point.

    `short` [rad]: the step by the short way.
    """
    name, value = goal.joint_names[column], float(goal.positions[point, column])
    hint = _other_unit(value, -np.inf, np.inf, prismatic=False) if abs(value) > 20.0 else ''
    return goal.error_at(
        point,
        f'joint {name!r}: from {before:.6g} to {value:.6g} rad is more than half a turn, and no'
        ' velocities at both ends say which way round',
        '; write points less than half a turn apart, such velocities, or'
        f' {before + short:.6g} rad for the short way{hint}',
        joint=name,
        value=value,
    )


def wrong_times(times: Array) -> GoalError:
    """Return the refusal of times (m,) [s] of which one is not finite or does not increase."""
    for point in np.flatnonzero(~np.isfinite(times)).tolist():
        return GoalError(f'time {times[point]} of point {point} is not finite', point=point)
    if times[0] < 0:
        return GoalError(f'point 0 is at t = {times[0]:.6g} s, before the start', point=0)
    steps = np.diff(times)
    point = int(np.flatnonzero(steps <= 0)[0]) + 1
    time, before = float(times[point]), float(times[point - 1])
    text = (
        f'times must increase from point to point: point {point} is at t = {time:.9g} s,'
        f' point {point - 1} at {before:.9g} s'
    )
    if not times[point:].any():
        text += (
            f'; time_from_start of {"each" if not times.any() else "the last"} point is missing'
        )
    elif (steps < 0).all() and len(steps) > 1:
        text += '; are the points in reverse order?'
    elif time == before and (times == np.rint(times)).all() and (steps > 0).any():
        text += '; all times are whole seconds: nanosec has their fraction'
    elif 0.0 <= before - time < _SHORT and (steps > _SHORT).any():
        text += '; leave out one of the two points'
    else:
        text += '; time_from_start counts from the start of the goal, not from the point before'
    return GoalError(text, point=point, time=time)


def far_start(
    goal: Goal, name: str, column: int, now: float, tolerance: float, prismatic: bool, least: float
) -> GoalError:
    """Return the refusal of a point at time 0 that is not where the arm is.

    Args:
        goal: with unwound positions.
        name: the joint's.
        column: the joint's in the goal.
        now, tolerance: where the arm is then, how far the point may be from there [rad | m].
        prismatic: whether the joint is.
        least: time [s] in which the arm may go there.
    """
    value, of = float(goal.positions[0, column]), unit('position', prismatic)
    lower, upper = now - tolerance, now + tolerance
    text = (
        f'joint {name!r}: the start {value:.6g} {of} is {abs(value - now):.6g} {of} from where'
        f' the arm is then, {now:.6g} {of}; allowed: {tolerance:.6g} {of}'
    )
    remedy = _other_unit(value, lower, upper, prismatic)
    if not remedy and len(goal.times) == 1:
        remedy = f'; set time_from_start for a motion to there, {least:.2g} s or more'
    elif not remedy:
        remedy = '; a point at time 0 is the start: begin where the arm is, or omit this point'
    return goal.error_at(0, text, remedy, joint=name, value=value, lower=lower, upper=upper)


def too_late(goal: Goal, start: float, limit: float) -> GoalError:
    """Return the refusal of a goal that ends later than allowed; `start` [s] from now."""
    end = start + float(goal.times[-1])
    text = f'the goal ends {end:.6g} s from now; allowed: goal_duration_limit = {limit:.6g} s'
    remedy = _clocks(goal, start) if start > limit else '; time_from_start is in seconds'
    return goal.error_at(len(goal.times) - 1, text, remedy, value=end, lower=0.0, upper=limit)


def all_passed(goal: Goal, late: float) -> GoalError:
    """Return the refusal of a goal that started `late` [s] ago and is over."""
    text = f'the last point lies {late - goal.times[-1]:.6g} s in the past'
    code = ResultCode.OLD_HEADER_TIMESTAMP
    return goal.error_at(len(goal.times) - 1, text, _clocks(goal, -late), code=code)


def _clocks(goal: Goal, start: float) -> str:
    """Return what to do about a goal whose stamp is `start` [s] later than the states' time."""
    return another_clock(goal.start_ns, goal.start_ns - round(start * 1e9))


def another_clock(stamp_ns: int, now_ns: int) -> str:
    """Return what to do about a stamp [ns] that is far from the time of the states [ns]."""
    stamp, now = stamp_ns * 1e-9, now_ns * 1e-9
    text = f'; its stamp is {stamp:.3f} s, the time of the states {now:.3f} s'
    if max(stamp, now) > _WALL > min(stamp, now):
        value = str(stamp > now).lower()
        text += f': set use_sim_time to {value} in the client, or'
    elif abs(stamp - now) > _OTHER_CLOCK:
        text += ', of another clock or run:'
    else:
        return text
    return f'{text} leave the stamp at zero, which means now'
