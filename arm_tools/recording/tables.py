"""Tables of numbers as recordings: CSV, parquet, .npz, .mat, and the column names of their tools.

CSV and parquet have columns `time` [s], `<joint>.position`, `<joint>.effort`, or those of a tool:

- RTDE of Universal Robots (its Real-Time Data Exchange guide): `timestamp` [s], `actual_q_0`
  [rad], `actual_current_0` [A], in the order of the joints;
- libfranka's `logToCSV`: `time` [ms], `state.q[0]` [rad], `state.tau_J[0]` [N.m, with gravity];
- PlotJuggler: `__time` [s], `/joint_states/<joint>/position`.

An .npz or .mat file has the arrays `t` (m,), `q` (m, n), `effort` (m, n), and may have
`joint_names` (n,); in a .mat file they may be the fields of one struct. `ReadAs.columns` has other
names.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_lab.experiments.parquet import pyarrow
from arm_tools.recording.array_files import ARRAYS, arrays_of
from arm_tools.recording.arrays import samples_in
from arm_tools.recording.column_names import (
    QUANTITIES,
    array_names,
    filled_in,
    named_columns,
    of_fewer,
    of_unnamed,
    rate_in,
)
from arm_tools.recording.joint_streams import AS_FOUND, Currents, Doubt, ReadAs
from arm_tools.recording.quantity_files import columns_of, described, quantity_files
from arm_tools.recording.text_table import (
    TEXTS,
    UNITS,
    kind_of,
    of_unknown_unit,
    plain,
    text_table,
)

TABLES = *TEXTS, '.parquet', *ARRAYS
_SECONDS = {'s': 1.0, 'ms': 1e-3, 'us': 1e-6, 'ns': 1e-9}
_SINCE_1970 = 1e9, 4e9  # times of this century [s]
_SLOW = 0.5  # step between rows that is not one of seconds
_ROUNDED = 0.9  # share of the rows with the time of the row before, of times that say too little
_UNSORTED = 0.2  # share of the rows that go back in time, of a table that is not sorted
_STAMPS = ('sec', 'nanosec'), ('secs', 'nsecs'), ('sec', 'nsec')  # of a stamp of ROS 2, ROS 1
_RARE = 0.1  # time from row to row above which times in s may be ms of 2 kHz or more [s]
_SHOWN = 12  # columns that a refusal names
_OF_JOINTS = {'position': ('angle', 'length'), 'effort': ('torque', 'force')}
_JOINTS = 'revolute', 'prismatic'  # as the units above
_OF_TOPIC = re.compile(r'.*/([^/]+)/(position|velocity|effort)$')


class _Layout(NamedTuple):
    """Columns of a tool: what it is, times, their unit [s] or 0, names of each number."""

    what: str
    time: str
    unit: float
    names: dict[str, str]


_OWN = _Layout('', 'time', 0.0, {x: f'{{0}}.{x}' for x in QUANTITIES})
_LAYOUTS = (
    *(_OWN._replace(time=x) for x in ('time', '__time', 'timestamp', 't')),
    _Layout(
        'RTDE of Universal Robots: efforts are torques in N.m, computed from currents',
        'timestamp', 1.0, {'position': 'actual_q_{1}', 'effort': 'actual_current_as_torque_{1}'},
    ),
    _Layout(
        Currents('RTDE of Universal Robots: efforts are motor currents in A'),
        'timestamp', 1.0, {'position': 'actual_q_{1}', 'effort': 'actual_current_{1}'},
    ),
    _Layout(
        'log of libfranka: efforts are tau_J, torques in N.m with gravity',
        'time', 1e-3, {'position': 'state.q[{1}]', 'effort': 'state.tau_J[{1}]',
                       'command': 'state.q_d[{1}]'},
    ),
)  # fmt: skip


class _Table(NamedTuple):
    """Columns of a file: names, their units or '', and what reads those with some indices."""

    names: list[str]
    units: list[str]
    numbers: Callable[[Sequence[int]], tuple[Array, list[str]]]
    header: bool = True

    def position(self, name: str, needed: Sequence[str], remedy: str) -> int:
        """Return the index of a column. Raises ArmError where there is none, or more than one."""
        found = self._positions(name) or self._positions(plain(name)[0])
        if len(found) > 1:
            same = ', '.join(dict.fromkeys(self.names[k] for k in found))
            raise ArmError(f'has {len(found)} columns {same!r}: delete or rename the others')
        if not found and not self.header:
            raise ArmError(f'has no header: {remedy}')
        if not found:
            more = f' and {len(self.names) - _SHOWN} more' if len(self.names) > _SHOWN else ''
            has = f'{", ".join(self.names[:_SHOWN])}{more}'
            needs = f'it needs {", ".join(needed)}; it has {has}'
            raise ArmError(f'has no column {name!r}; {needs}; {remedy}')
        if name.casefold() == of_unknown_unit(wrong := self.names[found[0]]).casefold():
            raise ArmError(
                f'column {wrong!r} ends with no known unit (s, ms; rad, deg, m, mm; N.m, mNm, N, '
                'A): convert the column, or --columns with this whole name reads it unchanged'
            )
        return found[0]

    def has(self, name: str) -> bool:
        return bool(self._positions(name))

    def remedy(self, joints: Sequence[str], kind: str) -> str:
        """Return what to write where names are missing."""
        if fewer := of_fewer(joints, [j for j in joints if self.has(f'{j}.position')]):
            return fewer
        if not self.header:
            return of_unnamed(len(self.names), len(joints), kind)
        pairs = zip(self.names, self.units, strict=True)
        units = {name: UNITS[x.casefold()][0] for name, x in pairs if x}
        return filled_in(self.names, units, joints, kind)

    def _positions(self, name: str) -> list[int]:
        """Return the indices of the columns of a name, else of this name with an unknown unit."""
        wanted = name.casefold()
        found = [k for k, x in enumerate(self.names) if x.casefold() == wanted]
        of_units = enumerate(map(of_unknown_unit, self.names))
        return found or [k for k, x in of_units if x.casefold() == wanted]


def table_of(
    file: Path,
    joint_names: Sequence[str],
    kind: str,
    other: str = '',
    how: ReadAs = AS_FOUND,
    slides: Sequence[bool] | None = None,
) -> tuple[list[Array], list[str]]:
    """Return times (m,), positions and numbers of a kind, each (m, n), and lines on the file.

    In a file of arrays without `kind` its numbers are called `other`. `slides` says which
    joints are prismatic, where this is known: units of a header must fit.

    Raises:
        ArmError: what is missing in the file.
    """
    if kind_of(file) in ARRAYS:
        names = array_names(how.columns)
        t, *found = samples_in(arrays_of(file), joint_names, kind, other, names)
        _check_order(t, found[0])
        times, lines = _in_seconds(t, how.time_unit)
        return [times, *found], [*lines, *_order(times)]
    table, named = _opened(file), named_columns(how.columns, joint_names)
    if rate := rate_in(named.get('time', '')):
        table, named = _at_rate(table, rate), named | {'time': 'time'}
    layouts = () if f'{joint_names[0]}.position' in named else _LAYOUTS
    good = [x for x in layouts if _fits(x, table, joint_names, kind)]
    first = joint_names[0], 0
    layout = next((x for x in good if table.has(x.names[kind].format(*first))), [*good, _OWN][0])
    own = ['time', *_wanted(_OWN, joint_names, 'position', kind)]
    theirs = [layout.time, *_wanted(layout, joint_names, 'position', kind)]
    wanted = [named.get(x, y) for x, y in zip(own, theirs, strict=True)]
    remedy = table.remedy(joint_names, kind)
    columns = [table.position(name, wanted, remedy) for name in wanted]
    values, lines = table.numbers(columns)
    said = [type(layout.what)(f'file: {layout.what}')] if layout.what else []
    units, unit = [table.units[k] for k in columns], how.time_unit
    sorts = slides if slides is not None else [None] * len(joint_names)
    quantities = ('time', None), *((x, slide) for x in ('position', kind) for slide in sorts)
    pairs = zip(wanted, units, quantities, strict=True)
    factors = [_factor(name, unit, *each) for name, unit, each in pairs]
    values = values * np.append(1.0, factors[1:])
    said += [type(x)(f'file: {x} of the header') for x in _units_line(units[1:])]
    _check_order(values[:, 0], values[:, 1 : len(joint_names) + 1])
    if unit == 'auto' and (units[0] or layout.unit):
        times = values[:, 0] * (factors[0] if units[0] else layout.unit)
    else:
        times, more = _in_seconds(values[:, 0], unit)
        said += more
    q, numbers = np.split(values[:, 1:], 2, axis=1)
    said += [Doubt(line) for line in lines]
    return [times, q, numbers], [*said, *_order(times)]


def voltages_of(file: Path, joint_names: Sequence[str], how: ReadAs = AS_FOUND) -> Array:
    """Return the voltages (m, n) of a text or parquet file.

    Raises:
        ArmError: there is no such column, or no row.
    """
    table, named = _opened(file), named_columns(how.columns, joint_names)
    own = _wanted(_OWN, joint_names, 'voltage')
    wanted, remedy = [named.get(x, x) for x in own], table.remedy(joint_names, 'voltage')
    return table.numbers([table.position(name, wanted, remedy) for name in wanted])[0]


def _wanted(layout: _Layout, joints: Sequence[str], *kinds: str) -> list[str]:
    return [layout.names[x].format(j, k) for x in kinds for k, j in enumerate(joints)]


def _fits(layout: _Layout, table: _Table, joints: Sequence[str], kind: str) -> bool:
    """Return whether a file has a tool's times and positions.

    Raises:
        ArmError: it has those of more joints, in the order of the joints.
    """
    if kind not in layout.names or not table.has(layout.time):
        return False
    if not table.has(layout.names['position'].format(joints[0], 0)):
        return False
    if table.has(one_more := layout.names['position'].format('', len(joints))):
        raise ArmError(
            f'has {one_more!r}, of one joint more than the arm, which has {len(joints)}'
        )
    return True


def _factor(name: str, unit: str, quantity: str, slide: bool | None) -> float:
    """Return the factor from a column's unit to that of this package."""
    if not unit:
        return 1.0
    of, factor = UNITS[unit.casefold()]
    which = slice(None) if slide is None else slice(slide, slide + 1)
    place, load = (_OF_JOINTS[x][which] for x in ('position', 'effort'))
    allowed = {
        'position': place, 'effort': (*load, 'current'), 'command': (*place, *load),
    }.get(quantity, (quantity,))  # fmt: skip
    if of not in allowed:
        joint = '' if slide is None or quantity == 'time' else f' of a {_JOINTS[slide]} joint'
        good = ', '.join(x for x, (each, _) in UNITS.items() if each in allowed)
        raise ArmError(
            f'column {name!r} is in {unit}, which is no unit of {quantity}{joint} ({good}): '
            "correct the header, the joint's type in the URDF, or --columns"
        )
    return factor


