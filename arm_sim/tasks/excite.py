"""A motion that excites the parameters of an arm; `identify` reads its recording."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from arm_controllers.follower.goal import Goal
from arm_controllers.follower.trajectory import Trajectory, through
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.clearance import Clearance
from arm_dynamics.identification.excitation import ExcitationParameters, plan
from arm_dynamics.parameters import parameter
from arm_sim.loop.goal_file import read_goal
from arm_sim.loop.goals import goal_reference, sampled
from arm_sim.tasks import Task

_CHECKED = 100  # configurations on the way to the start, for clearance


@dataclass(frozen=True, kw_only=True)
class ExciteParameters(ExcitationParameters):
    """The goal file, or how a motion is found where there is none."""

    file: str = parameter('', 'path of a goal file; empty: a motion is computed')
    periods: int = parameter(6, 'number of periods of a computed motion', min=1, max=1000)
    evaluations: int = parameter(300, 'number of motions to evaluate', min=1, max=10**7)


class Excite(Task):
    """The arm follows a goal file, or a motion found in a short search."""

    Parameters = ExciteParameters
    compared = None
    sample_period = 0.05

    def prepare(self) -> None:
        """Read the goal file, if any."""
        p = self.parameters
        self._clearance = Clearance(self.robot.model, p)
        self._clearance.leave_out_always_near(p.clearance)
        self.notes = (self._clearance.note,) * bool(self._clearance.note)
        self._file = read_goal(p.file, self.robot.model) if p.file else None
        if self._file is None:
            self.duration = p.periods * p.period
        else:
            self.duration = float(self._file.times[-1] - self._file.times[0])
            self.approach_time = max(self.approach_time, float(self._file.times[0]))

    def reference(self, t: float, reference: Reference) -> None:
        """Write the reference: quintics between the points."""
        self._trajectory.evaluate(t, reference)

    def points(self) -> tuple[Array, tuple[Array, ...]]:
        """Return the points of the goal file, or of the motion that was found."""
        return self._points

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

    def goal_from(self, q: Array, period_ns: int) -> tuple[Goal | None, int]:
        """Return the goal with the way from q, which is kept clear as the motion is."""
        goal, start_ns = super().goal_from(q, period_ns)
        assert goal is not None
        follow = goal_reference(goal, self.robot.model, q, np.zeros_like(q))
        start = (goal.start_ns or 0) * 1e-9
        times = np.linspace(0.0, float(goal.times[0]), _CHECKED)
        way = sampled(lambda t, reference: follow(start + t, reference), times, len(q))[0]
        try:
            self._clearance.check(times, way, self.parameters.clearance)
        except ArmError as error:
            raise ArmError(f'on the way to the start of the motion {error}') from None
        return goal, start_ns

    @cached_property
    def _trajectory(self) -> Trajectory:
        return through(*self._points)
