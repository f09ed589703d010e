"""tune: gains for a law on arms that are not quite the one it knows."""

import argparse
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path

import numpy as np
from rich.console import Console

from arm_controllers.laws import law_class, law_names
from arm_dynamics.checks import ArmError, in_range, one_of
from arm_sim.experiments.executors import executor
from arm_sim.experiments.experiment import Experiment, check_tunable
from arm_sim.output_folder import writable_folder
from arm_sim.progress import interruptible, progress
from arm_sim.simulation.plant import RIGID_BODY_ENGINES
from arm_sim.tasks import task_names
from arm_sim.tuning.gains import FREQUENCIES, GainSpace
from arm_sim.tuning.report import Tuned
from arm_sim.tuning.search import Effort, Margins, search, validate
from arm_sim.tuning.survey import Surveyed, believed, survey_listing, tunable_laws, write_survey


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    result = argparse.ArgumentParser(
        'tune',
        description='Find gains whose tracking error is least at the 95th percentile of drawn '
        'arms, within margins of torque, chatter and delay; try them on fresh arms; write a '
        'parameter file that launch files take as config:=.',
    )
    add = result.add_argument
    add('--robot', default='ur5e', help='name of a shipped robot or URDF file (ur5e)')
    add('--law', default='computed_torque', help=f'all, or one of {", ".join(law_names())}')
    add('--task', default='sinusoid', help=f'one of {", ".join(task_names())} (sinusoid)')
    add('--engine', default='mujoco', help=f'{" or ".join(RIGID_BODY_ENGINES)} (mujoco)')
    add('--config', default='', metavar='FILE', help="parameter file over the robot's own")
    own = Margins()
    add('--torque', type=float, default=own.torque, help=f'margin of torque ({own.torque:g})')
    chatter = 'margin: RMS change of torque per period over the RMS limit'
    add('--chatter', type=float, default=own.chatter, help=f'{chatter} ({own.chatter:g})')
    delay = f'margin: periods of delay beyond those drawn ({own.delay})'
    add('--delay', type=int, default=own.delay, help=delay)
    tried = Effort()
    add('--arms', type=int, default=tried.arms, help=f'for each candidate ({tried.arms})')
    add('--generations', type=int, default=tried.generations, help=f'({tried.generations})')
    add('--fresh', type=int, default=tried.fresh, help=f'arms to validate on ({tried.fresh})')
    add('--seed', type=int, default=0, help='of the draws (0)')
    add('--workers', type=int, default=os.cpu_count() or 1, help='processes (all cores)')
    scheduler = 'run on the workers of this Dask scheduler instead, as tcp://host:8786'
    add('--scheduler', default='', metavar='ADDRESS', help=scheduler)
    add('--output-dir', default='tuning', help='where the files go (tuning)')
    return result


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code: 0 where no fresh arm is unstable."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser().parse_args(given)
    try:
        with interruptible():
            return run(options, ' '.join(['tune', *given]))
    except ArmError as error:
        print(f'tune: {error}', file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def run(options: argparse.Namespace, command: str) -> int:
    """Do what the options ask."""
    one_of('engine', options.engine, RIGID_BODY_ENGINES)
    one_of('task', options.task, task_names())
    in_range('workers', options.workers, 1, 1024)
    every = options.law == 'all'
    if not every:
        law_class(options.law)
    margins = Margins(options.torque, options.chatter, options.delay)
    effort = Effort(options.arms, generations=options.generations, fresh=options.fresh)
    folder = writable_folder(options.output_dir)
    console = Console(width=None if sys.stdout.isatty() else 140)
    with executor(options.workers, options.scheduler) as work:
        if every:
            return _tune_all(options, margins, effort, work, folder, console, command)
        tuned = _tune(_experiment(options, options.law), margins, effort, work, console)
    console.print(tuned.listing().terminal())
    for name in tuned.names:
        values = np.ravel(getattr(tuned.found.parameters, name))
        console.print(f'{name}: {", ".join(f"{x:.5g}" for x in values)}')
    console.print(f'wrote {", ".join(tuned.write(folder, command))} to {folder}')
    if not tuned.holds:
        print('tune: a fresh arm is unstable: no parameter file is written', file=sys.stderr)
    return 0 if tuned.holds else 1


def _experiment(options: argparse.Namespace, law: str) -> Experiment:
    given = {'engine': options.engine, 'config': options.config, 'seed': options.seed}
    return Experiment.of_files(options.robot, options.task, law, **given)


def _tune(
    experiment: Experiment, margins: Margins, effort: Effort, work: Executor, console: Console
) -> Tuned:
    """Search and validate."""
    loaded = experiment.load()
    model, shipped = check_tunable(loaded), loaded.law_parameters
    names = GainSpace(experiment.law, model, shipped).names
    each = effort.arms + min(effort.edge, effort.arms)
    tries = each * (1 + len(FREQUENCIES) + effort.generations * effort.population)
    with progress(console, 'tuning', tries) as advance:
        found = search(experiment, margins, effort, work, advance)
    with progress(console, 'fresh arms', 2 * effort.fresh) as advance:
        before = validate(experiment, shipped, effort.fresh, work, advance)
        after = validate(
            experiment, found.parameters, effort.fresh, work, lambda n: advance(n + effort.fresh)
        )
    return Tuned(experiment, margins, found, names, before, after)


def _tune_all(
    options: argparse.Namespace,
    margins: Margins,
    effort: Effort,
    work: Executor,
    folder: Path,
    console: Console,
    command: str,
) -> int:
    """Tune law after law; a law that cannot be tuned has a row that says why."""
    rows = []
    _experiment(options, options.law).load()  # a robot that cannot be had is no law's fault
    for law in tunable_laws():
        console.print(f'{law}:')
        start = time.monotonic()
        try:
            tuned = _tune(_experiment(options, law), margins, effort, work, console)
        except ArmError as error:
            rows.append(Surveyed(law, reason=str(error)))
            print(f'tune: {error}', file=sys.stderr)
            continue
        seconds = time.monotonic() - start
        rows.append(Surveyed(law, tuned, believed(tuned, work), seconds))
        tuned.write(folder, command)
    listing = survey_listing(
        rows, f'every law on {options.robot}, {options.task}, {options.engine}, 95 % RMS'
    )
    console.print(listing.terminal())
    name = write_survey(listing, folder, command)
    console.print(f'wrote {name}, and gains, numbers and picture of each law, to {folder}')
    return 0 if all(row.tuned and row.tuned.holds for row in rows) else 1
