"""The probable mistake behind a motion that breaks a limit, and what to do about it.

Found from the trajectory alone: its knots are the goal's points. Loaded after a goal has come.
"""

import math

import numpy as np

from arm_controllers.follower.goal import Goal
from arm_controllers.follower.trajectory import Array, Trajectory
from arm_dynamics.checks import unit
from arm_dynamics.model import RobotModel

_DEGREES, _TURNS_A_MINUTE = 180.0 / math.pi, 30.0 / math.pi
# What velocities are that are so many times the slope of the positions.
_RATIOS = {
    _DEGREES: 'are they in degrees per second? Write rad/s',
    1.0 / _DEGREES: 'are the positions in degrees, the velocities in rad/s? Write rad',
    _TURNS_A_MINUTE: 'are they in turns per minute? Write rad/s',
    1e3: 'are the times in milliseconds? time_from_start is in seconds',
    1e-3: 'are the times too short? time_from_start is in seconds',
    -1.0: 'are the points in reverse order?',
}
_NEAR = 1.35  # factor by which a ratio may differ from that of a cause
_SAME = 0.25  # share of the velocities, squared, that a ratio may leave unexplained
_MOST = 100  # points that are looked at without a refusal
_SLOPES = 3  # points at least from which a ratio is taken
_NOISY, _MANY = 0.4, 16  # share of bends that change their sign; points that show it
_FAR = 0.05  # [rad | m] a first point farther from the arm is a step
_FAST = 1e-3  # [s] points nearer to each other are a mistake
_RATES = {'velocity': 1, 'acceleration': 2, 'jerk': 3}


def mistake(
    trajectory: Trajectory,
    time: float,
    model: RobotModel,
    joint: int,
    quantity: str,
    excess: float,
) -> str:
    """Return the probable mistake and the remedy, for the end of a refusal.

    Args:
        trajectory: the whole motion.
        time: where it breaks a limit [s].
        model: of the arm.
        joint: the joint's number.
        quantity: that breaks its limit.
        excess: the value by its limit.
    """
    prismatic = bool(model.prismatic[joint])
    found = _ratio(trajectory, joint, prismatic) or _noise(trajectory, joint, prismatic)
    if found or quantity == 'position':
        return found
    found = _first_step(trajectory, time, joint, prismatic)
    if found or quantity == 'torque' or not excess > 1.0:
        return found
    gaps = np.diff(trajectory.times)
    if len(gaps) > 1 and np.median(gaps) < _FAST:
        return f'; its points are {np.median(gaps):.3g} s apart: time_from_start is in seconds'
    factor = excess ** (1.0 / _RATES[quantity])
    return f'; take {math.ceil(100.0 * factor) / 100.0:g} times as long'


def doubt(goal: Goal, model: RobotModel) -> str:
    """Return what is probably wrong with a goal that breaks no limit, or ''.

    Its velocities are compared with the slopes of its first positions.
    """
    velocities, most = goal.velocities, slice(_MOST)
    if velocities is None:
        return ''
    for k, name in enumerate(goal.joint_names):
        times, q, v = goal.times[most], goal.positions[most, k], velocities[most, k]
        prismatic = bool(model.prismatic[model.joint_names.index(name)])
        if found := _compared(times, q, v[1:-1], prismatic):
            return f'joint {name!r}{found}'
    return ''


def _ratio(trajectory: Trajectory, joint: int, prismatic: bool) -> str:
    """Compare the velocities of the points with the slopes of their positions."""
    v = trajectory.coefficients[1:, 1, joint]
    return _compared(trajectory.times, _positions(trajectory, joint), v, prismatic)


def _compared(times: Array, q: Array, v: Array, prismatic: bool) -> str:
    """Compare velocities (m - 2,) with the slopes of positions (m,) at the points between."""
    if np.count_nonzero(v) < _SLOPES:
        return ''
    before, after = (np.diff(part) for part in (times[:-1], times[1:]))
    steps = np.diff(q)
    # Of the parabola through three points.
    slopes = (after * steps[:-1] / before + before * steps[1:] / after) / (before + after)
    size = slopes @ slopes
    if not np.isfinite(size) or size == 0.0:
        return ''
    ratio = float(slopes @ v / size)
    rest = v - ratio * slopes
    if not rest @ rest < _SAME * (v @ v):
        return ''
    causes = [r for r in _RATIOS if ratio / r > 0 and 1 / _NEAR < ratio / r < _NEAR]
    if prismatic:
        causes = [r for r in causes if abs(r) in (1.0, 1e3, 1e-3)]
    if causes:
        cause = _RATIOS[causes[0]]
    elif 1 / 3 < ratio < 3:
        return ''
    else:
        cause = 'positions, velocities and times do not fit together'
    return f'; its velocities are {ratio:.3g} times the slope of its positions: {cause}'


def _noise(trajectory: Trajectory, joint: int, prismatic: bool) -> str:
    """Look for points that leave a smooth motion to and fro, as recorded ones do."""
    q, of = _positions(trajectory, joint)[1:], unit('position', prismatic)
    bends = np.diff(q, 2)
    bends = bends[np.abs(bends) > 1e-12]
    if len(bends) < _MANY or np.mean(np.diff(np.sign(bends)) != 0) < _NOISY:
        return ''
    every = float(np.median(np.diff(trajectory.times)))
    for digits in range(1, 6):
        rounded = np.round(q, digits)
        if np.abs(q - rounded).max() < 1e-9 and np.ptp(rounded):
            text = f'rounded to {10.0**-digits:g} {of}, {every:.3g} s apart: write more digits'
            return f'; its points are {text}, or send fewer points'
    size = float(np.sqrt(np.mean(np.diff(q, 3) ** 2) / 20.0))  # of white noise
    return (
        f'; its points are noisy, by about {size:.1g} {of} every {every:.3g} s, as recorded ones'
        ' are: filter them, or send fewer of them'
    )


def _first_step(trajectory: Trajectory, time: float, joint: int, prismatic: bool) -> str:
    """Look for a first point that is not where the arm is."""
    if time > trajectory.times[1] + 1e-9:
        return ''
    starts = trajectory.coefficients[:, 0]
    now, first = starts[0], starts[1] if len(starts) > 1 else trajectory.last
    way, of = abs(float(first[joint] - now[joint])), unit('position', prismatic)
    if way < _FAR or len(starts) == 1:
        return ''
    if np.abs(np.sort(first) - np.sort(now)).max() < _FAR:
        cause = 'are the positions in the order of joint_names?'
    elif np.abs(trajectory.last - now).max() < _FAR:
        cause = 'are the points in reverse order?'
    else:
        cause = 'begin where the arm is, or give it more time'
    after = float(trajectory.times[1] - trajectory.times[0])
    return f'; its first point is {way:.3g} {of} from where it is {after:.3g} s before: {cause}'


def _positions(trajectory: Trajectory, joint: int) -> Array:
    """Return the positions (m + 1,) of a joint at the knots."""
    return np.append(trajectory.coefficients[:, 0, joint], trajectory.last[joint])
