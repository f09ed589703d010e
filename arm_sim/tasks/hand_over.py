"""Hand over: a person pulls at the tool, and the arm is to give way and to come to rest."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from arm_dynamics.checks import Array, in_range
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.loop.events import Push
from arm_sim.loop.report import ReportTree, Results, common_rows
from arm_sim.tasks import Run, Task, TaskEvaluation, TaskReport

_SAMPLE = 0.01  # of the pull [s]
_TREMOR, _TREMOR_SHARE = 9.0, 0.05  # of a hand: frequency [Hz], amplitude [1]
_AT_REST = 1e-3  # [m/s]
_REST_TIME = 0.2  # in which a success is at rest at the end [s]


@dataclass(frozen=True, kw_only=True)
class HandOverParameters(Parameters):
    """The pull of the person."""

    force: tuple[float, ...] = parameter(
        (15.0, 0.0, 0.0), 'largest force of the pull at the tool frame, base-aligned [N]',
        length=3, min=-1e3, max=1e3,
    )  # fmt: skip
    begin: float = parameter(0.5, 'begin of the pull [s]', min=0)
    pull_time: float = parameter(1.2, 'duration of the pull [s]', min=0.1, max=4)
    duration: float = parameter(4.0, 'duration of the task [s]', max=3600)
    least_displacement: float = parameter(
        0.03, 'displacement of the tool that counts as giving way [m]', min=0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        in_range('duration', self.duration, self.begin + self.pull_time + _REST_TIME, 3600.0)


class HandOverReport(TaskReport):
    """The pull, the displacement, and whether the arm comes to rest."""

    def results(self, run: Run) -> Results:
        """Return the person's work and force, the displacement, and whether the arm rests."""
        t, tip = run.record.t, run.tracking.tip
        force, period = self.task.pull(t), float(t[1] - t[0])
        steps = np.diff(tip, axis=0)
        away = np.linalg.norm(tip - tip[0], axis=1)
        moves = np.append(np.linalg.norm(steps, axis=1) / period, 0.0) > _AT_REST
        last = float(t[np.flatnonzero(moves)[-1]]) if moves.any() else 0.0
        felt = np.linalg.norm(run.record.wrench[:, :3], axis=1) if len(run.record.wrench) else [0]
        rests = not moves[t >= self.task.duration - _REST_TIME].any()
        gave_way = float(away.max()) >= self.parameters.least_displacement
        return {
            'work_of_person_j': float((force[:-1] * steps).sum()),
            'peak_force_n': float(np.linalg.norm(force, axis=1).max()),
            'peak_wrist_force_n': float(np.max(felt)),
            'displacement_max_mm': float(1e3 * away.max()),
            'displacement_end_mm': float(1e3 * away[-1]),
            'last_motion_s': last,
            'success': bool(run.record.completed and gave_way and rests),
        }

    def rows(self, report: ReportTree) -> list[tuple[str, ...]]:
        """Return rows of the pull and of the displacement, and what every task has."""
        work = f'work of the person {report["work_of_person_j"]:.3g} J; '
        work += f'at the wrist {report["peak_wrist_force_n"]:.4g} N'
        end = f'at the end {report["displacement_end_mm"]:.3g} mm; '
        end += f'last motion at t = {report["last_motion_s"]:.3f} s'
        return [
            ('pull [N]', '', f'{report["peak_force_n"]:.4g}', work),
            ('displacement [mm]', '', f'{report["displacement_max_mm"]:.4g}', end),
            ('success', '', 'yes' if report['success'] else 'no', ''),
            *common_rows(report),
        ]


class HandOver(Task):
    """A person pulls at the tool while the arm holds the robot's start.

    The pull is synthetic, no measurement of a person: sin^2 over pull_time, as smooth reaching
    movements have, with a tremor of 9 Hz and 5 % (physiological tremor: 8 to 12 Hz), held for
    0.01 s each. It does not depend on how the arm moves.
    """

    Parameters: ClassVar[type[Parameters]] = HandOverParameters
    Report = HandOverReport
    evaluation = TaskEvaluation(compared=None)

    def prepare(self) -> None:
        """Set the pull, and put a tared force-torque sensor before the tool."""
        p, model = self.parameters, self.robot.model
        share = (np.arange(round(p.pull_time / _SAMPLE)) + 0.5) * _SAMPLE / p.pull_time
        tremor = 1.0 + _TREMOR_SHARE * np.sin(2.0 * np.pi * _TREMOR * p.pull_time * share)
        shares = np.sin(np.pi * share) ** 2 * tremor
        wrench = (*p.force, 0.0, 0.0, 0.0)
        end = p.begin + p.pull_time
        self.push = Push(model.tip_frame, wrench, p.begin, end, tuple(shares.tolist()))
        self.simulator = {
            'force_torque.frame': model.tool_carrier,
            'force_torque.tare_at_reset': True,
        }
        self.duration, self.event = p.duration, end

    def pull(self, t: Array) -> Array:
        """Return the force of the person (k, 3) at times (k,) [N]."""
        assert self.push is not None
        times, shares = np.array(self.push.samples()).T
        index = np.searchsorted(times, t + 1e-9, side='right') - 1
        held = np.where(index >= 0, shares[np.maximum(index, 0)], 0.0)
        force: Array = np.outer(held, self.parameters.force)
        return force
