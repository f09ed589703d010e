"""Certificates of goals: safe for every arm within a model error, or one place where it is not."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from arm_controllers.follower.goal import Goal
from arm_controllers.follower.goal_rules import check_form
from arm_controllers.follower.goal_trajectory import goal_trajectory
from arm_controllers.follower.parameters import FollowerParameters, Limits
from arm_controllers.follower.trajectory import Trajectory
from arm_controllers.reference import Reference
from arm_dynamics.checks import Array, per_joint
from arm_dynamics.checks import unit as unit_of
from arm_dynamics.clearance import Clearance
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import with_arrays
from arm_lab.certificate.arms import UncertainArm
from arm_lab.certificate.distance import DistanceBound, check_clearance
from arm_lab.certificate.finding import Finding
from arm_lab.certificate.motion import check_motion
from arm_lab.certificate.torque import check_torque
from arm_lab.experiments.ranges import Ranges


@dataclass(frozen=True)
class Certificate:
    """The answer for one goal.

    Attributes:
        finding: None where the goal is safe; else where it is not, or not provably.
    """

    finding: Finding | None

    @property
    def safe(self) -> bool:
        """Whether the goal is proven to be within all limits."""
        return self.finding is None

    def words(self, model: RobotModel) -> str:
        """Return the answer in one line; `model` has the units of its joints."""
        found = self.finding
        if found is None:
            return 'safe'
        if found.quantity == 'clearance':
            unit, of = 'm', f'link {found.name!r}: distance from {found.other}'
            relation = 'below the least'
        else:
            prismatic = bool(model.prismatic[model.joint_names.index(found.name)])
            unit = unit_of(found.quantity, prismatic)
            of = f'joint {found.name!r}: {found.quantity}'
            relation = 'beyond the limit'
        answer = 'unsafe' if found.proven else 'not proven safe'
        relation = relation if found.proven else 'not distinguished from the limit'
        return (
            f'{answer}: {of} {found.value:.6g} {unit}, {relation} {found.limit:.6g} {unit}, '
            f't = {found.time:.6g} s'
        )


class Certifier:
    """Certifies goals for all arms of one model and one model error."""

    def __init__(
        self,
        model: RobotModel,
        ranges: Ranges,
        max_acceleration: ArrayLike = 0.0,
        max_jerk: ArrayLike = 0.0,
        clearance: Clearance | None = None,
        least: float = 0.0,
    ):
        """Take what all goals have in common.

        Args:
            model: that of the controller, with the limits of position, velocity and torque.
            ranges: of the arms; delays and noise do not count, because the motion is followed
                exactly.
            max_acceleration: one for all joints or one per joint, where the model's is not
                smaller; 0: no limit [rad/s^2 | m/s^2].
            max_jerk: the same [rad/s^3 | m/s^3].
            clearance: shapes that are kept apart; None: distances are not checked.
            least: distance that they keep [m].

        Raises:
            ArmError: a limit that is not allowed.
        """
        self.model, self.arm, self.least = model, UncertainArm(model, ranges), least
        self.max_acceleration = np.minimum(
            _limit('max_acceleration', max_acceleration, model), model.acceleration_limit
        )
        self.max_jerk = np.minimum(_limit('max_jerk', max_jerk, model), model.jerk_limit)
        self._distance = DistanceBound(clearance) if clearance else None
        self._rules = with_arrays(FollowerParameters(), model.joint_names)

    def __call__(self, goal: Goal, start: Array | None = None) -> Certificate:
        """Return the certificate of a goal from rest at `start` (n,), or from its point at t = 0.

        Raises:
            GoalError: the goal has not the form of a goal, or begins elsewhere.
        """
        return self.of_trajectory(self.trajectory(goal, start))

    def trajectory(self, goal: Goal, start: Array | None = None) -> Trajectory:
        """Return the polynomials of a goal, as a controller follows them; see `__call__`."""
        model, rules = self.model, self._rules
        check_form(goal, model.joint_names, rules)
        state = Reference(model.nv)
        if goal.times[0] == 0.0:
            order = [goal.joint_names.index(name) for name in model.joint_names]
            rows = goal.positions, goal.velocities, goal.accelerations
            for now, row in zip((state.q, state.v, state.a), rows, strict=True):
                if row is not None:
                    now[:] = row[0, order]
        elif start is not None:
            state.q[:] = start
        deceleration = Limits.of(rules, model).deceleration
        return goal_trajectory(goal, model, state, 0.0, rules, deceleration)[0]

    def of_trajectory(self, trajectory: Trajectory) -> Certificate:
        """Return the certificate of a trajectory and of its rest after the end."""
        limits = self.max_acceleration, self.max_jerk
        finding = check_motion(trajectory, self.model, *limits)
        if finding is None:
            finding = check_torque(_with_rest(trajectory), self.arm)
        if self._distance is not None and (finding is None or not finding.proven):
            near = check_clearance(trajectory, self._distance, self.least)
            finding = near if finding is None or (near and near.proven) else finding
        return Certificate(finding)


def _limit(name: str, values: ArrayLike, model: RobotModel) -> Array:
    given = per_joint(name, values, model.joint_names, 0.0)
    return np.where(given > 0.0, given, np.inf)


def _with_rest(trajectory: Trajectory) -> Trajectory:
    """Return the trajectory and a second of rest, under its last effort."""
    rest = np.zeros((1, 6, len(trajectory.last)))
    rest[0, 0] = trajectory.last
    efforts = trajectory.efforts[[-1, -1]]
    tail = Trajectory(np.array([0.0, 1.0]), rest, efforts, trajectory.last)
    return trajectory.followed_by(tail)
