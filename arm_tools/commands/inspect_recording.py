"""`ros2 run arm_sim inspect_recording RECORDING`: what a recording is, before it is believed."""

import sys
from dataclasses import MISSING, dataclass, field
from typing import Annotated

from matplotlib.figure import Figure
from tyro.conf import Positional

from arm_dynamics.checks import units
from arm_dynamics.parameters import parameter
from arm_lab.command_line import RobotOptions, command
from arm_lab.commands.call import call
from arm_lab.experiments.report import Listing, Report
from arm_lab.experiments.robot_files import load_robot
from arm_lab.progress import status
from arm_sim.pictures import BLUE, new_figure, panels
from arm_tools.inspection.inspected import Inspected, inspected
from arm_tools.inspection.known_efforts import EffortsAre
from arm_tools.readers.read_options import ReadAs


@dataclass(frozen=True, kw_only=True)
class Options(RobotOptions):
    """Say what a recording is: measured topic, clock, rate, signs, units, gravity.

    Each finding is one line with its evidence. The exit code is 1 where an option must say which
    of two readings is right; identify has the same options.
    """

    recording: Positional[Annotated[str, 'RECORDING']] = parameter(
        MISSING, 'path of a recording of joint states: .mcap, rosbag2 folder or a table'
    )
    cutoff: float = parameter(
        10.0, 'cut-off frequency of the zero-phase filters [Hz]', min=0.1, max=1000
    )
    reading: ReadAs = field(default_factory=ReadAs)
    efforts: EffortsAre = field(default_factory=EffortsAre)


class RecordingReport(Report):
    """What a recording is.

    Attributes:
        found: the recording as it is read, with what an option must decide first.
    """

    found: Inspected

    def __init__(self, options: Options):
        """Read the recording of the options.

        Raises:
            ArmError: it cannot be read, or not in one way.
        """
        self._model = load_robot(options.robot, options.config).model
        how = options.reading, options.efforts, options.cutoff
        with status('reading the recording'):
            found = inspected(options.recording, self._model, *how)
        found.lines.insert(0, f'compared with: {options.robot} (--robot names another arm)')
        lines = [*found.lines, *(f'to decide: {line}' for line in found.open)]
        pairs = [(line.partition(': ')[0], line.partition(': ')[2]) for line in lines]
        listing = Listing(options.recording, ('finding', 'evidence'), pairs, texts=('evidence',))
        rows = [{'finding': name, 'evidence': text} for name, text in pairs]
        code = 1 if found.open else 0
        super().__init__('recording', [listing], rows, self._draw, found=found, code=code)

    def _draw(self) -> Figure:
        samples = self.found.samples
        of = units('N.m | N', self._model.prismatic)
        figure = new_figure(9.0, 5.0, f'efforts as they are read [{of}] over time [s]')
        for i, axis in enumerate(panels(figure, self._model.nv)):
            axis.plot(samples.times - samples.times[0], samples.effort[:, i], BLUE, lw=0.8)
            axis.set_title(self._model.joint_names[i])
        return figure


inspect_recording = call(
    Options, RecordingReport, 'Say what a recording is, before it is believed.',
    recording='', robot='ur5e',
)  # fmt: skip


@command(Options)
def main(options: Options) -> int:
    """Print the findings."""
    report = RecordingReport(options)
    print('\n'.join(report.found.lines))
    for line in report.found.open:
        print(f'to decide: {line}', file=sys.stderr)
    return report.code