def _units_line(units: Sequence[str]) -> list[str]:
    named = [x for x in dict.fromkeys(units) if x and UNITS[x.casefold()][1] != 1.0]
    currents = [x for x in dict.fromkeys(units) if x and UNITS[x.casefold()][0] == 'current']
    words = [f'{x} (as degrees, 360 a turn)' if x.casefold() == 'grad' else x for x in named]
    lines = [f'read in {", ".join(words)}, as the units'] if named else []
    return lines + [Currents(f'efforts are currents in {x}, by the units') for x in currents[:1]]


def _check_order(times: Array, q: Array) -> None:
    """Raise ArmError for times (m,) of positions (m, n) that go back too often, or are rounded."""
    back, same = np.diff(times) < 0.0, np.diff(times) == 0.0
    moved = (np.diff(q, axis=0)[same] != 0.0).any(axis=1)
    if len(back) > 2 and same.mean() > _ROUNDED and moved.mean() > 1.0 - _ROUNDED:
        raise ArmError(
            f'{same.sum()} of {len(times)} rows have the time of the row before, at other '
            f'positions: its times are rounded, as float32 does near {times[-1]:g}; save them in '
            'float64 with all digits'
        )
    if len(back) > 2 and back.mean() > _UNSORTED:
        raise ArmError(
            f'its times go back in {back.sum()} of {len(times)} rows: sort the rows by their time'
        )


