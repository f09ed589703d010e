"""Joint paths around obstacles: RRT-Connect (PyPI's ompl), shortened, and smoothed by a B-spline.

The space of the planner is x_i = r_i q_i with the reaches r of `Clearance.reach`: no point of a
link moves by more than |x' - x|_1 metres. The spline of a polyline p(u) is Schoenberg's,

    q(s) = sum_i p(xi_i) B_i(s),    xi_i = (t_{i+1} + ... + t_{i+5}) / 5,

quintic, with a straight line where p is straight, and nearer to p the more pieces it has.
"""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from scipy.interpolate import BSpline

from arm_dynamics.checks import ArmError, Array, per_joint, typed, unknown
from arm_dynamics.clearance import Clearance, Nearest
from arm_dynamics.inverse_kinematics import inverse_kinematics, solve_ik
from arm_dynamics.inverse_kinematics.task import ik_task, pose_matrix
from arm_dynamics.model import RobotModel
from arm_dynamics.object_shapes import ObjectShape
from arm_dynamics.parameters import Parameters, PerJoint, parameter
from arm_dynamics.paths.timing import TimingLimits
from arm_dynamics.scene_clearance import OWN
from arm_tools.planning.joint_timing import JointMotion, time_path

_DEGREE = 5
_PIECES = (1, 2, 4, 8, 16, 32, 64, 128)  # of the spline
_SEEDS = 12  # of iterative inverse kinematics
_MOST_GOALS = 8  # configurations of a pose that are planned for
_TRIES = 3  # plans, each with a finer resolution, until the smoothed path is clear
_RESOLUTION = 2.0  # of the first plan, by the clearance
_FINE = 2000  # intervals at which the length of a spline is measured
_RANGE = 1.0  # longest edge of the tree [m]
_SHORTENINGS = 3  # rounds of ompl's shortening


@dataclass(frozen=True)
class PlanParameters(Parameters):
    """Parameters of planned motions."""

    clearance: float = parameter(
        0.01, 'distance that links keep from objects and from each other [m]', min=1e-3, max=1.0
    )
    acceleration_limit: PerJoint = parameter(
        (10.0,), 'largest joint acceleration [rad/s^2 | m/s^2]', above=0
    )
    jerk_limit: PerJoint = parameter((100.0,), 'largest joint jerk [rad/s^3 | m/s^3]', above=0)
    velocity_share: float = parameter(
        1.0, "share of the model's velocity limits that a motion may use [1]", above=0, max=1
    )
    effort_share: float = parameter(
        1.0, "share of the model's torque limits that a motion may use [1]", above=0, max=1
    )
    checks: int = parameter(
        50_000, 'largest number of checked configurations per plan', min=100, max=10_000_000
    )
    seed: int = parameter(1, 'seed of the random configurations', min=1, max=2**31 - 1)


class PlanError(ArmError):
    """A motion that cannot be planned.

    Attributes:
        of: what is wrong: 'start' or 'goal' too near to something, 'reach' of a pose, 'path'.
    """

    def __init__(self, message: str, of: str = 'path'):
        super().__init__(message)
        self.of = of


class Plan(NamedTuple):
    """A planned motion.

    Attributes:
        motion: from rest to rest.
        nearest: the nearest pair on the way.
        nearest_time: when that is [s].
        goal: number of the goal that is reached.
        checks: number of checked configurations.
        direct: whether the straight line in joint space was free.
    """

    motion: JointMotion
    nearest: Nearest
    nearest_time: float
    goal: int
    checks: int
    direct: bool


