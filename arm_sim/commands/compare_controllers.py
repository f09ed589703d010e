"""compare_controllers: one goal, every law, every engine, one table."""

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from arm_dynamics.checks import ArmError, Array, in_range, one_of
from arm_sim.comparison.cases import (
    Case,
    cases,
    observe_case,
    run_case,
    run_parallel,
    task_of,
)
from arm_sim.comparison.figures import law_figure
from arm_sim.comparison.laws import compared_class, compared_laws
from arm_sim.comparison.monte_carlo import run_monte_carlo
from arm_sim.comparison.over_topics import run_over_topics
from arm_sim.comparison.report import (
    Report,
    comparison_report,
    monte_carlo_report,
    sweep_report,
)
from arm_sim.comparison.sweeps import SWEEPS, run_sweep
from arm_sim.output_folder import writable_folder
from arm_sim.pictures import save
from arm_sim.plants.plant import RIGID_BODY_ENGINES
from arm_sim.runs.measures import Measures
from arm_sim.runs.robot import Robot
from arm_sim.tasks import compared_tasks, task_names

# What runs a case; launches follow one another.
RUNNERS = {'loop': run_case, 'topics': run_over_topics}


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    result = argparse.ArgumentParser(
        'compare_controllers',
        description='Run the same tasks under every control law, in lock-step, without ROS or '
        'over the nodes; write a table (terminal, Markdown, JSON) and a picture.',
    )
    many = 'one or more, separated by commas'
    add = result.add_argument
    add('--robots', default='ur5e', help=f'names of shipped robots or URDF files, {many}')
    add('--tasks', default='sinusoid', help=f'{many}, or "all": {", ".join(task_names())}')
    add('--laws', default='all', help=f'{many}, or "all": {", ".join(compared_laws())}')
    add('--engines', default='mujoco', help=f'{many}, or "all": {", ".join(RIGID_BODY_ENGINES)}')
    add('--timestep', type=float, default=1e-3, help='step and control period [s] (0.001)')
    add(
        '--natural-frequency',
        type=float,
        default=20.0,
        help='error dynamics that every law is designed for [rad/s] (20)',
    )
    add('--law-pictures', action='store_true', help='also one picture per law: error over time')
    add('--samples', type=int, default=0, help='Monte Carlo: this many random arms per law')
    add('--seed', type=int, default=0, help='of the Monte Carlo (0)')
    add('--sweep', choices=sorted(SWEEPS), help='vary one number instead')
    add('--values', default='', help='of the sweep, separated by commas')
    add(
        '--over',
        choices=sorted(RUNNERS),
        default='loop',
        help='loop: lock-step without ROS, in seconds; topics: real nodes, one launch per run',
    )
    add('--workers', type=int, default=os.cpu_count() or 1, help='processes (all cores)')
    add('--output-dir', default='comparison', help='where table and picture go (comparison)')
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser().parse_args(_without_ros_arguments(given))
    command = ' '.join(['compare_controllers', *_without_ros_arguments(given)])
    console = Console(width=None if sys.stdout.isatty() else 140)
    try:
        run(options, command, console)
    except ArmError as error:
        print(f'compare_controllers: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


def run(options: argparse.Namespace, command: str, console: Console) -> None:
    """Do what the options ask. Raises ArmError for what cannot be done, before anything runs."""
    robots = _names(options.robots, ())
    tasks = compared_tasks() if options.tasks == 'all' else _names(options.tasks, ())
    laws = _names(options.laws, tuple(compared_laws()))
    engines = _names(options.engines, tuple(RIGID_BODY_ENGINES))
    for what, names, allowed in (
        ('task', tasks, task_names()),
        ('engine', engines, tuple(RIGID_BODY_ENGINES)),
    ):
        for name in names:
            one_of(what, name, allowed)
    for law in laws:
        compared_class(law)
    in_range('workers', options.workers, 1, 1024)
    if options.over == 'topics':
        options.workers = 1
    settings = {'timestep': options.timestep, 'natural_frequency': options.natural_frequency}
    in_range('natural_frequency', options.natural_frequency, 0.0, 1e4, exclusive=True)
    folder = writable_folder(options.output_dir)
    all_cases = cases(robots, tasks, laws, engines, **settings)
    if options.samples and options.over == 'topics':
        raise ArmError("a Monte Carlo runs over 'loop' only")
    if options.sweep or options.samples:
        if len(robots) * len(tasks) * len(engines) > 1:
            raise ArmError('a sweep or a Monte Carlo takes one robot, one task and one engine')
        vary = _sweep if options.sweep else _monte_carlo
        report = vary(options, all_cases[0], laws, console)
    else:
        if options.tasks == 'all':
            all_cases = [case for case in all_cases if _possible(case)]
        report = _compare(all_cases, options, folder, console)
    for listing in report.listings:
        console.print(listing.terminal())
    report.write(folder, command)
    files = ', '.join(f'{report.name}.{suffix}' for suffix in ('md', 'json', 'png'))
    console.print(f'wrote {files} to {folder.resolve()}')


def _compare(
    all_cases: list[Case], options: argparse.Namespace, folder: Path, console: Console
) -> Report:
    answers: dict[int, tuple[Measures, Array]] = {}
    observe = partial(observe_case, run=RUNNERS[options.over])
    with _progress(console, 'runs', len(all_cases)) as advance:
        for index, answer in run_parallel(observe, all_cases, options.workers):
            answers[index] = answer
            advance(len(answers))
    measures, courses = zip(*(answers[i] for i in range(len(all_cases))), strict=True)
    if options.law_pictures:
        for law in dict.fromkeys(case.law for case in all_cases):
            save(law_figure(law, all_cases, courses), folder / f'law_{law}.png')
        console.print(f'wrote law_<law>.png to {folder.resolve()}')
    return comparison_report(all_cases, measures)


def _sweep(
    options: argparse.Namespace, case: Case, laws: Sequence[str], console: Console
) -> Report:
    try:
        values = tuple(float(text) for text in options.values.split(',') if text)
    except ValueError:
        raise ArmError(f'values is {options.values!r}; it must be numbers and commas') from None
    run = RUNNERS[options.over]
    count = len(laws) * len(values or SWEEPS[options.sweep][0])
    with _progress(console, 'runs', count) as advance:
        sweep = run_sweep(options.sweep, case, laws, values, options.workers, advance, run)
    return sweep_report(sweep, case)


def _monte_carlo(
    options: argparse.Namespace, case: Case, laws: Sequence[str], console: Console
) -> Report:
    with _progress(console, 'runs', options.samples * len(laws)) as advance:
        spreads = run_monte_carlo(
            case, laws, options.samples, options.seed, None, options.workers, advance
        )
    return monte_carlo_report(spreads, case)


def _possible(case: Case) -> bool:
    """Whether the robot can do the task ('all' leaves out what it cannot)."""
    try:
        task_of(case, Robot.load(case.robot))
    except ArmError:
        if case.task != 'cube':
            raise
        return False
    return True


def _names(text: str, every: tuple[str, ...]) -> tuple[str, ...]:
    if text == 'all' and every:
        return every
    names = tuple(name.strip() for name in text.split(',') if name.strip())
    if not names:
        raise ArmError('a list of names is empty')
    return names


def _without_ros_arguments(arguments: list[str]) -> list[str]:
    """Drop what a launch file adds for nodes: --ros-args and all behind it."""
    return arguments[: arguments.index('--ros-args')] if '--ros-args' in arguments else arguments


@contextmanager
def _progress(console: Console, what: str, total: int) -> Iterator[Callable[[int], None]]:
    """Give a function that shows how many are done: a bar, in a file or launch file lines."""
    if console.is_terminal:
        columns = (TextColumn('{task.description}'), BarColumn(), MofNCompleteColumn())
        with Progress(*columns, TimeRemainingColumn(), console=console, transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda done: bar.update(task, completed=done)
        return
    tenths = 0

    def show(done: int) -> None:
        nonlocal tenths
        if 10 * done // total > tenths:
            tenths = 10 * done // total
            print(f'{what}: {done} of {total}', flush=True)

    yield show
