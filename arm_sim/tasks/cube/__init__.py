"""The main job: the tip draws a cube, in straight edges or in published joint-space strokes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from arm_controllers.follower.trajectory import through
from arm_controllers.laws import law_names
from arm_controllers.laws.servo import FEEDFORWARD
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import PerJoint, parameter
from arm_dynamics.scene_clearance import scene_clearance
from arm_dynamics.surroundings import Surroundings
from arm_sim.loop.goals import goal_of, goal_reference, sampled
from arm_sim.loop.measures import error_facts
from arm_sim.loop.report import Check, ReportTree, Results, common_rows, error_row
from arm_sim.tasks import Run, TaskEvaluation, TaskReport
from arm_sim.tasks._points import PointsTask
from arm_sim.tasks.cube.fitting import fit, is_usual, that_work
from arm_sim.tasks.cube.walk import WALKS, CubeWalk

# Configurations per stroke, and on the way to the first corner, that are checked for clearance.
_CHECKED = 100


@dataclass(frozen=True)
class CubeParameters(CubeWalk, Surroundings):
    """Parameters of the cube, of its trajectory, and limits of the errors."""

    center: tuple[float, ...] = parameter(
        (),
        'centre of the cube [m], base frame; empty: (0.3, 0.2, 0.55), or where the arm can draw',
    )
    side: float = parameter(
        0.0, 'edge length of the cube [m]; 0: 0.1, or what the arm can draw', min=0, max=10
    )
    posture: PerJoint = parameter(
        (),
        "positions with the tool's orientation and branch [rad]; empty: the start, or with center "
        'one from which the arm can draw',
    )
    sample_period: float = parameter(0.02, 'time between points of the goal [s]', min=0.001, max=1)
    approach_time: float = parameter(
        2.0, 'shortest time of the approach to the first corner [s]', min=0.1, max=1000
    )
    settle_time: float = parameter(2.0, 'time at rest at the first corner [s]', min=0, max=1000)
    ik_position_tolerance: float = parameter(1e-9, 'position tolerance of the solver [m]')
    ik_orientation_tolerance: float = parameter(1e-9, 'orientation tolerance of the solver [rad]')
    clearance: float = parameter(0.005, 'least distance between links, floor and table [m]', min=0)
    path_limit: Mapping[str, tuple[float, ...]] = parameter(
        {}, 'limits of RMS and maximum path error, by path [mm]', one_of=tuple(WALKS)
    )
    tracking_limit: Mapping[str, float] = parameter(
        {},
        'limit of the RMS tracking error, by law, or by mode if not lockstep [mm]',
        one_of=(*law_names(), *(f'servo_{level}' for level in FEEDFORWARD), 'realtime'),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        CubeWalk(center=self.center or CubeWalk.center, side=self.side or CubeWalk.side)
        for path, limits in self.path_limit.items():
            if len(limits) != 2:
                raise ArmError(f'path_limit.{path} has {len(limits)} values; allowed: 2')


class _Plan(NamedTuple):
    """The strokes in joint space: times (m,), positions to accelerations (m, n), IK's facts."""

    times: Array
    states: tuple[Array, Array, Array]
    facts: dict[str, Any]


