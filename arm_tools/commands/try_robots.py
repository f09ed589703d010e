"""`ros2 run arm_sim try_robots`: whether arms load, agree with MuJoCo, hold, move and have IK."""

import json
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated

from tyro.conf import Positional

from arm_dynamics.parameters import parameter
from arm_lab.command_line import STOPPED, CommandOptions, Folder, command
from arm_lab.experiments.executors import Jobs
from arm_lab.progress import new_console, writing
from arm_sim.loop.report import plain, write_json
from arm_sim.output_folder import whole_file, writable_folder
from arm_sim.pictures import save
from arm_tools.robot_trials.arms import all_arms
from arm_tools.robot_trials.report import Trials
from arm_tools.robot_trials.tried import SIZE, try_robot

_FEW = 4  # arms, whose pictures are larger


@dataclass(frozen=True)
class Options(CommandOptions):
    """Test arms under position servos in MuJoCo, without ROS.

    Each arm is loaded, and so is the MJCF that MuJoCo writes of it. The tests: MuJoCo's dynamics
    agree with the model's, the arm holds its pose, reaches a goal, and inverse kinematics finds
    reachable poses. The exit code is 1 where a test fails or a named robot is refused.
    """

    robots: Positional[Annotated[tuple[str, ...], '[ROBOT ...]']] = parameter(
        (),
        'robots as in robot:= of launch files, each as one word: '
        "'panda tip_frame:=panda_link8'; none: the shipped robots and the serial arms of "
        'example-robot-data',
    )
    poses: int = parameter(
        1000, 'number of poses for inverse kinematics of each file', min=1, max=1_000_000
    )
    no_pictures: bool = parameter(False, 'write no pictures of the arms')
    json: bool = parameter(False, 'print JSON instead of the table')
    output_dir: Folder = parameter('robots', 'folder for table, JSON and pictures')
    jobs: Jobs = field(default_factory=Jobs)


@command(Options)
def main(options: Options) -> int:
    """Run the command; 0 where all arms passed."""
    folder = writable_folder(options.output_dir)
    names = options.robots or all_arms()
    console = new_console(stderr=options.json)
    size = 0 if options.no_pictures else SIZE if len(names) > _FEW else 3 * SIZE
    job = partial(try_robot, poses=options.poses, size=size)
    trials = Trials([*options.jobs.done('arms', job, names, console).values()])
    report = {'command': options.command, 'arms': trials.rows()}
    if options.json:
        print(json.dumps(plain(report), indent=2))
    else:
        console.print(trials.listing().terminal())
        console.print('\n'.join(trials.numbered_notes), markup=False)
    with writing():
        write_json(folder / 'robots.json', report)
        with whole_file(folder / 'robots.md') as file:
            file.write(f'Made by `{options.command}`.\n\n{trials.markdown()}'.encode())
        figure, files = trials.sheet(), ['robots.md', 'robots.json']
        if figure:
            save(figure, folder / 'robots.png')
            files.append('robots.png')
        elif not options.no_pictures:
            why = next((x.no_picture for x in trials.tried if x.no_picture), 'no pictures')
            console.print(why)
        console.print(f'{trials.verdict}\nwrote {", ".join(files)} to {folder}')
    if len(trials.tried) < len(names):
        return STOPPED
    refused = options.robots and any(each.own.reason for each in trials.tried)
    return int(bool(refused) or any(each.faults for each in trials.tried))