def _in_seconds(times: Array, unit: str) -> tuple[Array, list[str]]:
    """Return times [s] of a column without a unit, and a line where they were not in s.

    Raises:
        ArmError: the unit is not clear.
    """
    if unit != 'auto':
        return times * _SECONDS[unit], []
    steps = np.abs(np.diff(times))
    step, size = float(np.median(steps[steps > 0.0])) if steps.any() else 0.0, np.abs(times)
    for name, factor in _SECONDS.items():
        low, high = (each / factor for each in _SINCE_1970)
        if factor < 1.0 and ((size > low) & (size < high)).all() and step > factor:
            return times * factor, [f'clock: times in {name} since 1970, read in s']
    if step > _SLOW and len(times) > 2:
        raise ArmError(
            f'its times advance by {step:g}, which are hardly seconds: --time-unit ms, us or ns '
            'reads them so, --time-unit s keeps them'
        )
    if step > _RARE and len(times) > 2:
        line = f'clock: {1.0 / step:.3g} rows per second; if the times are ms: --time-unit ms'
        return times, [Doubt(line)]
    return times, []


def _order(times: Array) -> list[str]:
    """Return lines on times (m,) that go back or repeat."""
    back, same = int((np.diff(times) < 0.0).sum()), int((np.diff(times) == 0.0).sum())
    lines = []
    if back:
        lines.append(f'clock: times go back {back} times: each begins a new piece')
    if same:
        lines.append(
            f'clock: {same} of {len(times)} rows have the time of the row before, not read'
        )
    return [Doubt(line) for line in lines]


