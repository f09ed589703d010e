"""`ros2 run arm_sim judge COMMAND`: a controller on tasks, engines and arms with model error."""

import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

from rich.console import Console
from tyro.conf import Positional

from arm_dynamics.parameters import parameter
from arm_dynamics.robots import share_folder
from arm_sim.command_line import CommandOptions, command
from arm_sim.judging import report
from arm_sim.judging.plan import Plan, read_plan
from arm_sim.judging.trials import judge_all
from arm_sim.judging.verdict import Judgement
from arm_sim.options import File, Folder
from arm_sim.output_folder import writable_folder
from arm_sim.progress import new_console, progress


@dataclass(frozen=True)
class Options(CommandOptions):
    """Run a controller on every task, engine and model error of a file, in lock-step.

    The controller is a node in any language that answers joint_states by joint_commands. The exit
    code is 0 where all limits of the file hold. Table, picture, JSON and JUnit XML are written.
    """

    rest: ClassVar[str] = 'controller'

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
    controller: Positional[Annotated[tuple[str, ...], '[COMMAND ...]']] = parameter(
        (),
        'command that starts the controller, as the last words: my.launch.py [name:=value], '
        'my_package my.launch.py, or any program; none: the controller runs already, in this '
        'ROS_DOMAIN_ID',
    )


@command(Options, signal.SIGTERM)
def main(options: Options) -> int:
    """Run the command; 0 where all limits hold."""
    try:
        return _run(options)
    except KeyboardInterrupt:
        print('judge: stopped; all started processes have ended', file=sys.stderr)
        raise


def _run(options: Options) -> int:
    """Judge, print and write; return the exit code."""
    words = options.controller
    plan, folder = read_plan(options.limits), writable_folder(options.output_dir)
    console = new_console()
    if not words:
        console.print('judge: no command; waiting for the controller in this ROS_DOMAIN_ID')
    found = _judgements(options.repeat, plan, words, folder, console)
    others = _unlike_the_first(found)
    shown = others[0] if others else found[0]
    console.print(report.listing(shown).terminal())
    report.write(shown, folder)
    console.print(shown.summary)
    if options.repeat > 1:
        console.print(_agreement(found))
    console.print(f'{", ".join(report.FILES)} are in {folder}')
    return int(not shown.held or bool(others))


def _judgements(
    repeat: int, plan: Plan, words: Sequence[str], folder: Path, console: Console
) -> list[Judgement]:
    """Judge `repeat` times; only once where the first judgement does not hold.

    Ctrl-C ends the series; the judgements until then are summed up.
    """
    count, found = len(plan.trials), list[Judgement]()
    with progress(console, 'trials', count * repeat) as advance:
        for number in range(repeat):

            def tell(done: int, begun: int = number * count) -> None:
                advance(begun + done)

            try:
                found.append(judge_all(plan, words, folder, tell))
            except KeyboardInterrupt:
                if found:
                    console.print(_agreement(found))
                raise
            if not found[0].held:
                break
    return found


def _unlike_the_first(found: Sequence[Judgement]) -> list[Judgement]:
    first = found[0]
    return [each for each in found if each.checksum != first.checksum or each.held != first.held]


def _agreement(found: Sequence[Judgement]) -> str:
    sums, others = {each.checksum for each in found}, len(_unlike_the_first(found))
    words = 'one checksum' if len(sums) == 1 else f'{len(sums)} checksums'
    count = f'{len(found)} judgement{"s" * (len(found) > 1)}'
    return f'{count}: {others} unlike the first, {words}'