def plan_motion(
    clearance: Clearance, start: Array, goals: Array, p: PlanParameters = PlanParameters()
) -> Plan:
    """Return a motion from rest at a configuration to rest at one of others.

    Equal arguments give equal plans.

    Args:
        clearance: the arm and what is around it.
        start: (n,) configuration.
        goals: (k, n) configurations, of which one is enough.
        p: limits of the motion.

    Raises:
        PlanError: start or all goals are too near to something, or no path was found; names link
            and object.
        ArmError: ompl or toppra are not installed; a configuration is not allowed.
    """
    model = clearance.model
    start = model.check_configuration(start, 'start of the plan')
    goals = np.array([model.check_configuration(each, 'goal of the plan') for each in goals])
    limits = TimingLimits(
        p.velocity_share * model.velocity_limit,
        np.minimum(
            per_joint('acceleration_limit', p.acceleration_limit, model.joint_names),
            model.acceleration_limit,
        ),
        p.effort_share * model.effort_limit,
    )
    jerk = np.minimum(per_joint('jerk_limit', p.jerk_limit, model.joint_names), model.jerk_limit)
    path = _PathSearch(clearance, p).path(start, goals)
    motion = time_path(model, path.spline, limits, jerk)
    rows = range(0, len(motion.times), 2)
    found = [clearance.nearest(motion.q[row], p.clearance) for row in rows]
    k = int(np.argmin([each.distance - _kept(each, p.clearance) for each in found]))
    time = float(motion.times[rows[k]])
    return Plan(motion, found[k], time, path.goal, path.checks, path.direct)


def goals_of_poses(
    clearance: Clearance,
    start: Array,
    poses: Array,
    frame: str | None = None,
    least: float = 0.01,
    seed: int = 1,
) -> Array:
    """Return configurations (k, n) that bring a frame to one of some poses, nearest first.

    Args:
        clearance: the arm and what is around it, from which all are `least` [m] away.
        start: (n,) configuration.
        poses: (m, 4, 4) in the base frame.
        frame: that moves; None: the tool frame.
        least: clearance [m].
        seed: of random starts of inverse kinematics.

    Raises:
        PlanError: no pose can be reached, or none without a collision; names link and object.
    """
    model, rng = clearance.model, np.random.default_rng(seed)
    ik, found, reason = inverse_kinematics(model, frame), [], ''
    for pose in np.asarray(poses, dtype=float).reshape(-1, 4, 4):
        if ik.analytic is not None:
            rows = ik.all_solutions(pose_matrix(pose), ik_task(1e-6, 1e-6, False, None))
            found += [_turned(model, ik.all_joints(each, start), start) for each in rows]
            reason = '' if len(rows) else solve_ik(model, pose, start, frame=frame).reason
            continue
        for k in range(_SEEDS):
            guess = start if k == 0 else model.random_configuration(rng)
            answer = solve_ik(model, pose, guess, frame=frame, restarts=0)
            if answer.success:
                found.append(_turned(model, answer.q, start))
            elif not reason:
                reason = answer.reason
    if not found:
        raise PlanError(f'goal of the plan: {reason or "no pose is given"}', 'reach')
    reach = clearance.reach()
    distances = [float(np.abs(reach * (each - start)).sum()) for each in found]
    ordered = [found[k] for k in np.argsort(distances, kind='stable')]
    is_clear = clearance.condition(least)
    goals: list[Array] = []
    for each in ordered:
        if len(goals) == _MOST_GOALS:
            break
        if all(np.abs(each - other).max() > 1e-3 for other in goals) and is_clear(each):
            goals.append(each)
    if not goals:
        raise PlanError(_too_near(clearance, ordered[0], 'goal of the plan', least), 'goal')
    return np.array(goals)


