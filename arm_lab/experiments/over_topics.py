"""An experiment over topics: the parameters of its nodes, its launch, and its record."""

import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from arm_controllers.guard_parameters import GuardParameters
from arm_controllers.parameter_file import SHARED, mapping_text, sections_text
from arm_controllers.parameter_values import ros_values
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import ParameterValues, changed
from arm_dynamics.temporary_folder import own_folder
from arm_lab.experiments.experiment import Experiment, LoadedExperiment
from arm_lab.experiments.processes import Group
from arm_sim.devices import SensorParameters
from arm_sim.devices.drive_trains import JointParameters
from arm_sim.devices.drives import DriveParameters
from arm_sim.loop.record import RECORD, Record
from arm_sim.parameter_files import merged
from arm_sim.robot import Robot, model_error_of
from arm_sim.tasks import simulator_of

LAUNCH = ['ros2', 'launch', 'arm_sim', 'task.launch.py']
TIMEOUT = 600.0  # of one launch [s]
_LOOK = 0.05  # how often it is looked at who has ended [s]


def run_over_topics(experiment: Experiment) -> Record:
    """Run an experiment by `task.launch.py`.

    Raises:
        ArmError: the launch failed (with its last line), or an experiment that launch arguments
            cannot describe.
    """
    e = experiment
    if e.drives.drives() or e.joints != JointParameters() or not e.sensors.exact:
        raise ArmError(
            'a launch takes drives, joints and sensors from parameter files (config:=), not from '
            'here'
        )
    with TemporaryDirectory(dir=own_folder()) as folder:
        if e.guard.enabled:
            e = with_guard_in_file(e, Path(folder))
        try:
            return launched(launch_arguments(e), Path(folder))
        except ArmError as error:
            where = f'{e.law}, {e.task}, {e.engine}'
            raise ArmError(f'{where}: the launch failed: {error}') from None


def launched(
    arguments: Mapping[str, str],
    folder: Path,
    controller: Sequence[str] = (),
    environment: Mapping[str, str] = os.environ,
    timeout: float = TIMEOUT,
) -> Record:
    """Return the record of a launch of `task.launch.py`, whose files are in a folder.

    Args:
        arguments: of the launch.
        folder: of its record, its report and its log.
        controller: command that runs at the same time; none: the launch has the controller.
        environment: of both.
        timeout: [s].

    Raises:
        ArmError: it did not come to its end; says what the task, or the controller, said last.
    """
    (folder / RECORD).unlink(missing_ok=True)
    words = [f'{name}:={value}' for name, value in arguments.items()]
    with ExitStack() as ends:
        own = None
        if controller:
            own = ends.enter_context(Group(controller, folder / 'controller.log', environment))
        launch = [*LAUNCH, *words, f'output_dir:={folder}']
        arm = ends.enter_context(Group(launch, folder / 'launch.log', environment))
        end = time.monotonic() + timeout
        while arm.code is None and (own is None or own.code is None):
            time.sleep(_LOOK)
            if time.monotonic() > end:
                raise ArmError(f'no end of the launch within {timeout:g} s')
        if arm.code is None and own is not None:
            raise ArmError(f'the controller ended with exit code {own.code}{_last(own)}')
        last = '' if own is None else _last(own)  # before the controller is ended
    if (folder / RECORD).is_file():
        return Record.load(folder / RECORD)
    lines = arm.lines()
    reasons = [line for line in lines if '_task: ' in line or 'refused' in line]
    reasons = reasons or [_NODE.sub('', line) for line in lines if _NODE.match(line)]
    raise ArmError((reasons or lines or ['the launch said nothing'])[-1] + last)


# Begins a line of a node, but what goes well: neither lines of the launch nor of its end.
_NODE = re.compile(r'\[[^][ ]+-\d+] (?!\[INFO])')


def _last(group: Group) -> str:
    lines = group.lines()
    return f'; the controller said last: {lines[-1]}' if lines else '; the controller said nothing'


