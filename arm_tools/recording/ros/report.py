"""`ros2 run arm_sim report FILE...`: from recordings the report that their run made."""

import json
import sys
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional

from arm_controllers.parameter_values import read_fields
from arm_dynamics.parameters import ParameterValues, parameter
from arm_lab.command_line import CommandOptions, Folder, command
from arm_sim.loop.goals import goal_reference
from arm_sim.loop.measures import track
from arm_sim.loop.outcome import draw_pictures, outcome, print_outcome, write_outcome
from arm_sim.loop.report import plain, print_report, title_of
from arm_sim.output_folder import writable_folder
from arm_sim.robot import Robot
from arm_sim.ros.prediction import KnownNodes
from arm_sim.ros.task_node import asked
from arm_sim.ros.task_parameters import TaskNodeParameters
from arm_sim.tasks import Run, Task, task_class
from arm_tools.readers.findings import print_doubts
from arm_tools.readers.read_options import ReadRun
from arm_tools.recording.ros.recorded_run import RecordedRun

# Of a comparison: heading, key and part of the report.
_COLUMNS = (
    ('RMS [mm]', 'tracking_error_mm', 'rms'),
    ('max [mm]', 'tracking_error_mm', 'max'),
    ('torque', 'peak_torque_share', ''),
    ('energy [J]', 'energy_j', ''),
    ('chatter [N.m]', 'chatter_nm', ''),
)


def recorded_task(recording: RecordedRun) -> tuple[Task, Run]:
    """Return a recording's task, and its run as the task had it.

    Raises:
        ArmError: it is no task's, or lacks something.
    """
    of_task = recording.of_task()
    values, facts = recording.parameters_of(of_task['node']), of_task['facts']
    p = read_fields(TaskNodeParameters, values)
    kind, model = task_class(facts['task']), p.model()
    states = recording.joint_states(model.joint_names)
    q, v = states.q[0], states.v[0]
    task = kind(Robot(p.robot, model, q), read_fields(kind.Parameters, values))
    expected = None
    if task.report.asks_prediction:
        nodes = KnownNodes(p.law, lambda name, names: recording.parameters_of(name))
        expected = nodes.predicted(task)
    goal, _ = asked(task, p, q)
    follow = goal_reference(goal, model, q, v)
    record = states.record(follow, of_task['start_ns'], of_task['end_ns'], p.period_ns)
    return task, Run(record, track(model, record, error=p.geometry), facts, expected)


def compare(names: Sequence[str], reports: Sequence[ParameterValues]) -> None:
    """Print several reports side by side."""
    rows = []
    for name, report in zip(names, reports, strict=True):
        numbers = [report[key][part] if part else report[key] for _, key, part in _COLUMNS]
        held = {True: 'held', False: 'BROKEN', None: '-'}[report['limits_held']]
        rows.append((name, *(f'{x:.3g}' for x in numbers), held, report['checksum'][:8]))
    columns = ('', *(heading for heading, _, _ in _COLUMNS), 'limits', 'SHA-256')
    titles = [
        f'{name}: {report["task"]}, {title_of(report)}'
        for name, report in zip(names, reports, strict=True)
    ]
    print_report(f'{len(names)} recordings', columns, rows, titles, ())


def short_names(files: Sequence[str]) -> list[str]:
    """Return a name for each file, from the end of its path, that no other one has."""
    parts = [Path(file).expanduser().absolute().parts for file in files]
    for count in range(1, max(map(len, parts)) + 1):
        names = ['/'.join(each[-count:]) for each in parts]
        if len(set(names)) == len(names):
            return names
    return [f'{name} ({k + 1})' for k, name in enumerate(names)]


_OBJECTS = (
    'a recording has its objects 50 times a second, not in every period, so that this report says '
    'nothing of them, and its checksum is another one'
)


@dataclass(frozen=True)
class Options(CommandOptions):
    """Make the reports of recorded task runs again, and compare several recordings.

    The exit code is 1 where a limit was broken.
    """

    files: Positional[Annotated[tuple[str, ...], 'FILE ...']] = parameter(
        MISSING, 'paths of MCAP files, or of folders with one'
    )
    output_dir: Folder = parameter('', 'folder for report, record and picture; empty: no files')
    json: bool = parameter(False, 'print JSON instead of tables')
    reading: ReadRun = field(default_factory=ReadRun)


@command(Options)
def main(options: Options) -> int:
    """Run the command; 1 where a limit was broken."""
    names, reports = short_names(options.files), []
    for name, file in zip(names, options.files, strict=True):
        recording = RecordedRun.load(file, options.reading)
        print_doubts(recording.findings, name)
        task, run = recorded_task(recording)
        if recording.objects:
            print(f'{name}: {_OBJECTS}', file=sys.stderr)
        report, checks = outcome(task, run)
        reports.append(report)
        if not options.json:
            print_outcome(task, report, checks)
        if options.output_dir:
            many = name.replace('/', '_').removesuffix('.mcap') if len(names) > 1 else ''
            folder = writable_folder(str(Path(options.output_dir, many)))
            written = write_outcome(folder, task, run, report)
            draw_pictures(folder, type(task), task.robot, task.parameters, run, report)
            if not options.json:
                print(f'report: {", ".join(written)} are in {folder}')
    if options.json:
        print(json.dumps(plain(reports if len(reports) > 1 else reports[0]), indent=2))
    elif len(reports) > 1:
        compare(names, reports)
    return 1 if any(report['limits_held'] is False for report in reports) else 0
