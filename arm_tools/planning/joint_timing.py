"""Timing of a smooth joint path within limits of velocity, acceleration, torque and jerk.

TOPP-RA gives the time-optimal s(t), whose acceleration jumps. Its mean over a window of T,

    s_T(t) = 1/T int_{t-T}^{t} s(u) du,

keeps the path, starts and ends at rest, takes T longer and has |d3s_T/dt3| <= 2 max|d2s/dt2| / T.
A second window, of two sample periods, makes the jerk continuous. T is that of the shortest
motion, after time is stretched until every limit holds.
Source: Biagiotti and Melchiorri 2012, FIR filters for online trajectory planning.
"""

from collections.abc import Callable
from math import comb
from typing import NamedTuple

import numpy as np
from scipy.interpolate import BSpline, PPoly

from arm_controllers.follower.goal import Goal
from arm_controllers.follower.trajectory import Trajectory, through
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.paths.timing import MOST_POINTS, TimingLimits, fastest_rates
from arm_dynamics.torque_bound import TorqueBound
from arm_tools.planning.torques_between import TorquesBetween

_GRID = 150  # intervals of s for TOPP-RA
_SAMPLES = 300  # instants at which a window is judged
_WINDOWS = np.geomspace(0.01, 2.0, 24)  # candidates for T, as shares of the optimal duration


class JointMotion(NamedTuple):
    """A joint motion from rest to rest: quintics between points.

    Attributes:
        times: (m,) [s].
        q, v, a: (m, n) positions, velocities, accelerations.
        velocity_share, acceleration_share, effort_share, jerk_share: largest used share of a
            limit, also between the points.
        optimal_duration: of the time-optimal motion without a limit of jerk [s].
    """

    times: Array
    q: Array
    v: Array
    a: Array
    velocity_share: float
    acceleration_share: float
    effort_share: float
    jerk_share: float
    optimal_duration: float

    @property
    def duration(self) -> float:
        """Duration [s]."""
        return float(self.times[-1])

    def trajectory(self) -> Trajectory:
        """Return the quintics."""
        return through(self.times, (self.q, self.v, self.a))

    def goal(self, joint_names: tuple[str, ...]) -> Goal:
        """Return the motion as a goal that starts at once."""
        return Goal(joint_names, self.times, self.q, self.v, self.a)


def time_path(
    model: RobotModel, path: BSpline, limits: TimingLimits, jerk: Array, period: float = 0.01
) -> JointMotion:
    """Return the motion along a joint path, from rest to rest, within all limits.

    Args:
        model: the arm, for torques.
        path: q(s) (n,) for s from 0 to 1, with continuous third derivatives.
        limits: of velocity, acceleration and torque or force.
        jerk: (n,) limits of jerk [rad/s^3 | m/s^3]; inf: none.
        period: between the points [s].

    Raises:
        ArmError: no timing within the limits exists, or toppra is not installed.
    """
    position = _time_optimal(model, path, limits)
    optimal = float(position.x[-2])
    of_jerk = np.isfinite(jerk).any()
    candidates = optimal * _WINDOWS if of_jerk else np.array([2.0 * period])
    stretched = [_stretched(path, position, T, period, limits, jerk) for T in candidates]
    window = float(candidates[int(np.argmin(stretched))])
    states = _smoothed(position, window, period)
    duration = optimal + window + 2.0 * period
    count = int(np.ceil(min(stretched) / period))
    if count > MOST_POINTS:
        raise ArmError(
            f'the motion lasts {min(stretched):.6g} s, which needs {count} points; allowed: '
            f'{MOST_POINTS}; larger limits of velocity, acceleration or jerk help'
        )
    times: Array = np.linspace(0.0, duration, max(count, 8) + 1)
    q, v, a, _ = _joints(path, *states(times))
    q[[0, -1]], v[[0, -1]], a[[0, -1]] = path([0.0, 1.0]), 0.0, 0.0
    bound = TorqueBound(model, model.inertial_parameters()[np.newaxis])
    for _ in range(20):
        trajectory = through(times, (q, v, a))
        torques = TorquesBetween.of(model, bound, trajectory)
        slower = torques.slower(model, limits.effort)
        most_v, most_a, most_j = _most(trajectory)
        slower = max(slower, _slower(most_v, most_a, most_j, limits, jerk))
        if slower <= 1.0 + 1e-9:
            break
        slower *= 1.0 + 1e-9
        times, v, a = times * slower, v / slower, a / slower**2
    step_ns = int(np.ceil(times[1] * 1e9))  # a message has whole nanoseconds
    slower = float(step_ns * 1e-9 / times[1])
    times = step_ns * 1e-9 * np.arange(len(times), dtype=np.float64)
    v, a = v / slower, a / slower**2
    trajectory = through(times, (q, v, a))
    torques = TorquesBetween.of(model, bound, trajectory)
    shares = _shares(torques, trajectory, limits, jerk)
    return JointMotion(times, q, v, a, *shares, optimal)


