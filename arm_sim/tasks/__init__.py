"""Tasks by name: one file each in this folder, or a plugin of the group `arm_sim.tasks`.

A file `my_task.py` with a class `MyTask(Task)` is a task of that name. The loop without ROS and
the task node run the same object; `Task` says which hooks it may fill.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from arm_controllers.follower.goal import Goal
from arm_controllers.laws import Law
from arm_controllers.parameter_values import parameter_fields, read_fields
from arm_controllers.reference import Reference, ReferenceFunction
from arm_dynamics.checks import ArmError, Array, unknown
from arm_dynamics.model_error import ModelError
from arm_dynamics.plugins import PluginRegistry
from arm_sim.loop.events import Event, Push, replacement
from arm_sim.loop.goals import goal_of, led_in, sampled
from arm_sim.loop.measures import Measures, Poses, Tracking, measure, summarize, tips
from arm_sim.loop.record import Record
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.loop.report import Check, common_rows
from arm_sim.robot import Robot
from arm_sim.simulation.plant import Plant

TASKS = PluginRegistry('task', __name__, 'arm_sim.tasks', ('Parameters', 'reference'))


def task_names() -> tuple[str, ...]:
    """Return the names of all tasks, sorted; no task is imported."""
    return TASKS.names()


def task_class(name: str) -> Any:
    """Return a task's class, to be built as task(robot, task.Parameters(...)).

    Raises:
        ArmError: no such task, or a plugin that cannot be imported.
    """
    return TASKS.load(name)


def task_classes() -> dict[str, Any]:
    """Return all tasks by name; a plugin that cannot be imported is left out."""
    found = {}
    for name in task_names():
        with suppress(ArmError):
            found[name] = task_class(name)
    return found


def compared_tasks() -> tuple[str, ...]:
    """Return the names of the tasks that laws are compared on, in order."""
    tasks = {n: task for n, task in task_classes().items() if task.compared is not None}
    return tuple(sorted(tasks, key=lambda name: (tasks[name].compared, name)))


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
    facts: Mapping[str, Any] = field(default_factory=dict)
    predicted: Record | None = None


class Task:
    """What an arm is to follow, what disturbs it, what is measured.

    A task defines `duration`; everything else has a default: the reference is rest.

    Attributes:
        Parameters: frozen dataclass of the task's parameters.
        sections: nodes whose parameters in the robot's files count as well, below the task's own.
        compared: whether the task is one of `--tasks all` of a comparison, and its place there.
        ranked_by: name of the measure that orders laws in comparisons.
        force_samples: returns force on the tool and its error (2, ...) [N] at a time (...) [s],
            for poses of the tool frame and readings (..., 6); None: no force counts.
        asks_ik: whether it needs inverse kinematics.
        asks_prediction: whether its report compares the run with the same one in the loop.
        goal_may_end: whether the run goes on where the controller ends the goal, as a guard does.
        columns: headings of its table.
        picture_name: file of its picture.
        sample_period: between the points of its goal [s].
        approach_time, settle_time: of the way to its start, and of the rest there [s].
        rest_time: in which the arm comes to rest at the end [s].
        duration: of what is measured [s].
        push: external wrench, if any.
        wrench: (6,) that the tool is to exert on its surroundings, in base axes; None: none.
        wrench_start: when that begins [s].
        simulator: parameters of the simulator that the task needs, by their names.
        payload: mass at the tool that the law does not know [kg].
        drop_at: when it falls off [s]; never by default.
        gripper: joint whose goals the reference has, as GripperLaw takes them; '': none.
        moved_object: the object of the scene that is watched; '': none.
        notes: what a user should know, a line each.
        event: from when recovery is counted [s]; none: there is nothing to recover from.
    """

    Parameters: ClassVar[Any]
    sections: ClassVar[tuple[str, ...]] = ()
    compared: ClassVar[int | None] = 100
    ranked_by: ClassVar[str] = 'tracking_rms_mm'
    asks_ik: ClassVar[bool] = False
    asks_prediction: ClassVar[bool] = False
    goal_may_end: ClassVar[bool] = False
    columns: ClassVar[tuple[str, ...]] = ('', 'RMS', 'max', 'where')
    picture_name: ClassVar[str] = 'tracking.png'

    sample_period = 0.01
    approach_time = 2.0
    settle_time = 2.0
    rest_time = 1.0
    duration: float
    push: Push | None = None
    wrench: Array | None = None
    wrench_start = 0.1
    simulator: Mapping[str, Any] = MappingProxyType({})
    payload = 0.0
    drop_at: float | None = None
    event: float | None = None
    gripper = ''
    moved_object = ''
    force_samples: Callable[[Any, Poses, Array], Array] | None = None
    notes: tuple[str, ...] = ()

    def __init__(self, robot: Robot, parameters: Any, ik: Any = None):
        """Prepare the task for a robot at rest at `robot.start`.

        `ik` is asked for inverse kinematics, see ros.task_clients; None: solved in this process.

        Raises:
            ArmError: the robot cannot do it.
        """
        self.robot, self.parameters, self.ik = robot, parameters, ik
        self.prepare()
        if not hasattr(self, 'duration'):
            raise ArmError(f'task {type(self).__name__}: `prepare` has to set `duration` [s]')

    # What to follow

    @property
    def wrench_start_ns(self) -> int:
        """When the wrench begins [ns of what is measured]."""
        return round(self.wrench_start * 1e9)

    def add_wrench(self, t: float, reference: Reference) -> None:
        """Let the reference have the wrench where it has begun at t [s]."""
        if self.wrench is not None:
            begun = round(t * 1e9) >= self.wrench_start_ns
            reference.wrench = self.wrench if begun else None

    def prepare(self) -> None:
        """Check that the robot can do it, and set what depends on the parameters."""

    def reference(self, t: float, reference: Reference) -> None:
        """Write the reference at t [s] of what is measured; here, rest at the robot's start."""
        reference.row[:] = 0.0
        reference.q[:] = self.robot.start
        self.add_wrench(t, reference)

    def points(self) -> tuple[Array, tuple[Array, ...]]:
        """Return times (m,) [s] of the goal's points, and positions to accelerations (m, n)."""
        count = max(4, round(self.duration / self.sample_period))
        times = np.linspace(0.0, self.duration, count + 1)
        times = np.round(times * 1e9) * 1e-9  # as a message has them
        return times, sampled(self.reference, times, self.robot.model.nv)

    def goal(self) -> Goal | None:
        """Return what the controller is sent; None: it holds where it is."""
        return goal_of(self.robot.model, *self.points(), self.rest_time)

    def goal_of_arm(self, goal: Goal) -> Goal:
        """Return a goal without the joint of the gripper, which has goals of its own."""
        if not self.gripper:
            return goal
        names = list(goal.joint_names)
        arm = [k for k, name in enumerate(names) if name != self.gripper]
        rows = (goal.positions, goal.velocities, goal.accelerations)
        q, v, a = (None if each is None else each[:, arm] for each in rows)
        assert q is not None
        names = [names[k] for k in arm]
        return replace(goal, joint_names=tuple(names), positions=q, velocities=v, accelerations=a)

    def gripper_goals(self) -> list[tuple[float, float, float]]:
        """Return times [s], positions and largest efforts of the goals of the gripper."""
        return []

    def goal_from(self, q: Array, period_ns: int) -> tuple[Goal | None, int]:
        """Return the goal for an arm at rest at q (n,), and the stamp of its start proper [ns]."""
        goal = self.goal()
        if goal is None:
            return None, 0
        return led_in(goal, self.robot.model, q, self.approach_time, self.settle_time, period_ns)

    @cached_property
    def start(self) -> Reference:
        """The reference at the start of what is measured."""
        reference = Reference(self.robot.model.nv)
        self.reference(0.0, reference)
        return reference

    def run(
        self,
        law: Law,
        plant: Plant,
        later: Plant | None = None,
        reference: ReferenceFunction | None = None,
        seed: int | None = None,
    ) -> Record:
        """Run a law on a plant in the loop, without ROS.

        Args:
            law, plant: with the same command interface.
            later: the plant without the payload, from `drop_at` on.
            reference: in place of the task's own.
            seed: of sensors and drives; None: the seeds of the plant's parameters.
        """
        events, follow = self.events(later), reference or self.reference
        return run_closed_loop(plant, law, follow, self.duration, events, seed=seed)

    def events(self, later: Plant | None = None) -> list[Event]:
        """Return the push, and the change to the plant without the payload, `later`."""
        events = self.push.events() if self.push else []
        if later is not None and self.drop_at is not None:
            events.append(replacement(self.drop_at, later))
        return events

    def scene(self, error: ModelError, moving: bool, period_ns: int) -> dict[str, Any]:
        """Return the parameters of the simulator for the task, on an arm with a model error.

        `moving`: the arm starts on the reference, else at the robot's own start.
        """
        given = self.robot.with_error(error) | dict(self.simulator)
        if self.payload:
            given |= {'payload': self.payload}
        if self.drop_at is not None:
            start_ns = 0 if moving else self.goal_from(self.robot.start, period_ns)[1]
            periods = round((start_ns + self.drop_at * 1e9) / period_ns)
            given |= {'payload_end': periods * period_ns * 1e-9}
        if moving:
            start = self.start
            given |= {'initial_positions': start.q.tolist()}
            given |= {'initial_velocities': start.v.tolist()}
        return given

    # What is measured

    def measure(self, record: Record, tracking: Tracking) -> Measures:
        """Return the measures of a run."""
        forces = None
        if self.force_samples is not None and len(record.wrench):
            forces = self.force_samples(record.t, tips(self.robot.model, record.q), record.wrench)
        return measure(record, tracking, self.event, forces)

    def results(self, run: Run) -> dict[str, Any]:
        """Return what the report has beyond the measures of every task."""
        return {}

    def checks(self, report: Mapping[str, Any]) -> list[Check]:
        """Return the limits that decide the exit code."""
        return []

    def rows(self, report: Mapping[str, Any]) -> list[tuple[str, ...]]:
        """Return the rows of the table under `columns`."""
        return common_rows(report)

    def draw(self, run: Run, report: Mapping[str, Any]) -> Any:
        """Return the picture, a matplotlib Figure."""
        from arm_sim.loop.picture import tracking_figure

        return tracking_figure(run.record, run.tracking, report, self.event)

    def progress(self, share: float) -> str:
        """Return what to say when this share of the duration has passed."""
        return f'measuring, {share:4.0%}'

    def report(self, run: Run) -> dict[str, Any]:
        """Return all numbers of the report."""
        measures = summarize(self.robot.model.joint_names, run.record, run.tracking, self.event)
        return {**run.facts, 'duration_s': self.duration, **measures, **self.results(run)}


def make_task(name: str, robot: Robot, given: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Return a task for this robot; `given` parameters replace those in the robot's files.

    Raises:
        ArmError: no such task, a value that is not allowed, or the robot cannot do it.
    """
    task = task_class(name)
    known = [field.name for field in parameter_fields(task.Parameters)]
    for each in given:
        if each.partition('.')[0] not in known:
            raise unknown(f'parameter of task {name!r}:', each, known)
    values = robot.parameters(*task.sections, f'{name}_task') | dict(given)
    return task(robot, read_fields(task.Parameters, values))
