"""What a controller is tried on, and what must hold: read from one YAML file.

robot: planar_3r
actuator: torque
engines: [mujoco, analytical]
tasks: {step: {}, sinusoid: {frequency: 1.0}}
wrongness:
  exact: {}
  heavy: {plant_error: {payload: 1.0}}
limits:
  all: {tracking_max_mm: 5.0}
  step/heavy: {recovery_s: 1.0}
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import yaml

from arm_controllers.parameter_file import yaml_value
from arm_controllers.parameter_values import read_fields
from arm_dynamics.checks import ArmError, in_range, one_of, text_of, unknown
from arm_dynamics.model_error import ModelError
from arm_sim.experiments.experiment import Experiment, LoadedExperiment
from arm_sim.loop.measures import measure_names
from arm_sim.robot import Robot, model_error_of
from arm_sim.simulation.drives import DriveParameters
from arm_sim.simulation.plant import COMMAND_INTERFACE, rigid_body_engines
from arm_sim.tasks import Task, task_names

ALL = 'all'
_MOST_BYTES = 300_000
_KEYS = ('robot', 'config', 'actuator', 'engines', 'tasks', 'wrongness', 'limits', 'timeout')
_WRONG = ('plant_error', 'drives')
# What folders and tables of a trial can be called.
_NAME = r'[A-Za-z0-9_.+%=-]([A-Za-z0-9_.+%= -]{0,58}[A-Za-z0-9_.+%=-])?'


@dataclass(frozen=True)
class Trial:
    """One run of the controller.

    Attributes:
        loaded: the experiment; its law is external.
        wrongness: name of its model error and drives.
        limits: largest value of each measure.
    """

    loaded: LoadedExperiment
    wrongness: str
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
        return f'{self.task}, {self.engine}, {self.wrongness}'


@dataclass(frozen=True)
class Plan:
    """All trials of a judgement.

    Attributes:
        file: that describes the trials.
        robot: as `robot:=` takes it.
        actuator: drive of the arm; it decides what `joint_commands` hold.
        timeout: longest time until an answer of the controller [s].
        trials: in the order in which they are run.
    """

    file: str
    robot: str
    actuator: str
    timeout: float
    trials: tuple[Trial, ...]


def read_plan(file: Path | str) -> Plan:
    """Return what a file says.

    Raises:
        ArmError: names the file, and what in it cannot be.
    """
    try:
        said = yaml_value('it', text_of(Path(file), _MOST_BYTES))
        return _plan(str(file), said)
    except (OSError, UnicodeDecodeError) as error:
        raise ArmError(f'{file}: cannot be read: {error}') from None
    except ArmError as error:
        raise ArmError(f'{file}: {error}') from None


def _plan(file: str, said: Any) -> Plan:
    given = _mapping('the file', said, _KEYS)
    robot, config = (_text(given, name, '') for name in ('robot', 'config'))
    if not robot:
        raise ArmError('robot is missing: a name, or the path of a URDF')
    if config:
        config = str(Path(file).parent / config)
    actuator = _text(given, 'actuator', 'torque')
    one_of('actuator', actuator, tuple(COMMAND_INTERFACE))
    timeout = given.get('timeout', 60.0)
    in_range('timeout', _number('timeout', timeout), 0.1, 1000.0)
    engines = given.get('engines', ['mujoco'])
    if not isinstance(engines, list) or not engines:
        raise ArmError(f'engines is {engines!r}; it must be a list of {rigid_body_engines()}')
    for engine in engines:
        one_of('engine', engine, rigid_body_engines())
    if len(set(engines)) < len(engines):
        raise ArmError(f'engines is {engines}; each may be named once')
    arm = Robot.load(robot, config)
    tasks = {
        name: _loaded(arm, robot, name, config, values)
        for name, values in _named(given, 'tasks').items()
    }
    wrong = {}
    for name, values in (_named(given, 'wrongness') or {'exact': {}}).items():
        if name in (ALL, *tasks):
            raise ArmError(f'wrongness has the name {name!r}, which limits use otherwise')
        if not re.fullmatch(_NAME, name):
            raise ArmError(
                f'wrongness has the name {name[:100]!r}; it must be of letters, digits, spaces '
                'and _.+-=%, at most 60'
            )
        wrong[name] = _wrong(name, values, arm, actuator)
    limits = _limits(given.get('limits'), {name: x.task for name, x in tasks.items()}, wrong)
    trials = [
        Trial(
            loaded.changed(engine=engine, error=error, drives=drives),
            how,
            _limits_of(limits, name, how, loaded.task.event),
        )
        for name, loaded in tasks.items()
        for engine in engines
        for how, (error, drives) in wrong.items()
    ]
    if not any(trial.limits for trial in trials):
        raise ArmError(f'limits are missing; what may have one: {", ".join(measure_names())}')
    return Plan(file, robot, actuator, float(timeout), tuple(trials))


def _loaded(
    arm: Robot, robot: str, task: str, config: str, values: Mapping[str, Any]
) -> LoadedExperiment:
    """Return the experiment of a task without model error, its task made."""
    if task not in task_names():
        raise unknown('task', task, task_names())
    loaded = LoadedExperiment(
        Experiment.of_files(robot, task, 'external', config=config), arm, values
    )
    _ = loaded.task
    return loaded


def _wrong(
    name: str, values: Any, arm: Robot, actuator: str
) -> tuple[ModelError, DriveParameters]:
    """Return the model error and the drives of a name; refuse what an arm cannot have."""
    where = f'wrongness {name!r}'
    given = _mapping(where, values, _WRONG)
    error = _mapping(f'{where}: plant_error', given.get('plant_error') or {})
    text = yaml.safe_dump(error, default_flow_style=True, width=10_000).strip()
    wrong = model_error_of(text, f'{where}: plant_error', arm.model)
    known = [each.name for each in fields(DriveParameters)]
    values_of_drives = _mapping(f'{where}: drives', given.get('drives') or {}, known)
    try:
        drives = read_fields(DriveParameters, values_of_drives)
        drives.check_drives(COMMAND_INTERFACE[actuator], False)
    except ArmError as error:
        raise ArmError(f'{where}: drives: {error}') from None
    return wrong, drives


def _limits(said: Any, tasks: Mapping[str, Task], wrong: Iterable[str]) -> dict[str, Any]:
    """Return the limits by what they are of, checked."""
    groups = [ALL, *tasks, *wrong, *(f'{task}/{how}' for task in tasks for how in wrong)]
    found = _mapping('limits', said or {}, groups)
    for group, values in found.items():
        for measure, value in _mapping(f'limits of {group!r}', values, measure_names()).items():
            in_range(f'limit {measure} of {group!r}', _number(measure, value), 0.0)
            of = group.partition('/')[0]
            measuring = [tasks[of]] if of in tasks else tasks.values()
            if measure == 'recovery_s' and all(task.event is None for task in measuring):
                raise ArmError(
                    f'limit recovery_s of {group!r}: no task of it measures that, since '
                    'nothing happens in it that an arm recovers from'
                )
    return found


def _limits_of(
    limits: Mapping[str, Any], task: str, how: str, event: float | None
) -> dict[str, float]:
    """Return the limits of a trial, of which the more exact ones count."""
    found: dict[str, float] = {}
    for group in (ALL, task, how, f'{task}/{how}'):
        found |= {name: float(value) for name, value in limits.get(group, {}).items()}
    if event is None:
        found.pop('recovery_s', None)
    return found


def _named(given: Mapping[str, Any], key: str) -> dict[str, Any]:
    """Return a mapping of names to values; a list of names has none."""
    said = given.get(key)
    if isinstance(said, list) and all(isinstance(name, str) for name in said):
        said = dict.fromkeys(said)
    found = _mapping(key, said or {})
    if key == 'tasks' and not found:
        raise ArmError(f'tasks are missing; there are: {", ".join(task_names())}')
    return {name: _mapping(f'{key}: {name}', values or {}) for name, values in found.items()}


def _mapping(what: str, said: Any, known: Iterable[str] = ()) -> dict[str, Any]:
    """Return a mapping with these keys, if any are given."""
    if not isinstance(said, dict):
        raise ArmError(f'{what} is {str(said)[:100]!r}; it must be {{name: value}}')
    names = list(known)
    for name in said:
        if not isinstance(name, str) or (names and name not in names):
            raise unknown(f'name in {what}:', str(name), names or ['a text'])
    return said


def _text(given: Mapping[str, Any], name: str, usual: str) -> str:
    value = given.get(name, usual)
    if not isinstance(value, str):
        raise ArmError(f'{name} is {value!r}; it must be a text')
    return value


def _number(name: str, value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ArmError(f'{name} is {value!r}; it must be a number')
    try:
        return float(value)
    except OverflowError:
        raise ArmError(f'{name} is a number beyond 1e308; it must be less') from None
