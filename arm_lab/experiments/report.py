"""Results of a comparison: tables for people, a file for machines, a picture."""

import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rich.markup import escape
from rich.table import Table

from arm_dynamics.checks import typed
from arm_dynamics.optional import optional_module
from arm_lab.experiments.experiment import Experiment
from arm_lab.experiments.labels import labels_of
from arm_lab.experiments.spreads import Spread
from arm_lab.experiments.sweeps import Sweep
from arm_lab.progress import new_console, printable
from arm_sim.loop.measures import Measure, Measures, all_measures, heading_of
from arm_sim.loop.report import write_json
from arm_sim.output_folder import whole_file
from arm_sim.tasks import task_class

if TYPE_CHECKING:  # it takes long to load
    from matplotlib.figure import Figure

_WITH_FORCE = 'tracking_rms_mm', 'peak_torque_nm', 'chatter_nm'  # in tables of contact tasks


def _in_markdown(cell: str) -> str:
    """Return a cell as Markdown shows it: no column, no HTML, no control of a terminal."""
    return printable(cell).replace('|', '\\|').replace('<', '&lt;')


def _in_terminal(cell: str) -> str:
    """Return a cell as rich shows it: no markup, no control of a terminal."""
    return escape(printable(cell))


class Listing(NamedTuple):
    """A table of text: numbers to the right, the first column and `texts` to the left."""

    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    best: Sequence[int] = ()  # rows in bold
    texts: Sequence[str] = ()  # headings of columns with text
    bad: Sequence[int] = ()  # rows in red

    def _is_text(self) -> list[bool]:
        return [not i or heading in self.texts for i, heading in enumerate(self.headings)]

    def markdown(self) -> str:
        """Return the table as Markdown."""
        sides = ['---' if text else '---:' for text in self._is_text()]
        rows = ([_in_markdown(cell) for cell in row] for row in self.rows)
        lines = ['| ' + ' | '.join(row) + ' |\n' for row in (self.headings, sides, *rows)]
        return f'### {_in_markdown(self.title)}\n\n' + ''.join(lines)

    def write(self, path: Path, command: str, *others: 'Listing') -> None:
        """Write the table, and others below, as Markdown; `command` is what makes them."""
        text = '\n'.join(each.markdown() for each in (self, *others))
        with whole_file(path) as file:
            file.write(f'Made by `{command}`.\n\n{text}'.encode())

    def text(self) -> str:
        """Return the table as plain text."""
        rows = [[printable(cell) for cell in row] for row in (self.headings, *self.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        places = list(zip(widths, self._is_text(), strict=True))
        lines = (
            '  '.join(
                cell.ljust(width) if text else cell.rjust(width)
                for cell, (width, text) in zip(row, places, strict=True)
            ).rstrip()
            for row in rows
        )
        return '\n'.join([printable(self.title), *lines])

    def html(self) -> str:
        """Return the table for a notebook."""
        sides = ['left' if text else 'right' for text in self._is_text()]

        def line(row: Sequence[str], kind: str, style: str = '') -> str:
            cells = zip(row, sides, strict=True)
            inner = ''.join(
                f'<{kind} style="text-align:{side};{style}">{html.escape(cell)}</{kind}>'
                for cell, side in cells
            )
            return f'<tr>{inner}</tr>'

        styles = dict.fromkeys(self.best, 'font-weight:bold')
        styles |= dict.fromkeys(self.bad, 'color:#c00')
        body = ''.join(line(row, 'td', styles.get(i, '')) for i, row in enumerate(self.rows))
        head = line(self.headings, 'th') if any(self.headings) else ''
        title = html.escape(self.title)
        return f'<table><caption>{title}</caption>{head}{body}</table>'

    def terminal(self) -> Table:
        """Return the table for the terminal."""
        table = Table(title=_in_terminal(self.title), title_justify='left')
        for heading, text in zip(self.headings, self._is_text(), strict=True):
            wraps = heading in self.texts
            side: Literal['left', 'right'] = 'left' if text else 'right'
            table.add_column(_in_terminal(heading), justify=side, no_wrap=not wraps)
        for i, row in enumerate(self.rows):
            style = 'red' if i in self.bad else 'bold' if i in self.best else None
            table.add_row(*map(_in_terminal, row), style=style)
        return table


@dataclass(repr=False)
class Report:
    """All results of an experiment.

    Attributes:
        name: of the files.
        listings: the tables.
        rows: the same as plain numbers.
        draw: returns the picture.
        line: command line that gives the same results.
        found: what the tables show.
        notes: lines on the tables.
        numbers: what the JSON file has in place of the rows, or None.
        code: exit code of the command.
        first: the first of the notes, which stand above the tables.
    """

    name: str
    listings: Sequence[Listing]
    rows: Sequence[Mapping[str, object]]
    draw: Callable[[], 'Figure']
    line: str = ''
    found: Any = None
    notes: Sequence[str] = ()
    numbers: Mapping[str, object] | None = None
    code: int = 0
    first: Sequence[str] = ()

    def command(self) -> str:
        """Return the command line that gives the same results."""
        return self.line

    def table(self) -> None:
        """Print the tables and the notes."""
        console = new_console()
        for note in self.first:
            console.print(note, markup=False, soft_wrap=True)
        for listing in self.listings:
            console.print(listing.terminal())
        for note in self.notes[len(self.first) :]:
            console.print(note, markup=False, soft_wrap=True)

    def plot(self, file: Path | str = '') -> None:
        """Show the picture: in a notebook below the cell, else in a file, `name`.png."""
        from arm_sim.pictures import show

        show(self.figure, file or f'{self.name}.png')

    @cached_property
    def figure(self) -> 'Figure':
        """The picture, a matplotlib Figure."""
        return self.draw()

    def frame(self) -> Any:
        """Return the numbers as a pandas DataFrame, one row per row of the tables.

        Raises:
            ArmError: pandas is not installed.
        """
        return data_frame([dict(row) for row in self.rows])

    def __repr__(self) -> str:
        tables = '\n'.join(listing.text() for listing in self.listings)
        return f'{tables}\n{self.line}'

    def _repr_html_(self) -> str:
        tables = '\n'.join(listing.html() for listing in self.listings)
        return f'{tables}\n<code>{html.escape(self.line)}</code>'

    def write(self, folder: Path, command: str) -> Sequence[str]:
        """Write the files, and return their names; `command` is what makes them."""
        from arm_sim.pictures import save

        names = [f'{self.name}.{suffix}' for suffix in ('md', 'json', 'png')]
        table, numbers, picture = (folder / name for name in names)
        first, *others = self.listings
        first.write(table, command, *others)
        write_json(numbers, {'command': command} | dict(self.numbers or {'rows': self.rows}))
        save(self.figure, picture)
        return names


def _drawn(name: str, *given: object) -> 'Figure':
    """Return a picture; Matplotlib is loaded for the first one."""
    from arm_lab.experiments import figures

    return getattr(figures, name)(*given)


def data_frame(data: object) -> Any:
    """Return a pandas DataFrame; raise ArmError where pandas is not installed."""
    lacking = f'a DataFrame needs pandas: {typed("pip install pandas")}'
    return optional_module('pandas', lacking).DataFrame(data)


def comparison_report(
    cases: Sequence[Experiment], measures: Sequence[Measures], errors: Sequence[str] = ()
) -> Report:
    """Return the report of cases: a table per robot, task, engine and error, a row per law.

    `errors` name the model error of each case; none: the arms are as the laws know them.
    """
    errors = errors or ['exact'] * len(cases)
    labels = labels_of(cases)
    found: dict[str, list[tuple[Experiment, Measures]]] = {}
    for case, row, error in zip(cases, measures, errors, strict=True):
        group = f'{labels[case.robot]}, {case.task}, {case.physics}'
        group += '' if error == 'exact' else f', {error}'
        found.setdefault(group, []).append((case, row))
    names = ('robot', 'task', 'engine', 'integrator', 'law', 'timestep', 'natural_frequency')
    rows = [
        {name: getattr(case, name) for name in names} | {'error': error} | dict(row)
        for case, row, error in zip(cases, measures, errors, strict=True)
    ]
    listings = [_comparison(title, group) for title, group in found.items()]
    return Report(
        'comparison', listings, rows, partial(_drawn, 'comparison_figure', cases, measures, errors)
    )


def _comparison(title: str, group: Iterable[tuple[Experiment, Measures]]) -> Listing:
    cases, measures = zip(*group, strict=True)
    ranked_by = task_class(cases[0].task).evaluation.ranked_by
    ranks = [row[ranked_by] if row.completed else math.inf for row in measures]
    columns = _columns(measures)
    nothing = {'settled': 'never'} if cases[0].load().task.event is not None else {}
    rows = [
        [case.law, *_cells(row, columns, nothing)]
        for case, row in zip(cases, measures, strict=True)
    ]
    best = [i for i, value in enumerate(ranks) if value == min(ranks) < math.inf]
    return Listing(title, ['law', *(each.heading for each in columns)], rows, best)


def _columns(measures: Sequence[Measures]) -> list[Measure]:
    """Return the measures of a table; where a force counts, those of the force come first."""
    columns = [each for each in all_measures() if each.heading]
    of_force = [each for each in columns if each.needs == 'force']
    counted = [x for x in of_force if any(not math.isnan(row[x.name]) for row in measures)]
    if not counted:
        return [each for each in columns if each not in of_force]
    return counted + [each for each in columns if each.name in _WITH_FORCE]


def _cells(
    measures: Measures, columns: Sequence[Measure], nothing: Mapping[str, str]
) -> list[str]:
    """Return a row's numbers as text; 'unstable' where there are none.

    `nothing` has the words for a number that a kind of measure (`over`) lacks; else it is '-'.
    """
    if not measures.completed:
        return ['unstable'] + [''] * (len(columns) - 1)
    return [
        nothing.get(each.over, '-') if math.isnan(measures[each.name])
        else format(measures[each.name], each.format)
        for each in columns
    ]  # fmt: skip


def sweep_report(sweep: Sweep, case: Experiment) -> Report:
    """Return the report of a sweep: RMS [mm] of every law at every value."""
    task = 'sinusoid' if sweep.parameter == 'frequency' else case.task
    what = 'tracking error' if sweep.measure == 'tracking_rms_mm' else 'error of the force'
    title = f'{case.robot_label}, {task}, {case.physics}: {what} over {sweep.parameter}'
    values = (x if isinstance(x, str) else f'{x:.3g}' for x in sweep.values)
    headings = [sweep.parameter, *values]
    by_law = list(zip(sweep.laws, sweep.errors.tolist(), strict=True))
    texts = [
        [law, *('unstable' if math.isnan(x) else f'{x:.3g}' for x in found)]
        for law, found in by_law
    ]
    rows = [
        {'law': law, sweep.parameter: sweep.values, sweep.measure: found} for law, found in by_law
    ]
    unit = heading_of(sweep.measure).removeprefix('force ')
    listing = Listing(f'{title}, {unit}', headings, texts)
    draw = partial(_drawn, 'sweep_figure', sweep, title)
    return Report(f'sweep_{sweep.parameter}', [listing], rows, draw)


def monte_carlo_report(spreads: Sequence[Spread], case: Experiment) -> Report:
    """Return the report of random arms: median and 95th percentile of every law."""
    count, measure = spreads[0].samples, spreads[0].measure
    name = heading_of(measure)
    unit = name[name.index('[') :]
    title = f'{case.robot_label}, {case.task}, {case.physics}: {count} random arms per law'
    short = measure.removeprefix('tracking_')
    headings = ['law', f'median {name}', f'95 % {name}', f'worst {unit}', 'unstable']
    texts = [
        [
            spread.law,
            *(f'{x:.4g}' for x in (spread.median, spread.percentile_95, spread.worst)),
            f'{spread.unstable} of {count}',
        ]
        for spread in spreads
    ]
    rows = [
        {
            'law': spread.law,
            f'median_{short}': spread.median,
            f'percentile_95_{short}': spread.percentile_95,
            'unstable': spread.unstable,
        }
        | spread.row()
        for spread in spreads
    ]
    draw = partial(_drawn, 'monte_carlo_figure', spreads, title)
    return Report('monte_carlo', [Listing(title, headings, texts)], rows, draw)
