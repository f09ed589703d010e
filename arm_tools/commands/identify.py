"""`ros2 run arm_sim identify RECORDING`: inertias, rotors and friction of an arm."""

from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from tyro.conf import Positional

from arm_dynamics.checks import ArmError, typed
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import parameter
from arm_lab.command_line import Folder, RobotOptions
from arm_lab.commands.call import call, program
from arm_lab.experiments.report import Report
from arm_lab.experiments.robot_files import load_robot
from arm_lab.identification.estimation import IdentificationParameters
from arm_lab.identification.identified_arm import weightless
from arm_lab.identification.positions import PositionParameters
from arm_lab.identification.regressor import JointRegressor
from arm_lab.progress import new_console, status
from arm_tools.commands import identification_report as report
from arm_tools.commands.identified_drives import (
    TorqueScaleOptions,
    drive_facts,
    hidden_scales,
    motor_table,
    motors_of,
    scale_note,
    scales_of,
    without_scale,
)
from arm_tools.commands.identified_files import write_arm, write_servos
from arm_tools.commands.identified_friction import (
    friction_facts,
    friction_notes,
    with_friction,
)
from arm_tools.commands.identified_positions import (
    fitted,
    servo_facts,
    servo_figure,
    servo_notes,
    servo_table,
)
from arm_tools.inspection.inspected import Inspected, decided, inspected
from arm_tools.inspection.known_efforts import EffortsAre
from arm_tools.readers.read_options import ReadAs


@dataclass(frozen=True, kw_only=True)
class Options(RobotOptions):
    """Identify the inertias, rotors and friction of an arm from a recording.

    The recording has joint states with positions and torques, or with `--from positions` the
    positions and position commands of an arm without torque sensors, whose servos are identified.
    A URDF and a parameter file are written that launch files take.
    """

    recording: Positional[Annotated[str, 'RECORDING']] = parameter(
        MISSING, 'path of a recording of joint states: .mcap, rosbag2 folder or a table'
    )
    source: str = parameter(
        'torques', 'what the parameters are identified from; positions: also the servos, from '
        'commands and positions', one_of=('torques', 'positions'), name='from',
    )  # fmt: skip
    reading: ReadAs = field(default_factory=ReadAs)
    efforts: EffortsAre = field(default_factory=EffortsAre)
    output_dir: Folder = parameter(
        'identified', 'folder for URDF, parameter file, table, JSON and picture'
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

    def __init__(self, options: Options):
        """Identify from the recording of the options.

        Raises:
            ArmError: no such recording, or one from which nothing is identified.
        """
        if not options.recording:
            raise ArmError('identify needs a recording: its path')
        self._robot = load_robot(options.robot, options.config)
        fit = self._from_positions if options.source == 'positions' else self._from_torques
        listings, draw, found, first, notes, numbers, code = fit(options)
        super().__init__(
            'identified', listings, numbers['parameters'], draw, found=found, notes=notes,
            numbers=numbers, code=code, first=first,
        )  # fmt: skip

    def write(self, folder: Path, command: str) -> Sequence[str]:
        """Write the files, those of the arm as well, and print the launch that takes these."""
        if self.code:
            return super().write(folder, command)
        written = self._write(folder)
        for line in (*written.notes, typed(f'{written.launch}{self._controller}')):
            new_console().print(line, markup=False, soft_wrap=True)
        return [written.urdf.name, written.config.name, *super().write(folder, command)]

    def _from_torques(self, options: Options) -> Any:
        robot, parameters, drives = self._robot, options.estimation, options.torque_scale
        with status('reading the recording') as now:
            read = decided(_read(options, options.recording, robot.model))
            samples, model = read.samples, robot.model
            regressor = JointRegressor(weightless(model) if read.weightless else model)
            now(f'identifying from {len(samples.times)} states')
            scales = scales_of(
                drives, regressor, read, parameters,
                lambda path: _read(options, path, model).samples,
            )  # fmt: skip
            motors, lacking = motors_of(
                options.recording, robot, samples, parameters, options.reading
            )  # fmt: skip
            true = without_scale(samples, scales)
            without = hidden_scales(scales, model.joint_names) | dict(read.unused)
            friction = with_friction(regressor, true, parameters, without)
            found = friction.found
        listings = [report.joint_table(found), report.link_table(found)]
        if motors is not None:
            listings.append(motor_table(motors, robot.model.joint_names))
        scale = scale_note(scales, robot.model.joint_names)
        numbers = report.facts(found, parameters, robot.name, read.later) | drive_facts(
            scales, motors
        )
        numbers |= friction_facts(friction)
        said = *report.notes(found, parameters, read.later), *friction_notes(friction)
        lines = (*read.lines, *said, scale, lacking)
        numbers['findings'], notes = read.lines, [each for each in lines if each]
        of_motors = {} if motors is None else motors.parameters()
        self._write = partial(
            write_arm, robot=robot, found=found, motors=of_motors, friction=friction.written
        )
        self._controller = ''
        draw = partial(report.picture, found, robot.name)
        code = int(not report.improved(found).any())
        return listings, draw, found, read.lines, notes, numbers, code

    def _from_positions(self, options: Options) -> Any:
        robot = self._robot
        known = options.positions, options.estimation
        found, lines = fitted(options.recording, robot, *known, options.reading)
        self._write = partial(write_servos, robot=robot, found=found)
        self._controller = ' controller:=servo'
        draw = partial(servo_figure, found, robot)
        numbers = servo_facts(found, robot) | {'findings': lines}
        notes = [*lines, *servo_notes(found)]
        return [servo_table(found, robot)], draw, found, lines, notes, numbers, 0


def _read(options: Options, path: str, model: RobotModel) -> Inspected:
    """Return a recording as the options have it; efforts with an unknown scale are currents."""
    efforts, drives = options.efforts, options.torque_scale
    if drives.loaded or drives.torque_reference:
        if efforts.effort_scales:
            raise ArmError('--effort-scales are known: omit --loaded and --torque-reference')
        efforts = replace(efforts, efforts='current')
    return inspected(path, model, options.reading, efforts, options.estimation.cutoff)


identify = call(
    Options, IdentifiedReport,
    'Identify the inertias, rotors and friction of an arm from a recording.', recording='',
)  # fmt: skip


main = program(Options, IdentifiedReport)
