"""`ros2 run arm_sim rehearse`: go or no go for a drive, from drawn arms behind its supervisor."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from arm_controllers.laws import law_class, law_names
from arm_controllers.parameter_values import parameter_fields, read_fields
from arm_dynamics.checks import Array, typed, unknown
from arm_dynamics.parameters import ParameterValues, parameter
from arm_lab.command_line import File, Folder, Name
from arm_lab.commands.call import call, program
from arm_lab.commands.experiment_options import ExperimentOptions
from arm_lab.experiments.executors import Jobs, Work
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.ranges import Ranges
from arm_lab.experiments.report import Listing, Report
from arm_lab.progress import progress
from arm_tools.driving.messages import MessageRanges
from arm_tools.driving.presets import PRESETS, drives_of
from arm_tools.driving.rehearsal import (
    EXACT,
    Row,
    experiment_of,
    measured_ranges,
    supervisor_of,
    table,
)
from arm_tools.driving.rehearsal import rehearse as behind_supervisor
from arm_tools.driving.supervisor_parameters import SupervisorNodeParameters, SupervisorParameters

if TYPE_CHECKING:  # it takes long to load
    from matplotlib.figure import Figure

_CHUNK = 5  # arms per job


@dataclass(frozen=True)
class Options(ExperimentOptions):
    """Rehearse a task behind the supervisor of drive.launch.py before a robot moves.

    The arms are drawn: each differs in masses, friction, delay, noise and torque from the arm that
    the law knows, and in rate and ages of its messages where ranges are given. Each limit of the
    supervisor is "go" if no arm reaches it. The exit code is 0 where all are.
    """

    law: Name = parameter('servo', f'control law, one of {", ".join(law_names())}')
    drives: str = parameter('position', 'what the drives of the robot take', one_of=(*PRESETS,))
    rate: float = parameter(
        0.0, "rate of the robot's states [Hz]; 0: that of the drives", min=0, max=1e4
    )
    workspace: Annotated[tuple[float, ...], 'X,Y,Z,X,Y,Z'] = parameter(
        (),
        'box in the base frame that the tool stays in, its least and its largest corner [m]; '
        'empty: that of the parameter file',
        length=6,
    )
    measured: File = parameter(
        '',
        'comparison.json of compare_recordings or identified.json of identify: delay, friction, '
        'payload and masses are drawn up to what it says',
    )
    samples: int = parameter(100, 'number of drawn arms', min=1, max=1_000_000)
    first: int = parameter(0, 'number of the first one', min=0)
    output_dir: Folder = parameter('rehearsal', 'folder for table, picture and JSON')
    ranges: Ranges = field(default_factory=Ranges)
    messages: MessageRanges = field(default_factory=MessageRanges)
    jobs: Jobs = field(default_factory=Jobs)


class Rehearsal(Report):
    """What drawn arms showed of every limit of a supervisor.

    Attributes:
        found: a Row per limit that the loop tries.
        go: whether no arm is beyond a limit.
        not_tried: names of the other limits.
        again: command that repeats the worst arm, by the name of each limit that is not kept.
    """

    def __init__(self, options: Options):
        """Run the arms of the options.

        Raises:
            ArmError: drives that do not take the law's commands, or what `case` refuses.
        """
        drives_of(options.drives, law_class(options.law).command_interface)
        experiment, limits = case(options)
        behind_supervisor(experiment, limits, ())  # what is refused is refused before all else
        samples = range(options.first, options.first + options.samples)
        jobs = [samples[k : k + _CHUNK] for k in range(0, len(samples), _CHUNK)]
        found = dict[int, Array]()
        run = partial(behind_supervisor, experiment, limits, messages=options.messages)
        with options.jobs.executor() as own, progress('arms', len(samples)) as advance:
            for number, answer in Work(own).results(run, jobs, {}):
                found[number] = answer
                advance(sum(map(len, found.values())))
        supervisor = supervisor_of(experiment.load(), limits)
        rows = table(supervisor, np.concatenate([found[k] for k in range(len(jobs))]), samples)
        tried = [x.name for x in rows]
        self.not_tried = [each.name for each in supervisor.checks if each.name not in tried]
        self.go = not any(row.beyond for row in rows)
        self.again = {
            row.name: replace(options, first=row.sample, samples=1).line()
            for row in rows
            if row.beyond
        }
        numbers = {
            'go': self.go, 'arms': len(samples), 'seed': options.seed,
            'ranges': asdict(experiment.ranges), 'messages': asdict(options.messages),
            'limits': [row._asdict() | {'go': not row.beyond} for row in rows],
            'not_tried': self.not_tried, 'command': options.line(),
        }  # fmt: skip
        notes = [f'{name}: {typed(line)}' for name, line in self.again.items()]
        if self.not_tried:
            notes.insert(0, f'not tried in the loop: {"; ".join(self.not_tried)}')
        notes.append('go' if self.go else 'no go')
        shown = listing(rows, experiment, options.drives, options.messages, len(samples))
        plain = [row._asdict() for row in rows]
        draw = partial(_figure, rows, shown.title)
        super().__init__('rehearsal', [shown], plain, draw, found=rows, notes=notes)
        self.numbers, self.code = numbers, int(not self.go)


def _figure(rows: Sequence[Row], title: str) -> 'Figure':
    """Draw the worst value of each limit as a share of it."""
    from arm_sim.pictures import BLUE, ORANGE, new_figure, style

    figure = new_figure(9.0, 1.4 + 0.3 * len(rows), title.partition(': ')[0])
    axis, names = figure.subplots(), [row.name for row in rows]
    shares = [100.0 * row.value / row.limit if row.limit else 0.0 for row in rows]
    axis.barh(names, shares, color=[ORANGE if row.beyond else BLUE for row in rows])
    axis.axvline(100.0, color=ORANGE, lw=1.0)
    axis.invert_yaxis()
    style(axis, '', 'worst arm [% of the limit]', grid='x')
    return figure


rehearse = call(
    Options, Rehearsal, 'Rehearse a task behind the supervisor of a drive on drawn arms.',
    robot='ur5e',
)  # fmt: skip


main = program(Options, Rehearsal)


def case(options: Options) -> tuple[Experiment, SupervisorParameters]:
    """Return the arms, and the limits of the supervisor, of the options.

    Raises:
        ArmError: a file that does not hold what it should.
    """
    preset = drives_of(options.drives)
    experiment = experiment_of(
        options.robot, options.task, options.law, options.drives, options.config, options.rate,
        engine=options.engine, seed=options.seed, ranges=options.ranges,
    )  # fmt: skip
    robot = experiment.load().robot
    known = [each.name for each in parameter_fields(SupervisorNodeParameters)]
    for name in robot.sections.get('supervisor', {}):
        if name not in known:
            raise unknown(f'parameter of supervisor in {options.config}:', name, known)
    own: ParameterValues = {'torque_rate': (preset.torque_rate,)} if preset.torque_rate else {}
    if options.workspace:
        own['workspace'] = options.workspace
    limits = read_fields(SupervisorParameters, robot.parameters('supervisor') | own)
    if options.measured:
        ranges, period = options.ranges, experiment.timestep
        ranges = measured_ranges(ranges, options.measured, robot.model, period)
        experiment = replace(experiment, ranges=ranges)
    return experiment, limits


def listing(
    rows: Sequence[Row], experiment: Experiment, drives: str, messages: MessageRanges, arms: int
) -> Listing:
    """Return the table of the limits."""
    e, r, robot = experiment, experiment.ranges, experiment.robot_label
    title = (
        f'{robot}, {e.task}, {e.law}, drives {drives}: {arms} arms; masses +-{r.mass:.0%}, '
        f'friction up to {r.friction:.2%} of the torque limits, delay up to {r.delay} periods of '
        f'{1e3 * e.timestep:g} ms, payload up to {r.payload:g} kg'
    )
    m = messages
    if m != EXACT:
        rates = '{:g} to {:g} Hz'.format(*m.state_rate) if m.state_rate else 'the nominal rate'
        title += (
            f'; states at {rates}, {m.state_latency} s late, commands {m.command_latency} s after '
            'them'
        )
    headings = 'limit', '', 'worst', 'allowed', 'unit', 'joint', 'arm', 'at [s]', 'beyond'
    cells = [
        (
            x.name, 'no go' if x.beyond else 'go', f'{x.value:.4g}', f'{x.limit:.4g}', x.unit,
            x.joint, str(x.sample), f'{x.t:.2f}', f'{x.beyond} of {arms}',
        )
        for x in rows
    ]  # fmt: skip
    bad = [i for i, row in enumerate(rows) if row.beyond]
    return Listing(title, headings, cells, texts=('', 'unit', 'joint'), bad=bad)
