"""`ros2 run arm_sim judge COMMAND`: a controller on tasks, engines and arms with model error."""

import signal
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, ClassVar

from tyro.conf import Positional

from arm_dynamics.checks import ArmError, some_of
from arm_dynamics.parameters import parameter
from arm_dynamics.robots import share_folder
from arm_lab.command_line import STOPPED, CommandOptions, File, Folder, Name
from arm_lab.commands.call import call, program
from arm_lab.experiments.report import Report
from arm_lab.judging import report
from arm_lab.judging.law_trials import judge_law
from arm_lab.judging.plan import read_plan
from arm_lab.judging.trials import judge_all
from arm_lab.judging.verdict import Judgement, StoppedJudgement
from arm_lab.progress import printable, progress
from arm_sim.loop.record import RECORD

_LONGEST = 500  # characters of a line of a log that are shown


@dataclass(frozen=True)
class Options(CommandOptions):
    """Run a controller on every task, engine and model error of a file, in lock-step.

    The controller is a node in any language that answers joint_states by joint_commands, or with
    --law a law that runs without ROS. The exit code is 0 where all limits of the file hold.
    Table, picture, JSON and JUnit XML are written.
    """

    rest: ClassVar[str] = 'controller'
    stopped: ClassVar[str] = 'all started processes have ended'

    limits: File = parameter(
        str(share_folder() / 'config' / 'judge' / 'planar_3r.yaml'),
        'path of the YAML file with trials and their limits',
    )
    repeat: int = parameter(
        1,
        'number of times that all trials run; all results must agree to the last bit',
        min=1,
        max=1_000_000,
    )
    output_dir: Folder = parameter(
        'judgement', 'folder for table, picture, JSON, JUnit XML and the files of each trial'
    )
    law: Name = parameter(
        '', 'law to judge in the loop without ROS, in place of a command: its name, or its '
        'Python file, which runs',
    )  # fmt: skip
    seconds: float = parameter(60.0, 'CPU time of a law for all trials [s]', min=1, max=1e6)
    controller: Positional[Annotated[tuple[str, ...], '[COMMAND ...]']] = parameter(
        (),
        'command that starts the controller, as the last words: my.launch.py [name:=value], '
        'my_package my.launch.py, or any program; none: the controller runs already, in this '
        'ROS_DOMAIN_ID',
    )


class JudgementReport(Report):
    """A judgement; `found` has the numbers of each trial.

    Attributes:
        held: whether all limits hold.
        share: trials whose limits hold, as a share of all.
        checksum: of all states and torques; equal for judgements that agree in every bit.
    """

    def __init__(self, judgement: Judgement):
        """Keep the judgement."""
        rows = [
            {
                'task': each.trial.task, 'engine': each.trial.engine,
                'variant': each.trial.variant, 'held': each.held, 'reason': each.words,
                **each.measures,
            }
            for each in judgement.verdicts
        ]  # fmt: skip
        draw = partial(report.figure, judgement)
        super().__init__('judgement', [report.listing(judgement)], rows, draw, found=judgement)
        self.held, self.checksum = judgement.held, judgement.checksum
        self.share = sum(x.held for x in judgement.verdicts) / len(judgement.plan.trials)

    def write(self, folder: Path, command: str) -> Sequence[str]:
        """Write the files of a judgement."""
        report.write(self.found, folder)
        return report.FILES


def judged(options: Options) -> JudgementReport:
    """Return the first judgement that is unlike the first one, else the first one.

    The folder of the options gets the files of the trials.
    """
    if not options.controller and not options.law:
        print('judge: no command; waiting for the controller in this ROS_DOMAIN_ID')
    with TemporaryDirectory() as other:
        folder = options.folder or Path(other)
        found, stopped = _judgements(options, folder)
        written = [*_written(found[0], folder), *_earlier(found[0], folder)]
    others = _unlike_the_first(found)
    result = JudgementReport((others or found)[0])
    result.code = STOPPED if stopped else int(not result.held or bool(others))
    result.notes = [result.found.summary, *[_agreement(found)] * (options.repeat > 1), *written]
    return result


judge = call(
    Options, judged, 'Try a law, or a controller, on all trials of a file of limits.', law=''
)


main = program(Options, judged, signal.SIGTERM)


def _judgements(options: Options, folder: Path) -> tuple[list[Judgement], bool]:
    """Judge `repeat` times; only once where the first judgement does not hold.

    Ctrl-C ends the series; return the judgements until then, or the trials of the first one, and
    whether it came.
    """
    repeat, words, law = options.repeat, options.controller, options.law
    if words and law:
        raise ArmError('--law is judged without a command; give one of them')
    plan = read_plan(options.limits)
    count, found = len(plan.trials), list[Judgement]()
    with progress('trials', count * repeat) as advance:
        for number in range(repeat):

            def show(done: int, begun: int = number * count) -> None:
                advance(begun + done)

            try:
                if law:
                    found.append(judge_law(plan, law, folder, options.seconds, show))
                else:
                    found.append(judge_all(plan, words, folder, show))
            except KeyboardInterrupt as stop:
                if not found and isinstance(stop, StoppedJudgement) and stop.judgement.verdicts:
                    found.append(stop.judgement)
                if not found:
                    raise
                return found, True
            if not found[0].held:
                break
    return found, False


def _written(judgement: Judgement, folder: Path) -> Iterator[str]:
    """Yield the first line but information that the controller wrote in a trial that failed."""
    failed = (each for each in judgement.verdicts if not each.held)
    logs = (each.trial.folder(folder) / 'controller.log' for each in failed)
    for log in filter(Path.is_file, logs):
        with log.open(errors='replace') as lines:
            for line in lines:
                if line.strip() and '[INFO]' not in line:
                    yield f'the controller wrote in {log}: {printable(line.strip()[:_LONGEST])}'
                    return


def _earlier(judgement: Judgement, folder: Path) -> Iterator[str]:
    """Yield a line where the folder has records of other runs, as of an earlier judgement."""
    own = {each.trial.folder(folder) for each in judgement.verdicts}
    if old := sorted({file.parent for file in folder.glob(f'*/{RECORD}')} - own):
        names = some_of([each.name for each in old])
        yield f'{folder} also has records that are not of this judgement: {names}'


def _unlike_the_first(found: Sequence[Judgement]) -> list[Judgement]:
    first = found[0]
    return [each for each in found if each.checksum != first.checksum or each.held != first.held]


def _agreement(found: Sequence[Judgement]) -> str:
    sums, others = {each.checksum for each in found}, len(_unlike_the_first(found))
    words = 'one checksum' if len(sums) == 1 else f'{len(sums)} checksums'
    words = words if any(sums) else 'none with a checksum'
    count = f'{len(found)} judgement{"s" * (len(found) > 1)}'
    return f'{count}: {others} unlike the first, {words}'
