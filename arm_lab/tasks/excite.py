"""A motion that excites the parameters of an arm; `identify` reads its recording."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.parameters import parameter
from arm_dynamics.scene_clearance import scene_clearance
from arm_lab.identification.excitation import ExcitationParameters, plan
from arm_sim.loop.goal_file import read_goal
from arm_sim.tasks import TaskEvaluation
from arm_sim.tasks._points import PointsTask


@dataclass(frozen=True, kw_only=True)
class ExciteParameters(ExcitationParameters):
    """The goal file, or how a motion is found where there is none."""

    file: str = parameter('', 'path of a goal file; empty: a motion is computed')
    periods: int = parameter(6, 'number of periods of a computed motion', min=1, max=1000)
    evaluations: int = parameter(300, 'number of motions to evaluate', min=1, max=10**7)


class Excite(PointsTask):
    """The arm follows a goal file, or a motion found in a short search."""

    Parameters = ExciteParameters
    evaluation = TaskEvaluation(compared=None)
    sample_period = 0.05

    def prepare(self) -> None:
        """Read the goal file, if any."""
        p = self.parameters
        self.clearance = scene_clearance(self.robot.model, surroundings=p, own=np.inf)
        self.clearance.leave_out_always_near(p.clearance)
        self.notes = (self.clearance.note,) * bool(self.clearance.note)
        self._file = read_goal(p.file, self.robot.model) if p.file else None
        if self._file is None:
            self.duration = p.periods * p.period
        else:
            self.duration = float(self._file.times[-1] - self._file.times[0])
            self.approach_time = max(self.approach_time, float(self._file.times[0]))

    @cached_property
    def _points(self) -> tuple[Array, tuple[Array, ...]]:
        if self._file is not None:
            file = self._file
            assert file.velocities is not None
            assert file.accelerations is not None
            times = np.round((file.times - file.times[0]) * 1e9) * 1e-9
            return times, (file.positions, file.velocities, file.accelerations)
        motion = plan(self.robot.model, self.parameters).motion
        times = np.round(np.arange(0.0, self.duration, self.sample_period) * 1e9) * 1e-9
        times = np.append(times, self.duration)
        return times, motion.states(times)
