"""Limits of stability in contact: a table, a picture."""

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from arm_sim import pictures
from arm_sim.experiments.report import Listing
from arm_sim.tuning.contact import Limit


def limits_listing(limits: Sequence[Limit], low: float, high: float) -> Listing:
    """Return the table, with a column for what was found if there is any."""
    simulated = any(each.found for each in limits)
    headings = ['law', 'delay [periods]', 'predicted [N/m]'] + ['found [N/m]'] * simulated
    rows = []
    for each in limits:
        row = [each.law, str(each.delay), _stiffness(each.predicted, low, high)]
        rows.append(row + [f'{each.found:.3g}' if each.found else '-'] * simulated)
    return Listing('stiffest surface on which the loop is stable', headings, rows)


def _stiffness(limit: float, low: float, high: float) -> str:
    if not limit:
        return f'below {low:.3g}'
    return f'above {high:.3g}' if np.isinf(limit) else f'{limit:.3g}'


def limits_figure(limits: Sequence[Limit], low: float, high: float) -> Figure:
    """Return the picture: the limit over the delay, a line per law and points where found."""
    figure = pictures.new_figure(7.0, 4.2, 'Stable in contact below the line')
    (axis,) = pictures.panels(figure, 1)
    for law in dict.fromkeys(each.law for each in limits):
        own = [each for each in limits if each.law == law]
        delays = [each.delay for each in own]
        predicted = np.clip([each.predicted for each in own], low, high)
        (line,) = axis.plot(delays, predicted, '-', label=law)
        found = [(each.delay, each.found) for each in own if each.found]
        if found:
            axis.plot(*zip(*found, strict=True), 'o', ms=5, color=line.get_color())
    axis.set_yscale('log')
    axis.set_ylim(low / 1.2, high * 1.2)
    text = 'lines: predicted; points: found by simulation'
    pictures.style(axis, text, 'delay [control periods]', 'stiffness of the surface [N/m]')
    pictures.legend(axis)
    return figure
