"""One goal, every law, every engine: run the cases and measure them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

from arm_controllers.laws import Law
from arm_controllers.laws.pd import PD
from arm_dynamics.checks import in_range
from arm_dynamics.kinematics.chain import chain_to
from arm_dynamics.model import Array, RobotModel
from arm_dynamics.model_error import ModelError, with_error
from arm_sim.comparison.laws import actuator_under, make_law
from arm_sim.plants.engines import make_plant
from arm_sim.plants.plant import Plant, PlantParameters
from arm_sim.tasks.closed_loop import ClosedLoopRecord, Imperfections, run_closed_loop
from arm_sim.tasks.comparison_tasks import Robot, Task, make_task

RECOVERED = 1.0  # [mm] the tip is back when it stays within this of its reference


@dataclass(frozen=True)
class Case:
    """One cell of the comparison: who does what, where.

    Attributes:
        robot, task, law, engine: by name.
        timestep: integration step and control period [s].
        natural_frequency: that the laws are designed for [rad/s].
        frequency: of the sinusoid [Hz]; 0: the robot's own.
        error: how the arm differs from what the law knows.
        imperfections: of the loop.
    """

    robot: str
    task: str
    law: str
    engine: str = 'mujoco'
    timestep: float = 1e-3
    natural_frequency: float = 20.0
    frequency: float = 0.0
    error: ModelError = field(default_factory=ModelError)
    imperfections: Imperfections = field(default_factory=Imperfections)

    def __post_init__(self):
        """Raises ArmError."""
        in_range('timestep', self.timestep, 1e-5, 0.1)


@dataclass(frozen=True)
class Measures:
    """How well one law did one task.

    Attributes:
        tracking_rms_mm, tracking_max_mm: distance of the tip from its reference.
        joint_rms_rad: over all joints [rad | m].
        peak_torque_nm: of the joint with the largest.
        peak_torque_share: of the joint nearest its effort limit.
        energy_j: integral of |torque times velocity| over all joints.
        chatter_nm: RMS change of torque from period to period, over all joints.
        recovery_s: from the event until the tip stays within 1 mm; nan: never, or no event.
        completed: False where the loop was unstable and left the finite numbers.
    """

    tracking_rms_mm: float
    tracking_max_mm: float
    joint_rms_rad: float
    peak_torque_nm: float
    peak_torque_share: float
    energy_j: float
    chatter_nm: float
    recovery_s: float
    completed: bool


def run_case(case: Case) -> ClosedLoopRecord:
    """Run one case in lock-step."""
    robot = Robot.load(case.robot)
    return run_on(robot, make_task(case.task, robot, case.frequency), case)


def run_on(robot: Robot, task: Task, case: Case) -> ClosedLoopRecord:
    """Run a case for a robot and a task that are at hand."""
    law = make_law(case.law, robot, case.natural_frequency)
    plants = make_plants(robot, task, case, actuator_under(case.law))
    return run_task(law, plants, task, case.imperfections)


class Plants(NamedTuple):
    """The arm of a case: at first, and once the task's payload has fallen off."""

    first: Plant
    later: Plant | None


def make_plants(robot: Robot, task: Task, case: Case, actuator: str) -> Plants:
    """Return the arm of a case."""
    parameters = plant_parameters(case, robot, actuator)
    arm = with_error(robot.model, case.error)
    loaded = with_error(arm, ModelError(payload=task.payload))
    later = None if task.drop_at is None else make_plant(case.engine, arm, parameters)
    return Plants(make_plant(case.engine, loaded, parameters), later)


def run_task(
    law: Law, plants: Plants, task: Task, imperfections: Imperfections
) -> ClosedLoopRecord:
    """Run a law on the arm, along the task's reference and under its disturbances."""
    swap = None
    if plants.later is not None and task.drop_at is not None:
        swap = (task.drop_at, plants.later)
    return run_closed_loop(
        plants.first, law, task.reference, task.duration, task.push, imperfections, swap
    )