class CubeReport(TaskReport):
    """The path error and its limits, the strokes of the largest errors, and how IK went."""

    def results(self, run: Run) -> Results:
        """Return the path error, the strokes of the largest errors, and how IK went."""
        t, p = run.record.t, self.parameters

        def error(values: Array, scale: float) -> dict[str, float]:
            facts = error_facts(t, values, scale)
            return facts | {'max_on_stroke': int(p.strokes_at(facts['max_at_s'])) + 1}

        return {
            'path': p.path,
            'path_error_mm': error(self.path_error(run), 1e3),
            'tracking_error_mm': error(run.tracking.error, 1e3),
            'orientation_error_rad': error(run.tracking.orientation_error, 1.0),
            'ik': self.task.plan.facts,
        }

    def path_error(self, run: Run) -> Array:
        """Return how far the reference is from the straight stroke of its time (k,) [m]."""
        return self.parameters.distance_from_strokes(run.record.t, run.tracking.reference_tip)

    def checks(self, report: ReportTree) -> list[Check]:
        """Return both errors with the limits stated for this path, and for this law or mode."""
        p, path = self.parameters, report['path_error_mm']
        law = '_'.join(filter(None, (report['controller'], report['feedforward'])))
        key = law if report['mode'] == 'lockstep' else report['mode']
        rms, largest = p.path_limit.get(p.path, (None, None))
        tracking, limit = report['tracking_error_mm']['rms'], p.tracking_limit.get(key)
        return [
            Check('path error RMS', path['rms'], rms, 'mm'),
            Check('path error max', path['max'], largest, 'mm'),
            Check('tracking error RMS', tracking, limit, 'mm'),
        ]

    def rows(self, report: ReportTree) -> list[tuple[str, ...]]:
        """Return the errors with their strokes, what every task has, and IK."""
        tracking, *others = common_rows(report)
        rows = [tracking, error_row('path error [mm]', report['path_error_mm']), *others]
        for i, key in enumerate(('tracking_error_mm', 'path_error_mm', 'orientation_error_rad')):
            rows[i] = (*rows[i][:3], f'stroke {report[key]["max_on_stroke"]}, {rows[i][3]}')
        p = self.parameters
        if (p.center, p.side) != (CubeWalk.center, CubeWalk.side):
            center = ', '.join(f'{x:g}' for x in p.center)
            rows.append(('cube [m]', '', f'{p.side:g}', f'centre ({center})'))
        ik = report['ik']
        how = f'{ik["calls"]} call{"s" if ik["calls"] != 1 else ""}, '
        how += f'largest joint step {ik["max_joint_step_rad"]:.3g} rad'
        return [*rows, ('IK residual [mm]', '', f'{ik["max_position_error_mm"]:.2g}', how)]

    def draw(self, run: Run, report: ReportTree) -> Any:
        """Draw the cube in 3D, both errors over time, and the torques."""
        from arm_sim.tasks.cube.picture import cube_figure

        return cube_figure(
            run.record, run.tracking, self.path_error(run), self.parameters, report,
            self.robot.model,
        )  # fmt: skip

    def progress(self, share: float) -> str:
        """Return the line that names the stroke which is drawn."""
        strokes = self.parameters.strokes
        stroke = min(int(share * strokes) + 1, strokes)
        return f'drawing: stroke {stroke:2d} of {strokes}, {share:4.0%}'


