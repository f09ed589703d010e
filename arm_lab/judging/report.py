"""A judgement as table, picture, JSON and JUnit's XML."""

import math
import textwrap
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from arm_lab.experiments.report import Listing
from arm_lab.judging.verdict import Judgement
from arm_sim import pictures
from arm_sim.loop.measures import all_measures
from arm_sim.loop.report import write_json
from arm_sim.output_folder import whole_file
from arm_sim.pictures import Look

FILES = ('judgement.md', 'judgement.json', 'judgement.xml', 'judgement.png')
# Columns of the table; a judgement has no place for all measures.
_SHOWN = ('tracking_rms_mm', 'tracking_max_mm', 'force_rms_n', 'peak_torque_share', 'recovery_s')
_STYLES = ('-', '--', ':', '-.')
_SMALLEST = 1e-3  # errors below it are not shown [mm]


def listing(judgement: Judgement) -> Listing:
    """Return the table; with what has a limit; a measure that no trial has is left out."""
    had = {
        name
        for each in judgement.verdicts
        for name, value in each.measures.items()
        if not math.isnan(value)
    }
    limited = {name for trial in judgement.plan.trials for name in trial.limits}
    columns = [one for one in all_measures() if one.name in had & {*_SHOWN, *limited}]
    of_numbers = [each.heading or each.name for each in columns]
    headings = ('task', 'engine', 'variant', *of_numbers, 'verdict')
    rows = []
    for each in judgement.verdicts:
        values = [(each.measures.get(one.name, math.nan), one.format) for one in columns]
        cells = ['-' if math.isnan(value) else format(value, form) for value, form in values]
        trial = each.trial
        rows.append((trial.task, trial.engine, trial.variant, *cells, each.words))
    bad = [i for i, each in enumerate(judgement.verdicts) if not each.held]
    texts = [heading for heading in headings if heading not in of_numbers]
    return Listing(_title(judgement), headings, rows, texts=texts, bad=bad)


def _title(judgement: Judgement) -> str:
    return f'{judgement.command or "the controller that runs"} on {judgement.plan.robot}'


def as_json(judgement: Judgement) -> dict[str, object]:
    """Return all numbers."""
    return {
        'controller': judgement.command,
        'robot': judgement.plan.robot,
        'limits_file': judgement.plan.file,
        'held': judgement.held,
        'checksum': judgement.checksum,
        'trials': [
            {
                'task': each.trial.task,
                'engine': each.trial.engine,
                'variant': each.trial.variant,
                'held': each.held,
                'reason': each.reason,
                'measures': dict(each.measures),
                'limits': [check._asdict() | {'held': check.held} for check in each.checks],
                'checksum': each.checksum,
                'seconds': each.seconds,
            }
            for each in judgement.verdicts
        ],
    }


def junit(judgement: Judgement) -> ElementTree.Element:
    """Return the test suite that continuous integrations show: a test case for each trial.

    A limit that does not hold is a failure, a trial that did not come to its end an error; one
    that was not run is skipped.
    """
    done = {each.trial.name: each for each in judgement.verdicts}
    counts = {
        'tests': len(judgement.plan.trials),
        'failures': sum(bool(each.broken) for each in judgement.verdicts),
        'errors': sum(bool(each.reason) for each in judgement.verdicts),
        'skipped': len(judgement.plan.trials) - len(done),
    }
    time = sum(each.seconds for each in judgement.verdicts)
    attributes = {name: str(value) for name, value in counts.items()}
    suite = ElementTree.Element('testsuite', attributes | {'name': 'judge', 'time': f'{time:.3f}'})
    why = 'stopped' if judgement.stopped else 'the first trial failed'
    for trial in judgement.plan.trials:
        names = {'classname': f'judge.{trial.task}', 'name': trial.name}
        case = ElementTree.SubElement(suite, 'testcase', names)
        each = done.get(trial.name)
        if each is None:
            ElementTree.SubElement(case, 'skipped', message=why)
            continue
        case.set('time', f'{each.seconds:.3f}')
        if not each.held:
            kind = 'error' if each.reason else 'failure'
            ElementTree.SubElement(case, kind, message=each.words)
    return suite


