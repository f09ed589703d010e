"""Measures of a run of a task, and its report: numbers, limits, table and picture."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from arm_sim.loop.measures import Measures, Tracking, measure, summarize, tips
from arm_sim.loop.record import Record
from arm_sim.loop.report import Check, ReportTree, Results, common_rows


@dataclass(frozen=True)
class Run:
    """A run to report on.

    Attributes:
        record: what was recorded.
        tracking: the same, compared with the reference.
        facts: what was run: robot, controller, engine, mode and the like.
        predicted: the record of the same run in the loop, where the task asks for it.
    """

    record: Record
    tracking: Tracking
    facts: ReportTree = field(default_factory=dict)
    predicted: Record | None = None


class TaskReport:
    """The report on runs of a task; a task has its own as `Report`, where these do not suit it.

    Attributes:
        columns: headings of the table.
        picture_name: file of the picture.
        asks_prediction: whether the report compares a run with the same one in the loop.
        task, robot, parameters: the task, its robot and its parameters.
    """

    columns: ClassVar[tuple[str, ...]] = ('', 'RMS', 'max', 'where')
    picture_name: ClassVar[str] = 'tracking.png'
    asks_prediction: ClassVar[bool] = False

    def __init__(self, task: Any):
        """Report on runs of this task."""
        self.task, self.robot, self.parameters = task, task.robot, task.parameters

    def measure(self, record: Record, tracking: Tracking) -> Measures:
        """Return the measures of a run."""
        task, forces = self.task, None
        if task.force_samples is not None and len(record.wrench):
            forces = task.force_samples(record.t, tips(self.robot.model, record.q), record.wrench)
        return measure(record, tracking, task.event, forces)

    def results(self, run: Run) -> Results:
        """Return what the report has beyond the measures of every task."""
        return {}

    def numbers(self, run: Run) -> Results:
        """Return all numbers of the report."""
        joints, duration = self.robot.model.joint_names, self.task.duration
        measures = summarize(joints, run.record, run.tracking, self.task.event)
        return {**run.facts, 'duration_s': duration, **measures, **self.results(run)}

    def checks(self, report: ReportTree) -> list[Check]:
        """Return the limits that decide the exit code; `report` has the numbers."""
        return []

    def rows(self, report: ReportTree) -> list[tuple[str, ...]]:
        """Return the rows of the table under `columns`."""
        return common_rows(report)

    def draw(self, run: Run, report: ReportTree) -> Any:
        """Return the picture, a matplotlib Figure."""
        from arm_sim.loop.picture import tracking_figure

        return tracking_figure(run.record, run.tracking, report, self.task)

    def progress(self, share: float) -> str:
        """Return what to say when this share of the duration has passed."""
        return f'measuring, {share:4.0%}'
