"""try_robots: load arms as they come, and see whether they agree, hold, arrive and are reached."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from functools import partial

from rich.console import Console

from arm_dynamics.checks import in_range
from arm_sim.experiments.executors import executor, ordered
from arm_sim.loop.report import plain, write_json
from arm_sim.output_folder import whole_file, writable_folder
from arm_sim.pictures import save
from arm_sim.progress import interruptible, progress
from arm_sim.refusals import exit_code
from arm_sim.robot_trials.arms import all_arms
from arm_sim.robot_trials.report import Trials
from arm_sim.robot_trials.tried import SIZE, try_robot

_FEW = 4  # arms, whose pictures are larger


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    result = argparse.ArgumentParser(
        'try_robots',
        description='Try arms as they come, under position servos in MuJoCo, without ROS: whether '
        "they load, MuJoCo's dynamics and the model's agree, the arm holds itself, ends a goal, "
        'inverse kinematics finds poses that are reachable; the same of the MJCF that MuJoCo '
        'writes of them. Exit code 1 where one fails, or one that is named is refused.',
    )
    add = result.add_argument
    robots = (
        "as robot:= takes them, with their words in one: 'panda tip_frame:=panda_link8'; none: "
        'the shipped ones and the serial arms of example-robot-data, where it is installed'
    )
    add('robots', nargs='*', metavar='ROBOT', help=robots)
    add('--poses', type=int, default=1000, help='for inverse kinematics, each file (1000)')
    add('--no-pictures', action='store_true', help='draw no arms')
    add('--workers', type=int, default=os.cpu_count() or 1, help='processes (all cores)')
    scheduler = 'run on the workers of this Dask scheduler instead, as tcp://host:8786'
    add('--scheduler', default='', metavar='ADDRESS', help=scheduler)
    add('--json', action='store_true', help='print JSON instead of the table')
    add('--output-dir', default='robots', help='where table and pictures go (robots)')
    return result


@exit_code
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    options = parser().parse_args(given)
    with interruptible():
        return run(options, ' '.join(['try_robots', *given]))


def run(options: argparse.Namespace, command: str) -> int:
    """Try the arms and tell; return the exit code."""
    in_range('--poses', options.poses, 1, 1_000_000)
    in_range('--workers', options.workers, 1, 1024)
    folder = writable_folder(options.output_dir)
    names = options.robots or all_arms()
    console = Console(width=None if sys.stdout.isatty() else 160, stderr=options.json)
    size = 0 if options.no_pictures else SIZE if len(names) > _FEW else 3 * SIZE
    job = partial(try_robot, poses=options.poses, size=size)
    with (
        executor(options.workers, options.scheduler) as where,
        progress(console, 'arms', len(names)) as advance,
    ):
        trials = Trials(ordered(where, job, names, advance))
    report = {'command': command, 'arms': trials.rows()}
    if options.json:
        print(json.dumps(plain(report), indent=2))
    else:
        console.print(trials.terminal())
    write_json(folder / 'robots.json', report)
    with whole_file(folder / 'robots.md') as file:
        file.write(f'Made by `{command}`.\n\n{trials.markdown()}'.encode())
    figure, files = trials.sheet(), ['robots.md', 'robots.json']
    if figure:
        save(figure, folder / 'robots.png')
        files.append('robots.png')
    elif not options.no_pictures:
        console.print(next((x.no_picture for x in trials.tried if x.no_picture), 'no pictures'))
    console.print(f'{trials.verdict}\nwrote {", ".join(files)} to {folder}')
    refused = options.robots and any(each.own.reason for each in trials.tried)
    return int(bool(refused) or any(each.faults for each in trials.tried))
