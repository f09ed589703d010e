"""When a goal ends: tolerances of its error on the path and at its end, force, distance."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from arm_controllers.follower.goal import Goal, JointTolerance, ResultCode
from arm_controllers.follower.goal_rules import AT_REST
from arm_controllers.follower.parameters import FollowerParameters
from arm_controllers.follower.trajectory import Array
from arm_controllers.reference import Reference
from arm_dynamics.checks import unit
from arm_dynamics.model import RobotModel

_FAR = 0.1  # distance from its reference at which a joint that has no tolerance is named [rad | m]


@dataclass(frozen=True)
class GoalTolerances:
    """The tolerances of one goal.

    Attributes:
        path, end: (2, n) largest errors of position and of velocity, infinite where a joint has
            none; None where no joint has one.
        settle_time: longest time after its end until `end` must hold [s].
        settle_name: name of the parameter or field with that time.
    """

    path: Array | None
    end: Array | None
    settle_time: float
    settle_name: str

    @classmethod
    def of(
        cls,
        goal: Goal,
        joint_names: Sequence[str],
        parameters: FollowerParameters,
        passing: NDArray[np.bool_] | None = None,
    ) -> 'GoalTolerances':
        """Return the controller's tolerances (arrays), overridden by those of the goal.

        `passing`: joints (n,) that pass the last point at speed.
        """
        p, names = parameters, joint_names
        path, end = np.zeros((2, len(names))), np.zeros((2, len(names)))
        path[0] = p.trajectory_tolerance
        end[0] = p.goal_tolerance
        end[1] = p.stopped_velocity_tolerance
        if goal.velocities is not None and np.any(np.abs(goal.velocities[-1]) > AT_REST):
            end[1] = 0.0  # it need not stop there
        if passing is not None:
            end[1, passing] = 0.0
        _override(path, names, goal.path_tolerance)
        _override(end, names, goal.goal_tolerance)
        settle_time, name = p.goal_time_limit, 'goal_time_limit'
        given = goal.goal_time_tolerance or p.goal_time
        for other, what in ((p.cmd_timeout, 'cmd_timeout'), (given, 'goal time tolerance')):
            if 0 < other < settle_time:
                settle_time, name = other, what
        return cls(_bounds(path), _bounds(end), settle_time, name)


class ErrorWatch:
    """Compares a reference with the measured state, without allocating memory."""

    def __init__(self, model: RobotModel):
        """Take the model, for its joints."""
        n = len(model.joint_names)
        self._model = model
        self._turning = bool(model.continuous.any())
        self._error, self._size = np.zeros((2, n)), np.zeros((2, n))
        self._beyond = np.zeros((2, n), dtype=bool)

    def judge(
        self,
        tolerances: GoalTolerances,
        t: float,
        end: float,
        reference: Reference,
        q: Array,
        v: Array,
    ) -> tuple[ResultCode, str] | None:
        """Return how a goal ends at t [s], or None: it continues. `end`: of its last point [s]."""
        on_path = t < end
        bounds = tolerances.path if on_path else tolerances.end
        if bounds is None or not self.violated(reference, q, v, bounds):
            return None if on_path else (ResultCode.SUCCESSFUL, self._far(reference, q, v, bounds))
        if on_path:
            return ResultCode.PATH_TOLERANCE_VIOLATED, self.describe(bounds, 'path', t)
        if t <= end + tolerances.settle_time:
            return None
        text = self.describe(bounds, 'goal', t)
        text += f', {tolerances.settle_time:.6g} s ({tolerances.settle_name}) after its end'
        return ResultCode.GOAL_TOLERANCE_VIOLATED, text

    def violated(self, reference: Reference, q: Array, v: Array, bounds: Array) -> bool:
        """Return whether any error is beyond its bound (2, n)."""
        if self._turning:
            self._error[0] = self._model.difference(q, reference.q)
        else:
            np.subtract(reference.q, q, out=self._error[0])
        np.subtract(reference.v, v, out=self._error[1])
        np.abs(self._error, out=self._size)
        np.greater(self._size, bounds, out=self._beyond)
        return bool(np.count_nonzero(self._beyond))

    def _far(self, reference: Reference, q: Array, v: Array, bounds: Array | None) -> str:
        """Name a joint without goal tolerance that ends far from its reference; '': none does."""
        far = np.full((2, len(q)), np.inf)
        far[0] = _FAR if bounds is None else np.where(np.isinf(bounds[0]), _FAR, np.inf)
        if not self.violated(reference, q, v, far):
            return ''
        k = int(np.argmax(self._beyond[0]))
        of, name = unit('position', bool(self._model.prismatic[k])), self._model.joint_names[k]
        return (
            f'joint {name!r} ended {self._size[0, k]:.4g} {of} from its reference; neither'
            f' constraints.{name}.goal nor the goal limits that'
        )

    def describe(self, bounds: Array, what: str, t: float) -> str:
        """Return the violation that `violated` found: joint, error, tolerance and time."""
        row, joint = np.argwhere(self._beyond)[0]
        quantity = ('position', 'velocity')[row]
        of = unit(quantity, bool(self._model.prismatic[joint]))
        error, bound = self._error[row, joint], bounds[row, joint]
        return (
            f'joint {self._model.joint_names[joint]!r}: {quantity} error {error:.6g} {of} is'
            f' beyond its {what} tolerance {bound:.6g} {of} (t = {t:.6g} s)'
        )


def _override(bounds: Array, names: Sequence[str], tolerances: Sequence[JointTolerance]) -> None:
    for tolerance in tolerances:
        joint = names.index(tolerance.joint)
        for row, value in enumerate((tolerance.position, tolerance.velocity)):
            if value:
                bounds[row, joint] = max(value, 0.0)


def _bounds(tolerances: Array) -> Array | None:
    """Return tolerances (2, n) with 'no bound' (0) as infinity; None where there is no bound."""
    return np.where(tolerances > 0, tolerances, np.inf) if tolerances.any() else None


def end_on_force(
    model: RobotModel, rules: Any, start: Array, q: Array, wrench: Array | None
) -> str:
    """Return why a goal ends, '' where it goes on.

    Args:
        model: the arm.
        rules: FollowerParameters whose vectors are arrays.
        start: (3,) position of the tool frame where the goal began [m].
        q: (n,) the measured state.
        wrench: (6,) measured by the sensor on the link that carries the tool, in that link's
            axes; None: the force ends no goal.
    """
    if rules.end_force and wrench is not None:
        force = model.forward_kinematics(q, model.tool_carrier).rotation @ wrench[:3]
        size, words = float(np.linalg.norm(force)), ''
        if rules.end_direction.any():
            frame = rules.end_frame or model.base_frame
            along = model.forward_kinematics(q, frame).rotation @ rules.end_direction
            size = abs(float(force @ along)) / float(np.linalg.norm(along))
            words = f' along {rules.end_direction.tolist()} of {frame!r}'
        if size >= rules.end_force:
            return f'ended on force: {size:.4g} N{words}; end_on_force.force {rules.end_force:g} N'
    if rules.end_distance:
        distance = float(np.linalg.norm(model.forward_kinematics(q).translation - start))
        if distance >= rules.end_distance:
            return (
                f'ended on distance: the tool has moved by {distance:.4g} m; '
                f'end_on_force.distance {rules.end_distance:g} m'
            )
    return ''
