"""Peg in hole: the arm inserts a round peg into a square hole that is not where it is expected.

Place, turn and stiffness of the hole are drawn. The reference knows none of them, and needs no
feedback: it goes below the expected surface, along a spiral, and below the expected bottom of the
hole. The compliance of the law turns depth into force, and aligns the peg.
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import Array, in_range
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.loop.report import Check, ReportTree, Results, common_rows
from arm_sim.simulation.scene import SceneObject
from arm_sim.tasks import Run
from arm_sim.tasks._contact import ContactReport
from arm_sim.tasks._poses import PosesTask, smooth

_DIAMETER = 0.02  # of the shipped peg [m]
_WALL = 0.05  # thickness of the walls around the hole [m]
_START = 0.2  # time in which the approach reaches its speed [s]
_RETURN = 0.3  # time for the way back from the end of the spiral [s]
_REST = 0.5  # time after the insertion [s]
_HIGH, _LONG, _PENALTY = 20.0, 1.0, -12.0  # AI for Industry challenge: [N], [s], points
_PHASES = 'down', 'search', 'back', 'insertion', 'rest'  # of the reference
_BOTTOM = 0.001  # from where the peg is inserted [m]


@dataclass(frozen=True, kw_only=True)
class PegInHoleParameters(Parameters):
    """The hole, its misalignment, and the motion of the search."""

    number: int = parameter(0, 'number of the drawn misalignment', min=0)
    seed: int = parameter(0, 'random seed of the drawn misalignments', min=0)
    offset: float = parameter(
        0.002, 'largest distance of the hole from its expected place [m]', min=0, max=0.02
    )
    turn: float = parameter(2.0, 'largest turn of the hole about any axis [deg]', min=0, max=20)
    stiffnesses: tuple[float, ...] = parameter(
        (1e4, 1e6), 'range of the stiffness of a contact point, drawn by its logarithm [N/m]',
        length=2, above=0, max=1e9,
    )  # fmt: skip
    hole_friction: float = parameter(0.3, 'friction coefficient of the hole [1]', min=0, max=10)
    clearance: float = parameter(
        1e-4, f'width of the hole minus {_DIAMETER:g} m, the diameter of the peg [m]',
        above=0, max=0.1,
    )  # fmt: skip
    depth: float = parameter(0.025, 'depth of the hole [m]', above=0.005, max=0.05)
    distance: float = parameter(
        0.01, 'distance of the peg from the expected hole at the start [m]', above=0, max=0.1
    )
    approach_speed: float = parameter(0.02, 'speed of the approach [m/s]', above=0, max=0.1)
    press: float = parameter(
        0.012, 'depth of the reference below the expected surface in the search [m]', min=0, max=1
    )
    radius: float = parameter(0.003, 'radius of the spiral [m]', above=0, max=0.1)
    pitch: float = parameter(0.0004, 'distance of the turns of the spiral [m]', above=0, max=0.1)
    speed: float = parameter(0.02, 'speed along the spiral [m/s]', above=0, max=0.1)
    beyond: float = parameter(
        0.01, 'depth of the reference below the expected bottom at the end [m]', min=0, max=1
    )
    insertion_time: float = parameter(1.2, 'time for the insertion [s]', min=0.1, max=60)

    def __post_init__(self) -> None:
        super().__post_init__()
        in_range('stiffnesses[1]', self.stiffnesses[1], self.stiffnesses[0])


class PegInHoleReport(ContactReport):
    """The drawn hole, and what became of the peg."""

    columns = ('', 'found', 'allowed', 'where')

    def in_hole(self, q: Array) -> tuple[Array, Array]:
        """Return the middle of the lower face of the peg (k, 3) [m], and the axis of the peg.

        Both are in axes of the hole; the axis (k, 3) points up. `q` are joint positions (k, n).
        """
        poses = [self.task.hole.actInv(self.robot.model.forward_kinematics(each)) for each in q]
        return (
            np.array([pose.translation for pose in poses]),
            -np.array([pose.rotation[:, 2] for pose in poses]),
        )

    def results(self, run: Run) -> Results:
        """Return the drawn hole, and what became of the peg."""
        record, p = run.record, self.parameters
        place, axis = self.in_hole(record.q)
        deep = np.flatnonzero(-place[:, 2] >= p.depth - _BOTTOM)
        high = np.linalg.norm(self.forces(run), axis=1) > _HIGH
        last, period = place[-1], float(record.t[1] - record.t[0])
        offset = self.task.hole.translation - self.task.expected.translation
        numbers = super().results(run) | {
            'offset_mm': (1e3 * offset).tolist(),
            'turn_deg': np.degrees(pin.log3(self.task.hole.rotation)).tolist(),
            'stiffness_n_per_m': self.task.stiffness,
            'depth_mm': -1e3 * float(last[2]),
            'inserted_at_s': float(record.t[deep[0]]) if len(deep) else None,
            'off_axis_mm': 1e3 * float(np.hypot(*last[:2])),
            'tilt_deg': float(np.degrees(np.arccos(min(1.0, axis[-1, 2])))),
            'above_20_n_s': period * float(high.sum()),
        }
        gentle = numbers['above_20_n_s'] <= _LONG
        inserted = -last[2] >= p.depth - _BOTTOM
        numbers['force_penalty'] = 0.0 if gentle else _PENALTY
        numbers['success'] = bool(record.completed and inserted and gentle)
        return numbers

    def rows(self, report: ReportTree) -> list[tuple[str, ...]]:
        """Return the hole, the insertion, the force, and what every task has."""
        p, at = self.parameters, report['inserted_at_s']
        offset = ', '.join(f'{x:.2f}' for x in report['offset_mm'])
        turn = ', '.join(f'{x:.2f}' for x in report['turn_deg'])
        inserted = 'never inserted' if at is None else f'inserted at t = {at:.3f} s'
        least = f'{1e3 * (p.depth - _BOTTOM):g}'
        return [
            ('offset of the hole [mm]', offset, '', f'turn ({turn}) deg'),
            ('stiffness of the hole [N/m]', f'{report["stiffness_n_per_m"]:.3g}', '', ''),
            ('insertion depth [mm]', f'{report["depth_mm"]:.2f}', f'>= {least}', inserted),
            ('distance from the axis [mm]', f'{report["off_axis_mm"]:.3f}', '', 'at the end'),
            ('tilt in the hole [deg]', f'{report["tilt_deg"]:.3f}', '', 'at the end'),
            ('force [N]', f'{report["peak_force_n"]:.4g}', '', f't = {report["peak_at_s"]:.3f} s'),
            ('time above 20 N [s]', f'{report["above_20_n_s"]:.3f}', f'{_LONG:g}', ''),
            ('success', 'yes' if report['success'] else 'no', '', ''),
            *common_rows(report),
        ]

    def draw(self, run: Run, report: ReportTree) -> Any:
        """Draw the force over time with the phases of the reference, and the force that hurts."""
        from arm_sim.pictures import ORANGE, QUIET, legend

        figure = super().draw(run, report)
        (axes,) = figure.axes
        axes.axhline(
            _HIGH, color=ORANGE, lw=1.0, ls='--', label=f'{_HIGH:g} N, for {_LONG:g} s at most'
        )
        begin, top = 0.0, axes.get_ylim()[1]
        for name, end in zip(_PHASES, self.task.ends, strict=True):
            axes.axvline(end, color=QUIET, lw=0.8)
            axes.text(0.5 * (begin + end), top, name, ha='center', va='top', fontsize='small')
            begin = end
        legend(axes, loc='center')
        return figure

    def checks(self, report: ReportTree) -> list[Check]:
        """Return the limits of a success: depth that is left, and time above 20 N."""
        left = 1e3 * self.parameters.depth - report['depth_mm']
        return [
            Check('depth that is left', left, 1e3 * _BOTTOM, 'mm'),
            Check('time above 20 N', report['above_20_n_s'], _LONG, 's'),
        ]


class PegInHole(PosesTask):
    """Inserts a round peg into a square hole whose place, turn and stiffness are drawn.

    Attributes:
        expected, hole: (SE3) middle of the hole in its surface; z out of the hole.
        stiffness: of a contact point of the hole [N/m].
        ends: (5,) of the phases of the reference [s].
    """

    Parameters: ClassVar[type[Parameters]] = PegInHoleParameters
    Report = PegInHoleReport

    def prepare(self) -> None:
        """Draw the hole, and set the times."""
        p, model = self.parameters, self.robot.model
        rng = np.random.default_rng((p.seed, p.number))
        self.tool = model.forward_kinematics(self.robot.start)
        middle = self.tool.translation - (0.0, 0.0, p.distance)
        self.expected = pin.SE3(np.eye(3), middle)
        offset, turn = p.offset * _in_ball(rng), np.radians(p.turn) * _in_ball(rng)
        self.hole = pin.SE3(pin.exp3(turn), middle + offset)
        softest, stiffest = map(math.log, p.stiffnesses)
        self.stiffness = math.exp(rng.uniform(softest, stiffest))
        self.touch(self._walls())
        durations = (
            0.5 * _START + (p.distance + p.press) / p.approach_speed,
            np.pi * p.radius**2 / p.pitch / p.speed,
            _RETURN,
            p.insertion_time,
            _REST,
        )
        self.ends = np.round(np.cumsum(durations), 2)
        self.duration = float(self.ends[-1])

    def _walls(self) -> list[SceneObject]:
        p, width = self.parameters, _DIAMETER + self.parameters.clearance
        across, far, outer = width, 0.5 * (width + _WALL), width + 2.0 * _WALL
        boxes = {
            'left_wall': ((outer, _WALL, p.depth), (0.0, far, -0.5 * p.depth)),
            'right_wall': ((outer, _WALL, p.depth), (0.0, -far, -0.5 * p.depth)),
            'front_wall': ((_WALL, across, p.depth), (-far, 0.0, -0.5 * p.depth)),
            'back_wall': ((_WALL, across, p.depth), (far, 0.0, -0.5 * p.depth)),
            'bottom': ((outer, outer, 0.02), (0.0, 0.0, -p.depth - 0.01)),
        }
        turn = tuple(pin.rpy.matrixToRpy(self.hole.rotation).tolist())
        return [
            SceneObject(
                name=name, size=size, position=tuple(self.hole.act(np.array(place)).tolist()),
                rotation=turn, stiffness=self.stiffness, friction=p.hole_friction,
                colour=(0.55, 0.6, 0.66),
            )
            for name, (size, place) in boxes.items()
        ]  # fmt: skip

    def pose(self, t: float) -> pin.SE3:
        """Return the pose of the tool at t [s]: down, a spiral of constant speed, down."""
        p = self.parameters
        touched, searched, back, inserted = self.ends[:4].tolist()
        share = np.clip((t - touched) / max(searched - touched, 1e-9), 0.0, 1.0)
        radius = np.sqrt(share) * p.radius
        angle = np.sqrt(share) * 2.0 * np.pi * p.radius / p.pitch
        radius *= 1.0 - smooth((t - searched) / (back - searched))
        begun = 0.5 * t * t / _START if t < _START else t - 0.5 * _START
        depth = min(begun * p.approach_speed, p.distance + p.press)
        depth += smooth((t - back) / (inserted - back)) * (p.depth + p.beyond - p.press)
        step = np.array([radius * np.cos(angle), radius * np.sin(angle), -depth])
        return pin.SE3(self.tool.rotation, self.tool.translation + step)


def _in_ball(rng: np.random.Generator) -> Array:
    """Return a drawn point (3,) of the unit ball."""
    direction = rng.normal(size=3)
    point: Array = direction / np.linalg.norm(direction) * math.cbrt(rng.uniform())
    return point
