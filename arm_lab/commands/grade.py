"""`python -m arm_sim grade FILE ...`: the laws of many files, each judged, at the same time."""

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, NamedTuple

from matplotlib.figure import Figure
from tyro.conf import Positional

from arm_dynamics.checks import ArmError
from arm_dynamics.parameters import like, parameter
from arm_lab.command_line import STOPPED, CommandOptions, File, Folder
from arm_lab.commands import judge
from arm_lab.commands.call import call, program
from arm_lab.experiments.executors import Jobs
from arm_lab.experiments.report import Listing, Report
from arm_lab.judging.law_trials import judge_law
from arm_lab.judging.plan import read_plan
from arm_sim.output_folder import writable_folder
from arm_sim.pictures import BLUE, SMALL, new_figure, style


@dataclass(frozen=True)
class Options(CommandOptions):
    """Judge the law of every file on all trials of a file of limits, without ROS.

    Each law runs in a process of its own, with a limit of CPU time and of memory. The grade is the
    number of trials whose limits hold. Table, picture and JSON are written.
    """

    limits: File = like(judge.Options, 'limits')
    seconds: float = like(judge.Options, 'seconds')
    jobs: Jobs = field(default_factory=Jobs)
    output_dir: Folder = parameter('grades', 'folder for table, picture, JSON and the trials')
    submissions: Positional[Annotated[tuple[str, ...], 'FILE ...']] = parameter(
        (), "Python files with a law each, or names of the package's laws"
    )


class Grade(NamedTuple):
    """The grade of a submission.

    Attributes:
        submission: its file.
        held: number of trials whose limits hold.
        trials: number of all trials.
        checksum: of all states and torques; equal for equal grades of the same law, '' where
            no trial was completed.
        reason: what the first trial that does not hold breaks, or ''.
    """

    submission: str
    held: int
    trials: int
    checksum: str
    reason: str


def graded(limits: str, seconds: float, job: tuple[str, str]) -> Grade:
    """Return the grade of a submission; `job` is its file, and a folder for its trials."""
    submission, folder = job
    own, plan = writable_folder(folder), read_plan(limits)
    try:
        found = judge_law(plan, submission, own, seconds)
    except OSError as error:  # a law before it may have filled the disk
        return Grade(submission, 0, len(plan.trials), '', f'{own}: {error.strerror}')
    failed = [f'{each.trial.name}: {each.words}' for each in found.verdicts if not each.held]
    held = sum(each.held for each in found.verdicts)
    grade = Grade(submission, held, len(plan.trials), found.checksum, ''.join(failed[:1]))
    # There, whatever becomes of the submissions after this one; their table comes at the end.
    with suppress(OSError):
        (own / 'grade.json').write_text(json.dumps(grade._asdict()))
    return grade


def grades(options: Options) -> Report:
    """Return the grades, in the order of the submissions; `found` is a list of `Grade`.

    After Ctrl-C they are those of the submissions that were done.
    """
    files = options.submissions
    if not files:
        raise ArmError('submissions is empty; give Python files with a law each')
    read_plan(options.limits)  # refused once, not for every submission
    work = partial(graded, options.limits, options.seconds)
    with TemporaryDirectory() as other:
        within = options.folder or Path(other)
        jobs = [(file, str(within / f'{i}_{Path(file).stem}')) for i, file in enumerate(files)]
        found = list(options.jobs.done('submissions', work, jobs).values())
    headings = ('submission', 'held', 'checksum', 'first failure')
    rows = [
        (x.submission, f'{x.held} of {x.trials}', x.checksum[:8] or '-', x.reason) for x in found
    ]
    bad = [i for i, each in enumerate(found) if each.held < each.trials]
    is_stopped = len(found) < len(files)
    done = f'{len(found)} of ' * is_stopped + f'{len(files)} submission{"s" * (len(files) > 1)}'
    title = f'{done} on {options.limits}'
    listing = Listing(title, headings, rows, texts=('checksum', 'first failure'), bad=bad)
    draw = partial(_figure, found, f'{done} on {Path(options.limits).name}')
    plain = [each._asdict() for each in found]
    code = STOPPED if is_stopped else 0
    return Report('grades', [listing], plain, draw, found=found, code=code)


def _figure(found: Sequence[Grade], title: str) -> Figure:
    figure = new_figure(8.0, 1.4 + 0.28 * len(found), title)
    axis = figure.subplots()
    names = [Path(each.submission).stem for each in found]
    places = range(len(found))
    bars = axis.barh(places, [each.held for each in found], color=BLUE)
    axis.bar_label(bars, padding=4.0, fontsize=SMALL)  # a bar of no trial is not seen
    axis.set_yticks(places, names)
    axis.set_xlim(0, 1.06 * found[0].trials)
    axis.locator_params(axis='x', integer=True)
    axis.invert_yaxis()
    style(axis, '', f'trials whose limits hold, of {found[0].trials}', grid='x')
    return figure


grade = call(Options, grades, 'Judge the law of every file; see `found`.', submissions=())


main = program(Options, grades)
