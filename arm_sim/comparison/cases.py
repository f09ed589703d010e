"""One goal, every law, every engine: run the cases and measure them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from arm_controllers.laws.pd import PD
from arm_controllers.parameter_values import read_fields
from arm_controllers.reference import ReferenceFunction
from arm_dynamics.checks import Array, in_range
from arm_dynamics.model_error import ModelError, with_error
from arm_sim.comparison.laws import actuator_under, make_law
from arm_sim.plants.plant import Plant, PlantParameters, plant_class
from arm_sim.runs.closed_loop import Imperfections
from arm_sim.runs.measures import Measures, measure, tips
from arm_sim.runs.record import Record
from arm_sim.runs.robot import Robot
from arm_sim.tasks import Task, make_task
from arm_sim.tasks.sinusoid import SinusoidParameters, at_frequency


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
        in_range('timestep', self.timestep, 1e-5, 0.1)
        in_range('frequency', self.frequency, 0.0, 100.0)


def task_of(case: Case, robot: Robot, given: Mapping[str, Any] = MappingProxyType({})) -> Task:
    """Return the task of a case for a robot, with parameters as given or as in its files.

    Raises:
        ArmError: no such task, or the robot cannot do it.
    """
    if case.frequency > 0.0 and case.task == 'sinusoid':
        own = read_fields(SinusoidParameters, robot.parameters('sinusoid_task'))
        given = at_frequency(own, case.frequency) | dict(given)
    return make_task(case.task, robot, given)


def run_case(case: Case) -> Record:
    """Run one case in lock-step."""
    robot = Robot.load(case.robot)
    return run_on(robot, task_of(case, robot), case)


def run_on(
    robot: Robot, task: Task, case: Case, reference: ReferenceFunction | None = None
) -> Record:
    """Run a case with this robot and task, along another reference if given."""
    law = make_law(case.law, robot, case.natural_frequency)
    plants = make_plants(robot, task, case, actuator_under(case.law))
    return task.run(law, *plants, case.imperfections, reference)


class Plants(NamedTuple):
    """The arm of a case: at first, and once the task's payload has fallen off."""

    first: Plant
    later: Plant | None


def make_plants(robot: Robot, task: Task, case: Case, actuator: str) -> Plants:
    """Return the arm of a case."""
    parameters = plant_parameters(case, robot, actuator)
    arm = with_error(robot.model, case.error)
    loaded = with_error(arm, ModelError(payload=task.payload))
    later = None if task.drop_at is None else plant_class(case.engine)(arm, parameters)
    return Plants(plant_class(case.engine)(loaded, parameters), later)


def plant_parameters(case: Case, robot: Robot, actuator: str) -> PlantParameters:
    """Return the plant's parameters."""
    drives = PD.designed(robot.model, robot.start, case.natural_frequency, 1.0)
    return PlantParameters(
        actuator=actuator,
        servo_kp=drives.kp,
        servo_kd=drives.kd,
        timestep=case.timestep,
    )


def measure_case(case: Case, run: Callable[[Case], Record] = run_case) -> Measures:
    """Run a case, in the loop or as `run` does, and measure it."""
    return observe_case(case, run)[0]


def observe_case(case: Case, run: Callable[[Case], Record] = run_case) -> tuple[Measures, Array]:
    """Return what `measure_case` does, and the error over time (2, about 500): [s], [mm]."""
    robot = Robot.load(case.robot)
    event = task_of(case, robot).event
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
