"""A judgement as table, picture, JSON and JUnit's XML."""

import math
from itertools import cycle
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from matplotlib.figure import Figure

from arm_sim import pictures
from arm_sim.experiments.report import Listing
from arm_sim.judging.verdict import Judgement
from arm_sim.loop.measures import all_measures
from arm_sim.loop.report import write_json
from arm_sim.output_folder import whole_file

FILES = ('judgement.md', 'judgement.json', 'judgement.xml', 'judgement.png')
# Columns of the table; a judgement has no place for all measures.
_SHOWN = ('tracking_rms_mm', 'tracking_max_mm', 'peak_torque_share', 'recovery_s')
_COLUMNS = [each for each in all_measures() if each.name in _SHOWN]
_HEADINGS = ('task', 'engine', 'variant', *(each.heading for each in _COLUMNS), 'verdict')
_STYLES = ('-', '--', ':', '-.')
_SMALLEST = 1e-6  # errors below it are not shown [mm]


def listing(judgement: Judgement) -> Listing:
    """Return the table."""
    rows = []
    for each in judgement.verdicts:
        values = [(each.measures.get(one.name, math.nan), one.format) for one in _COLUMNS]
        cells = ['-' if math.isnan(value) else format(value, form) for value, form in values]
        trial = each.trial
        rows.append((trial.task, trial.engine, trial.variant, *cells, each.words))
    title = f'{judgement.command or "the controller that runs"} on {judgement.plan.robot}'
    bad = [i for i, each in enumerate(judgement.verdicts) if not each.held]
    texts = [heading for heading in _HEADINGS if heading[-1] != ']']
    return Listing(title, _HEADINGS, rows, texts=texts, bad=bad)


def as_json(judgement: Judgement) -> dict[str, Any]:
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
    for trial in judgement.plan.trials:
        names = {'classname': f'judge.{trial.task}', 'name': trial.name}
        case = ElementTree.SubElement(suite, 'testcase', names)
        each = done.get(trial.name)
        if each is None:
            ElementTree.SubElement(case, 'skipped', message='the first trial failed')
            continue
        case.set('time', f'{each.seconds:.3f}')
        if not each.held:
            kind = 'error' if each.reason else 'failure'
            ElementTree.SubElement(case, kind, message=each.words)
    return suite


def figure(judgement: Judgement) -> Figure:
    """Return the picture: error over time, a panel per task, a curve per engine and variant."""
    plan, verdicts = judgement.plan, judgement.verdicts
    tasks = list(dict.fromkeys(trial.task for trial in plan.trials))
    engines = list(dict.fromkeys(trial.engine for trial in plan.trials))
    wrong = list(dict.fromkeys(trial.variant for trial in plan.trials))
    colors = dict(zip(wrong, cycle(pictures.COLORS)))
    styles = dict(zip(engines, cycle(_STYLES)))
    rows = math.ceil(len(tasks) / 3)
    drawn = pictures.new_figure(
        2.0 + 3.6 * min(3, len(tasks)), 1.2 + 2.6 * rows, judgement.summary
    )
    for axis, task in zip(pictures.panels(drawn, len(tasks)), tasks, strict=True):
        for each in verdicts:
            t, error = each.course
            if each.trial.task != task or not len(t):
                continue
            color, label = (
                colors[each.trial.variant],
                f'{each.trial.engine}, {each.trial.variant}',
            )
            shown = np.where(error > _SMALLEST, error, np.nan)
            axis.plot(t, shown, styles[each.trial.engine], color=color, lw=1.2, label=label)
            if (most := each.trial.limits.get('tracking_max_mm')) is not None:
                axis.axhline(most, color=color, lw=0.8, ls=(0, (1, 3)), label='_limit')
        axis.set_yscale('log')
        pictures.style(axis, task, 'time [s]')
    drawn.supylabel('tracking error of the tip [mm]; dotted: limit', fontsize=pictures.TEXT)
    handles = {
        label: line
        for axis in drawn.axes
        for line, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    if handles:
        lines, labels = list(handles.values()), list(handles)
        place = 'outside lower center'
        pictures.legend(drawn, handles=lines, labels=labels, ncols=4, loc=place)
    return drawn


def write(judgement: Judgement, folder: Path) -> None:
    """Write all files."""
    text = f'{judgement.summary}\n\n{listing(judgement).markdown()}'
    with whole_file(folder / FILES[0]) as file:
        file.write(text.encode())
    write_json(folder / FILES[1], as_json(judgement))
    with whole_file(folder / FILES[2]) as file:
        ElementTree.ElementTree(junit(judgement)).write(file, 'utf-8', xml_declaration=True)
    pictures.save(figure(judgement), folder / FILES[3])
