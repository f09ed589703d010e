"""`ros2 run arm_sim tune`: robust gains for a law on arms that differ from the law's model."""

import sys
import time
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from arm_controllers.laws import law_names
from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import parameter
from arm_lab.command_line import STOPPED, Folder, Name, command, results_in
from arm_lab.commands.call import call
from arm_lab.commands.experiment_options import ExperimentOptions
from arm_lab.experiments.batchable import check_tunable
from arm_lab.experiments.executors import Jobs
from arm_lab.experiments.report import Report
from arm_lab.experiments.suited import suited
from arm_lab.progress import new_console, progress, writing
from arm_lab.tuning.report import (
    Surveyed,
    Tuned,
    believed,
    survey_listing,
    tunable_laws,
    tuning_figure,
)
from arm_lab.tuning.search import FREQUENCIES, Effort, GainSpace, RequiredMargins, search, validate


@dataclass(frozen=True)
class Options(ExperimentOptions):
    """Find gains with the least tracking error at the 95th percentile of drawn arms.

    The gains keep margins of torque, chatter and delay, and are validated on other drawn arms.
    Launch files take the parameter file that is written as config:=FILE.
    """

    law: Name = parameter(
        '', f'control law to tune: all, or one of {", ".join(law_names())}; empty: one that suits '
        'the task'
    )  # fmt: skip
    output_dir: Folder = parameter('tuning', 'folder for gains, numbers and picture')
    margins: RequiredMargins = field(default_factory=RequiredMargins)
    effort: Effort = field(default_factory=Effort)
    jobs: Jobs = field(default_factory=Jobs)


@command(Options)
def main(options: Options) -> int:
    """Run the command; 0 where no fresh arm is unstable."""
    with results_in(options, options.output_dir) as folder:
        if options.law == 'all':
            with options.jobs.executor() as work:
                return _tune_all(options, work, folder)
        tuned: Tuned = tuned_law(options).found
    console = new_console()
    console.print(tuned.listing().terminal())
    for name in tuned.names:
        values = np.ravel(getattr(tuned.found.parameters, name))
        console.print(f'{name}: {", ".join(f"{x:.5g}" for x in values)}')
    with writing():
        console.print(f'wrote {", ".join(tuned.write(folder, options.command))} to {folder}')
    if not tuned.holds:
        print('tune: a fresh arm is unstable: no parameter file is written', file=sys.stderr)
    return 0 if tuned.holds else 1


def tuned_law(options: Options) -> Report:
    """Return the report of the gains of one law; `found` is `Tuned`."""
    if options.law == 'all':
        raise ArmError("law is 'all'; allowed: one law, the command tunes all")
    with options.jobs.executor() as work:
        tuned = _tune(options, options.law, work)
    gains = {name: getattr(tuned.found.parameters, name) for name in tuned.names}
    name, draw = f'tune_{tuned.experiment.law}', partial(tuning_figure, tuned)
    return Report(name, [tuned.listing()], [gains], draw, found=tuned)


tune = call(
    Options, tuned_law, 'Find gains of a law for arms that differ from its model; see `found`.',
    law='',
)  # fmt: skip


def _tune(options: Options, law: str, work: Executor) -> Tuned:
    """Search gains of a law and validate them."""
    loaded = suited(options.experiment(law=law).load())
    experiment, margins, effort = loaded.experiment, options.margins, options.effort
    model, shipped = check_tunable(loaded), loaded.law_parameters
    names = GainSpace(experiment.law, model, shipped).names
    each = effort.arms + min(effort.edge, effort.arms)
    tries = each * (1 + len(FREQUENCIES) + effort.generations * effort.population)
    with progress('tuning', tries) as advance:
        found = search(experiment, margins, effort, work, advance)
    with progress('fresh arms', 2 * effort.fresh) as advance:
        before = validate(experiment, shipped, effort.fresh, work, advance)
        after = validate(
            experiment, found.parameters, effort.fresh, work, lambda n: advance(n + effort.fresh)
        )
    return Tuned(experiment, margins, found, names, before, after)


def _tune_all(options: Options, work: Executor, folder: Path) -> int:
    """Tune every law; the row of a law that cannot be tuned says why."""
    rows, stopped = list[Surveyed](), False
    options.experiment().load()  # refuse a missing robot once, not for every law
    for law in tunable_laws():
        print(f'{law}:')
        start = time.monotonic()
        try:
            tuned = _tune(options, law, work)
            seconds = time.monotonic() - start
            rows.append(Surveyed(law, tuned, believed(tuned, work), seconds))
        except ArmError as error:
            rows.append(Surveyed(law, reason=str(error)))
            print(f'tune: {error}', file=sys.stderr)
            continue
        except KeyboardInterrupt:
            if not rows:
                raise
            print(f'stopped: {law} and what follows is not tuned', file=sys.stderr)
            stopped = True
            break
        tuned.write(folder, options.command)
    listing = survey_listing(
        rows, f'every law on {options.robot}, {options.task}, {options.engine}, 95 % RMS'
    )
    new_console().print(listing.terminal())
    listing.write(folder / 'tune_all.md', options.command)
    print(f'wrote tune_all.md, and gains, numbers and picture of each law, to {folder}')
    if stopped:
        return STOPPED
    return 0 if all(row.tuned and row.tuned.holds for row in rows) else 1