class Cube(PointsTask):
    """Strokes along a cube's edges, each from rest to rest."""

    Parameters = CubeParameters
    Report = CubeReport
    evaluation = TaskEvaluation(compared=4)
    asks_ik = True
    first_place, refusal = 'the first corner', 'the cube cannot be drawn: '

    def prepare(self) -> None:
        """Check the posture."""
        p, model = self.parameters, self.robot.model
        if model.nv < 6:
            raise ArmError(
                f"task 'cube' needs a six-joint arm; {self.robot.name!r} has {model.nv} joints: "
                'sinusoid, step, push and payload_drop take any arm'
            )
        ways = _ways(model)
        if ways < 6:
            raise ArmError(
                f"task 'cube' needs a tool that moves in six ways; that of {self.robot.name!r} "
                f'moves in {ways}: sinusoid, step, push and payload_drop take any arm'
            )
        self._tolerances = {
            'position_tolerance': p.ik_position_tolerance,
            'orientation_tolerance': p.ik_orientation_tolerance,
        }
        self.clearance = scene_clearance(model, surroundings=p, own=np.inf)
        self.notes = (self.clearance.note,) * bool(self.clearance.note)
        self.duration, self.approach_time, self.settle_time = (
            p.duration, p.approach_time, p.settle_time
        )  # fmt: skip
        self.is_known_to_fit = self.ik is None and is_usual(self)
        if p.center and p.side and p.posture:
            self.use(p)
        # A table that is in the way is named.
        elif self.ik is None and not p.table and not self.is_known_to_fit:
            try:
                fit(self)
            except ArmError as error:
                self.use(p)
                raise self._refused(error) from None
        else:  # they fit, or a launch file has fitted them
            center, side = p.center or CubeWalk.center, p.side or CubeWalk.side
            self.use(replace(p, center=center, side=side))

    # What to follow

    @property
    def _points(self) -> tuple[Array, tuple[Array, ...]]:
        return self.plan.times, self.plan.states

    @cached_property
    def plan(self) -> _Plan:
        """The strokes in joint space, planned once."""
        try:
            return self._plan()
        except ArmError as error:
            if self.ik is not None:
                raise
            raise self._refused(error) from None

    def _refused(self, error: ArmError) -> ArmError:
        p = self.parameters
        words = that_work(self, p)
        self.use(p)
        return ArmError(f'{error}{words}')

    def plan_for(self, parameters: CubeParameters) -> None:
        """Plan with these parameters, and the way from the robot's start; raises ArmError."""
        self.use(parameters)
        self.plan = self._plan()
        self.goal_from(np.array(self.simulator.get('initial_positions', self.robot.start)), 10**6)

    def use(self, parameters: CubeParameters) -> None:
        """Use other parameters, and forget the plan."""
        for name in ('plan', '_trajectory', 'start'):
            vars(self).pop(name, None)
        self.parameters = parameters
        given = parameters.posture or self.robot.start
        self._posture = self.robot.model.check_configuration(given, 'posture')

    def _plan(self) -> _Plan:
        p, model = self.parameters, self.robot.model
        plan = self._edges() if p.path == 'edges' else self._published()
        times = p.sample_times(p.edge_time / _CHECKED)
        follow = through(plan.times, plan.states).evaluate
        self.keep_clear(times, sampled(follow, times, model.nv)[0])
        goal = goal_of(model, plan.times, plan.states, self.rest_time)
        try:
            goal_reference(goal, model, plan.states[0][0], np.zeros(model.nv))
        except ArmError as error:
            raise ArmError(f'{self.refusal}{error}') from None
        return plan

    def _edges(self) -> _Plan:
        """Straight lines: quintic timing along each edge, inverse kinematics along the line."""
        from arm_dynamics.paths.cartesian_path import joint_path_derivatives, polyline

        p, model = self.parameters, self.robot.model
        rotation = model.forward_kinematics(self._posture).rotation
        path = polyline(p.waypoints, rotation, p.edge_time)
        samples = path.sample(p.sample_times(p.sample_period))
        solve = self.ik.path if self.ik else _own_ik('solve_path_ik', model)
        solution = solve(samples.poses, self._posture, **self._tolerances)
        self._check(solution)
        errors = solution.max_position_error, solution.max_orientation_error
        facts = _facts(1, solution.q, *errors)
        steps = np.abs(np.diff(solution.q, axis=0)).max(axis=0)
        fastest = 2.0 * model.velocity_limit * p.sample_period
        k = int(np.argmax(steps / fastest))
        if steps[k] > fastest[k]:
            raise ArmError(
                f'{self.refusal}the joint path jumps by {steps[k]:.3g} rad between two points; '
                f'at most {fastest[k]:.3g} rad is a motion'
            )
        if model.nv == 6:
            v, a = joint_path_derivatives(model, solution.q, samples.twists, samples.twist_rates)
        else:
            v, a = _derivatives(samples.times, solution.q, p.strokes)
        return _Plan(samples.times, (solution.q, v, a), facts)

    def _published(self) -> _Plan:
        """The published way: one pose per corner, seeded by the corner before; rest at each."""
        p, model, seed = self.parameters, self.robot.model, self._posture
        solve = self.ik.pose if self.ik else _own_ik('solve_ik', model)
        target, solutions = model.forward_kinematics(seed).copy(), []
        for number, position in enumerate(p.waypoints):
            target.translation = position
            solutions.append(solve(target, seed, **self._tolerances))
            self._check(solutions[-1], f'corner {number}: ')
            seed = solutions[-1].q
        q = np.array([each.q for each in solutions])
        errors = np.array([(each.position_error, each.orientation_error) for each in solutions])
        facts = _facts(len(solutions), q, *errors.max(axis=0).tolist())
        times = np.arange(len(q)) * p.edge_time
        return _Plan(times, (q, np.zeros_like(q), np.zeros_like(q)), facts)

    def _check(self, solution: Any, where: str = '') -> None:
        if not solution.success:
            center = ', '.join(f'{value:g}' for value in self.parameters.center)
            raise ArmError(
                f'{self.refusal}{where}{solution.reason} (center ({center}) m, '
                f'side {self.parameters.side:g} m)'
            )


def _derivatives(times: Array, q: Array, strokes: int) -> tuple[Array, Array]:
    """Return velocities and accelerations (m, n) of a path q (m, n) at rest at each corner."""
    from scipy.interpolate import make_interp_spline

    rest = [(order, np.zeros(q.shape[1])) for order in (1, 2)]
    rows, size = np.zeros((2, *q.shape)), (len(q) - 1) // strokes
    for k in range(strokes):
        at = slice(k * size, (k + 1) * size + 1)
        spline = make_interp_spline(times[at], q[at], 5, bc_type=(rest, rest))
        rows[:, at] = [spline(times[at], order) for order in (1, 2)]
    return rows[0], rows[1]


def _ways(model: RobotModel) -> int:
    """Return in how many of six ways the tool moves: the rank of the Jacobian."""
    rng = np.random.default_rng(0)
    places = (model.random_configuration(rng) for _ in range(5))
    return max(int(np.linalg.matrix_rank(model.jacobian(q), 1e-6)) for q in places)


def _own_ik(name: str, model: RobotModel) -> Callable:
    """Return a function of `arm_dynamics.inverse_kinematics` for the model; imports Numba."""
    return partial(getattr(import_module('arm_dynamics.inverse_kinematics'), name), model)


def _facts(
    calls: int, q: Array, position_error: float, orientation_error: float
) -> dict[str, Any]:
    return {
        'calls': calls,
        'max_position_error_mm': position_error * 1e3,
        'max_orientation_error_rad': orientation_error,
        'max_joint_step_rad': float(np.abs(np.diff(q, axis=0)).max()),
    }
