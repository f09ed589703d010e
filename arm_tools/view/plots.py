"""Live plots of an arm: joint errors, torques as shares of their limits, error of the tip."""

from html import escape

import numpy as np

from arm_dynamics.checks import Array, units
from arm_dynamics.model import RobotModel
from arm_sim.palette import COLORS
from arm_tools.view.monitor import ArmMonitor
from arm_tools.view.page_parts import Gui, set_content

_POINTS = 250  # of a curve
_HEIGHT = 130  # [pixels]
# Smaller errors are rounding: an idle plot shows 1 µrad or 1 µm.
_PREFIXES = ((1.0, ''), (1e-3, 'm'), (1e-6, 'µ'))
# From zero up to the largest value, or one.
_RANGE = {
    'min': {'pad': 0.0, 'soft': 0.0, 'mode': 1},
    'max': {'pad': 0.1, 'soft': 1.0, 'mode': 1},
}
# Lengths of the time axis [s].
SPANS = {'5 s': 5.0, '20 s': 20.0, '60 s': 60.0, '5 min': 300.0}


def prefix_of(values: Array) -> tuple[float, str]:
    """Return factor and letter of the unit prefix that suits the largest value."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    if not np.isfinite(largest):
        largest = 0.0
    return next(((size, p) for size, p in _PREFIXES if largest >= size), _PREFIXES[-1])


def known_values(t: Array, rows: Array) -> tuple[Array, ...]:
    """Return t (m,) and rows (n, m) where a value is known; uPlot draws no curve next to a nan."""
    known = np.isfinite(rows).any(axis=0)
    if known.sum() < 2:
        return np.array([0.0, 1.0]), *np.zeros((len(rows), 2))
    return t[known], *np.nan_to_num(rows[:, known])


def legend(names: tuple[str, ...]) -> str:
    """Return the joints' names in the colours of their curves, as HTML."""
    style = 'font-size:0.75em;line-height:1.3;margin:0 0.6em 0.3em'
    words = [
        f'<span style="color:{colour_of(k)}">{escape(name)}</span>' for k, name in enumerate(names)
    ]
    return f'<div style="{style}">{" &middot; ".join(words)}</div>'


def colour_of(joint: int) -> str:
    """Return the colour of a joint's curves."""
    return COLORS[joint % len(COLORS)]


class Plots:
    """Three plots over simulated time, and a choice of its length."""

    def __init__(self, gui: Gui, model: RobotModel):
        """Build the plots at the present place of viser's `gui`."""
        names = model.joint_names
        self._span = gui.add_dropdown('Last', tuple(SPANS), initial_value='20 s')
        self._unit = units('rad | m', model.prismatic)
        gui.add_html(legend(names))
        self._titles, self._plots = [], []
        for columns in (len(names), len(names), 1):
            self._titles.append(gui.add_html(''))
            lines = [
                {'stroke': colour_of(j), 'width': 1.4, 'label': f'{j}'} for j in range(columns)
            ]
            self._plots.append(
                gui.add_uplot(
                    tuple(np.zeros(2) for _ in range(columns + 1)),
                    ({'label': 't'}, *lines),
                    height=_HEIGHT,
                    scales={'x': {'time': False}, 'y': {'range': _RANGE}},
                    legend={'show': False},
                    axes=({'size': 24}, {'size': 44}),
                    padding=(6, 8, 0, 0),
                )
            )

    def show(self, arm: ArmMonitor) -> None:
        """Show the newest measurements."""
        past = arm.history.last(SPANS[self._span.value], _POINTS)
        size, letter = prefix_of(past.error)
        tip_size, tip_letter = prefix_of(past.tip)
        titles = (
            f'joint error [{letter}{self._unit}]', 'torque [% of limit]',
            f'tip error [{tip_letter}m]',
        )  # fmt: skip
        columns = (past.error / size, 100.0 * past.torque, past.tip[np.newaxis] / tip_size)
        for handle, title, plot, rows in zip(
            self._titles, titles, self._plots, columns, strict=True
        ):
            style = 'font-size:0.8em;margin:0.3em 0.6em 0'
            set_content(handle, f'<div style="{style}">{title}</div>')
            plot.data = known_values(past.t, rows)
