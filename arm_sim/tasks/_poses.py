"""The base of contact tasks whose reference is a motion of the tool: poses over time."""

from collections.abc import Iterable
from functools import cached_property
from itertools import islice

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.inverse_kinematics import solve_ik
from arm_sim.tasks import Task, TaskEvaluation
from arm_sim.tasks._contact import ContactTask
from arm_sim.tasks._points import PointsTask


class PosesTask(PointsTask, ContactTask):
    """A contact task whose reference goes through the poses of `pose`, without feedback.

    Attributes:
        first: (n,) joint positions at the first pose [rad | m]; None: the start of the robot.
    """

    first: Array | None = None
    sample_period = 0.02
    evaluation = TaskEvaluation(compared=None, ranked_by='force_peak_n')

    def pose(self, t: float) -> pin.SE3:
        """Return the pose of the tool at t [s], in the base frame; at 0 that of the start."""
        raise NotImplementedError

    @cached_property
    def _points(self) -> tuple[Array, tuple[Array, ...]]:
        from scipy.interpolate import CubicSpline  # slow to import; few tasks need it

        times = np.arange(0.0, self.duration + 1e-9, self.sample_period)
        times = np.round(times * 1e9) * 1e-9  # as a message has them
        first = self.robot.start if self.first is None else self.first
        rows = joint_path(self, map(self.pose, times.tolist()), first)
        spline = CubicSpline(times, rows, bc_type='clamped')
        states = tuple(spline(times, order) for order in range(3))
        for derivative in states[1:]:
            derivative[[0, -1]] = 0.0  # the goal begins and ends at rest
        return times, states


def joint_path(task: Task, poses: Iterable[pin.SE3], q: Array) -> Array:
    """Return the joint positions (m, n) at poses of the tool, each near those before.

    `q` (n,) are those at the first pose: a task that is planned again from there is the same task,
    to the last bit.

    Raises:
        ArmError: the robot does not reach a pose.
    """
    rows = [q]
    for pose in islice(poses, 1, None):
        solution = solve_ik(task.robot.model, pose, q)
        if not solution.success:
            raise ArmError(
                f'{task.robot.name} does not reach the path of the task from its start (point'
                f' {len(rows)})'
            )
        q = solution.q
        rows.append(q)
    return np.array(rows)


def smooth(x: float) -> float:
    """Return a share that goes from 0 at x = 0 to 1 at x = 1, with speed and acceleration 0."""
    x = min(max(x, 0.0), 1.0)
    return x**3 * (10.0 - 15.0 * x + 6.0 * x * x)
