"""The picture of a contact: the force over time, and its error."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from arm_dynamics.checks import Array
from arm_sim.loop.report import title_of
from arm_sim.pictures import BLUE, ORANGE, QUIET, legend, new_figure, style


def force_figure(
    t: Array, force: Array, report: Mapping[str, Any], measured: tuple[float, float] | None
) -> Figure:
    """Return the force (k,) [N] along the normal, and the distance from its goal below.

    `report` has the goal `force_n` and the error `force_error_rms_n` of the times `measured` [s];
    without a goal the force alone is drawn.
    """
    wanted = report['force_n']
    figure = new_figure(9.0, 6.0 if wanted else 4.0, title_of(report))
    if wanted is None:
        axes = figure.subplots()
        axes.plot(t, force, color=BLUE, lw=1.2)
        style(axes, 'Force on the tool', 'time [s]', 'force [N]')
        return figure
    above, below = figure.subplots(2, 1, sharex=True)
    error = report['force_error_rms_n']
    above.plot(t, force, color=BLUE, lw=1.2, label='force on the tool')
    above.axhline(wanted, color=ORANGE, lw=1.0, ls='--', label=f'goal, {wanted:g} N')
    style(above, 'Force along the normal', '', 'force [N]')
    legend(above, loc='lower right')
    distance = np.maximum(np.abs(force - wanted), 1e-12)
    below.semilogy(t, distance, color=BLUE, lw=1.0)
    below.axvspan(*(measured or t[[0, -1]]), color=QUIET, alpha=0.15, lw=0)
    text = f'grey: measured, {error:.2g} N RMS'
    style(below, f'Distance from the goal ({text})', 'time [s]', 'error [N]')
    return figure
