"""Pictures of comparisons: laws by task, one law over time, sweeps, Monte Carlo."""

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from arm_dynamics.checks import Array
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.labels import labels_of
from arm_lab.experiments.spreads import Spread
from arm_lab.experiments.sweeps import SWEEPS, Sweep
from arm_sim import pictures
from arm_sim.loop.measures import Measures, heading_of
from arm_sim.pictures import Look
from arm_sim.tasks import task_class

_RMS = {
    'tracking_rms_mm': 'tracking error of the tip, RMS [mm]',
    'force_rms_n': 'error of the force, RMS [N]',
}
_SMALLEST = 1e-6  # errors below it are not shown [mm]
_ROUNDING = 1e-9  # errors below it are not distinguished [mm]
_MARKS = 'os^Dv'  # of model errors


def comparison_figure(
    cases: Sequence[Experiment], measures: Sequence[Measures], errors: Sequence[str]
) -> Figure:
    """Return the picture: a panel per task and robot, a row and a colour per law; best in bold.

    `errors` name the model error of each case; each has a mark of its own.
    """
    runs = {
        (case.robot, case.task, case.law, case.engine, error): max(
            found[task_class(case.task).evaluation.ranked_by], _ROUNDING
        )
        for case, found, error in zip(cases, measures, errors, strict=True)
        if found.completed
    }
    labels, groups = labels_of(cases), list(dict.fromkeys((x.robot, x.task) for x in cases))
    laws = list(dict.fromkeys(case.law for case in cases))
    engines = list(dict.fromkeys(case.engine for case in cases))
    first, *others = dict.fromkeys(errors)
    rows = math.ceil(len(groups) / 3)
    size = 2.1 + 3.3 * min(3, len(groups)), 0.9 + (0.24 * len(laws) * len(engines) + 1.0) * rows
    figure = pictures.new_figure(*size, title='the laws by task; the smallest error is bold')
    for axis, group in zip(pictures.panels(figure, len(groups), sharey=True), groups, strict=True):
        found = [x for key, x in runs.items() if key[:2] == group and not math.isnan(x)] or [1.0]
        axis.set_xscale('log')
        axis.set_xlim(min(found) / 2.0, max(found) * (max(found) / min(found)) ** 0.3 * 2.0)
        pictures.plain_numbers(axis.xaxis)
        if max(found) > 1e6 * min(found):
            axis.xaxis.set_major_locator(LogLocator(numticks=6))
        lines = [(law, engine) for law in laws for engine in engines]
        best = min([x for key, x in runs.items() if key[:2] == group and key[4] == first] or [1.0])
        for place, (law, engine) in enumerate(lines):
            value = runs.get((*group, law, engine, first), math.nan)
            color = pictures.look(laws.index(law))['color']
            values = [value]
            for mark, error in zip(_MARKS[1:], others, strict=False):
                other = runs.get((*group, law, engine, error), math.nan)
                axis.plot(other, place, mark, color=color, ms=6, mfc='none')
                values.append(other)
            if math.isnan(value):
                axis.text(min(found), place, 'unstable', va='center', color=pictures.ORANGE)
                continue
            axis.plot([axis.get_xlim()[0], value], [place, place], color='0.88', lw=1.2)
            axis.plot(value, place, _MARKS[0], color=color, ms=6)
            text = ' / '.join(f'{x:.3g}' if x > _ROUNDING else 'rounding' for x in values)
            axis.annotate(
                text, (np.nanmax(values), place), (6, 0), textcoords='offset points', va='center',
                color='0.2', fontsize=pictures.SMALL,
                fontweight='bold' if value == best else 'normal',
            )  # fmt: skip
        several = len(engines) > 1
        axis.set_yticks(range(len(lines)), [f'{law}, {e}' if several else law for law, e in lines])
        x = title_of(task_class(group[1]).evaluation.ranked_by)
        pictures.style(axis, f'{labels[group[0]]}: {group[1]}', x, grid='')
    if others:
        for mark, error in zip(_MARKS, (first, *others), strict=False):
            filled = '0.4' if error == first else 'none'
            figure.axes[0].plot([], [], mark, color='0.4', mfc=filled, ms=6, label=error)
        figure.legend(loc='outside lower center', ncols=len(_MARKS), frameon=False)
    figure.axes[0].invert_yaxis()
    return figure


def title_of(measure: str) -> str:
    """Return the title of a measure, with its unit."""
    return _RMS.get(measure) or heading_of(measure)


