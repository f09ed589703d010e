"""`ros2 run arm_sim identify RECORDING`: inertias, rotors and friction of an arm."""

from dataclasses import MISSING, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from rich.console import Console
from tyro.conf import Positional

from arm_dynamics.checks import ArmError
from arm_dynamics.identification import estimation
from arm_dynamics.identification.estimation import IdentificationParameters
from arm_dynamics.identification.positions import PositionParameters
from arm_dynamics.identification.regressor import JointRegressor
from arm_dynamics.parameters import parameter
from arm_sim.command_line import RobotOptions, command
from arm_sim.commands import identification_report as report
from arm_sim.commands.call import call
from arm_sim.commands.identified_drives import (
    TorqueScaleOptions,
    drive_facts,
    motor_table,
    motors_of,
    scale_note,
    scales_of,
    without_scale,
)
from arm_sim.commands.identified_files import Written, write_arm, write_servos
from arm_sim.commands.identified_positions import (
    fitted,
    servo_facts,
    servo_figure,
    servo_notes,
    servo_table,
)
from arm_sim.experiments.report import Report
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


class IdentifiedReport(Report):
    """An identified arm.

    Attributes:
        found: Identified, from positions ServoFit.
        notes: lines on what the recording shows.
        numbers: all of them, as in identified.json.
    """

    def __init__(self, options: Options, console: Console, folder: Path | None = None):
        """Identify from the recording of the options.

        Raises:
            ArmError: no such recording, or one from which nothing is identified.
        """
        if not options.recording:
            raise ArmError('identify needs a recording: its path')
        self._robot = Robot.load(options.robot, options.config)
        fit = self._from_positions if options.source == 'positions' else self._from_torques
        listings, draw = fit(options, console)
        rows = self.numbers['parameters']
        super().__init__('identified', listings, rows, draw, options.line(), self.found)

    def table(self) -> None:
        """Print the tables, and the notes."""
        super().table()
        for line in self.notes:
            new_console().print(line, soft_wrap=True)

    def write(self, folder: Path, command: str) -> None:
        """Write URDF, parameter file, numbers and picture; `command` is what makes them."""
        self.written(folder)

    def written(self, folder: Path) -> Written:
        """Write the files; return those of the arm, and the launch that takes them."""
        written = self._write(folder)
        write_json(folder / 'identified.json', self.numbers)
        save(self.figure, folder / 'identified.png')
        return written

    def _from_torques(self, options: Options, console: Console) -> Any:
        robot, parameters = self._robot, options.estimation
        with console.status('reading the recording') as status:
            samples = read_samples(options.recording, robot.model.joint_names)
            samples = replace(samples, q=in_radians(samples.q, robot.model, options.units))
            status.update(f'identifying from {len(samples.times)} states')
            scales = scales_of(options.torque_scale, robot, samples, parameters)
            motors, lacking = motors_of(options.recording, robot, samples, parameters)
            true = without_scale(samples, scales)
            found = estimation.identify(JointRegressor(robot.model), true, parameters)
        listings = [report.joint_table(found), report.link_table(found)]
        if motors is not None:
            listings.append(motor_table(motors, robot.model.joint_names))
        self.found, scale = found, scale_note(scales, robot.model.joint_names)
        self.numbers = report.facts(found, parameters, robot.name) | drive_facts(scales, motors)
        self.notes = [each for each in (*report.notes(found, parameters), scale, lacking) if each]
        of_motors = {} if motors is None else motors.parameters()
        self._write = partial(write_arm, robot=robot, found=found, motors=of_motors)
        return listings, partial(report.picture, found, robot.name)

    def _from_positions(self, options: Options, console: Console) -> Any:
        robot = self._robot
        known = options.positions, options.estimation
        self.found = found = fitted(options.recording, options.units, robot, *known)
        self.numbers, self.notes = servo_facts(found, robot), servo_notes(found)
        self._write = partial(write_servos, robot=robot, found=found)
        return [servo_table(found, robot)], partial(servo_figure, found, robot)


identify = call(
    Options, IdentifiedReport,
    'Identify the inertias, rotors and friction of an arm from a recording.', recording='',
)  # fmt: skip


@command(Options)
def main(options: Options) -> None:
    """Run the command."""
    folder, console = writable_folder(options.output_dir), new_console()
    found = IdentifiedReport(options, console)
    found.table()
    written = found.written(folder)
    for line in written.notes:
        console.print(line, soft_wrap=True)
    names = f'{written.urdf.name}, {written.config.name}, identified.json and identified.png'
    console.print(f'wrote {names} to {folder}')
    servo = ' controller:=servo' if options.source == 'positions' else ''
    console.print(f'{written.launch}{servo}', soft_wrap=True)
