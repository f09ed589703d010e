"""Results of the trials of arms: a table, a file for machines, a sheet of pictures."""

import re
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from matplotlib.figure import Figure

from arm_dynamics.robots import RobotArgument
from arm_lab.experiments.report import Listing
from arm_sim.pictures import TEXT, panels
from arm_tools.robot_trials.tried import Tried

TITLE = 'Trials of unmodified arms'
_HEADINGS = (
    'robot', 'joints', 'tool', 'parity', 'hold [mrad]', 'goal [mrad]', 'IK', 'MJCF', 'note'
)  # fmt: skip
_LEFT = ('robot', 'tool')
_LEAST = 1e-6  # smallest error that is shown [mrad]
_COLUMNS = 8  # of the sheet of pictures
_PER_INCH = 110  # pixels, as `save` has them


class Trials:
    """Arms that were tried.

    Attributes:
        tried: they, in order.
        notes: what is to be said of some, a line each; the table has their numbers, from 1.
    """

    def __init__(self, tried: Sequence[Tried]):
        self.tried = tried
        notes = (note for each in tried for note in _notes(each))
        self.notes = list(dict.fromkeys(notes))

    @property
    def verdict(self) -> str:
        """How many arms there are, and how they fared, in one line."""
        refused = sum(bool(each.own.reason) for each in self.tried)
        failed = sum(bool(each.faults) for each in self.tried)
        both = sum(each.mjcf is not None for each in self.tried)
        count = len(self.tried)
        return (
            f'{count} arm{"s" * (count != 1)}: {count - refused - failed} as they should be, '
            f'{failed} with a fault, {refused} refused; {both} also as an MJCF that MuJoCo wrote'
        )

    def markdown(self) -> str:
        """Return table and notes as Markdown."""
        rows = [self._cells(each) for each in self.tried]
        lines = Listing(TITLE, _HEADINGS, rows).markdown(), *self.numbered_notes
        text = '\n'.join([*lines, '', f'{self.verdict}.', ''])
        return text.replace('<', '&lt;')  # of a URDF's elements

    def listing(self) -> Listing:
        """Return the table for the terminal, with a mark before each arm."""
        marks = ['✗' if x.faults else '-' if x.own.reason else '✓' for x in self.tried]
        rows = [[mark, *self._cells(x)] for mark, x in zip(marks, self.tried, strict=True)]
        bad = [i for i, each in enumerate(self.tried) if each.faults]
        return Listing(TITLE, ('', *_HEADINGS), rows, texts=_LEFT, bad=bad)

    @property
    def numbered_notes(self) -> list[str]:
        """The notes, each with its number."""
        return [f'{k}. {note}' for k, note in enumerate(self.notes, 1)]

    def rows(self) -> list[dict[str, object]]:
        """Return the arms as plain numbers and words."""
        return [
            {
                'robot': each.name,
                'own': asdict(each.own),
                'mjcf': asdict(each.mjcf) if each.mjcf else None,
                'no_mjcf': each.no_mjcf,
                'no_picture': each.no_picture,
                'faults': each.faults,
            }
            for each in self.tried
        ]

    def sheet(self) -> Figure | None:
        """Return a picture of all arms that have one, each with its name; None: none has."""
        shown = [(each.label, each.picture) for each in self.tried if each.picture is not None]
        if not shown:
            return None
        cell = shown[0][1].shape[0] / _PER_INCH  # [inch]
        columns = min(_COLUMNS, len(shown))
        lines = -(-len(shown) // columns)
        figure = Figure(figsize=(columns * cell, lines * (cell + 0.22)), layout='constrained')
        for axis, (label, picture) in zip(panels(figure, len(shown), columns), shown, strict=True):
            axis.imshow(picture)
            axis.set_title(label, fontsize=TEXT - 1.5, color='0.2')
            axis.set_axis_off()
        return figure

    def _cells(self, tried: Tried) -> list[str]:
        """Return a row: the numbers are the worse ones of the arm's file and its MJCF."""
        own, notes = tried.own, ', '.join(str(self.notes.index(x) + 1) for x in _notes(tried))
        if own.reason:
            tool = RobotArgument.of(tried.name).tip_frame or '-'
            return [tried.label, '-', tool, *['-'] * (len(_HEADINGS) - 4), notes]
        files = [own, tried.mjcf] if tried.mjcf else [own]
        parity, hold, goal, reached = (
            np.array([getattr(each, name) for each in files])
            for name in ('parity', 'hold', 'goal', 'reached')
        )
        ends = (_milli(float(error.max())) for error in (hold, goal))
        has_mjcf = 'yes' if tried.mjcf else 'no'
        texts = [f'{parity.max():.1e}', *ends, f'{reached.min():.1%}', has_mjcf, notes]
        return [tried.label, str(own.joints), own.tool, *texts]


def _milli(error: float) -> str:
    return f'{1e3 * error:.2g}' if not 1e3 * error < _LEAST else '<1e-6'


def _notes(tried: Tried) -> list[str]:
    """Return what is to be said of an arm, without the folders of files."""
    reasons = [tried.own.reason, *tried.faults, *tried.own.weak]
    if tried.no_mjcf:
        reasons.append(f'no MJCF: {tried.no_mjcf}')
    short = (re.sub(r" \(in '[^']*'\)$", '', reason) for reason in reasons if reason)
    return [re.sub(r"'/[^']*/([^'/]+)'", r"'\1'", reason) for reason in short]
