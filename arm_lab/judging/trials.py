"""The trials of a plan: the controller, the arm and a task as processes."""

import json
import os
import shlex
import time
from collections.abc import Callable, Sequence
from functools import cache
from math import inf
from pathlib import Path

import numpy as np

from arm_controllers.parameter_file import mapping_text, sections_text
from arm_controllers.parameter_values import as_ros_value
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import changed
from arm_lab.experiments.over_topics import launch_arguments, launched
from arm_lab.judging.physics import check_physics
from arm_lab.judging.plan import JudgedTrial, JudgingPlan
from arm_lab.judging.verdict import Judgement, StoppedJudgement, Verdict
from arm_lab.own_domain import own_domain
from arm_sim.loop.measures import measure_names
from arm_sim.loop.record import Record
from arm_sim.loop.report import Check
from arm_sim.output_folder import writable_folder
from arm_sim.parameter_files import merged

_LAUNCH_FILES = ('.launch.py', '.launch.xml', '.launch.yaml', '.launch.yml')
_POINTS = 500  # of a course


def controller_command(words: Sequence[str]) -> list[str]:
    """Return the command that starts a controller: a launch file, alone or in a package, or as is.

    One word with spaces is split as a shell does.

    Raises:
        ArmError: it cannot be split, or has nothing in it.
    """
    try:
        given = shlex.split(words[0]) if len(words) == 1 else list(words)
    except ValueError as error:
        raise ArmError(f'the controller is {words[0]!r}: {error}') from None
    if not given:
        raise ArmError('the controller is an empty text; without one it runs already')
    if any(word.endswith(_LAUNCH_FILES) for word in given[:2]):
        return ['ros2', 'launch', *given]
    return given


@cache
def _domain() -> str:
    return own_domain()


def _environment(command: Sequence[str]) -> dict[str, str]:
    """Return the processes' environment: a ROS domain of their own, unless the user chose one.

    A controller that runs already is where this process's nodes would be.
    """
    if command and not os.environ.get('ROS_DOMAIN_ID'):
        return os.environ | {'ROS_DOMAIN_ID': _domain()}
    return dict(os.environ)


def judge_all(
    plan: JudgingPlan,
    words: Sequence[str],
    folder: Path,
    advance: Callable[[int], None] = lambda done: None,
) -> Judgement:
    """Return the judgement of a controller; `advance` is called with the number of trials done.

    Args:
        plan: what it is tried on.
        words: the command that starts it; empty: it runs already.
        folder: gets a folder for each trial.

    Raises:
        ArmError: the words are no command.
    """
    command = controller_command(words) if words else []

    def tried(trial: JudgedTrial) -> tuple[Record, list[Check]]:
        own = writable_folder(str(trial.folder(folder)))
        record, limits = _run(plan, trial, command, own)
        if trial.loaded.plant_parameters().exact:  # else positions are as the sensors say
            check_physics(trial.loaded, record)
        return record, limits

    typed = shlex.join(words) if len(words) > 1 else ''.join(words)
    return judgement(plan, typed, tried, advance)


def judgement(
    plan: JudgingPlan,
    name: str,
    tried: Callable[[JudgedTrial], tuple[Record, list[Check]]],
    advance: Callable[[int], None] = lambda done: None,
) -> Judgement:
    """Return the judgement of a controller, called `name`, from all trials.

    `tried` returns a trial's record and the task's own limits, or raises ArmError.

    Raises:
        StoppedJudgement: Ctrl-C.
    """
    found: list[Verdict] = []
    try:
        for trial in plan.trials:
            found.append(_tried(trial, tried))
            if found[0].reason:  # nothing else would do better
                break
            advance(len(found))
    except KeyboardInterrupt:
        raise StoppedJudgement(Judgement(plan, name, tuple(found), stopped=True)) from None
    return Judgement(plan, name, tuple(found))


def _tried(
    trial: JudgedTrial, tried: Callable[[JudgedTrial], tuple[Record, list[Check]]]
) -> Verdict:
    begin = time.monotonic()
    try:
        record, limits = tried(trial)
    except ArmError as error:
        return Verdict(trial, time.monotonic() - begin, reason=str(error))
    return _verdict(trial, time.monotonic() - begin, record, limits)


def _verdict(
    trial: JudgedTrial, seconds: float, record: Record, of_task: Sequence[Check]
) -> Verdict:
    tracking = trial.loaded.track(record)
    measures = trial.loaded.task.report.measure(record, tracking)
    numbers = {name: measures[name] for name in measure_names()}
    of_plan = (Check(name, numbers[name], most, '') for name, most in trial.limits.items())
    course = np.vstack([record.t, 1e3 * tracking.error])[:, :: max(1, len(record.t) // _POINTS)]
    checks = (*of_plan, *of_task)
    return Verdict(trial, seconds, numbers, checks, record.checksum(), '', course)


def _run(
    plan: JudgingPlan, trial: JudgedTrial, command: Sequence[str], folder: Path
) -> tuple[Record, list[Check]]:
    """Return the record of a trial, and the task's own limits; raises ArmError as `launched`."""
    arguments = _arguments(plan, trial, folder)
    record = launched(arguments, folder, command, _environment(command), inf)
    report = json.loads((folder / 'report.json').read_text())
    limits = [
        Check(each['name'], _finite(each['value']), each['limit'], each['unit'])
        for each in report['limits']
        if each['limit'] is not None
    ]
    return record, limits


def _finite(value: float | str | None) -> float:
    return float('nan') if value is None else float(value)


def _arguments(plan: JudgingPlan, trial: JudgedTrial, folder: Path) -> dict[str, str]:
    """Return the arguments of `task.launch.py`; writes the parameter file that they name."""
    loaded, experiment = trial.loaded, trial.loaded.experiment
    sections = merged([Path(experiment.config)] if experiment.config else [])
    # The simulator waits for a slow controller: an arm that brakes would be another run.
    sections.setdefault('simulator', {})['lockstep_timeout'] = 2.0 * plan.timeout
    for name, value in changed(experiment.drives).items():
        sections['simulator'][name] = as_ros_value(value)
    sections.setdefault(f'{trial.task}_task', {})['timeout'] = plan.timeout
    file = folder / 'parameters.yaml'
    file.write_text(sections_text(sections))
    return launch_arguments(experiment) | {
        'parameters': mapping_text(loaded.given),
        # At rest it does not matter when the goal arrives; without a goal, on the reference.
        'start': 'moving' if loaded.task.goal() is None else 'rest',
        'record': 'false',
        'config': str(file),
    }
