"""The base of tasks whose reference goes through points of the joints, by quintics."""

from functools import cached_property

import numpy as np

from arm_controllers.follower.goal import Goal
from arm_controllers.follower.trajectory import Trajectory, through
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.clearance import Clearance
from arm_sim.loop.goals import goal_reference, sampled
from arm_sim.tasks import Task

_CHECKED = 100  # configurations on the way to the start, for clearance


class PointsTask(Task):
    """A task whose reference goes through `_points`.

    Attributes:
        clearance: from which the motion and the way to its start keep `parameters.clearance`;
            None: nothing is checked.
        first_place: name of the start of the motion.
        refusal: begin of the message about a motion that is not clear.
    """

    clearance: Clearance | None = None
    first_place = 'the start of the motion'
    refusal = ''

    @cached_property
    def _points(self) -> tuple[Array, tuple[Array, ...]]:
        """Times (m,) [s] of the points, and positions to accelerations (m, n)."""
        raise NotImplementedError

    def points(self) -> tuple[Array, tuple[Array, ...]]:
        """Return the points of the motion, which is planned once."""
        return self._points

    @cached_property
    def _trajectory(self) -> Trajectory:
        return through(*self._points)

    def reference(self, t: float, reference: Reference) -> None:
        """Write quintics between the points, and the wrench."""
        self._trajectory.evaluate(t, reference)
        self.add_wrench(t, reference)

    def goal_from(self, q: Array, period_ns: int) -> tuple[Goal | None, int]:
        """Return the goal with the way from q, which is kept clear as the motion is."""
        goal, start_ns = super().goal_from(q, period_ns)
        if goal is not None and self.clearance is not None:
            follow = goal_reference(goal, self.robot.model, q, np.zeros_like(q))
            start = (goal.start_ns or 0) * 1e-9
            times = np.linspace(0.0, float(goal.times[0]), _CHECKED)
            way = sampled(lambda t, reference: follow(start + t, reference), times, len(q))[0]
            self.keep_clear(times, way, f'on the way to {self.first_place} ')
        return goal, start_ns

    def keep_clear(self, times: Array, q: Array, where: str = '') -> None:
        """Raise ArmError where a configuration of q (m, n) is too near to something."""
        assert self.clearance is not None
        try:
            self.clearance.check(times, q, self.parameters.clearance)
        except ArmError as error:
            raise ArmError(f'{self.refusal}{where}{error}') from None