def poses_before(objects: Sequence[ObjectShape], name: str, approach: float) -> Array:
    """Return poses (k, 4, 4) of a tool that points at an object, from above and from four sides.

    The z axis of the tool points at the middle of the object's bounding box, whose surface is
    `approach` [m] in front of the tool; four turns about that axis.

    Raises:
        ArmError: no such object.
    """
    corners = [
        pin_pose.act(np.array(signs) * each.size / 2.0)
        for each in objects
        if each.name == name
        for pin_pose in [pin.XYZQUATToSE3(np.array(each.pose))]
        for signs in product((-1.0, 1.0), repeat=3)
    ]
    if not corners:
        raise unknown('object', name, sorted({each.name for each in objects}))
    low, high = np.min(corners, axis=0), np.max(corners, axis=0)
    poses = []
    for z in np.array([[0, 0, -1], [1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0]], dtype=float):
        x = np.array([1.0, 0.0, 0.0]) if z[2] else np.array([0.0, 0.0, 1.0])
        for _ in range(4):
            pose = np.eye(4)
            pose[:3, :3] = np.column_stack([x, np.cross(z, x), z])
            pose[:3, 3] = (low + high) / 2.0 - z * (np.abs(z) @ (high - low) / 2.0 + approach)
            poses.append(pose)
            x = np.cross(z, x)
    return np.array(poses)


class _Path(NamedTuple):
    spline: BSpline
    goal: int
    checks: int
    direct: bool


class _PathSearch:
    """The search of a path; `checks`: number of configurations that have been checked."""

    def __init__(self, clearance: Clearance, p: PlanParameters):
        self.clearance, self.p, self.model = clearance, p, clearance.model
        self.reach, self.checks = clearance.reach(), 0
        clear = clearance.condition(p.clearance)

        def is_clear(q: Array) -> bool:
            self.checks += 1
            return clear(q)

        self.is_clear = is_clear

    def path(self, start: Array, goals: Array) -> _Path:
        """Return a smooth path from a configuration (n,) to one of others (k, n)."""
        least = self.p.clearance
        if not self.is_clear(start):
            raise PlanError(_too_near(self.clearance, start, 'start of the plan', least), 'start')
        clear = [k for k, each in enumerate(goals) if self.is_clear(each)]
        if not clear:
            raise PlanError(_too_near(self.clearance, goals[0], 'goal of the plan', least), 'goal')
        for k in clear:
            line = schoenberg(np.array([start, goals[k]]), self.reach, 1)
            if self._is_free(line):
                return _Path(line, k, self.checks, True)
        if importlib.util.find_spec('ompl') is None:
            raise ArmError(
                "planning around obstacles needs PyPI's ompl: " + typed('pip install ompl')
            )
        resolution = _RESOLUTION * least
        for number in range(_TRIES):
            points = self._polyline(start, goals[clear], resolution / 2**number, number)
            if points is None:
                break
            for pieces in _PIECES:
                spline = schoenberg(points, self.reach, pieces)
                if self._is_free(spline):
                    k = int(np.argmin(np.abs(goals - points[-1]).max(axis=1)))
                    return _Path(spline, k, self.checks, False)
        raise PlanError(
            f'no path found among {self.checks} checked configurations; more checks or a smaller '
            f'clearance than {least * 1e3:g} mm help'
        )

    def _is_free(self, spline: BSpline) -> bool:
        """Whether a path is clear at points between which no link moves by more than `least`.

        Between them it is then clear by half of that.
        """
        s = np.linspace(0.0, 1.0, _FINE + 1)
        q = spline(s)
        if ((q < self.model.position_lower - 1e-9) | (q > self.model.position_upper + 1e-9)).any():
            return False
        length = np.append(0.0, np.cumsum(np.abs(np.diff(q, axis=0)) @ self.reach))
        count = int(np.ceil(length[-1] / min(self.p.clearance, 2.0 * OWN))) + 1
        if self.checks + count > self.p.checks:
            return False
        at = np.interp(np.linspace(0.0, length[-1], count + 1), length, s)
        order = np.argsort(_bits(count + 1), kind='stable')  # far apart first: sooner blocked
        return all(map(self.is_clear, spline(at)[order]))

    def _polyline(
        self, start: Array, goals: Array, resolution: float, number: int
    ) -> Array | None:
        """Return the points (m, n) of a free path; None: not found within the allowed checks."""
        from ompl import base, geometric, util

        util.setLogLevel(util.LOG_NONE)
        util.RNG.setSeed(self.p.seed + number)  # before the objects that draw are made
        reach, n, p = self.reach, len(start), self.p
        ends = np.vstack([start, goals])
        lower = np.maximum(self.model.position_lower, ends.min(axis=0) - np.pi)
        upper = np.minimum(self.model.position_upper, ends.max(axis=0) + np.pi)
        space, bounds = base.RealVectorStateSpace(n), base.RealVectorBounds(n)
        for k in range(n):
            bounds.setLow(k, float(reach[k] * lower[k]) - 1e-9)
            bounds.setHigh(k, float(reach[k] * upper[k]) + 1e-9)
        space.setBounds(bounds)
        information = base.SpaceInformation(space)
        is_clear = self.is_clear
        information.setStateValidityChecker(lambda state: is_clear(np.array(state[0:n]) / reach))
        extent = space.getMaximumExtent()
        information.setStateValidityCheckingResolution(resolution / extent)
        information.setup()
        problem, targets = base.ProblemDefinition(information), base.GoalStates(information)

        def state(q: Array) -> Any:
            made = space.allocState()
            made[0:n] = (reach * q).tolist()
            return made

        problem.addStartState(state(start))
        for each in goals:
            targets.addState(state(each))
        problem.setGoal(targets)
        planner = geometric.RRTConnect(information)
        planner.setRange(_RANGE)
        planner.setProblemDefinition(problem)
        planner.setup()
        planner.solve(base.PlannerTerminationCondition(lambda: self.checks > p.checks))
        if not problem.hasExactSolution():
            return None
        path = problem.getSolutionPath()
        shorter = geometric.PathSimplifier(information)
        for _ in range(_SHORTENINGS):
            shorter.reduceVertices(path)
            shorter.partialShortcutPath(path)
        points = np.array([path.getState(k)[0:n] for k in range(path.getStateCount())]) / reach
        points[0] = start
        points[-1] = goals[int(np.argmin(np.abs(goals - points[-1]).max(axis=1)))]
        return points


