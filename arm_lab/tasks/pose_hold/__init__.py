"""Holding a pose without a goal: the summed error J must be what the model predicts.

    J = sum over control periods and counted joints of |q_r - q| after the period

Of the published five-joint arm R2, R3 and R5 are counted, of other arms all joints.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from arm_controllers.follower.goal import Goal
from arm_controllers.reference import Reference
from arm_dynamics.checks import Array
from arm_dynamics.parameters import Parameters, PerJoint, parameter
from arm_lab.published.five_joint_arm import JOINTS
from arm_lab.tasks.pose_hold.rollout import BLOW_UP_COST, BLOW_UP_ERROR
from arm_sim.loop.record import Record
from arm_sim.loop.report import Check, ReportTree, Results
from arm_sim.tasks import Run, Task, TaskEvaluation, TaskReport

CONTROLLED = np.array([1, 2, 4])


@dataclass(frozen=True)
class PoseHoldParameters(Parameters):
    """Parameters of the pose."""

    target: PerJoint = parameter((), "pose to hold [rad | m]; empty: the robot's start")
    duration: float = parameter(3.0, 'duration of the hold [s]', min=0.001, max=3600)


class PoseHoldReport(TaskReport):
    """The summed error J, and J as it is predicted."""

    asks_prediction = True
    columns = ('joint', 'target [rad]', 'worst error [rad]', 'error at the end [rad]')
    picture_name = 'pose_hold.png'

    def cost(self, record: Record) -> float:
        """Return J [rad]; 9999999 where the arm blew up."""
        errors = np.abs(record.q_reference[0] - _after(record))[:, self.task.counted]
        # Joint by joint and step by step, as the objective sums: the same number to the last bit.
        steps = np.zeros(len(errors))
        for column in errors.T:
            steps += column
        # Written so that an error of nan has blown up too.
        blown_up = not (record.completed and (steps <= BLOW_UP_ERROR).all())
        return BLOW_UP_COST if blown_up else float(np.add.accumulate(steps)[-1])

    def results(self, run: Run) -> Results:
        """Return J, J as predicted, and the errors of the joints."""
        target = run.record.q_reference[0]
        error = np.abs(_after(run.record) - target)
        found = {
            'target_rad': target.tolist(),
            'cost': self.cost(run.record),
            'worst_error_rad': error.max(axis=0).tolist(),
            'final_error_rad': error[-1].tolist(),
        }
        if run.predicted is not None:
            predicted = self.cost(run.predicted)
            found |= {'predicted_cost': predicted, 'same': found['cost'] == predicted}
        return found

    def checks(self, report: ReportTree) -> list[Check]:
        """Return that J is predicted to the last bit."""
        if 'predicted_cost' not in report:
            return []
        apart = abs(report['cost'] - report['predicted_cost'])
        return [Check('J differs from its prediction by', apart, 0.0, 'rad')]

    def rows(self, report: ReportTree) -> list[tuple[str, ...]]:
        """Return a row per joint, then J."""
        keys = ('joint_names', 'target_rad', 'worst_error_rad', 'final_error_rad')
        joints = zip(*(report[key] for key in keys), strict=True)
        rows: list[tuple[str, ...]] = [
            (name, f'{q:.6f}', f'{w:.3e}', f'{e:.3e}') for name, q, w, e in joints
        ]
        rows.append(('J in the simulation [rad]', f'{report["cost"]:.12g}', '', ''))
        if 'predicted_cost' in report:
            same = 'the same' if report['same'] else 'DIFFERS'
            rows.append(('J predicted [rad]', f'{report["predicted_cost"]:.12g}', same, ''))
        return rows

    def draw(self, run: Run, report: ReportTree) -> Any:
        """Draw the errors of all joints."""
        from arm_lab.tasks.pose_hold.picture import pose_figure

        return pose_figure(run.record, report, self.task.counted)


class PoseHold(Task):
    """The arm is at the pose and the controller holds it there.

    Attributes:
        counted: (m,) numbers of the joints that J counts.
    """

    Parameters = PoseHoldParameters
    Report = PoseHoldReport
    evaluation = TaskEvaluation(compared=None)

    def prepare(self) -> None:
        """Check the pose."""
        model, target = self.robot.model, self.parameters.target
        pose = model.check_configuration(target or self.robot.start, 'target')
        self._target = np.array(pose, dtype=float)
        self.counted = CONTROLLED if model.nv == JOINTS else np.arange(model.nv)
        self.duration = self.parameters.duration

    def reference(self, t: float, reference: Reference) -> None:
        """Write rest at the pose."""
        reference.row[:] = 0.0
        reference.q[:] = self._target

    def goal(self) -> Goal | None:
        """Return none: the controller holds where it took over."""
        return None


def _after(record: Record) -> Array:
    """Return the positions after each control period (k, n)."""
    return np.vstack([record.q[1:], record.q_end])
