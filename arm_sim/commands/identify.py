"""`ros2 run arm_sim identify RECORDING`: inertias, rotors and friction of an arm."""

from dataclasses import MISSING, dataclass, field, replace
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional

from arm_dynamics.identification.estimation import IdentificationParameters, identify
from arm_dynamics.identification.positions import PositionParameters
from arm_dynamics.identification.regressor import JointRegressor
from arm_dynamics.parameters import parameter
from arm_sim.command_line import RobotOptions, command
from arm_sim.commands import identification_report as report
from arm_sim.commands.identified_drives import (
    TorqueScaleOptions,
    drive_facts,
    motor_table,
    motors_of,
    scale_note,
    scales_of,
    without_scale,
)
from arm_sim.commands.identified_files import write_arm, write_servos
from arm_sim.commands.identified_positions import fitted, servo_facts, servo_notes, servo_table
from arm_sim.loop.report import write_json
from arm_sim.options import Folder
from arm_sim.output_folder import writable_folder
from arm_sim.pictures import save
from arm_sim.progress import new_console
from arm_sim.recording.recorded_samples import in_radians, read_samples
from arm_sim.robot import Robot


@dataclass(frozen=True, kw_only=True)
class Options(RobotOptions):
    """Identify the inertias, rotors and friction of an arm from a recording.

    The recording has joint states with positions and torques, or with `--from positions` the
    positions and position commands of an arm without torque sensors, whose servos are identified.
    A URDF and a parameter file are written that launch files take.
    """

    recording: Positional[Annotated[str, 'RECORDING']] = parameter(
        MISSING, 'path of a recording of joint states: .mcap, rosbag2 folder, .npz or .csv'
    )
    source: str = parameter(
        'torques', 'what the parameters are identified from; positions: also the servos, from '
        'commands and positions', one_of=('torques', 'positions'), name='from',
    )  # fmt: skip
    units: str = parameter(
        'rad', 'unit of the recorded positions and position commands of revolute joints',
        one_of=('rad', 'deg'),
    )  # fmt: skip
    output_dir: Folder = parameter(
        'identified', 'folder for URDF, parameter file, JSON and picture'
    )
    estimation: IdentificationParameters = field(default_factory=IdentificationParameters)
    positions: PositionParameters = field(default_factory=PositionParameters)
    torque_scale: TorqueScaleOptions = field(default_factory=TorqueScaleOptions)


@command(Options)
def main(options: Options) -> None:
    """Run the command."""
    robot, console = Robot.load(options.robot, options.config), new_console()
    parameters, folder = options.estimation, writable_folder(options.output_dir)
    if options.source == 'positions':
        _from_positions(options, robot, folder)
        return
    with console.status('reading the recording') as status:
        samples = read_samples(options.recording, robot.model.joint_names)
        samples = replace(samples, q=in_radians(samples.q, robot.model, options.units))
        status.update(f'identifying from {len(samples.times)} states')
        scales = scales_of(options.torque_scale, robot, samples, parameters)
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


def _from_positions(options: Options, robot: Robot, folder: Path) -> None:
    """Identify the servos."""
    console = new_console()
    found = fitted(options.recording, options.units, robot, options.positions, options.estimation)
    console.print(servo_table(found, robot))
    written = write_servos(folder, robot, found)
    write_json(folder / 'identified.json', servo_facts(found, robot))
    for line in servo_notes(found):
        console.print(line, soft_wrap=True)
    console.print(f'wrote {written.urdf.name}, {written.config.name}, identified.json to {folder}')
    console.print(f'{written.launch} controller:=servo', soft_wrap=True)
