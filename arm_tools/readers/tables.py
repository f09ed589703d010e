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
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from arm_dynamics.checks import ArmError, Array, some_of
from arm_lab.experiments.parquet import pyarrow
from arm_tools.readers.array_files import ARRAYS, arrays_of, has_arrays
from arm_tools.readers.arrays import as_numbers, samples_in
from arm_tools.readers.column_names import (
    QUANTITIES,
    STAMPS,
    array_names,
    filled_in,
    named_columns,
    of_fewer,
    of_unnamed,
    rate_in,
)
from arm_tools.readers.findings import Currents, Doubt
from arm_tools.readers.quantity_files import columns_of, described, quantity_files
from arm_tools.readers.read_options import AS_FOUND, ReadAs
from arm_tools.readers.row_times import check_order, in_seconds, lines_on_order
from arm_tools.readers.text_table import TEXTS, kind_of, text_table
from arm_tools.readers.units import DEGREE, UNITS, name_and_unit, without_brackets

TABLES = *TEXTS, '.parquet', *ARRAYS
# Quantities of units of a joint's position and effort, by whether the joint is prismatic.
_UNITS_OF_JOINT = {False: ('angle', 'torque'), True: ('length', 'force')}
_OF_TOPIC = re.compile(r'.*/([^/]+)/(position|velocity|effort)$')


class _Layout(NamedTuple):
    """Columns of a tool.

    Attributes:
        finding: what the numbers are; empty: nothing is known of them.
        time: name of the column of times.
        second: unit of the times in seconds; 0: not known.
        names: of the columns of each quantity; {0} is a joint's name, {1} its number from 0.
    """

    finding: str
    time: str
    second: float
    names: dict[str, str]


