"""Live plots of an arm: joint error, torque by its limit, error of the tip."""

from html import escape
from typing import Any

import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_sim.view.watched import Watched

_MOST = 250  # points of a curve
_HEIGHT = 130  # [pixels]
_COLOURS = (
    '#1c7ed6', '#e8590c', '#2f9e44', '#9c36b5', '#e03131', '#0c8599', '#f08c00', '#495057',
)  # fmt: skip
_PREFIXES = ((1.0, ''), (1e-3, 'm'), (1e-6, 'µ'), (1e-9, 'n'), (1e-12, 'p'))
# From zero up to the largest value, or one.
_RANGE = {
    'min': {'pad': 0.0, 'soft': 0.0, 'mode': 1},
    'max': {'pad': 0.1, 'soft': 1.0, 'mode': 1},
}
# What can be chosen to be seen [s].
SPANS = {'5 s': 5.0, '20 s': 20.0, '60 s': 60.0, '5 min': 300.0}


def prefix_of(values: Array) -> tuple[float, str]:
    """Return the size and the letter of the prefix whose unit suits the largest value."""
    largest = float(np.nanmax(np.abs(values), initial=0.0))
    if not np.isfinite(largest):
        largest = 0.0
    return next(((size, p) for size, p in _PREFIXES if largest >= size), _PREFIXES[-1])


def known(t: Array, rows: Array) -> tuple[Array, ...]:
    """Return t (m,) and rows (n, m) where any is known; the page draws nothing beside a nan."""
    there = np.isfinite(rows).any(axis=0)
    if there.sum() < 2:
        return np.array([0.0, 1.0]), *np.zeros((len(rows), 2))
    return t[there], *np.nan_to_num(rows[:, there])


def legend(names: tuple[str, ...]) -> str:
    """Return the joints' names in the colours of their curves, as HTML."""
    style = 'font-size:0.75em;line-height:1.3;margin:0 0.6em 0.3em'
    words = [
        f'<span style="color:{colour_of(k)}">{escape(name)}</span>' for k, name in enumerate(names)
    ]
    return f'<div style="{style}">{" &middot; ".join(words)}</div>'


def colour_of(joint: int) -> str:
    """Return the colour of a joint's curves."""
    return _COLOURS[joint % len(_COLOURS)]


class Plots:
    """Three plots over simulated time, and a choice of how much of it."""

    def __init__(self, gui: Any, model: RobotModel):
        """Build them where viser's `gui` stands now."""
        names = model.joint_names
        self._span = gui.add_dropdown('Last', tuple(SPANS), initial_value='20 s')
        unit = 'm' if model.prismatic.all() else 'rad'
        self._unit = 'rad | m' if model.prismatic.any() and unit == 'rad' else unit
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

    def show(self, watched: Watched) -> None:
        """Bring them up to date."""
        past = watched.history.last(SPANS[self._span.value], _MOST)
        size, letter = prefix_of(past.error)
        tip_size, tip_letter = prefix_of(past.tip)
        words = (
            f'joint error [{letter}{self._unit}]', 'torque [% of limit]',
            f'tip error [{tip_letter}m]',
        )  # fmt: skip
        columns = (past.error / size, 100.0 * past.torque, past.tip[np.newaxis] / tip_size)
        for title, word, plot, rows in zip(self._titles, words, self._plots, columns, strict=True):
            text = f'<div style="font-size:0.8em;margin:0.3em 0.6em 0">{word}</div>'
            if title.content != text:
                title.content = text
            plot.data = known(past.t, rows)