def schoenberg(points: Array, weights: Array, pieces: int) -> BSpline:
    """Return the spline q(s), s from 0 to 1, of a polyline; see the module's docstring.

    Args:
        points: (m, n) of the polyline.
        weights: (n,) of a joint in the length of the polyline.
        pieces: number of polynomials.
    """
    lengths = np.linalg.norm(weights * np.diff(points, axis=0), axis=1)
    u = np.append(0.0, np.cumsum(np.maximum(lengths, 1e-12)))
    ends = np.ones(_DEGREE)
    knots = np.concatenate([0.0 * ends, np.linspace(0.0, 1.0, pieces + 1), ends])
    greville = np.lib.stride_tricks.sliding_window_view(knots[1:-1], _DEGREE).mean(axis=1)
    control = np.column_stack([np.interp(greville * u[-1], u, column) for column in points.T])
    return BSpline(knots, control, _DEGREE)


def _turned(model: RobotModel, q: Array, start: Array) -> Array:
    """Return the same posture with revolute joints within half a turn of start, if allowed."""
    turns = 2.0 * np.pi * np.round((start - q) / (2.0 * np.pi))
    near = np.where(model.prismatic, q, q + turns)
    allowed = (near >= model.position_lower) & (near <= model.position_upper)
    return np.where(allowed, near, q)


def _bits(count: int) -> Array:
    """Return van der Corput's sequence (count,) of 0, 1, ..: its order visits far points first."""
    k, found, share = np.arange(count), np.zeros(count), 0.5
    while k.any():
        found += share * (k % 2)
        k, share = k // 2, share / 2.0
    return found


def _too_near(clearance: Clearance, q: Array, what: str, least: float) -> str:
    found = clearance.nearest(q, least)
    return f'{what}: {found}; at least {_kept(found, least) * 1e3:g} mm off is allowed'


def _kept(found: Nearest, least: float) -> float:
    """Return the distance [m] that a pair keeps."""
    return min(least, OWN) if found.other.startswith('link') else least
