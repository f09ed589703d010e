"""The base of contact tasks whose reference is a motion of the tool: poses over time."""

from functools import cached_property

import numpy as np
import pinocchio as pin
from scipy.interpolate import CubicSpline

from arm_controllers.follower.trajectory import Trajectory, through
from arm_controllers.reference import Reference
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.inverse_kinematics import solve_ik
from arm_sim.tasks._contact import ContactTask


class PosesTask(ContactTask):
    """A contact task whose reference goes through the poses of `pose`, without feedback.

    Attributes:
        first: (n,) joint positions at the first pose [rad | m]; None: the start of the robot.
    """

    first: Array | None = None
    sample_period = 0.02
    ranked_by = 'force_peak_n'

    def pose(self, t: float) -> pin.SE3:
        """Return the pose of the tool at t [s], in the base frame; at 0 that of the start."""
        raise NotImplementedError

    def reference(self, t: float, reference: Reference) -> None:
        """Write quintics between the points."""
        self._trajectory.evaluate(t, reference)
        self.add_wrench(t, reference)

    def points(self) -> tuple[Array, tuple[Array, ...]]:
        """Return the points where inverse kinematics was solved."""
        return self._points

    @cached_property
    def _trajectory(self) -> Trajectory:
        return through(*self._points)

    @cached_property
    def _points(self) -> tuple[Array, tuple[Array, ...]]:
        times = np.arange(0.0, self.duration + 1e-9, self.sample_period)
        times = np.round(times * 1e9) * 1e-9  # as a message has them
        q, rows = self.robot.start if self.first is None else self.first, []
        for t in times.tolist():
            found = solve_ik(self.robot.model, self.pose(t), q)
            if not found.success:
                name = type(self).__name__
                raise ArmError(f'{name}: {self.robot.name} does not reach its path at t = {t:g} s')
            q = found.q
            rows.append(q)
        spline = CubicSpline(times, np.array(rows), bc_type='clamped')
        states = tuple(spline(times, order) for order in range(3))
        for derivative in states[1:]:
            derivative[[0, -1]] = 0.0  # the goal begins and ends at rest
        return times, states


def smooth(x: float) -> float:
    """Return a share that goes from 0 at x = 0 to 1 at x = 1, with speed and acceleration 0."""
    x = min(max(x, 0.0), 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x * x)
