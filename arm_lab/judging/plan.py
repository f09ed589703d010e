"""What a controller is tried on, and what must hold: read from one YAML file.

robot: planar_3r
actuator: torque
engines: [mujoco, analytical]
tasks: {step: {}, sinusoid: {frequency: 1.0}}
variants:
  exact: {}
  heavy: {plant_error: {payload: 1.0}}
limits:
  all: {tracking_max_mm: 5.0}
  step/heavy: {recovery_s: 1.0}
"""

import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from itertools import repeat
from pathlib import Path
from typing import NamedTuple

from arm_controllers.parameter_file import mapping, yaml_value
from arm_controllers.parameter_values import read_fields
from arm_dynamics.checks import ArmError, in_range, one_of, text_of, unknown
from arm_dynamics.model_error import ModelError
from arm_dynamics.parameters import Parameters, ParameterValues, parameter
from arm_lab.experiments.compared_laws import rigid_body_engines
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.experiments.robot_files import load_robot
from arm_sim.devices.drives import DriveParameters
from arm_sim.loop.measures import measure_names, names_that_need
from arm_sim.robot import Robot, model_error_of
from arm_sim.simulation.plant import COMMAND_INTERFACE
from arm_sim.tasks import Task, task_names

ALL = 'all'
_MOST_BYTES = 300_000
_KEYS = ('robot', 'config', 'actuator', 'engines', 'tasks', 'variants', 'limits', 'timeout')
_WRONG = ('plant_error', 'drives')
# What folders and tables of a trial can be called.
_NAME = r'[A-Za-z0-9_.+%=-]([A-Za-z0-9_.+%= -]{0,58}[A-Za-z0-9_.+%=-])?'


class JudgedTrial(NamedTuple):
    """One run of the controller.

    Attributes:
        loaded: the experiment; its controller is external.
        variant: name of its model error and drives.
        limits: largest value of each measure.
    """

    loaded: LoadedExperiment
    variant: str
    limits: Mapping[str, float]

    @property
    def task(self) -> str:
        """Name of the task."""
        return self.loaded.experiment.task

    @property
    def engine(self) -> str:
        """Name of the engine."""
        return self.loaded.experiment.engine

    @property
    def name(self) -> str:
        """Name in tables and refusals."""
        return f'{self.task}, {self.engine}, {self.variant}'

    def folder(self, whole: Path) -> Path:
        """Return the folder of the trial in that of all trials."""
        return whole / self.name.replace(', ', '_')


class JudgingPlan(NamedTuple):
    """All trials of a judgement.

    Attributes:
        file: that describes the trials.
        timeout: longest time until an answer of the controller [s].
        trials: in the order in which they are run.
    """

    file: str
    timeout: float
    trials: tuple[JudgedTrial, ...]

    @property
    def robot(self) -> str:
        """The robot, as `robot:=` takes it."""
        return self.trials[0].loaded.experiment.robot


@dataclass(frozen=True)
class _Arm(Parameters):
    """The arm on which the controller is tried, and for how long it may think."""

    robot: str = ''
    config: str = ''
    actuator: str = parameter('torque', 'drive of the arm', one_of=tuple(COMMAND_INTERFACE))
    engines: tuple[str, ...] = ('mujoco',)
    timeout: float = parameter(60.0, 'longest time until an answer [s]', min=0.1, max=1000)


def read_plan(file: Path | str) -> JudgingPlan:
    """Return what a file says.

    Raises:
        ArmError: names the file, and what in it cannot be.
    """
    try:
        said = yaml_value('it', text_of(Path(file), most=_MOST_BYTES))
        return _plan(str(file), said)
    except ArmError as error:
        raise ArmError(f'{file}: {error}') from None