def _time_optimal(model: RobotModel, path: BSpline, limits: TimingLimits) -> PPoly:
    """Return the time-optimal s(t), 0 before its start and 1 after its end."""
    grid = np.linspace(0.0, 1.0, _GRID + 1)
    accelerations, rates, knots = fastest_rates(model, path, limits, grid)
    moving = np.array([0.5 * accelerations, rates[:-1], grid[:-1]])
    rest = np.array([[0.0], [0.0], [1.0]])
    far = 10.0 * knots[-1] + 1.0
    x = np.concatenate([[-far], knots, [knots[-1] + far]])
    return PPoly(np.hstack([0.0 * rest, moving, rest]), x)


def _smoothed(position: PPoly, window: float, period: float) -> Callable[[Array], list[Array]]:
    """Return the function of times that gives s and three derivatives, after both windows."""
    short = 2.0 * period
    twice = [position.antiderivative(2), position.antiderivative(1), position]
    twice.append(position.derivative())

    def states(times: Array) -> list[Array]:
        t = times - np.array([[0.0], [window], [short], [window + short]])
        differences = ([1.0, -1.0, -1.0, 1.0] @ each(t) for each in twice)
        return [each / (window * short) for each in differences]

    return states


def _joints(path: BSpline, s: Array, rate: Array, acceleration: Array, jerk: Array) -> list[Array]:
    """Return q, v, a and jerk (m, n) at s (m,) and its derivatives."""
    s = np.clip(s, 0.0, 1.0)
    rate, acceleration, jerk = rate[:, None], acceleration[:, None], jerk[:, None]
    first, second, third = (path(s, order) for order in (1, 2, 3))
    return [
        path(s),
        first * rate,
        first * acceleration + second * rate**2,
        first * jerk + 3.0 * second * rate * acceleration + third * rate**3,
    ]


def _stretched(
    path: BSpline, position: PPoly, window: float, period: float, limits: TimingLimits, jerk: Array
) -> float:
    """Return the duration [s] with a window, stretched until all limits but torques hold."""
    duration = position.x[-2] + window + 2.0 * period
    times = np.linspace(0.0, duration, _SAMPLES)
    _, v, a, j = _joints(path, *_smoothed(position, window, period)(times))
    return float(duration) * max(1.0, _slower(v, a, j, limits, jerk))


def _slower(v: Array, a: Array, j: Array, limits: TimingLimits, jerk: Array) -> float:
    """Return the factor by which to stretch time for v, a and jerk (m, n)."""
    return max(
        float((np.abs(v) / limits.velocity).max()),
        float((np.abs(a) / limits.acceleration).max()) ** 0.5,
        float((np.abs(j) / jerk).max()) ** (1.0 / 3.0),
    )


def _most(trajectory: Trajectory) -> list[Array]:
    """Return bounds of |v|, |a| and |jerk| (k, n) of quintics anywhere between their points.

    They are the Bernstein coefficients of each quarter of an interval, which enclose it.
    """
    h = np.diff(trajectory.times)
    quarters = 0.25 * h[:, None, None] * np.arange(4.0)[:, None]
    c, found = trajectory.coefficients, []
    for degree in (4, 3, 2):
        c = c[:, 1:] * np.arange(1.0, c.shape[1])[:, None]
        nodes = np.arange(degree + 1) / degree
        tau = quarters + 0.25 * h[:, None, None] * nodes
        values = (tau[..., None] ** np.arange(degree + 1.0)) @ c[:, None]
        basis = [
            [comb(degree, j) * s**j * (1.0 - s) ** (degree - j) for j in range(degree + 1)]
            for s in nodes
        ]
        found.append(np.abs(np.linalg.inv(basis) @ values).reshape(-1, c.shape[2]))
    return found


def _shares(
    torques: TorquesBetween, trajectory: Trajectory, limits: TimingLimits, jerk: Array
) -> tuple[float, float, float, float]:
    """Return the largest used shares of velocity, acceleration, torque and jerk."""
    used = zip(_most(trajectory), (limits.velocity, limits.acceleration, jerk), strict=True)
    velocity, acceleration, third = (float((np.abs(x) / y).max()) for x, y in used)
    return velocity, acceleration, torques.share(limits.effort), third
