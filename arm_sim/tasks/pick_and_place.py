"""The arm picks up a block from a bench, and puts it down at another place.

The block is drawn: its sides, its mass, its friction, and its pose. The gripper comes from above,
closes on two sides, lifts the block, carries it, lets go of it and moves away.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pinocchio as pin

from arm_controllers.gripper import gripper_joint
from arm_controllers.parameter_values import as_ros_value
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array, in_range
from arm_dynamics.parameters import Parameters, changed, parameter
from arm_sim.loop.report import Check, ReportTree, Results, common_rows
from arm_sim.simulation.scene import SceneObject, objects_text
from arm_sim.tasks import Run, TaskEvaluation, TaskReport
from arm_sim.tasks._points import PointsTask

_CLOSE, _OPEN = 0.5, 0.5  # time for the gripper [s]
_REST = 0.1  # at the end, in which the block must not move [s]
_AT_REST = 1e-4  # [m]
_LOW = 0.02  # lowest point of grasp above the bench [m]
_DAMPING = 0.15  # of the contact points of the block, as a damping ratio of its mass on one point
_DROP = 0.0005  # the block is let go of at this height [m]


@dataclass(frozen=True)
class PickAndPlaceParameters(Parameters):
    """The block, where it is, where it goes, and how it is gripped."""

    number: int = parameter(0, 'number of the drawn block', min=0)
    seed: int = parameter(0, 'random seed of the drawn blocks', min=0)
    sides: tuple[float, ...] = parameter(
        (0.03, 0.06), 'range of the three sides of the block [m]', length=2, above=0, max=1
    )
    masses: tuple[float, ...] = parameter(
        (0.05, 0.5), 'range of the mass of the block [kg]', length=2, above=0, max=100
    )
    frictions: tuple[float, ...] = parameter(
        (0.4, 0.9), 'range of the friction coefficient of the block [1]', length=2, min=0, max=10
    )
    pick: tuple[float, ...] = parameter(
        (-0.25, 0.45), 'middle of the places of the block, in the base frame [m]', length=2
    )
    spread: float = parameter(
        0.08, 'largest distance of the block from `pick` along x and y [m]', min=0, max=10
    )
    turn: float = parameter(
        0.5, 'largest turn of the block about the vertical [rad]', min=0, max=1.5
    )
    place: tuple[float, ...] = parameter(
        (0.15, 0.5), 'place for the block, in the base frame [m]', length=2
    )
    bench: float = parameter(0.1, 'height of the bench above the base [m]', min=-10, max=10)
    clearance: float = parameter(
        0.1, 'height above block and place at which the arm moves [m]', above=0.01, max=10
    )
    stiffness: float = parameter(
        1e4, 'stiffness of each contact point of the block [N/m]', above=0, max=1e9
    )
    max_effort: float = parameter(
        60.0, 'effort of the gripper; of two fingers, each presses with half of it [N | N.m]',
        above=0, max=1e4,
    )  # fmt: skip
    tolerance: float = parameter(0.005, 'largest distance from the place [m]', above=0)
    turn_tolerance: float = parameter(0.05, 'largest turn from the place [rad]', above=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ('sides', 'masses', 'frictions'):
            low, high = getattr(self, name)
            in_range(f'{name}[1]', high, low)


class PickAndPlaceReport(TaskReport):
    """What became of the block."""

    columns = ('', 'found', 'allowed', 'where')

    def results(self, run: Run) -> Results:
        """Return what became of the block."""
        record, p = run.record, self.parameters
        block = {name: as_ros_value(value) for name, value in changed(self.task.block).items()}
        numbers = {'block': block, 'gripper_effort_n': self._effort(run)}
        if not len(record.objects):
            return numbers
        poses = record.objects[:, 0]
        at = np.searchsorted(record.t, (self.task.lift_at, self.task.open_at))
        grips = [  # poses of the block in the tool frame
            self.robot.model.forward_kinematics(record.q[k]).actInv(pin.XYZQUATToSE3(poses[k]))
            for k in at
        ]
        slip = 1e3 * np.linalg.norm(grips[1].translation - grips[0].translation)
        end, rest = pin.XYZQUATToSE3(poses[-1]), round(_REST / (record.t[1] - record.t[0]))
        turn = float(np.linalg.norm(pin.log3(end.rotation)))
        moved = np.abs(poses[-rest:, :3] - poses[-1, :3]).max()
        error = np.linalg.norm(end.translation - self.task.target.translation)
        success = error <= p.tolerance and turn <= p.turn_tolerance and moved <= _AT_REST
        return numbers | {
            'slip_mm': float(slip),
            'place_error_mm': 1e3 * float(error),
            'place_turn_rad': float(turn),
            'motion_at_the_end_mm': 1e3 * float(moved),
            'success': bool(success and record.completed),
        }

    def _effort(self, run: Run) -> float:
        """Return the effort of the gripper in the middle of its way with the block."""
        middle = (self.task.ends[2] + self.task.ends[3]) / 2.0
        row = min(int(np.searchsorted(run.record.t, middle)), len(run.record.t) - 1)
        return abs(float(run.record.effort[row, self.task.finger]))

    def checks(self, report: ReportTree) -> list[Check]:
        """Return the tolerances of the place."""
        p = self.parameters
        if 'success' not in report:
            return []
        return [
            Check('distance from the place', report['place_error_mm'], 1e3 * p.tolerance, 'mm'),
            Check('turn from the place', report['place_turn_rad'], p.turn_tolerance, 'rad'),
            Check('motion at the end', report['motion_at_the_end_mm'], 1e3 * _AT_REST, 'mm'),
        ]

    def rows(self, report: ReportTree) -> list[tuple[str, ...]]:
        """Return the block, the grip, the place, and what every task has."""
        block, p = self.task.block, self.parameters
        sides = ' x '.join(f'{1e3 * x:.1f}' for x in block.size)
        rows: list[tuple[str, ...]] = [
            ('block [mm]', sides, '', f'{block.mass:.3g} kg, friction {block.friction:.2f}'),
            (
                'effort of the gripper [N]',
                f'{report["gripper_effort_n"]:.5g}',
                f'{p.max_effort:g}',
                '',
            ),
        ]
        if 'success' in report:
            rows += [
                ('slip in the hand [mm]', f'{report["slip_mm"]:.3g}', '', ''),
                ('distance from the place [mm]', f'{report["place_error_mm"]:.3g}',
                 f'{1e3 * p.tolerance:g}', ''),
                ('turn from the place [rad]', f'{report["place_turn_rad"]:.3g}',
                 f'{p.turn_tolerance:g}', ''),
            ]  # fmt: skip
        return rows + common_rows(report)


class PickAndPlace(PointsTask):
    """Picks up a drawn block, and puts it down at a place.

    Attributes:
        block, table: the objects of the scene.
        target: pose of the block at its place.
        finger: number of the joint of the gripper.
        ends: of all motions (8,) [s].
    """

    Parameters = PickAndPlaceParameters
    Report = PickAndPlaceReport
    evaluation = TaskEvaluation(compared=None)
    moved_object = 'block'
    sample_period = 0.02
    settle_time = 0.5
    rest_time = 0.2

    def prepare(self) -> None:
        """Draw the block, and write the scene."""
        p, model = self.parameters, self.robot.model
        try:
            self.gripper = gripper_joint(model)
        except ArmError:
            raise ArmError(
                'task pick_and_place needs an arm with a gripper of one joint: gripper:=parallel, '
                "in Python robot='ur5e gripper:=parallel'"
            ) from None
        self.finger = model.joint_names.index(self.gripper)
        limits = model.position_lower, model.position_upper
        self.closed, self.opened = (float(each[self.finger]) for each in limits)
        rng = np.random.default_rng((p.seed, p.number))
        size = rng.uniform(p.sides[0], p.sides[1], 3)
        mass, friction = rng.uniform(*p.masses), rng.uniform(*p.frictions)
        offset, turn = rng.uniform(-p.spread, p.spread, 2), rng.uniform(-p.turn, p.turn)
        height = p.bench + size[2] / 2.0
        self.block = SceneObject(
            name='block', size=tuple(size.tolist()), mass=float(mass), friction=float(friction),
            position=(*(p.pick + offset).tolist(), float(height)),
            rotation=(0.0, 0.0, float(turn)),
            stiffness=p.stiffness, damping=float(_DAMPING * np.sqrt(p.stiffness * mass)),
        )  # fmt: skip
        middle = (np.array(p.pick) + p.place) / 2.0
        sizes = np.abs(np.subtract(p.place, p.pick)) + 2.0 * p.spread + 0.2
        self.table = SceneObject(
            name='bench', size=(*sizes.tolist(), 0.04),
            position=(*middle.tolist(), p.bench - 0.02),
            stiffness=2.0 * p.stiffness, colour=(0.72, 0.6, 0.45),
        )  # fmt: skip
        self.target = pin.SE3(np.eye(3), np.array([*p.place, height]))
        self.simulator = {'objects': objects_text((self.table, self.block))}
        durations = (0.6, _CLOSE, 0.6, 1.2, 0.6, _OPEN, 0.6, 0.4)
        self.ends = np.round(np.cumsum(durations), 9)
        self.close_at, self.lift_at = float(self.ends[0]), float(self.ends[1])
        self.open_at, self.duration = float(self.ends[4]), float(self.ends[-1])

    # What to follow

    def gripper_goals(self) -> list[tuple[float, float, float]]:
        """Return times [s], positions and largest efforts of the gripper's goals."""
        most = self.parameters.max_effort
        return [(self.close_at, self.closed, most), (self.open_at, self.opened, most)]

    def reference(self, t: float, reference: Reference) -> None:
        """Write quintics between the points, and the present goal of the gripper."""
        super().reference(t, reference)
        k = self.finger
        closed = self.close_at <= t < self.open_at
        reference.q[k] = self.closed if closed else self.opened
        reference.v[k] = reference.a[k] = 0.0
        reference.effort[k] = self.parameters.max_effort

    @cached_property
    def _points(self) -> tuple[Array, tuple[Array, ...]]:
        from arm_dynamics.inverse_kinematics import solve_path_ik  # imports Numba
        from arm_dynamics.paths.cartesian_path import Lines, Sequential, joint_path_derivatives

        model, way, ends = self.robot.model, self._way(), self.ends
        durations = np.diff(ends, prepend=0.0)
        motions = [Lines(pair, d) for pair, d in zip(pairwise(way), durations, strict=True)]
        times = np.round(np.arange(0.0, self.duration + 1e-9, self.sample_period) * 1e9) * 1e-9
        samples = Sequential(motions).sample(times)
        seed = self.robot.start.copy()
        seed[self.finger] = self.opened
        solution = solve_path_ik(model, samples.poses, seed)
        if not solution.success:
            where = ', '.join(f'{x:.3g}' for x in self.block.position)
            raise ArmError(f'the block at ({where}) m cannot be picked: {solution.reason}')
        v, a = joint_path_derivatives(model, solution.q, samples.twists, samples.twist_rates)
        return times, (solution.q, v, a)

    def _way(self) -> list[pin.SE3]:
        """Return the poses of the tool at the ends of all motions."""
        p, block = self.parameters, self.block
        height = max(p.bench + _LOW, block.position[2])
        start = self.robot.model.forward_kinematics(self.robot.start).rotation
        down = np.diag([1.0, -1.0, -1.0])  # the fingers close along y of the block
        turned = pin.rpy.rpyToMatrix(*block.rotation)
        # Of the two turns of the gripper by half a turn the nearer one.
        half = np.diag([-1.0, -1.0, 1.0])
        near = min((np.eye(3), half), key=lambda h: np.linalg.norm(start - turned @ h @ down))
        grasp = pin.SE3(turned @ near @ down, np.array([*block.position[:2], height]))
        lift = np.array([0.0, 0.0, p.clearance])
        above = pin.SE3(grasp.rotation, grasp.translation + lift)
        put = pin.SE3(near @ down, np.array([*p.place, height + _DROP]))
        over = pin.SE3(put.rotation, put.translation + lift)
        return [above, grasp, grasp, above, over, put, put, over, over]