def law_figure(law: str, cases: Sequence[Experiment], courses: Sequence[Array]) -> Figure:
    """Return the picture of one law: its error over time and that of the others, by task."""
    labels, groups = labels_of(cases), list(dict.fromkeys((x.robot, x.task) for x in cases))
    laws = list(dict.fromkeys(case.law for case in cases))
    rows = math.ceil(len(groups) / 3)
    figure = pictures.new_figure(
        1.0 + 3.6 * min(3, len(groups)), 1.4 + 2.4 * rows, f'{law} (thick) and the other laws'
    )
    for axis, group in zip(pictures.panels(figure, len(groups)), groups, strict=True):
        for case, (t, error) in zip(cases, courses, strict=True):
            if (case.robot, case.task) != group or not len(t):
                continue
            own = case.law == law
            axis.plot(
                t, np.where(error > _SMALLEST, error, np.nan), zorder=3 if own else 2,
                lw=3.0 if own else 1.0, **_look(case.law, law, laws),
            )  # fmt: skip
        axis.set_yscale('log')
        pictures.plain_numbers(axis.yaxis)
        pictures.style(axis, f'{labels[group[0]]}: {group[1]}', 'time [s]')
    figure.supylabel('tracking error of the tip [mm]', fontsize=pictures.TEXT)
    lines = [
        Line2D([], [], lw=3.0 if each == law else 1.5, label=each, **_look(each, law, laws))
        for each in laws
    ]
    pictures.legend(figure, handles=lines, loc='outside lower center', ncols=6)
    return figure


def _look(law: str, own: str, laws: Sequence[str]) -> Look:
    """Return colour and line style of a law in the picture of `own`, whose line is whole."""
    look = pictures.look(laws.index(law))
    return look | {'ls': '-'} if law == own else look


def sweep_figure(sweep: Sweep, title: str) -> Figure:
    """Return the picture of a sweep: a curve per law."""
    figure = pictures.new_figure(9.5, 5.0, title)
    (axis,) = pictures.panels(figure, 1)
    for i, (law, values) in enumerate(zip(sweep.laws, sweep.errors, strict=True)):
        if np.isfinite(values).any():
            axis.plot(
                sweep.values, values, marker='o', ms=4, lw=1.4, label=law, **pictures.look(i)
            )
    axis.set_yscale('log')
    if sweep.parameter == 'frequency':
        axis.set_xscale('log')
        pictures.plain_numbers(axis.xaxis)
    pictures.plain_numbers(axis.yaxis)
    pictures.style(axis, '', SWEEPS[sweep.parameter][1], title_of(sweep.measure))
    pictures.name_ends(axis)
    return figure


def monte_carlo_figure(spreads: Sequence[Spread], title: str) -> Figure:
    """Return the picture of random arms: where each law's errors lie, the best law on top."""
    figure = pictures.new_figure(9.5, 1.3 + 0.33 * len(spreads), title)
    (axis,) = pictures.panels(figure, 1)
    name = title_of(spreads[0].measure)
    ordered = sorted(spreads, key=lambda spread: spread.median, reverse=True)
    for place, spread in enumerate(ordered):
        color = pictures.BLUE if place == len(ordered) - 1 else '0.4'
        if shown := spread.percentiles():
            low, five, median, most, high = shown
            axis.plot([low, high], [place, place], color=color, lw=1.2)
            axis.plot(
                [five, most], [place, place], color=color, lw=7, alpha=0.45,
                solid_capstyle='butt',
            )  # fmt: skip
            axis.plot(median, place, 'o', color=color, ms=6)
            axis.annotate(
                f'{median:.3g}', (high, place), (6, 0), textcoords='offset points', va='center',
                color=color, fontsize=pictures.SMALL,
            )  # fmt: skip
        if spread.unstable:
            axis.text(
                1.01, place, f'{spread.unstable} of {spread.samples} unstable', va='center',
                fontsize=pictures.SMALL, color=pictures.ORANGE,
                transform=axis.get_yaxis_transform(),
            )  # fmt: skip
    axis.set_yticks(range(len(ordered)), [spread.law for spread in ordered])
    axis.set_ylim(-0.6, len(ordered) - 0.4)  # bars clear of the edges
    axis.set_xscale('log')
    pictures.plain_numbers(axis.xaxis)
    pictures.style(axis, '', f'{name}: median (dot), 5 to 95 % (bar), all (line)', grid='x')
    return figure
