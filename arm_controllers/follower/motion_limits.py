"""Checks of a whole trajectory: limits of position, velocity, acceleration and torque.

A refusal names joint, value, limit, point and time.
"""

from collections.abc import Iterator
from functools import cache
from math import comb

import numpy as np
from numpy.typing import NDArray

from arm_controllers.follower.trajectory import Array, Trajectory
from arm_dynamics.model import RobotModel

# Values this far beyond a limit still pass: points are often rounded to their printed digits.
LIMIT_TOLERANCE = 1e-6
# Torques are checked at no fewer instants per goal: at the start of each segment and between.
TORQUE_SAMPLES = 1000
_TORQUES_PER_SLICE = 100
_SEGMENTS_PER_SLICE = 200
_SAME_ACCELERATION = 1e-6  # [rad/s^2 | m/s^2]
_DEPTH = 30


def check_limits(
    trajectory: Trajectory,
    model: RobotModel,
    max_acceleration: Array,
    point_times: Array,
    overshoot: float = 0.0,
    start_tolerance: Array | float = 0.0,
    joints: NDArray[np.bool_] | bool = True,
) -> Iterator[None]:
    """Check position, velocity, acceleration and jerk along a trajectory, in slices.

    A step of the acceleration between two segments is allowed, as most goals have such steps.

    Each polynomial is enclosed by its Bezier control points and halved until every piece is
    inside the limits or one of its ends is outside: exact, without a search for roots.

    At the goal's points, velocities must be inside the limits themselves, and so must
    accelerations where polynomials are quintic.

    Args:
        trajectory: the motion (m segments of n joints).
        model: has the limits of position, velocity and jerk.
        max_acceleration: (n,) [rad/s^2 | m/s^2], may be infinite.
        point_times: (k,) instants of the goal's points [s], for messages.
        overshoot: share of the limits of velocity, acceleration and jerk by which polynomials may
            exceed them between points.
        start_tolerance: as for `_position_ranges`.
        joints: (n,) which joints are checked; others continue a motion that was checked before.

    Yields:
        Nothing, after each part of the work.

    Raises:
        GoalError: names the joint, its extreme value in the first offending segment, the limit,
            point and time.
    """
    if not np.isfinite(trajectory.coefficients).all():
        from arm_controllers.follower.refusals import overflow

        raise overflow(trajectory, model, point_times)
    bounds = (
        ('position', model.position_lower, model.position_upper),
        ('velocity', -model.velocity_limit, model.velocity_limit),
        ('acceleration', -max_acceleration, max_acceleration),
        ('jerk', -model.jerk_limit, model.jerk_limit),
    )[: 4 if np.isfinite(model.jerk_limit).any() else 3]
    ranges = _position_ranges(trajectory, model, start_tolerance)
    for first in range(0, len(trajectory.coefficients), _SEGMENTS_PER_SLICE):
        part = slice(first, first + _SEGMENTS_PER_SLICE)
        h = np.diff(trajectory.times)[part, np.newaxis, np.newaxis]
        scaled = trajectory.coefficients[part] * h ** np.arange(6)[:, np.newaxis]
        for order, (quantity, lower, upper) in enumerate(bounds):
            if order == 0:
                quintic = scaled[:, 4:].any(axis=1)
                low, high = (rows[part] for rows in ranges)
            else:  # d/ds of sum_k c_k s^k, with s the segment's share in 0..1
                scaled = scaled[:, 1:] * np.arange(1, 7 - order)[:, np.newaxis] / h
                low, high = (np.tile(bound, (len(h), 1)) for bound in (lower, upper))
            if first == 0 and order in (1, 2):  # an arm that starts too fast may brake
                low[0] = np.minimum(low[0], scaled[0, 0])
                high[0] = np.maximum(high[0], scaled[0, 0])
            margin = np.where(joints, LIMIT_TOLERANCE, np.inf)
            low, high = low - margin, high + margin
            slack = overshoot * upper if order else 0.0
            segment, joint = _first_beyond(scaled, low, high, slack, quintic | (order == 1))
            if segment >= 0:
                from arm_controllers.follower.refusals import limit_error, worst

                poly = scaled[segment, :, joint]
                value, share = worst(poly, low[segment, joint], high[segment, joint])
                t = trajectory.times[part][segment] + share * h[segment, 0, 0]
                bound = lower[joint], upper[joint]
                raise limit_error(trajectory, t, model, joint, quantity, value, bound, point_times)
        yield


def _position_ranges(
    trajectory: Trajectory, model: RobotModel, tolerance: Array | float
) -> tuple[Array, Array]:
    """Return the least and largest positions (m, n) that are allowed in each segment.

    Those are the limits, and farther out the start of the segment: a joint outside its range may
    return in any number of steps, but move no farther. The points of a return begin
    where the arm was measured: by a tolerance (n,) they may be farther out than the reference.
    """
    starts = trajectory.coefficients[:, 0]
    low = np.minimum(model.position_lower, starts)
    high = np.maximum(model.position_upper, starts)
    back = trajectory.last - starts[0]
    low[0] -= np.where((starts[0] < model.position_lower) & (back > 0.0), tolerance, 0.0)
    high[0] += np.where((starts[0] > model.position_upper) & (back < 0.0), tolerance, 0.0)
    return low, high


