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
from arm_sim.loop.measures import measure_names
from arm_sim.robot import Robot, model_error_of
from arm_sim.simulation.drives import DriveParameters
from arm_sim.simulation.plant import COMMAND_INTERFACE, rigid_body_engines
from arm_sim.tasks import Task, make_task, task_names

ALL = 'all'
_MOST_BYTES = 300_000
_KEYS = ('robot', 'config', 'actuator', 'engines', 'tasks', 'wrongness', 'limits', 'timeout')
_WRONG = ('plant_error', 'drives')
# What folders and tables of a trial can be called.
_NAME = r'[A-Za-z0-9_.+%=-]([A-Za-z0-9_.+%= -]{0,58}[A-Za-z0-9_.+%=-])?'


@dataclass(frozen=True)
class Trial:
    """One run: a task, an engine, and how the arm differs from what the controller is told.

    Attributes:
        task, engine, wrongness: by name.
        parameters: of the task.
        plant_error: how the arm differs, as YAML text.
        drives: parameters of the drives.
        limits: the most that each measure may be.
        event: from when recovery is counted [s]; none: there is nothing to recover from.
        start: of the arm, as the launch argument has it: at rest, so that it does not matter when
            the goal arrives; where there is none, at the task's reference.
    """

    task: str
    engine: str
    wrongness: str
    parameters: Mapping[str, Any]
    plant_error: str
    drives: Mapping[str, Any]
    limits: Mapping[str, float]
    event: float | None
    start: str

    @property
    def name(self) -> str:
        """What it is called in tables and refusals."""
        return f'{self.task}, {self.engine}, {self.wrongness}'


@dataclass(frozen=True)
class Plan:
    """All trials of a judgement.

    Attributes:
        file: that says so.
        robot: as `robot:=` takes it.
        config: parameter file over the robot's own, or ''.
        actuator: what `joint_commands` hold.
        timeout: how long an answer of the controller is waited for [s].
        trials: in the order in which they are run.
    """

    file: str
    robot: str
    config: str
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
        raise ArmError(f'engines is {engines}; each may stand there once')
    arm = Robot.load(robot, config)
    tasks = {
        name: (values, _task(name, arm, values)) for name, values in _named(given, 'tasks').items()
    }
    wrong = _named(given, 'wrongness') or {'exact': {}}
    for name, values in wrong.items():
        if name in (ALL, *tasks):
            raise ArmError(f'wrongness has the name {name!r}, which limits use otherwise')
        if not re.fullmatch(_NAME, name):
            raise ArmError(
                f'wrongness has the name {name[:100]!r}; it must be of letters, digits, spaces '
                'and _.+-=%, at most 60'
            )
        _check_wrong(name, values, arm, actuator)
    limits = _limits(given.get('limits'), {name: task for name, (_, task) in tasks.items()}, wrong)
    trials = [
        Trial(
            task, engine, how, parameters, _flow(values.get('plant_error') or {}),
            values.get('drives') or {}, _limits_of(limits, task, how, made.event), made.event,
            'moving' if made.goal() is None else 'rest',
        )
        for task, (parameters, made) in tasks.items()
        for engine in engines
        for how, values in wrong.items()
    ]  # fmt: skip
    if not any(trial.limits for trial in trials):
        raise ArmError(f'limits are missing; what may have one: {", ".join(measure_names())}')
    return Plan(file, robot, config, actuator, float(timeout), tuple(trials))


def _task(name: str, arm: Robot, values: Mapping[str, Any]) -> Task:
    if name not in task_names():
        raise unknown('task', name, task_names())
    return make_task(name, arm, values)


def _check_wrong(name: str, values: Any, arm: Robot, actuator: str) -> None:
    """Refuse what an arm cannot be wrong in."""
    where = f'wrongness {name!r}'
    given = _mapping(where, values, _WRONG)
    error = _mapping(f'{where}: plant_error', given.get('plant_error') or {})
    model_error_of(_flow(error), f'{where}: plant_error', arm.model)
    known = [each.name for each in fields(DriveParameters)]
    drives = _mapping(f'{where}: drives', given.get('drives') or {}, known)
    try:
        read_fields(DriveParameters, drives).check_drives(COMMAND_INTERFACE[actuator], False)
    except ArmError as error:
        raise ArmError(f'{where}: drives: {error}') from None


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


def _flow(values: Mapping[str, Any]) -> str:
    """Return values as YAML in one line."""
    return yaml.safe_dump(dict(values), default_flow_style=True, width=10_000).strip()
