"""What the inference latency of a policy costs.

./ws python examples/slow_policy.py
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product

from late_chunks import ChunkParameters, run_slowly
from matplotlib.figure import Figure

from arm_controllers.latency import latency_of
from arm_controllers.laws import law_names
from arm_dynamics.parameters import like, parameter
from arm_lab.command_line import Folder, Name, Names, RobotOptions
from arm_lab.commands.call import program
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.report import Listing, Report
from arm_lab.progress import progress
from arm_sim import pictures
from arm_sim.loop.measures import Tracking
from arm_sim.tasks import task_names

_STARTS = 'on arrival', 'at the observation'  # of a chunk


@dataclass(frozen=True)
class Options(RobotOptions):
    """Run a task whose motion arrives in chunks of positions, late, as a learned policy sends it.

    The policy itself makes no error, so that the tables show the cost of the latency alone. Each
    latency is run with chunks that start on arrival, and with chunks that have the stamp of their
    observation.
    """

    task: Name = parameter('sinusoid', f'task, one of {", ".join(task_names())}')
    law: Name = parameter(
        'computed_torque', f'control law, one of {", ".join(law_names())}, or policy:FILE.onnx'
    )
    latency: Names = parameter(
        ('0', '0.02', '0.05', '0.1', '0.2', '0.3', '0.4', '0.5'),
        'latencies, separated by commas: 0.1 [s], 0.05..0.2 (drawn), or a file with one per line',
    )
    frequency: float = like(Experiment, 'frequency', 0.25)
    seed: int = parameter(0, 'seed of drawn latencies', min=0)
    output_dir: Folder = parameter('slow_policy', 'folder for table, JSON and picture')
    chunks: ChunkParameters = field(default_factory=ChunkParameters)


def swept(options: Options) -> Report:
    """Return the report of the latencies."""
    latencies = [latency_of(text) for text in options.latency]
    case = Experiment(
        options.robot, options.task, options.law, config=options.config, seed=options.seed,
        frequency=options.frequency,
    )  # fmt: skip
    loaded = case.load()
    rows: list[dict[str, object]] = []
    courses: dict[tuple[str, str], Tracking] = {}
    runs = list(product(zip(options.latency, latencies, strict=True), _STARTS))
    with progress('runs', len(runs)) as advance:
        for number, ((text, latency), start) in enumerate(runs):
            run = run_slowly(loaded, options.chunks, latency, start == _STARTS[1])
            tracking = loaded.track(run.record)
            measures = loaded.task.report.measure(run.record, tracking)
            rows.append({
                'latency': text, 'start': start, 'rms_mm': measures.tracking_rms_mm,
                'max_mm': measures.tracking_max_mm, 'torque_share': measures.peak_torque_share,
                'velocity_step': run.largest_step, 'chunks': run.chunks, 'refused': run.refused,
                'checksum': run.record.checksum(),
            })  # fmt: skip
            courses[text, start] = tracking
            advance(number + 1)
    title = f'{case.robot}, {case.task}, {case.law}: chunks of {options.chunks.chunk} actions'
    headings = (
        'latency [s]', 'chunk starts', 'RMS [mm]', 'max [mm]', 'torque',
        'velocity step [rad/s]', 'chunks', 'refused', 'SHA-256',
    )  # fmt: skip
    texts = [
        [
            str(row['latency']), str(row['start']), f'{row["rms_mm"]:.3g}',
            f'{row["max_mm"]:.3g}', f'{row["torque_share"]:.0%}', f'{row["velocity_step"]:.2g}',
            str(row['chunks']), str(row['refused']), str(row['checksum'])[:8],
        ]
        for row in rows
    ]  # fmt: skip
    listing = Listing(title, headings, texts, texts=('chunk starts',))
    draw = partial(_figure, rows, options.latency, title)
    return Report('slow_policy', [listing], rows, draw)


main = program(Options, swept)


def _figure(rows: Sequence[dict[str, object]], names: Sequence[str], title: str) -> Figure:
    """Return the picture: error over latency, a curve per start of the chunks."""
    figure = pictures.new_figure(6.4, 3.4, title)
    (axis,) = pictures.panels(figure, 1)
    places = range(len(names))
    for start, colour in zip(_STARTS, (pictures.ORANGE, pictures.BLUE), strict=True):
        errors = [float(str(row['rms_mm'])) for row in rows if row['start'] == start]
        axis.plot(places, errors, 'o-', color=colour, label=f'chunk starts {start}')
    axis.set_xticks(places, [name.rpartition('/')[2] for name in names])
    axis.set_xlabel('latency of the inference [s]')
    axis.set_ylabel('error of the tip, RMS [mm]')
    axis.set_yscale('log')
    pictures.plain_numbers(axis.yaxis)
    axis.legend(frameon=False)
    return figure


if __name__ == '__main__':
    sys.exit(main())