def _plan(file: str, said: object) -> JudgingPlan:
    if isinstance(said, dict) and 'wrongness' in said and 'variants' not in said:
        warnings.warn(f'{file}: wrongness is called variants since 0.4.0', FutureWarning, 2)
        said = {'variants' if key == 'wrongness' else key: said[key] for key in said}
    given = mapping('the file', said, _KEYS)
    own = read_fields(_Arm, given)
    if not own.robot:
        raise ArmError('robot is missing: a name, or the path of a URDF')
    config = str(Path(file).parent / own.config) if own.config else ''
    if not own.engines:
        raise ArmError(f'engines are missing; allowed: {", ".join(rigid_body_engines())}')
    for engine in own.engines:
        one_of('engine', engine, rigid_body_engines())
    if len(set(own.engines)) < len(own.engines):
        raise ArmError(f'engines is {[*own.engines]}; each may be named once')
    arm = load_robot(own.robot, config)
    tasks = {}
    for name, values in _named(given, 'tasks').items():
        if name not in task_names():
            raise unknown('task', name, task_names())
        one = Experiment.of_files(
            own.robot, name, 'external', config=config, actuator=own.actuator
        )
        tasks[name] = LoadedExperiment(one, arm, values)
        _ = tasks[name].task  # the robot can do it
    wrong = {}
    for name, values in (_named(given, 'variants') or {'exact': {}}).items():
        if name in (ALL, *tasks):
            raise ArmError(f'a variant has the name {name!r}, which limits use otherwise')
        if not re.fullmatch(_NAME, name):
            raise ArmError(
                f'a variant has the name {name[:100]!r}; it must be of letters, digits, spaces '
                'and _.+-=%, at most 60'
            )
        wrong[name] = _wrong(name, values, arm, own.actuator)
    limits = _limits(given.get('limits'), {name: x.task for name, x in tasks.items()}, wrong)
    trials = [
        JudgedTrial(
            loaded.changed(engine=engine, error=error, drives=drives),
            how,
            _limits_of(limits, name, how, loaded.task),
        )
        for name, loaded in tasks.items()
        for engine in own.engines
        for how, (error, drives) in wrong.items()
    ]
    if not any(trial.limits for trial in trials):
        raise ArmError(f'limits are missing; what may have one: {", ".join(measure_names())}')
    return JudgingPlan(file, own.timeout, tuple(trials))


def _wrong(
    name: str, values: object, arm: Robot, actuator: str
) -> tuple[ModelError, DriveParameters]:
    """Return the model error and the drives of a name; refuse what an arm cannot have."""
    where = f'variant {name!r}'
    given = mapping(where, values, _WRONG)
    wrong = model_error_of(given.get('plant_error') or {}, f'{where}: plant_error', arm.model)
    known = [each.name for each in fields(DriveParameters)]
    values_of_drives = mapping(f'{where}: drives', given.get('drives') or {}, known)
    try:
        drives = read_fields(DriveParameters, values_of_drives)
        drives.check_drives((COMMAND_INTERFACE[actuator],))
    except ArmError as error:
        raise ArmError(f'{where}: drives: {error}') from None
    return wrong, drives


def _limits(said: object, tasks: Mapping[str, Task], wrong: Iterable[str]) -> ParameterValues:
    """Return the limits by what they are of, checked."""
    groups = [ALL, *tasks, *wrong, *(f'{task}/{how}' for task in tasks for how in wrong)]
    found = mapping('limits', said or {}, groups)
    for group, values in found.items():
        for measure, value in mapping(f'limits of {group!r}', values, measure_names()).items():
            in_range(f'limit {measure} of {group!r}', _number(measure, value), 0.0)
            of = group.partition('/')[0]
            measuring = [tasks[of]] if of in tasks else tasks.values()
            if all(map(_missing, repeat(measure), measuring)):
                raise ArmError(
                    f'limit {measure} of {group!r}: no task of it measures that, since '
                    f'{_missing(measure, next(iter(measuring)))}'
                )
    return found


def _missing(measure: str, task: Task) -> str:
    """Return what a task lacks of which a measure is taken; '' where nothing."""
    if measure == 'recovery_s' and task.event is None:
        return 'nothing happens in it that an arm recovers from'
    if measure in names_that_need('force') and task.force_samples is None:
        return 'it has no force to follow'
    return ''


def _limits_of(limits: ParameterValues, task: str, how: str, made: Task) -> dict[str, float]:
    """Return the limits of a trial, of which the more exact ones count; `made`: the task."""
    found: dict[str, float] = {}
    for group in (ALL, task, how, f'{task}/{how}'):
        found |= {name: float(value) for name, value in limits.get(group, {}).items()}
    return {name: value for name, value in found.items() if not _missing(name, made)}


def _named(given: Mapping[str, object], key: str) -> ParameterValues:
    """Return a mapping of names to values; a list of names has none."""
    said = given.get(key)
    if isinstance(said, list) and all(isinstance(name, str) for name in said):
        said = dict.fromkeys(said)
    found = mapping(key, said)
    if key == 'tasks' and not found:
        raise ArmError(f'tasks are missing; there are: {", ".join(task_names())}')
    return {name: mapping(f'{key}: {name}', values) for name, values in found.items()}


def _number(name: str, value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ArmError(f'{name} is {value!r}; it must be a number')
    try:
        return float(value)
    except OverflowError:
        raise ArmError(f'{name} is a number beyond 1e308; it must be less') from None
