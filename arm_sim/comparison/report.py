"""Tables and pictures of comparisons."""

import math
from collections.abc import Sequence
from dataclasses import asdict

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from rich.markup import escape
from rich.table import Table

from arm_dynamics.model import Array
from arm_sim.comparison.cases import Case
from arm_sim.comparison.monte_carlo import Spread
from arm_sim.comparison.sweeps import SWEEPS, Sweep
from arm_sim.runs.measures import Measures

# Heading, field of Measures, format.
COLUMNS = (
    ('RMS [mm]', 'tracking_rms_mm', '.4g'),
    ('max [mm]', 'tracking_max_mm', '.4g'),
    ('peak [N.m]', 'peak_torque_nm', '.4g'),
    ('of limit', 'peak_torque_share', '.0%'),
    ('energy [J]', 'energy_j', '.4g'),
    ('chatter [N.m]', 'chatter_nm', '.3g'),
    ('recovery [s]', 'recovery_s', '.3g'),
)


def cells(measures: Measures) -> list[str]:
    """Return a row's numbers as text; 'unstable' where there are none."""
    if not measures.completed:
        return ['unstable'] + [''] * (len(COLUMNS) - 1)
    values = [(getattr(measures, field), style) for _, field, style in COLUMNS]
    return ['-' if math.isnan(value) else format(value, style) for value, style in values]


def terminal_table(title: str, cases: Sequence[Case], measures: Sequence[Measures]) -> Table:
    """Return a table for the terminal: one row a law, the best RMS in bold."""
    table = Table(title=title, title_justify='left')
    table.add_column('law')
    for heading, *_ in COLUMNS:
        table.add_column(escape(heading), justify='right')
    best = min((m.tracking_rms_mm for m in measures if m.completed), default=math.nan)
    for case, row in zip(cases, measures, strict=True):
        style = 'bold' if row.completed and row.tracking_rms_mm == best else None
        table.add_row(case.law, *cells(row), style=style)
    return table


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, the first column to the left, numbers to the right."""
    lines = [
        '| ' + ' | '.join(headings) + ' |',
        '| --- |' + ' ---: |' * (len(headings) - 1),
        *('| ' + ' | '.join(row) + ' |' for row in rows),
    ]
    return '\n'.join(lines) + '\n'


def groups(cases: Sequence[Case]) -> dict[str, list[int]]:
    """Return the cases' indices by robot, task and engine."""
    found: dict[str, list[int]] = {}
    for i, case in enumerate(cases):
        found.setdefault(f'{case.robot}, {case.task}, {case.engine}', []).append(i)
    return found


def comparison_markdown(cases: Sequence[Case], measures: Sequence[Measures], command: str) -> str:
    """Return the whole comparison as Markdown, with the command that makes it."""
    parts = [f'Made by `{command}`.\n']
    headings = ['law', *(heading for heading, *_ in COLUMNS)]
    for title, indices in groups(cases).items():
        rows = [[cases[i].law, *cells(measures[i])] for i in indices]
        parts.append(f'### {title}\n\n' + markdown_table(headings, rows))
    return '\n'.join(parts)


def comparison_rows(cases: Sequence[Case], measures: Sequence[Measures]) -> list[dict]:
    """Return one flat dictionary a case: what was run, and its measures."""
    names = ('robot', 'task', 'engine', 'law', 'timestep', 'natural_frequency')
    return [
        {name: getattr(case, name) for name in names} | asdict(row)
        for case, row in zip(cases, measures, strict=True)
    ]


def comparison_figure(cases: Sequence[Case], measures: Sequence[Measures]) -> Figure:
    """Return the picture: a panel a task and robot, a bar a law and engine, log scale."""
    panels = list(dict.fromkeys((case.robot, case.task) for case in cases))
    laws = list(dict.fromkeys(case.law for case in cases))
    engines = list(dict.fromkeys(case.engine for case in cases))
    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    height = 0.9 + (0.24 * len(laws) + 0.75) * rows
    figure = Figure(figsize=(2.1 + 3.2 * columns, height), layout='constrained')
    axes = figure.subplots(rows, columns, squeeze=False, sharey=True)
    found = {(c.robot, c.task, c.law, c.engine): m for c, m in zip(cases, measures, strict=True)}
    thickness = 0.8 / len(engines)
    for axis, (robot, task) in zip(axes.flat, panels, strict=False):
        for e, engine in enumerate(engines):
            values = [found[robot, task, law, engine] for law in laws]
            lengths = np.array([m.tracking_rms_mm if m.completed else np.nan for m in values])
            places = np.arange(len(laws)) + (e - (len(engines) - 1) / 2) * thickness
            axis.barh(places, lengths, thickness, color=f'C{e}', label=engine)
            for place, length in zip(places, lengths, strict=True):
                text = 'unstable' if np.isnan(length) else f'{length:.3g}'
                at = axis.get_xlim()[0] if np.isnan(length) else length
                axis.annotate(
                    text, (at, place), (3, 0), textcoords='offset points', va='center', fontsize=7
                )
        _finish(axis, f'{robot}: {task}')
        axis.set_yticks(range(len(laws)), laws)
    axes[0, 0].invert_yaxis()
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    if len(engines) > 1:
        figure.legend(*axes[0, 0].get_legend_handles_labels(), loc='outside upper right', ncols=2)
    figure.supxlabel('tracking error of the tip, RMS [mm]', fontsize=9)
    return figure