def plant_parameters(case: Case, robot: Robot, actuator: str) -> PlantParameters:
    """Return the plant's parameters."""
    drives = PD.designed(robot.model, robot.start, case.natural_frequency, 1.0)
    return PlantParameters(
        actuator=actuator,
        servo_kp=drives.kp,
        servo_kd=drives.kd,
        timestep=case.timestep,
    )


def measure(
    model: RobotModel,
    record: ClosedLoopRecord,
    event: float | None = None,
    reference_tips: Array | None = None,
) -> Measures:
    """Measure a run.

    Args:
        model: the arm.
        record: the run.
        event: where recovery is counted from [s].
        reference_tips: (k', 3) tips of the reference, at least as many as rows, if at hand [m].
    """
    if len(record.t) < 2:
        return Measures(*(float('nan'),) * 8, completed=False)
    if reference_tips is None:
        reference_tips = tips(model, record.q_reference)
    apart = tips(model, record.q) - reference_tips[: len(record.q)]
    error = 1e3 * np.linalg.norm(apart, axis=1)
    joint_error = model.difference(record.q, record.q_reference)
    period = float(record.t[1])
    effort = np.abs(record.effort)
    return Measures(
        tracking_rms_mm=rms(error),
        tracking_max_mm=float(error.max()),
        joint_rms_rad=rms(joint_error),
        peak_torque_nm=float(effort.max()),
        peak_torque_share=float((effort / model.effort_limit).max()),
        energy_j=float(np.abs(record.effort * record.v).sum() * period),
        chatter_nm=rms(np.diff(record.effort, axis=0)),
        recovery_s=_recovery(record.t, error, event),
        completed=record.completed,
    )


def _recovery(t: Array, error: Array, event: float | None) -> float:
    if event is None or error[-1] > RECOVERED:
        return float('nan')
    outside = np.flatnonzero((error > RECOVERED) & (t >= event))
    return float(t[outside[-1] + 1] - event) if outside.size else 0.0


def tips(model: RobotModel, q: Array) -> Array:
    """Return the tip's positions (k, 3) [m] for configurations (k, n)."""
    return chain_to(model).positions(q)


def rms(values: Array) -> float:
    """Return the root of the mean square of all values."""
    return float(np.sqrt(np.mean(np.square(values))))


def measure_case(case: Case, run: Callable[[Case], ClosedLoopRecord] = run_case) -> Measures:
    """Run a case, in the loop or as `run` does, and measure it."""
    return observe_case(case, run)[0]


def observe_case(
    case: Case, run: Callable[[Case], ClosedLoopRecord] = run_case
) -> tuple[Measures, Array]:
    """Return what `measure_case` does, and the error over time (2, about 500): [s], [mm]."""
    robot = Robot.load(case.robot)
    event = make_task(case.task, robot, case.frequency).event
    record = run(case)
    every = slice(None, None, max(1, len(record.t) // 500))
    apart = tips(robot.model, record.q[every]) - tips(robot.model, record.q_reference[every])
    course = np.vstack([record.t[every], 1e3 * np.linalg.norm(apart, axis=1)])
    return measure(robot.model, record, event), course


def cases(
    robots: Iterable[str],
    tasks: Iterable[str],
    laws: Sequence[str],
    engines: Sequence[str],
    **settings: Any,
) -> list[Case]:
    """Return every combination, tasks outermost within a robot."""
    return [
        Case(robot, task, law, engine, **settings)
        for robot in robots
        for task in tasks
        for engine in engines
        for law in laws
    ]


def run_parallel[Job, Answer](
    function: Callable[[Job], Answer], jobs: Sequence[Job], workers: int
) -> Iterator[tuple[int, Answer]]:
    """Yield (index of the job, its answer) as they come, from so many processes.

    Raises:
        Whatever `function` raises, for the first job that does; the others are dropped.
    """
    if workers <= 1:
        yield from ((i, function(job)) for i, job in enumerate(jobs))
        return
    context = get_context('forkserver')
    context.set_forkserver_preload(['arm_sim.comparison.cases'])  # imports once
    with ProcessPoolExecutor(workers, mp_context=context) as pool:
        futures = {pool.submit(function, job): i for i, job in enumerate(jobs)}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