_OWN = _Layout('', 'time', 0.0, {x: f'{{0}}.{x}' for x in QUANTITIES})
_LAYOUTS = (
    *(_OWN._replace(time=x) for x in ('time', '__time', 'timestamp', 't')),
    _Layout(
        'file: RTDE of Universal Robots: efforts are torques in N.m, computed from currents',
        'timestamp', 1.0, {'position': 'actual_q_{1}', 'effort': 'actual_current_as_torque_{1}'},
    ),
    _Layout(
        Currents('file: RTDE of Universal Robots: efforts are motor currents in A'),
        'timestamp', 1.0, {'position': 'actual_q_{1}', 'effort': 'actual_current_{1}'},
    ),
    _Layout(
        'file: log of libfranka: efforts are tau_J, torques in N.m with gravity',
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
        found = self._positions(name) or self._positions(name_and_unit(name)[0])
        if len(found) > 1:
            same = ', '.join(dict.fromkeys(self.names[k] for k in found))
            raise ArmError(f'has {len(found)} columns {same!r}: delete or rename the others')
        if not found and not self.header:
            raise ArmError(f'has no header: {remedy}')
        if not found:
            needs = f'it needs {", ".join(needed)}; it has {some_of(self.names)}'
            raise ArmError(f'has no column {name!r}; {needs}; {remedy}')
        if name.casefold() == without_brackets(wrong := self.names[found[0]]).casefold():
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
        bare = enumerate(map(without_brackets, self.names))
        return found or [k for k, x in bare if x.casefold() == wanted]


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
        ArmError: what is missing in the file, or wrong in its times or units.
    """
    if has_arrays(file):
        names = array_names(how.columns)
        times, *numbers = samples_in(arrays_of(file), joint_names, kind, other, names)
        check_order(times, numbers[0])
        times, lines = in_seconds(times, how.time_unit)
        return [times, *numbers], [*lines, *lines_on_order(times)]
    table, named = _opened(file), named_columns(how.columns, joint_names)
    if rate := rate_in(named.get('time', '')):
        table, named = _at_rate(table, rate), named | {'time': 'time'}
    layout = _layout_of(table, joint_names, kind, named)
    own, theirs = ([x.time, *_wanted(x, joint_names, 'position', kind)] for x in (_OWN, layout))
    wanted = [named.get(x, y) for x, y in zip(own, theirs, strict=True)]
    remedy = table.remedy(joint_names, kind)
    columns = [table.position(name, wanted, remedy) for name in wanted]
    values, damaged = table.numbers(columns)
    units, n = [table.units[k] for k in columns], len(joint_names)
    quantities = ['time', *n * ['position'], *n * [kind]]
    are_slides = n * [None] if slides is None else slides
    prismatic = [None, *are_slides, *are_slides]
    each = zip(wanted, units, quantities, prismatic, strict=True)
    factors = np.array([_factor(*x) for x in each])
    times, q, numbers_of_kind = np.split(values, [1, n + 1], axis=1)
    times, q = times[:, 0], q * factors[1 : n + 1]
    check_order(times, q)
    lines = [layout.finding] if layout.finding else []
    lines += _lines_on_units(units[1:], how.units)
    if how.time_unit == 'auto' and (units[0] or layout.second):
        times = times * (factors[0] if units[0] else layout.second)
    else:
        times, of_unit = in_seconds(times, how.time_unit)
        lines += of_unit
    lines += [*map(Doubt, damaged), *lines_on_order(times)]
    return [times, q, numbers_of_kind * factors[n + 1 :]], lines


def _layout_of(
    table: _Table, joints: Sequence[str], kind: str, named: Mapping[str, str]
) -> _Layout:
    """Return the layout of a table, if possible one that has numbers of this kind."""
    if f'{joints[0]}.position' in named:
        return _OWN
    fitting = [x for x in _LAYOUTS if _fits(x, table, joints, kind)]
    with_kind = (x for x in fitting if table.has(x.names[kind].format(joints[0], 0)))
    return next(with_kind, [*fitting, _OWN][0])


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


def _factor(name: str, unit: str, quantity: str, prismatic: bool | None) -> float:
    """Return the factor from a column's unit to that of this package.

    Raises:
        ArmError: the quantity of such a joint has no such unit; `prismatic` is None if unknown.
    """
    if not unit:
        return 1.0
    of_unit, factor = UNITS[unit.casefold()]
    kinds = (False, True) if prismatic is None else (bool(prismatic),)
    positions, loads = zip(*(_UNITS_OF_JOINT[x] for x in kinds), strict=True)
    allowed = {
        'position': positions, 'effort': (*loads, 'current'), 'command': (*positions, *loads),
    }.get(quantity, (quantity,))  # fmt: skip
    if of_unit not in allowed:
        joint = ''
        if prismatic is not None:
            joint = f' of a {"prismatic" if prismatic else "revolute"} joint'
        good = ', '.join(x for x, (each, _) in UNITS.items() if each in allowed)
        raise ArmError(
            f'column {name!r} is in {unit}, which is no unit of {quantity}{joint} ({good}): '
            "correct the header, the joint's type in the URDF, or --columns"
        )
    return factor


def _lines_on_units(units: Sequence[str], wanted: str) -> list[str]:
    """Return lines on units of a header that are converted, and on currents.

    Raises:
        ArmError: `wanted` are degrees, and the header has them, too.
    """
    stated = {x: UNITS[x.casefold()] for x in units if x}
    if wanted == 'deg' and any(factor == DEGREE for _, factor in stated.values()):
        raise ArmError('its header says degrees, and it is read so: omit --units deg')
    converted = [
        f'{x} (as degrees, 360 a turn)' if x.casefold() == 'grad' else x
        for x, (_, factor) in stated.items()
        if factor != 1.0
    ]
    lines = []
    if converted:
        lines.append(f'file: read in {", ".join(converted)}, as the units of the header')
    if currents := [x for x, (quantity, _) in stated.items() if quantity == 'current']:
        said = f'file: efforts are currents in {currents[0]}, by the units of the header'
        lines.append(Currents(said))
    return lines


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
    bare, units = zip(*map(name_and_unit, names), strict=True)

    def numbers(wanted: Sequence[int]) -> tuple[Array, list[str]]:
        table = parquet.read_table(file, columns=[names[k] for k in wanted])
        columns = [as_numbers(table.column(names[k]).to_numpy()) for k in wanted]
        if not len(columns[0]):
            raise ArmError('has no rows')
        return np.column_stack(columns), []

    return _with_times(_Table(_of_topics(list(bare)), list(units), numbers))


def _with_times(table: _Table) -> _Table:
    """Return a table without times with those of its only stamp: `sec` and `nanosec` as in ROS."""
    names = [name.casefold() for name in table.names]
    if any(table.has(layout.time) for layout in _LAYOUTS):
        return table
    stamps = []
    for k, name in enumerate(names):
        for of_seconds, of_nanoseconds in STAMPS:
            partner = name.removesuffix(of_seconds) + of_nanoseconds
            if name.endswith(of_seconds) and partner in names:
                stamps.append((k, names.index(partner)))
    if len(stamps) != 1:
        return table
    ((seconds, fraction),) = stamps

    def numbers(wanted: Sequence[int]) -> tuple[Array, list[str]]:
        columns = [k if k < len(names) else seconds for k in wanted]
        values, lines = table.numbers([*columns, fraction])
        values, nanoseconds = values[:, :-1], values[:, -1:]
        values[:, np.array(wanted) == len(names)] += 1e-9 * nanoseconds
        return values, lines

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