def check_torque(trajectory: Trajectory, model: RobotModel, point_times: Array) -> Iterator[None]:
    """Check the torque of the motion, plus the goal's own effort, against the effort limits.

    At TORQUE_SAMPLES instants or more, evenly in each segment, both ends included. A torque that
    peaks between two of them is missed by what it changes within half their distance.

    Arguments, yields and raises as `check_limits`.
    """
    limit, efforts, h = model.effort_limit, trajectory.efforts, np.diff(trajectory.times)
    if not np.isfinite(limit).any():
        return
    segment, share = _torque_samples(trajectory)
    for first in range(0, len(segment), _TORQUES_PER_SLICE):
        part = slice(first, first + _TORQUES_PER_SLICE)
        i, s = segment[part], share[part]
        torques = efforts[i] + s[:, np.newaxis] * (efforts[i + 1] - efforts[i])
        torques += model.torques_along(*trajectory.states_in(i, s * h[i]))
        outside = np.abs(torques) > limit + LIMIT_TOLERANCE
        if outside.any():
            sample, joint = np.argwhere(outside)[0]
            t = trajectory.times[i[sample]] + s[sample] * h[i[sample]]
            value, bound = torques[sample, joint], (-limit[joint], limit[joint])
            from arm_controllers.follower.refusals import limit_error

            raise limit_error(trajectory, t, model, joint, 'torque', value, bound, point_times)
        yield


def _torque_samples(trajectory: Trajectory) -> tuple[NDArray[np.intp], Array]:
    """Return (segment, share of it in 0..1) of the instants to check, in order of time.

    The end of a segment is the start of the next, unless the acceleration jumps there.
    """
    segments = len(trajectory.coefficients)
    count = -(-TORQUE_SAMPLES // segments)
    all_segments = np.arange(segments)
    a_end = trajectory.states_in(all_segments, np.diff(trajectory.times))[2]
    a_start = 2.0 * trajectory.coefficients[1:, 2]
    jumps = np.append((np.abs(a_end[:-1] - a_start) > _SAME_ACCELERATION).any(axis=1), True)
    segment = np.concatenate([np.repeat(all_segments, count), all_segments[jumps]])
    share = np.concatenate([np.tile(np.arange(count) / count, segments), np.ones(jumps.sum())])
    order = np.argsort(segment + share / 2, kind='stable')
    return segment[order], share[order]


@cache
def _bezier_matrices(degree: int) -> tuple[Array, Array, Array]:
    """Return (powers -> control points on 0..1, left half, right half), each (d + 1, d + 1)."""
    orders = range(degree + 1)
    binomials = np.array([[float(comb(i, k)) for k in orders] for i in orders])
    left = binomials / 2.0 ** np.arange(degree + 1)[:, np.newaxis]
    return binomials / binomials[-1], left, left[::-1, ::-1].copy()


def _first_beyond(
    poly: Array, low: Array, high: Array, slack: Array | float, exact: NDArray[np.bool_]
) -> tuple[int, int]:
    """Return (segment, joint) of the first polynomial that is beyond its bounds, or -1, -1.

    Arguments as `first_outside`. The bounds are wider by `slack`, (n,) or 0, but not at
    the ends where `exact` (m, n).
    """
    inner = first_outside(poly, low - slack, high + slack)
    ends = np.stack([poly[:, 0], poly.sum(axis=1)])
    outside = np.argwhere(((ends < low) | (ends > high)).any(axis=0) & exact)
    places = [inner, *map(tuple, outside[:1].tolist())]
    return min((place for place in places if place[0] >= 0), default=inner)


def first_outside(poly: Array, low: Array, high: Array) -> tuple[int, int]:
    """Return (segment, joint) of the first polynomial that leaves its bounds on 0..1, or -1, -1.

    Args:
        poly: (m, d + 1, n) coefficients, lowest first.
        low, high: (m, n).
    """
    _, size, n = poly.shape
    to_bezier, left, right = _bezier_matrices(size - 1)
    control = np.matmul(to_bezier, poly).transpose(0, 2, 1).reshape(-1, size)
    low, high = low.reshape(-1), high.reshape(-1)
    index = np.arange(len(control))
    found = len(control)
    for _ in range(_DEPTH):
        open_ = (control.max(axis=1) > high[index]) | (control.min(axis=1) < low[index])
        control, index = control[open_], index[open_]
        ends = control[:, [0, -1]]
        sure = ((ends > high[index, np.newaxis]) | (ends < low[index, np.newaxis])).any(axis=1)
        if sure.any():
            found = min(found, int(index[sure].min()))
        unsure = ~sure & (index < found)
        if not unsure.any():
            break
        control, index = control[unsure], index[unsure]
        control = np.concatenate([control @ left.T, control @ right.T])
        index = np.concatenate([index, index])
    return divmod(found, n) if found < len(low) else (-1, -1)
