"""One goal, every law, every engine: run the cases and measure them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field, fields
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np

from arm_controllers.discrete_motion import MOTIONS
from arm_controllers.drive_convention import OverDrives
from arm_controllers.known_friction import FRICTION_VELOCITIES
from arm_controllers.laws import Law
from arm_controllers.laws.pd import PD
from arm_controllers.parameter_values import read_fields
from arm_dynamics.checks import Array
from arm_dynamics.model_error import ModelError, with_error
from arm_dynamics.parameters import Parameters, parameter
from arm_sim.experiments.laws import compared_class, make_law
from arm_sim.experiments.work import Work, own_work
from arm_sim.loop.closed_loop import Imperfections
from arm_sim.loop.measures import Measures, measure, track
from arm_sim.loop.record import Record
from arm_sim.robot import Robot
from arm_sim.simulation.drives import DriveParameters
from arm_sim.simulation.plant import ACTUATOR_FOR, Plant, PlantParameters, plant_class
from arm_sim.tasks import Task, make_task
from arm_sim.tasks.sinusoid import SinusoidParameters, at_frequency


@dataclass(frozen=True)
class Case(Parameters):
    """One cell of the comparison: who does what, where.

    Attributes:
        robot, task, law, engine: by name.
        config: parameter file over the robot's own, of which arm and task are heeded.
        error: how the arm differs from what the law knows.
        drives: the arm's.
        imperfections: of the loop.
    """

    robot: str
    task: str
    law: str
    engine: str = 'mujoco'
    timestep: float = parameter(1e-3, 'integration step and control period [s]', min=1e-5, max=0.1)
    natural_frequency: float = parameter(
        20.0, 'that the laws are designed for [rad/s]', above=0, max=1e4
    )
    frequency: float = parameter(0.0, "of the sinusoid [Hz]; 0: the robot's own", min=0, max=100)
    config: str = ''
    reference_motion: str = parameter(
        'continuous', 'that a law follows, see adapters.discrete_motion', one_of=MOTIONS
    )
    friction_velocity: str = parameter(
        'measured',
        'that answers friction, see adapters.known_friction',
        one_of=FRICTION_VELOCITIES,
    )
    error: ModelError = field(default_factory=ModelError)
    drives: DriveParameters = field(default_factory=DriveParameters)
    imperfections: Imperfections = field(default_factory=Imperfections)

    def load(self) -> Robot:
        """Return the robot."""
        return Robot.load(self.robot, self.config)


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
    robot = case.load()
    task, law = task_of(case, robot), law_of(case, robot)
    return task.run(law, *make_plants(robot, task, case), case.imperfections)


def law_of(case: Case, robot: Robot) -> Law:
    """Return the law of a case."""
    told = case.natural_frequency, case.reference_motion, case.friction_velocity
    law = make_law(case.law, robot, *told)
    return OverDrives(law, case.drives) if case.drives.compensates else law


def make_plants(robot: Robot, task: Task, case: Case) -> tuple[Plant, Plant | None]:
    """Return the arm of a case, and the one once the task's payload has fallen off."""
    engine, parameters = plant_class(case.engine), plant_parameters(case, robot)
    arm = with_error(robot.model, case.error)
    loaded = with_error(arm, ModelError(payload=task.payload))
    later = None if task.drop_at is None else engine(arm, parameters)
    plant = engine(loaded, parameters)
    plant.drives_know(arm)
    return plant, later


def plant_parameters(case: Case, robot: Robot) -> PlantParameters:
    """Return the plant's parameters."""
    drives = PD.designed(robot.model, robot.start, case.natural_frequency, 1.0)
    actuator = ACTUATOR_FOR[compared_class(case.law).command_interface]
    gains = {'servo_kp': drives.kp, 'servo_kd': drives.kd}
    return PlantParameters(actuator=actuator, timestep=case.timestep, **gains, **vars(case.drives))


def measure_case(case: Case, run: Callable[[Case], Record] = run_case) -> Measures:
    """Run a case, in the loop or as `run` does, and measure it."""
    return observe_case(case, run)[0]


def observe_case(case: Case, run: Callable[[Case], Record] = run_case) -> tuple[Measures, Array]:
    """Return what `measure_case` does, and the error over time (2, about 500): [s], [mm]."""
    robot = case.load()
    event = task_of(case, robot).event
    record = run(case)
    tracking = track(robot.model, record)
    course = np.vstack([record.t, 1e3 * tracking.error])
    return measure(record, tracking, event), course[:, :: max(1, len(record.t) // 500)]


def observe_cases(
    cases: Sequence[Case],
    workers: int = 1,
    progress: Callable[[int], None] = lambda done: None,
    run: Callable[[Case], Record] = run_case,
    work: Work | None = None,
) -> list[tuple[Measures, Array]]:
    """Return what `observe_case` does of each; `progress` is told how many are done.

    `work` is where they run, in place of so many processes.
    """
    found: dict[int, tuple[Measures, Array]] = {}

    identity = {'cases': [asdict(case) for case in cases], 'over': run.__name__}
    with own_work(work, workers) as own:
        for number, answer in own.results(partial(_observed, run), cases, identity):
            head, course = answer[: len(_MEASURED)], answer[len(_MEASURED) :]
            values = dict(zip(_MEASURED, head.tolist(), strict=True))
            values['completed'] = bool(values['completed'])
            found[number] = Measures(**values), course.reshape(2, -1)
            progress(len(found))
    return [found[k] for k in range(len(cases))]


_MEASURED = tuple(each.name for each in fields(Measures))


def _observed(run: Callable[[Case], Record], case: Case) -> Array:
    measures, course = observe_case(case, run)
    return np.concatenate([astuple(measures), course.ravel()])
