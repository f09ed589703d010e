"""`ros2 run arm_sim identify RECORDING`: find an arm's inertias, rotors and friction.

RECORDING holds joint states with positions and torques: .mcap, a rosbag2 folder, .npz, .csv.
A URDF and a parameter file are written that the launch files take.
"""

import argparse
import sys
from dataclasses import fields

from rich.console import Console

from arm_dynamics.identification.estimation import IdentificationParameters, identify
from arm_dynamics.identification.regressor import JointRegressor
from arm_dynamics.parameters import facts
from arm_sim.commands import identification_report as report
from arm_sim.commands.identified_drives import (
    add_options,
    drive_facts,
    motor_table,
    motors_of,
    scale_note,
    scales_of,
    without_scale,
)
from arm_sim.commands.identified_files import write_arm
from arm_sim.loop.report import write_json
from arm_sim.output_folder import writable_folder
from arm_sim.pictures import save
from arm_sim.recording.recorded_samples import read_samples
from arm_sim.refusals import exit_code
from arm_sim.robot import Robot


@exit_code
def main(arguments: list[str] | None = None) -> None:
    """Run the command."""
    options = _parser().parse_args(arguments)
    run(options, Console(width=None if sys.stdout.isatty() else 120, highlight=False))


def run(options: argparse.Namespace, console: Console) -> None:
    """Identify, tell and write. Raises ArmError for what cannot be done."""
    robot = Robot.load(options.robot, options.config)
    known = {
        field.name: getattr(options, field.name) for field in fields(IdentificationParameters)
    }
    parameters = IdentificationParameters(**known)
    folder = writable_folder(options.output_dir)
    with console.status('reading the recording') as status:
        samples = read_samples(options.recording, robot.model.joint_names)
        status.update(f'identifying from {len(samples.times)} states')
        scales = scales_of(options, robot, samples, parameters)
        motors, lacking = motors_of(options.recording, robot, samples, parameters)
        true = without_scale(samples, scales)
        found = identify(JointRegressor(robot.model), true, parameters)
    console.print(report.joint_table(found))
    console.print(report.link_table(found))
    if motors is not None:
        console.print(motor_table(motors, robot.model.joint_names))
    numbers = report.facts(found, parameters, robot.name) | drive_facts(scales, motors)
    written = write_arm(folder, robot, found, {} if motors is None else motors.parameters())
    scale = scale_note(scales, robot.model.joint_names)
    lines = [*report.notes(found, parameters), scale, lacking, *written.notes]
    write_json(folder / 'identified.json', numbers)
    save(report.picture(found, robot.name), folder / 'identified.png')
    for line in filter(None, lines):
        console.print(line, soft_wrap=True)
    console.print(
        f'wrote {written.urdf.name}, {written.config.name}, identified.json and identified.png '
        f'to {folder}'
    )
    console.print(written.launch, soft_wrap=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser('identify', description=__doc__)
    add = parser.add_argument
    add('recording', help='.mcap, rosbag2 folder, .npz or .csv')
    add('--robot', default='ur5e', help='name of a robot, or path of its file (ur5e)')
    add('--config', default='', metavar='FILE', help="parameter file over the robot's own")
    add('--output-dir', default='identified', help='where the files go (identified)')
    for field in fields(IdentificationParameters):
        told = f'{facts(field).description} ({field.default})'
        option = f'--{field.name.replace("_", "-")}'
        if field.default is False:
            add(option, action='store_true', help=facts(field).description)
        else:
            add(option, type=float, default=field.default, help=told)
    add_options(parser)
    return parser
