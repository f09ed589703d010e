"""`ros2 run arm_sim judge COMMAND`: a controller on tasks, engines, wrong arms, with limits."""

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from arm_dynamics.checks import in_range
from arm_dynamics.robots import share_folder
from arm_sim.judging import report
from arm_sim.judging.plan import Plan, read_plan
from arm_sim.judging.trials import judge_all
from arm_sim.judging.verdict import Judgement
from arm_sim.output_folder import writable_folder
from arm_sim.progress import interruptible, progress
from arm_sim.refusals import exit_code


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    result = argparse.ArgumentParser(
        'judge',
        description='Run a controller, a node in any language that answers joint_states by '
        'joint_commands, on every task, engine and wrong arm of a file, in lock-step. Exit code 0 '
        'where all limits of the file hold. Table, picture, JSON and JUnit XML go to a folder.',
    )
    add = result.add_argument
    usual = share_folder() / 'config' / 'judge' / 'planar_3r.yaml'
    add(
        '--limits',
        default=str(usual),
        metavar='FILE',
        help='what is tried, and limits (%(default)s)',
    )
    add('--repeat', type=int, default=1, metavar='N', help='judge N times: every bit must agree')
    add('--output-dir', default='judgement', help='where all files go (judgement)')
    command = (
        'what starts the controller: my.launch.py [name:=value], my_package my.launch.py, or any '
        'command; none: it runs already, in this ROS_DOMAIN_ID'
    )
    add('controller', nargs=argparse.REMAINDER, metavar='CONTROLLER', help=command)
    return result


@exit_code
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = parser().parse_args(sys.argv[1:] if arguments is None else arguments)
    try:
        with interruptible(signal.SIGTERM):
            return run(options)
    except KeyboardInterrupt:
        print('judge: stopped; all that it started has ended', file=sys.stderr)
        raise


def run(options: argparse.Namespace) -> int:
    """Judge, and tell; return the exit code."""
    in_range('--repeat', options.repeat, 1, 1_000_000)
    words = [word for k, word in enumerate(options.controller) if k or word != '--']
    plan, folder = read_plan(options.limits), writable_folder(options.output_dir)
    console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
    if not words:
        console.print('judge: no command: the controller is waited for in this ROS_DOMAIN_ID')
    found = _judgements(options.repeat, plan, words, folder, console)
    others = _unlike_the_first(found)
    shown = others[0] if others else found[0]
    console.print(report.terminal(shown))
    report.write(shown, folder)
    console.print(shown.summary)
    if options.repeat > 1:
        console.print(_agreement(found))
    console.print(f'{", ".join(report.FILES)} are in {folder}')
    return int(not shown.held or bool(others))


def _judgements(
    repeat: int, plan: Plan, words: Sequence[str], folder: Path, console: Console
) -> list[Judgement]:
    """Judge so often; only once where the first one does not hold.

    Ctrl-C ends it; what was found until then is told.
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