def figure(judgement: Judgement) -> Figure:
    """Return the picture: error over time, a panel per task, a curve per engine and variant.

    Later engines are thinner, so that equal curves are seen through each other. A task of which
    no trial came to its end has no panel; without any the reason is in place of the panels.
    """
    plan, verdicts = judgement.plan, judgement.verdicts
    tasks = list(dict.fromkeys(each.trial.task for each in verdicts if each.course.size))
    engines = list(dict.fromkeys(trial.engine for trial in plan.trials))
    wrong = list(dict.fromkeys(trial.variant for trial in plan.trials))
    rows = math.ceil(len(tasks) / 3)
    held = f'{_title(judgement)}\n{judgement.summary.partition(";")[0]}'
    if not tasks:
        drawn = pictures.new_figure(9.2, 1.8, held)
        why = textwrap.fill(verdicts[0].reason if verdicts else 'no trial was run', 100)
        drawn.text(0.5, 0.4, why, ha='center', va='center', fontsize=pictures.TEXT)
        return drawn
    drawn = pictures.new_figure(2.0 + 3.6 * min(3, len(tasks)), 1.2 + 2.6 * rows, held)
    for axis, task in zip(pictures.panels(drawn, len(tasks)), tasks, strict=True):
        for each in verdicts:
            t, error = each.course
            if each.trial.task != task or not len(t):
                continue
            color = pictures.look(wrong.index(each.trial.variant))['color']
            shown = np.where(error > _SMALLEST, error, np.nan)
            axis.plot(t, shown, color=color, **_line(engines, each.trial.engine))
        limits: dict[float, list[str]] = {}
        for trial in plan.trials:
            if trial.task == task and (most := trial.limits.get('tracking_max_mm')) is not None:
                names = limits.setdefault(most, [])
                names += [trial.variant] if trial.variant not in names else []
        for most, names in limits.items():
            color = (
                pictures.look(wrong.index(names[0]))['color'] if limits.keys() - {most} else '0.3'
            )
            axis.axhline(most, color=color, lw=1.0, ls=':')
            axis.text(
                1.0, most, f'limit of {", ".join(names)}', ha='right', va='bottom', color=color,
                fontsize=pictures.SMALL, transform=axis.get_yaxis_transform(),
            )  # fmt: skip
        axis.set_yscale('log')
        axis.margins(y=0.12)
        pictures.plain_numbers(axis.yaxis)
        pictures.style(axis, task, 'time [s]')
    drawn.supylabel('tracking error of the tip [mm]', fontsize=pictures.TEXT)
    lines = [Line2D([], [], lw=2.0, label=x, **pictures.look(k)) for k, x in enumerate(wrong)]
    lines += [
        Line2D([], [], color='0.45', label=engine, **_line(engines, engine))
        for engine in engines
        if len(engines) > 1
    ]
    pictures.legend(drawn, handles=lines, ncols=6, loc='outside lower center')
    return drawn


def _line(engines: list[str], engine: str) -> Look:
    """Return width, dashes and opacity of the curves of an engine, the first of several wide."""
    k = engines.index(engine)
    is_wide = k == 0 and len(engines) > 1
    width = 4.0 if is_wide else 1.4 if k < 2 else 1.0
    return {'lw': width, 'ls': _STYLES[k % len(_STYLES)], 'alpha': 0.4 if is_wide else 1.0}


def write(judgement: Judgement, folder: Path) -> None:
    """Write all files."""
    text = f'{judgement.summary}\n\n{listing(judgement).markdown()}'
    with whole_file(folder / FILES[0]) as file:
        file.write(text.encode())
    write_json(folder / FILES[1], as_json(judgement))
    with whole_file(folder / FILES[2]) as file:
        ElementTree.ElementTree(junit(judgement)).write(file, 'utf-8', xml_declaration=True)
    pictures.save(figure(judgement), folder / FILES[3])
