"""What comes of a task's run: table, report, pictures; by the run, or from its recording."""

import signal
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from arm_sim.loop.record import RECORD
from arm_sim.loop.report import Check, ReportTree, all_held, print_report, title_of, write_json
from arm_sim.parent_process import end_with_parent
from arm_sim.simulation.pacing import TOO_SLOW_HELP


def outcome(task: Any, run: Any) -> tuple[dict[str, Any], Sequence[Check]]:
    """Return a run's report with its limits, and the limits."""
    report = task.report.numbers(run)
    checks = task.report.checks(report)
    report['limits'] = [check._asdict() | {'held': check.held} for check in checks]
    report['limits_held'] = all_held(checks)
    return report, checks


def print_outcome(task: Any, report: ReportTree, checks: Sequence[Check]) -> None:
    """Print the table of a run, and whether its limits held."""
    rate = slow = ''
    if 'cycles_per_second' in report:  # a run over topics
        rate = f'{report["steps"]} cycles at {report["cycles_per_second"]:.0f} per second'
    if report['mode'] == 'realtime':
        late, skipped = report['late_ticks'], report['skipped_periods']
        rate += f', {late} late ticks, {skipped} skipped periods'
        if skipped and all_held(checks) is False:
            slow = f'the machine was too slow for real time: {TOO_SLOW_HELP}'
    repeated = report.get('passes_mm', ())
    passes = ', '.join(f'{each["rms"]:.3g}' for each in repeated)
    many = len(repeated) > 1
    learnt = (f'tracking error by pass [mm RMS]: {passes}',) * many
    notes = (
        *learnt,
        *filter(None, (rate, slow)),
        f'SHA-256 of the joint data: {report["checksum"][:16]}...',
    )
    notes = (*(f'fault: {each}' for each in report.get('faults', ())), *notes)
    title = f'{report["task"]}: {title_of(report)}, {report["duration_s"]:g} s'
    print_report(title, task.report.columns, task.report.rows(report), notes, checks)


def picture_process() -> ProcessPoolExecutor:
    """Return a process for `load_pictures` and `draw_pictures`, forked before this call returns.

    In the process of a task, the import of matplotlib would hold up the control loop. The caller
    has no threads yet, and no connection to other nodes.
    """
    process = ProcessPoolExecutor(1, get_context('fork'), _start_of_process)
    process.submit(int)
    return process


def _start_of_process() -> None:
    """End with the task; leave Ctrl-C to the task."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def load_pictures() -> None:
    """Import what draws pictures, which takes as long as a second: better during a run."""
    from arm_sim import pictures
    from arm_sim.loop import picture

    assert picture
    pictures.warm_up()


def draw_pictures(
    folder: Path, kind: Any, robot: object, parameters: object, run: Any, report: ReportTree
) -> None:
    """Write the pictures of a run into a folder: of the task `kind` with its robot, parameters."""
    # Plots bring libraries that would hold up the start of an arm.
    from arm_sim.loop.picture import PASSES, passes_figure
    from arm_sim.pictures import save

    drawing = kind(robot, parameters).report
    save(drawing.draw(run, report), folder / drawing.picture_name)
    if len(report['passes_mm']) > 1:
        drawn = passes_figure(report['task'], {title_of(report): report['passes_mm']})
        save(drawn, folder / PASSES)


def write_outcome(folder: Path, task: Any, run: Any, report: ReportTree) -> list[str]:
    """Write report and record; return the names of all files, the picture's among them."""
    write_json(folder / 'report.json', report)
    run.record.save(folder / RECORD)
    return ['report.json', task.report.picture_name, RECORD]