def law_figure(law: str, cases: Sequence[Case], courses: Sequence[Array]) -> Figure:
    """Return the picture of one law: its error over time beside the others', a panel a task."""
    panels = list(dict.fromkeys((case.robot, case.task) for case in cases))
    columns = min(3, len(panels))
    rows = math.ceil(len(panels) / columns)
    figure = Figure(figsize=(1.0 + 3.4 * columns, 0.7 + 2.3 * rows), layout='constrained')
    axes = figure.subplots(rows, columns, squeeze=False)
    for axis, panel in zip(axes.flat, panels, strict=False):
        for case, (t, error) in zip(cases, courses, strict=True):
            if (case.robot, case.task) != panel or not len(t):
                continue
            style = {'color': '0.78', 'linewidth': 0.8, 'zorder': 1}
            if case.law == law:
                style = {'color': 'C0', 'linewidth': 1.6, 'zorder': 2}
            axis.plot(t, np.maximum(error, 1e-5), **style)
        axis.set_yscale('log')
        axis.set_title(f'{panel[0]}: {panel[1]}', fontsize=9)
        axis.tick_params(labelsize=8)
        axis.grid(alpha=0.3)
        axis.spines[['top', 'right']].set_visible(False)
    for axis in axes.flat[len(panels) :]:
        axis.set_axis_off()
    figure.supxlabel('time [s]', fontsize=9)
    figure.supylabel('tracking error of the tip [mm]', fontsize=9)
    colors = {law: 'C0', 'the other laws': '0.78'}
    handles = [Line2D([], [], color=color, label=label) for label, color in colors.items()]
    figure.legend(handles=handles, loc='outside upper right', ncols=2, fontsize=8, frameon=False)
    return figure


def _finish(axis: Axes, title: str) -> None:
    axis.set_xscale('log')
    axis.set_title(title, fontsize=9)
    axis.tick_params(labelsize=8)
    axis.tick_params(axis='x', which='minor', labelsize=6)
    axis.grid(axis='x', alpha=0.3)
    axis.margins(x=0.25)
    axis.spines[['top', 'right']].set_visible(False)


def sweep_figure(sweep: Sweep, title: str) -> Figure:
    """Return the picture of a sweep: a curve a law."""
    figure = Figure(figsize=(7.5, 4.5), layout='constrained')
    axis = figure.subplots()
    colors = mpl.colormaps['tab20'].colors  # type: ignore[attr-defined]
    for i, (law, values) in enumerate(zip(sweep.laws, sweep.tracking_rms_mm(), strict=True)):
        style = {'color': colors[(2 * i + i // 10) % 20], 'marker': 'os^vDPX*<>p'[i % 11]}
        axis.plot(sweep.values, values, markersize=4, linewidth=1.3, label=law, **style)
    axis.set_yscale('log')
    if sweep.parameter == 'frequency':
        axis.set_xscale('log')
    axis.set_xlabel(SWEEPS[sweep.parameter][1])
    axis.set_ylabel('tracking error of the tip, RMS [mm]')
    axis.set_title(title, fontsize=10)
    axis.grid(alpha=0.3, which='both')
    axis.spines[['top', 'right']].set_visible(False)
    figure.legend(loc='outside right center', fontsize=8, frameon=False)
    return figure


def sweep_table(sweep: Sweep) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows: RMS [mm] of every law at every value."""
    headings = [sweep.parameter, *(f'{value:.3g}' for value in sweep.values)]
    rows = [
        [law, *('unstable' if math.isnan(x) else f'{x:.3g}' for x in values)]
        for law, values in zip(sweep.laws, sweep.tracking_rms_mm(), strict=True)
    ]
    return headings, rows


def monte_carlo_table(spreads: Sequence[Spread]) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows: median and 95th percentile of every law."""
    headings = ['law', 'median RMS [mm]', '95 % RMS [mm]', 'worst [mm]', 'unstable']
    rows = [
        [
            spread.law,
            f'{spread.median:.4g}',
            f'{spread.percentile_95:.4g}',
            f'{spread.rms_mm.max():.4g}',
            f'{spread.unstable} of {len(spread.rms_mm)}',
        ]
        for spread in spreads
    ]
    return headings, rows


def monte_carlo_figure(spreads: Sequence[Spread], title: str) -> Figure:
    """Return the picture: a cumulative distribution a law."""
    figure = Figure(figsize=(7.5, 4.5), layout='constrained')
    axis = figure.subplots()
    colors = mpl.colormaps['tab20'].colors  # type: ignore[attr-defined]
    for i, spread in enumerate(spreads):
        values = np.sort(spread.rms_mm[np.isfinite(spread.rms_mm)])
        share = np.arange(1, len(values) + 1) / len(spread.rms_mm)
        axis.plot(values, 100 * share, color=colors[(2 * i + i // 10) % 20], label=spread.law)
    axis.axhline(95, color='0.6', linewidth=0.8, linestyle='--')
    axis.set_xscale('log')
    axis.set_xlabel('tracking error of the tip, RMS [mm]')
    axis.set_ylabel('samples at most as bad [%]')
    axis.set_ylim(0, 100)
    axis.set_title(title, fontsize=10)
    axis.grid(alpha=0.3, which='both')
    axis.spines[['top', 'right']].set_visible(False)
    figure.legend(loc='outside right center', fontsize=8, frameon=False)
    return figure
