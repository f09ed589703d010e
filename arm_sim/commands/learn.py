"""`ros2 run arm_sim learn`: a task again and again, each pass with what the last one taught."""

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.console import Console

from arm_dynamics.checks import in_range, one_of
from arm_sim.experiments.executors import executor, ordered
from arm_sim.experiments.experiment import Experiment
from arm_sim.loop.learning import repeated
from arm_sim.loop.measures import error_facts, track
from arm_sim.loop.picture import PASSES, passes_figure
from arm_sim.loop.report import write_json
from arm_sim.output_folder import writable_folder
from arm_sim.pictures import save
from arm_sim.refusals import exit_code
from arm_sim.robot import model_error_of
from arm_sim.simulation.sensors import SensorParameters
from arm_sim.tasks import task_names

_ERRORS = (
    '{mass_scale: [1.05]}',
    '{mass_scale: [1.2]}',
    '{mass_scale: [1.2], payload: 0.5, friction: [0.5]}',
)
_TOLD = (1, 2, 3, 5, 10)  # passes that the table has


@dataclass(frozen=True)
class Course:
    """Passes of one law on one arm.

    Attributes:
        robot, task: by name.
        law: by name, a servo's with its feedforward: servo:inverse_dynamics.
        error: how the arm differs from what the law knows, in YAML.
        passes: their number.
        cutoff: of what is learnt [Hz].
        sensors: of the arm.
    """

    robot: str
    task: str
    law: str
    error: str
    passes: int
    cutoff: float
    sensors: SensorParameters

    @property
    def name(self) -> str:
        """What distinguishes it."""
        return f'{self.law}, {self.error.strip("{}")}'

    def errors(self) -> list[dict[str, float]]:
        """Return RMS and maximum of the tip's error [mm] of each pass."""
        name, _, level = self.law.partition(':')
        exact = Experiment.of_files(
            self.robot, self.task, name, feedforward=level, sensors=self.sensors
        )
        model = exact.load().robot.model
        error = model_error_of(self.error, '--error', model)
        own = replace(exact, error=error).load()
        plant, _ = own.plants()
        records = repeated(own.task, own.law(), plant, self.passes, 0, self.cutoff)
        found = ((record.t, track(model, record).error) for record in records)
        return [error_facts(t, error, 1e3) for t, error in found]


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    result = argparse.ArgumentParser('learn', description=__doc__)
    add = result.add_argument
    add('--robot', default='ur5e', help='name of a shipped robot, or URDF file (ur5e)')
    add('--task', default='cube', help=f'one of {", ".join(task_names())} (cube)')
    laws = (
        'with the parameters of the robot\'s file, separated by commas; "servo:LEVEL" is a servo'
    )
    add('--laws', default='computed_torque,servo:inverse_dynamics', help=laws)
    text = 'how the arm differs from what the law knows, in YAML; may be given more than once'
    add('--error', action='append', metavar='YAML', help=text)
    add('--passes', type=int, default=10, help='number of passes (10)')
    add('--cutoff', type=float, default=0.0, help='low-pass for what is learnt [Hz] (0: none)')
    add('--position-noise', type=float, default=0.0, help='standard deviation [rad | m] (0)')
    add('--velocity-noise', type=float, default=0.0, help='standard deviation [rad/s | m/s] (0)')
    add('--workers', type=int, default=os.cpu_count() or 1, help='processes (all cores)')
    add('--output-dir', default='learning', help='where table and picture go (learning)')
    return result


@exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    _run(parser().parse_args(sys.argv[1:] if arguments is None else arguments))


def _run(given: argparse.Namespace) -> None:
    one_of('--task', given.task, task_names())
    in_range('--passes', given.passes, 1, 1000)
    folder = writable_folder(given.output_dir)
    noise = SensorParameters(
        position_noise=given.position_noise, velocity_noise=given.velocity_noise
    )
    courses = [
        Course(given.robot, given.task, law, error, given.passes, given.cutoff, noise)
        for error in given.error or _ERRORS
        for law in given.laws.split(',')
    ]
    console = Console(highlight=False, soft_wrap=True)

    def tell(done: int) -> None:
        console.print(f'{done} of {len(courses)} courses')

    with executor(given.workers) as processes:
        found = ordered(processes, Course.errors, courses, tell)
    curves = {course.name: errors for course, errors in zip(courses, found, strict=True)}
    console.print(_table(curves), markup=False)
    write_json(folder / 'learning.json', {'task': given.task, 'passes_mm': curves})
    save(passes_figure(curves), folder / PASSES)
    console.print(f'learning.json and {PASSES} are in {folder}')


def _table(curves: dict[str, list[dict[str, Any]]]) -> str:
    """Return RMS errors by pass in Markdown."""
    count = len(next(iter(curves.values())))
    told = [number for number in _TOLD if number < count] + [count]
    lines = ['| law, error | ' + ' | '.join(f'pass {number}' for number in told) + ' |']
    lines.append('| --- |' + ' ---: |' * len(told))
    for name, errors in curves.items():
        cells = [f'{errors[number - 1]["rms"]:.2g}' for number in told]
        lines.append(f'| {name} | ' + ' | '.join(cells) + ' |')
    return 'tracking error of the tip [mm RMS]\n\n' + '\n'.join(lines)
