"""The picture of a held pose: how far each joint is from it, over many decades of time."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from arm_sim.pictures import COLORS, name_ends, new_figure, style
from arm_sim.runs.record import Record
from arm_sim.runs.report import title_of


def pose_figure(record: Record, report: Mapping[str, Any]) -> Figure:
    """Return the joints' errors over time on log axes; a joint that never moves has no curve."""
    title = f'{report["task"]}: {title_of(report)}, J = {report["cost"]:.6g} rad'
    figure = new_figure(10.0, 5.0, title)
    axis = figure.subplots()
    error = np.abs(record.q - record.q_reference)
    for joint, name in enumerate(report['joint_names']):
        worst = report['worst_error_rad'][joint]
        if worst > 0.0:
            shown = np.where(error[:, joint] > 0.0, error[:, joint], np.nan)[1:]
            label = f'{name} (worst {worst:.2g})'
            color = COLORS[joint % len(COLORS)]
            axis.loglog(record.t[1:], shown, lw=1.1, color=color, label=label)
    style(axis, '', 'time [s]', 'error of the joint [rad]', grid='both')
    if axis.get_lines():
        name_ends(axis)
    return figure
