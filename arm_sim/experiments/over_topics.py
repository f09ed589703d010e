"""A case of the comparison over the real nodes: what they are told, and what came of it."""

import subprocess
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from arm_dynamics.checks import ArmError
from arm_dynamics.model import RobotModel
from arm_dynamics.model_error import ModelError
from arm_sim.executables import end_with_parent
from arm_sim.experiments.cases import Case, plant_parameters
from arm_sim.experiments.laws import law_parameters
from arm_sim.loop.closed_loop import Imperfections
from arm_sim.loop.record import RECORD, Record
from arm_sim.robot import Robot, model_error_of
from arm_sim.simulation.drives import DriveParameters
from arm_sim.tasks import Task

TIMEOUT = 600.0  # of one launch [s]


def run_over_topics(case: Case) -> Record:
    """Run one case by `task.launch.py`.

    Raises:
        ArmError: the launch failed (holds what it said last), or a case that nodes cannot run.
    """
    if case.imperfections != Imperfections() or case.drives.drives():
        raise ArmError(
            'delay, noise and drives are not told to nodes here; parameter files tell them drives'
        )
    with TemporaryDirectory() as output:
        command = ['ros2', 'launch', 'arm_sim', 'task.launch.py', f'output_dir:={output}']
        command += [f'{name}:={value}' for name, value in launch_arguments(case).items()]
        try:
            answer = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
                preexec_fn=end_with_parent,
            )
        except subprocess.TimeoutExpired:
            raise ArmError(f'{case.law}: no end of the launch within {TIMEOUT:g} s') from None
        file = Path(output) / RECORD
        if file.is_file():
            return Record.load(file)
        said = [line for line in (answer.stdout + answer.stderr).splitlines() if line.strip()]
        reasons = [line for line in said if '_task: ' in line or 'refused' in line]
        reason = (reasons or said or ['it said nothing'])[-1]
        raise ArmError(f'{case.law}, {case.task}, {case.engine}: the launch failed: {reason}')


def launch_arguments(case: Case) -> dict[str, str]:
    """Return the arguments of `task.launch.py` for a case."""
    values = {f.name: getattr(case, f.name) for f in fields(Case) if f.name in _TEXTS + _NUMBERS}
    usual = ModelError()
    error = {k: v for k, v in asdict(case.error).items() if v != getattr(usual, k)}
    plain = {k: list(v) if isinstance(v, tuple) else v for k, v in error.items()}
    text = yaml.safe_dump(plain, default_flow_style=True, width=10_000).strip()
    told = {name: str(value) for name, value in values.items() if value != ''}
    return told | {'plant_error': text}


_TEXTS = ('robot', 'task', 'law', 'engine', 'config', 'reference_motion', 'friction_velocity')
_NUMBERS = ('timestep', 'natural_frequency', 'frequency')


def case_of(arguments: Mapping[str, str], model: RobotModel) -> Case:
    """Return the case that `launch_arguments` told.

    Raises:
        ArmError: a value that a case cannot have.
    """
    values: dict[str, Any] = {name: arguments[name] for name in _TEXTS if arguments.get(name)}
    for name in _NUMBERS:
        try:
            values[name] = float(arguments[name])
        except ValueError:
            raise ArmError(f'{name} is {arguments[name]!r}; it must be a number') from None
    return Case(**values, error=model_error_of(arguments['plant_error'], 'plant_error', model))


def simulator_parameters(
    case: Case, robot: Robot, task: Task, moving: bool = True
) -> dict[str, Any]:
    """Return what the simulator's node is told for a case; `moving`: see `Task.scene`."""
    plant = plant_parameters(case, robot)
    scene = task.scene(case.error, moving, plant.period_ns)
    usual = {each.name for each in fields(DriveParameters)} - set(plant.drives())
    told = {name: value for name, value in _ros(plant).items() if name not in usual}
    # The loop without ROS has no drive that brakes: laws are compared as they are.
    return told | robot.model.arm_parameters() | scene | {'speed_limit_factor': 0.0}


def controller_parameters(case: Case, robot: Robot) -> dict[str, Any]:
    """Return what the law's node is told for a case."""
    law = _ros(law_parameters(case.law, robot, case.natural_frequency))
    timing = {'timestep': case.timestep, 'control_decimation': 1}
    return law | robot.model.arm_parameters() | timing


def _ros(parameters: Any) -> dict[str, Any]:
    """Return a dataclass as ROS takes it; what is empty is left out."""
    values = {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(parameters).items()}
    return {name: value for name, value in values.items() if value != []}
