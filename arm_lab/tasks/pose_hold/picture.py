"""The picture of a held pose: how the joints come back to it, and the objective on its way."""

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from arm_sim.loop.record import Record
from arm_sim.loop.report import ReportTree, title_of
from arm_sim.pictures import BLUE, COLORS, QUIET, TEXT, name_ends, new_figure, style

_SETTLED = 0.02  # share of its largest value below which an error has little to show


def pose_figure(record: Record, report: ReportTree, counted: NDArray[np.int64]) -> Figure:
    """Return the joints' errors until they have settled, and J as it grows with all of them."""
    title = f'{report["task"]}: {title_of(report)}'
    figure = new_figure(12.0, 4.6, title)
    left, right = figure.subplots(1, 2)
    error = 1e6 * (record.q_reference - record.q)
    largest = np.abs(error).max(axis=1)
    moving = np.flatnonzero(largest > _SETTLED * largest.max())
    end = min(len(largest), 1 + int(1.3 * moving[-1])) if moving.size else len(largest)
    for joint in np.argsort(-np.abs(error).max(axis=0), kind='stable'):
        name, color = report['joint_names'][joint], COLORS[joint % len(COLORS)]
        left.plot(record.t[:end], error[:end, joint], color=color, lw=1.2, label=name)
    name_ends(left)
    style(left, 'error until it has settled', 'time [s]', 'pose - position [$\\mu$rad]')
    growing = np.abs(error[:, counted]).sum(axis=1).cumsum() * 1e-6
    right.plot(record.t[:end], growing[:end], color=BLUE, lw=1.6)
    right.axhline(growing[-1], color=QUIET, lw=0.8, ls='--')
    right.set_ylim(0.0, 1.15 * max(growing[-1], 1e-300))
    style(right, 'sum of the errors so far; dashed: at the end', 'time [s]', 'J [rad]')
    label = f'J = {report["cost"]:.6g} at {record.t[-1]:.3g} s'
    right.annotate(
        label, (record.t[end - 1], growing[-1]), (0, 6), ha='right', color=BLUE,
        textcoords='offset points', fontsize=TEXT + 1, fontweight='bold',
    )  # fmt: skip
    return figure