def _opened(file: Path) -> _Table:
    """Return the columns of a text or parquet file, with times of a stamp's two columns."""
    if files := quantity_files(file):
        names, own, values, lines = columns_of(files)
        lines = [described(files), *lines]
        return _with_times(_Table(names, own, lambda wanted: (values[:, wanted], lines)))
    if kind_of(file) != '.parquet':
        text = text_table(file)
        return _with_times(_Table(_of_topics(text.names), text.units, text.numbers, text.header))
    _, parquet = pyarrow('a parquet file')
    names = list(parquet.read_schema(file).names)
    bare, units = zip(*map(plain, names), strict=True)

    def numbers(wanted: Sequence[int]) -> tuple[Array, list[str]]:
        table = parquet.read_table(file, columns=[names[k] for k in wanted])
        columns = [table.column(names[k]).to_numpy() for k in wanted]
        if not len(columns[0]):
            raise ArmError('has no rows')
        values = [
            x.astype(f'{x.dtype.kind}8[ns]').astype(float) * 1e-9 if x.dtype.kind in 'mM' else x
            for x in columns
        ]
        return np.asarray(np.column_stack(values), dtype=float), []

    return _with_times(_Table(_of_topics(list(bare)), list(units), numbers))


def _with_times(table: _Table) -> _Table:
    """Return a table without times with those of its only stamp: `sec` and `nanosec` as in ROS."""
    names = [name.casefold() for name in table.names]
    if any(table.has(layout.time) for layout in _LAYOUTS):
        return table
    pairs = [
        (k, names.index(x.removesuffix(s) + ns))
        for k, x in enumerate(names)
        for s, ns in _STAMPS
        if x.endswith(s) and x.removesuffix(s) + ns in names
    ]
    if len(pairs) != 1:
        return table
    ((seconds, fraction),) = pairs

    def numbers(wanted: Sequence[int]) -> tuple[Array, list[str]]:
        own = [k if k < len(names) else seconds for k in wanted]
        values, lines = table.numbers([*own, fraction])
        found, nanoseconds = values[:, :-1], values[:, -1:]
        found[:, np.array(wanted) == len(names)] += 1e-9 * nanoseconds
        return found, lines

    return _Table([*table.names, 'time'], [*table.units, 's'], numbers)


def _at_rate(table: _Table, rate: float) -> _Table:
    """Return a table whose only times are those of its rows, of which `rate` are a second [Hz]."""
    names = [f'{x} of the file' if x.casefold() == 'time' else x for x in table.names]

    def numbers(wanted: Sequence[int]) -> tuple[Array, list[str]]:
        values, lines = table.numbers([k for k in wanted if k < len(names)])
        times = np.arange(len(values)) / rate
        return np.insert(values, list(wanted).index(len(names)), times, axis=1), lines

    return _Table([*names, 'time'], [*table.units, 's'], numbers)


def _of_topics(names: list[str]) -> list[str]:
    """Return the names of columns, those of one topic as `<joint>.position`."""
    found = [_OF_TOPIC.fullmatch(name) for name in names]
    short = [f'{x[1]}.{x[2]}' if x else name for x, name in zip(found, names, strict=True)]
    if any(x and short.count(name) > 1 for x, name in zip(found, short, strict=True)):
        return names  # of several topics: --columns names one
    return short
