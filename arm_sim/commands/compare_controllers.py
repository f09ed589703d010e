"""compare_controllers: one goal, every law, every engine, one table."""

import argparse
import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

from rich.console import Console

from arm_controllers.discrete_motion import MOTIONS
from arm_controllers.known_friction import FRICTION_VELOCITIES
from arm_dynamics.checks import ArmError, in_range, one_of
from arm_sim.experiments.compared_laws import compared_class, compared_laws, laws_with
from arm_sim.experiments.executors import executor
from arm_sim.experiments.experiment import Experiment
from arm_sim.experiments.figures import law_figure
from arm_sim.experiments.monte_carlo import run_monte_carlo
from arm_sim.experiments.over_topics import run_over_topics
from arm_sim.experiments.parquet import parquet_writer
from arm_sim.experiments.report import Report, comparison_report, monte_carlo_report, sweep_report
from arm_sim.experiments.runs import observe_all, record_of
from arm_sim.experiments.sweeps import OF_EFFORT, SWEEPS, run_sweep, swept_values
from arm_sim.experiments.work import Work
from arm_sim.output_folder import writable_folder
from arm_sim.pictures import save
from arm_sim.progress import interruptible, progress
from arm_sim.refusals import exit_code
from arm_sim.simulation.plant import RIGID_BODY_ENGINES as _ENGINES
from arm_sim.tasks import compared_tasks, task_names

# What runs a case; launches follow one another.
RUNNERS = {'loop': record_of, 'topics': run_over_topics}


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    result = argparse.ArgumentParser(
        'compare_controllers',
        description='Run the same tasks under every control law, in lock-step, without ROS or '
        'over the nodes; write a table (terminal, Markdown, JSON) and a picture.',
    )
    many = 'one or more, separated by commas'
    add = result.add_argument
    add('--robots', default='ur5e', help=f'names of robots, or paths of their files, {many}')
    add('--tasks', default='sinusoid', help=f'{many}, or "all": {", ".join(task_names())}')
    add('--laws', default='all', help=f'{many}, or "all": {", ".join(compared_laws())}')
    add('--engines', default='mujoco', help=f'{many}, or "all": {", ".join(_ENGINES)}')
    config = "parameter file over each robot's own: arm and tasks; the laws' gains are designed"
    add('--config', default='', metavar='FILE', help=config)
    add('--timestep', type=float, default=1e-3, help='step and control period [s] (0.001)')
    design = 'error dynamics that every law is designed for [rad/s] (20)'
    add('--natural-frequency', type=float, default=20.0, help=design)
    motion = "discrete: torque laws follow the reference's samples (continuous)"
    add('--reference-motion', choices=MOTIONS, default='continuous', help=motion)
    friction = "that answers Coulomb friction: the measured one, or the reference's (measured)"
    add('--friction-velocity', choices=FRICTION_VELOCITIES, default='measured', help=friction)
    add('--law-pictures', action='store_true', help='also one picture per law: error over time')
    add('--samples', type=int, default=0, help='Monte Carlo: this many random arms per law')
    add('--seed', type=int, default=0, help='of the Monte Carlo (0)')
    add('--sweep', choices=sorted(SWEEPS), help='vary one number instead')
    values = 'of the sweep, separated by commas; of `errors`: exact, mass_scale=1.05, ...'
    add('--values', default='', help=values)
    over = 'loop: lock-step without ROS, in seconds; topics: real nodes, one launch per run'
    add('--over', choices=sorted(RUNNERS), default='loop', help=over)
    add('--workers', type=int, default=os.cpu_count() or 1, help='processes (all cores)')
    scheduler = 'run on the workers of this Dask scheduler instead, as tcp://host:8786'
    add('--scheduler', default='', metavar='ADDRESS', help=scheduler)
    parquet = 'also every arm of a Monte Carlo, to <output-dir>/arms/*.parquet'
    add('--parquet', action='store_true', help=parquet)
    add('--resume', action='store_true', help='go on with a run that was broken off')
    add('--output-dir', default='comparison', help='where table and picture go (comparison)')
    return result


@exit_code
def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if '--ros-args' in given:  # what a launch file adds for nodes
        given = given[: given.index('--ros-args')]
    options, command = parser().parse_args(given), ' '.join(['compare_controllers', *given])
    console = Console(width=None if sys.stdout.isatty() else 140)
    try:
        with interruptible():
            run(options, command, console)
    except KeyboardInterrupt:
        print('compare_controllers: stopped; --resume goes on', file=sys.stderr)
        raise


