"""`ros2 run arm_sim inspect_recording RECORDING`: what a recording is, before it is believed."""

import sys
from dataclasses import MISSING, dataclass, field
from typing import Annotated

from tyro.conf import Positional

from arm_dynamics.parameters import parameter
from arm_lab.command_line import RobotOptions, command
from arm_sim.robot import Robot
from arm_tools.recording.inspection import EffortsAre, inspected
from arm_tools.recording.joint_streams import ReadAs


@dataclass(frozen=True, kw_only=True)
class Options(RobotOptions):
    """Say what a recording is: measured topic, clock, rate, signs, units, gravity.

    Each finding is one line with its evidence. The exit code is 1 where an option must say which
    of two readings is right; identify has the same options.
    """

    recording: Positional[Annotated[str, 'RECORDING']] = parameter(
        MISSING, 'path of a recording of joint states: .mcap, rosbag2 folder or a table'
    )
    units: str = parameter(
        'auto', 'unit of the recorded positions of revolute joints; auto: rad, unless they '
        'cannot be', one_of=('auto', 'rad', 'deg'),
    )  # fmt: skip
    cutoff: float = parameter(
        10.0, 'cut-off frequency of the zero-phase filters [Hz]', min=0.1, max=1000
    )
    reading: ReadAs = field(default_factory=ReadAs)
    efforts: EffortsAre = field(default_factory=EffortsAre)


@command(Options)
def main(options: Options) -> int:
    """Print the findings."""
    model = Robot.load(options.robot, options.config).model
    found = inspected(
        options.recording, model, options.reading, options.efforts, options.units, options.cutoff
    )
    print('\n'.join(found.lines))
    for line in found.open:
        print(f'to decide: {line}', file=sys.stderr)
    return 1 if found.open else 0
