"""What every task is: the motion of an arm, and what acts on the arm meanwhile."""

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from arm_controllers.follower.goal import Goal
from arm_controllers.laws import Law
from arm_controllers.reference import Reference, ReferenceFunction
from arm_dynamics.checks import ArmError, Array
from arm_dynamics.plugins import is_foreign
from arm_sim.loop.events import Event, Push, replacement
from arm_sim.loop.goals import goal_of, led_in, sampled
from arm_sim.loop.measures import Poses
from arm_sim.loop.record import Record
from arm_sim.loop.recorded import run_closed_loop
from arm_sim.robot import Robot
from arm_sim.simulation.plant import Plant
from arm_sim.tasks._evaluation import TaskEvaluation, refuse_moved
from arm_sim.tasks._report import TaskReport


class Task:
    """What an arm is to follow, and what disturbs it.

    A task defines `duration`; everything else has a default: the reference is rest.

    Attributes:
        Parameters: frozen dataclass of the task's parameters.
        Report: class of `report`, which measures runs and reports on them.
        evaluation: what comparisons need to know.
        sections: nodes whose parameters in the robot's files count as well, below the task's own.
        force_samples: returns force on the tool and its error (2, ...) [N] at a time (...) [s],
            for poses of the tool frame and readings (..., 6); None: no force counts.
        remedy: end of the line where the arm's limits refuse the task: which parameter to change.
        asks_ik: whether it needs inverse kinematics.
        goal_may_end: whether the run goes on where the controller ends the goal, as a guard does.
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
        is_known_to_fit: whether the arm is known to do it with these parameters: no need to check.
        gripper: joint whose goals the reference has, as GripperLaw takes them; '': none.
        moved_object: the object of the scene that is watched; '': none.
        notes: what a user should know, a line each.
        event: from when recovery is counted [s]; none: there is nothing to recover from.
    """

    Parameters: ClassVar[Any]
    Report: ClassVar[type[TaskReport]] = TaskReport
    evaluation: ClassVar[TaskEvaluation] = TaskEvaluation()
    sections: ClassVar[tuple[str, ...]] = ()
    remedy: ClassVar[str] = ''
    asks_ik: ClassVar[bool] = False
    goal_may_end: ClassVar[bool] = False

    sample_period = 0.01
    approach_time = 2.0
    settle_time = 2.0
    rest_time = 1.0
    duration: float
    push: Push | None = None
    wrench: Array | None = None
    wrench_start = 0.1
    simulator: Mapping[str, object] = MappingProxyType({})
    payload = 0.0
    drop_at: float | None = None
    event: float | None = None
    is_known_to_fit = False
    gripper = ''
    moved_object = ''
    force_samples: Callable[[Array | float, Poses, Array], Array] | None = None
    notes: tuple[str, ...] = ()

    def __init_subclass__(cls, **others: object) -> None:
        """Refuse what is now in `Report` or `evaluation`; see refuse_moved."""
        super().__init_subclass__(**others)
        refuse_moved(cls.__name__, vars(cls))

    def __init__(self, robot: Robot, parameters: Any, ik: Any = None):
        """Prepare the task for a robot at rest at `robot.start`.

        `ik` is asked for inverse kinematics, see ros/clients; None: solved in this process.

        Raises:
            ArmError: the robot cannot do it.
        """
        self.robot, self.parameters, self.ik = robot, parameters, ik
        self.prepare()
        refuse_moved(type(self).__name__, vars(self))
        self.report = self.Report(self)
        if not hasattr(self, 'duration'):
            raise ArmError(f'task {type(self).__name__}: `prepare` has to set `duration` [s]')
        if is_foreign(type(self)):
            from arm_sim.tasks._foreign import check_task

            check_task(self)

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