def run(options: argparse.Namespace, command: str, console: Console) -> None:
    """Do what the options ask. Raises ArmError for what cannot be done, before anything runs."""
    over_topics = options.over == 'topics'
    friction = options.friction_velocity
    of_effort = options.sweep in OF_EFFORT or friction != 'measured'
    possible = laws_with(options.reference_motion, of_effort)
    robots, laws = _names(options.robots), _names(options.laws, possible)
    engines = _names(options.engines, _ENGINES)
    tasks = compared_tasks() if options.tasks == 'all' else _names(options.tasks)
    for task in tasks:
        one_of('task', task, task_names())
    for engine in engines:
        one_of('engine', engine, _ENGINES)
    for law in laws:
        compared_class(law)
        why = f'sweep {options.sweep}, ' if options.sweep else ''
        why += f'friction_velocity {friction}, ' if friction != 'measured' else ''
        one_of(f'law ({why}reference_motion {options.reference_motion})', law, possible)
    in_range('workers', options.workers, 1, 1024)
    in_range('timestep', options.timestep, 1e-5, 0.1)
    in_range('natural_frequency', options.natural_frequency, 0.0, 1e4, exclusive=True)
    if over_topics:
        options.workers = 1
        if options.scheduler:
            raise ArmError("a scheduler's workers run over 'loop' only")
    numbers = options.timestep, options.natural_frequency, 0.0
    cases = [
        Experiment(
            robot, task, law, engine, *numbers, options.config, options.reference_motion, friction
        )
        for robot, task, engine, law in product(robots, tasks, engines, laws)
    ]
    kind = 'sweep' if options.sweep else 'monte_carlo' if options.samples else 'comparison'
    folder = writable_folder(options.output_dir)
    if options.parquet and kind != 'monte_carlo':
        raise ArmError('--parquet is for a Monte Carlo: give --samples')
    if options.samples and over_topics:
        raise ArmError("a Monte Carlo runs over 'loop' only")
    if kind != 'comparison':
        if len(robots) * len(tasks) * len(engines) > 1:
            raise ArmError('a sweep or a Monte Carlo takes one robot, one task and one engine')
    elif options.tasks == 'all':
        cases = [case for case in cases if _possible(case)]
    with executor(options.workers, options.scheduler) as where:
        work = Work(where, folder / f'{kind}.partial', options.resume)
        if kind == 'comparison':
            report = _compare(cases, options, folder, console, work)
        else:
            vary = _sweep if options.sweep else partial(_monte_carlo, folder)
            report = vary(options, cases[0], laws, console, work)
    for listing in report.listings:
        console.print(listing.terminal())
    report.write(folder, command)
    files = ', '.join(f'{report.name}.{suffix}' for suffix in ('md', 'json', 'png'))
    console.print(f'wrote {files} to {folder.resolve()}')


def _compare(
    cases: list[Experiment],
    options: argparse.Namespace,
    folder: Path,
    console: Console,
    work: Work,
) -> Report:
    run = RUNNERS[options.over]
    with progress(console, 'runs', len(cases)) as advance:
        answers = observe_all(cases, progress=advance, record=run, work=work)
    measures, courses = zip(*answers, strict=True)
    if options.law_pictures:
        for law in dict.fromkeys(case.law for case in cases):
            save(law_figure(law, cases, courses), folder / f'law_{law}.png')
        console.print(f'wrote law_<law>.png to {folder.resolve()}')
    return comparison_report(cases, measures)


def _sweep(
    options: argparse.Namespace,
    case: Experiment,
    laws: Sequence[str],
    console: Console,
    work: Work,
) -> Report:
    values = swept_values(options.sweep, options.values)
    run = RUNNERS[options.over]
    with progress(console, 'runs', len(laws) * len(values or SWEEPS[options.sweep][0])) as advance:
        sweep = run_sweep(options.sweep, case, laws, values, 1, advance, run, work)
    return sweep_report(sweep, case)


def _monte_carlo(
    folder: Path,
    options: argparse.Namespace,
    case: Experiment,
    laws: Sequence[str],
    console: Console,
    work: Work,
) -> Report:
    case, keep = replace(case, seed=options.seed), None
    if options.parquet:
        keep = parquet_writer(folder / 'arms', case, laws, options.resume)
    with progress(console, 'arms', options.samples * len(laws)) as advance:
        given = options.samples, options.workers, advance, work, keep
        return monte_carlo_report(run_monte_carlo(case, laws, *given), case)


def _possible(case: Experiment) -> bool:
    """Whether the robot can do the task ('all' leaves out what it cannot)."""
    try:
        _ = case.load().task
    except ArmError:
        if case.task != 'cube':
            raise
        return False
    return True


def _names(text: str, every: Iterable[str] = ()) -> tuple[str, ...]:
    if text == 'all' and every:
        return tuple(every)
    names = tuple(name.strip() for name in text.split(',') if name.strip())
    if not names:
        raise ArmError('a list of names is empty')
    return names