def with_guard_in_file(experiment: Experiment, folder: Path) -> Experiment:
    """Return the experiment with its guard in its parameter file, a new one in `folder`."""
    sections = merged([Path(experiment.config)] if experiment.config else [])
    own = guard_parameters(experiment.guard)
    for values in sections.values():
        for name in own:
            values.pop(name, None)
    sections[SHARED] |= own
    file = folder / 'with_guard.yaml'
    file.write_text(sections_text(sections))
    return replace(experiment, config=str(file), guard=GuardParameters())


def launch_arguments(experiment: Experiment) -> dict[str, str]:
    """Return the arguments of `task.launch.py` for an experiment."""
    values = {name: getattr(experiment, name) for name in (*_TEXTS, *_NUMBERS)}
    texts = {name: str(value) for name, value in values.items() if value != ''}
    if experiment.actuator:
        own = ('robot', 'task', 'engine', 'integrator', 'actuator', 'config')
        texts = {name: getattr(experiment, name) for name in own} | {'controller': 'external'}
    return texts | {'plant_error': mapping_text(changed(experiment.error))}


_TEXTS = (
    'robot', 'task', 'law', 'engine', 'integrator', 'config', 'reference_motion',
    'friction_velocity', 'faults', 'scene', 'latency',
)  # fmt: skip
_NUMBERS = {
    'timestep': float, 'natural_frequency': float, 'frequency': float, 'latency_seed': int
}  # fmt: skip


def experiment_of(
    arguments: Mapping[str, str], robot: Robot, given: Mapping[str, object]
) -> LoadedExperiment:
    """Return the experiment of the arguments of `task.launch.py`.

    Args:
        arguments: as `launch_arguments` returns them.
        robot: its robot.
        given: parameters of the task.

    Raises:
        ArmError: a value that an experiment cannot have.
    """
    values: ParameterValues = {name: arguments[name] for name in _TEXTS if arguments.get(name)}
    for name, kind in _NUMBERS.items():
        try:
            values[name] = kind(arguments[name])
        except ValueError:
            raise ArmError(f'{name} is {arguments[name]!r}; it must be a number') from None
    error = model_error_of(arguments['plant_error'], 'plant_error', robot.model)
    loaded = LoadedExperiment(Experiment(**values, error=error), robot, given)
    level = arguments.get('feedforward', 'best')
    if level in ('best', ''):
        return loaded
    if loaded.law_class.evaluation.variant != 'feedforward':
        raise ArmError(
            f'feedforward is {level!r}; law {loaded.law_name!r} has none, only servo has: leave '
            'feedforward out'
        )
    return loaded.changed(feedforward=level)


def simulator_parameters(loaded: LoadedExperiment, moving: bool = True) -> ParameterValues:
    """Return the parameters of the simulator node; `moving`: see `simulator_of`."""
    plant = loaded.plant_parameters()
    scene = simulator_of(loaded.task, loaded.experiment.error, moving, plant.period_ns)
    # Where drives, joints and sensors are ideal, the robot's files decide on them.
    parts = DriveParameters(), JointParameters(), SensorParameters()
    ideal = {name: value for part in parts for name, value in ros_values(part).items()} | {
        'faults': ''
    }
    chosen = {k: x for k, x in ros_values(plant).items() if k not in ideal or x != ideal[k]}
    # The loop without ROS has no drive that brakes: laws are compared as they are.
    return chosen | loaded.robot.model.arm_parameters() | scene | {'speed_limit_factor': 0.0}


def controller_parameters(loaded: LoadedExperiment) -> ParameterValues:
    """Return the parameters of the law's controller node."""
    plant = loaded.plant_parameters()
    timing = {name: getattr(plant, name) for name in ('timestep', 'control_decimation')}
    own = ros_values(loaded.law_parameters) | guard_parameters(loaded.guard)
    return own | loaded.robot.model.arm_parameters() | timing


def guard_parameters(guard: GuardParameters) -> ParameterValues:
    """Return the parameters of a guard by the names that a node has for them."""
    return {f'{guard.prefix}{name}': value for name, value in ros_values(guard).items()}
