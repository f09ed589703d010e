"""Tables of numbers in text, as people and programs write them, also compressed.

The header is the line above the first lines of numbers; a line of units may be between. Columns
are separated by semicolons, tabs, commas or spaces; with semicolons or tabs a number may have a
decimal comma. A name may end with its unit in brackets.
"""

import bz2
import gzip
import lzma
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time
from pathlib import Path

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_tools.readers.column_names import unnamed
from arm_tools.readers.echoed import echoed
from arm_tools.readers.text_fields import joined, separator, split, unfolded
from arm_tools.readers.units import UNITS, name_and_unit

TEXTS = '.csv', '.tsv', '.txt', '.dat'
# No number, also as C++ writes it on Windows: 1.#QNAN, -nan(ind).
_MISSING = re.compile(
    r'|-|n/?a|#n/a|null|none|[-+]?nan(\(\w*\))?|[-+]?1\.#(qnan|snan|ind|inf)\d*(e[-+]?\d+)?',
    re.IGNORECASE,
)
# Columns of arrays: what is before the number, which number, and its index; a list of names.
_PLACED = re.compile(r'(.*?)(name|position|velocity|effort)[._]?\[?(\d+)\]?')
_LISTED = re.compile(r"'([^']+)'")
_OF_ROW, _EACH = ('joint', 'joint_name', 'name'), ('position', 'velocity', 'effort', 'command')
_NUMBER = re.compile(r'\s*[-+]?[\d.,]+(e[-+]?\d+)?\s*', re.IGNORECASE)
_THOUSANDS = re.compile(r'[-+]?[1-9]\d{0,2},\d{3}')
_MINUTES = re.compile(r'(\d+):([0-5]?\d(\.\d+)?)')  # and seconds; Python takes these for hours
_MOST = 1 << 30  # bytes of text, of which a compressed file may have a thousand times its size
_FEW = 0.01  # share of damaged rows beyond which the file is not what it seems
_SORTED = 0.75  # groups of rows over rows, of a table that is sorted by joint
_ALIKE = 3  # lines of numbers with which the rows begin, or fewer if there are fewer
_NEXT = 20  # lines among which these are
_NEAR, _STEP = 10.0, 0.05  # a first state is nearer to the next than so many steps and [rad],
_MOSTLY = 0.8  # in this share of the columns
_BEGIN = 100  # bytes that show the encoding
_COMMENTS = '#', '%'
_MINUS = chr(0x2212)  # the minus sign of typography


def _zstd(file: Path, mode: str) -> object:
    import zstandard  # comes with mcap

    return zstandard.open(file, mode)


_OPEN: dict[str, Callable[..., object]] = {
    '.gz': gzip.open,
    '.bz2': bz2.open,
    '.xz': lzma.open,
    '.zst': _zstd,
}
_PACKED = '.zip', '.7z', '.lz4', '.rar', '.tar', '.tgz'


def kind_of(file: Path) -> str:
    """Return the suffix that says how a file is read: '.csv' of both a.csv and a.csv.gz.

    Raises:
        ArmError: compressed in a way that is not read.
    """
    packed = file.suffix.lower() in _OPEN
    kind = (file.with_suffix('') if packed else file).suffix.lower()
    if (packed and kind not in TEXTS) or file.suffix.lower() in _PACKED:
        readable = ', '.join(f'.csv{suffix}' for suffix in _OPEN)
        raise ArmError(f'{file.suffix} is not read here, but {readable}: decompress the file')
    return kind


@dataclass(frozen=True)
class TextTable:
    """The text of a table.

    Attributes:
        names: of the columns, without units.
        units: of the columns; '': not stated.
        lines: those below the header, by number in the file.
        between: separator of columns; None: spaces.
        header: whether the file has one; if not, its columns are counted.
    """

    names: list[str]
    units: list[str]
    lines: list[tuple[int, str]]
    between: str | None
    header: bool = True

    def numbers(self, wanted: Sequence[int]) -> tuple[Array, list[str]]:
        """Return columns (m, k) by index, NaN where a number is missing, and lines on the rows.

        Raises:
            ArmError: a text in place of a number, rows of another length, or no row.
        """
        rows, short, headers = [], [], 0
        header = [x.strip().casefold() for x in self.names]
        for number, row in self.rows():
            if [name_and_unit(x)[0].casefold() for x in row[: len(header)]] == header:
                headers += 1
                continue
            try:
                _check_length(row, len(header))
                rows.append([self._number(row[k], k) for k in wanted])
            except ArmError as error:
                short.append((number, str(error)))
        if short and (len(short) > 1 or short[0][0] != self.lines[-1][0]):
            first, why = short[0]
            if len(short) > _FEW * len(rows):
                raise ArmError(f'line {first}: {why}; so in {len(short)} lines')
        if not rows:
            raise ArmError(f'line {short[0][0]}: {short[0][1]}' if short else 'has no rows')
        said = [f'rows: {headers} more headers, not read'] if headers else []
        if short:
            first, why = short[0]
            said.append(f'rows: {len(short)} damaged, not read; the first, line {first}: {why}')
        return np.array(rows, dtype=float), said

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the fields of each line that is no comment, and its number."""
        for number, line in self.lines:
            if not line.startswith(_COMMENTS):
                yield number, split(line, self.between)

    def _number(self, text: str, column: int) -> float:
        text = text.strip()
        if _MISSING.fullmatch(text):
            return np.nan
        if self.between == ',' and _THOUSANDS.fullmatch(text):
            raise ArmError(
                f'{text!r} in column {self.names[column]!r} has a decimal comma, or is a thousand '
                'times larger: write it without a comma'
            )
        if self.between != ',' or text.count(',') == 1:
            text = text.replace(',', '.')
        try:
            return float(text)
        except ValueError:
            pass
        moment = _moment(text)
        if moment is None:
            name = self.names[column]
            raise ArmError(
                f'{text!r} in column {name!r} is no number, and no time as 2026-11-28 12:00:00.5'
            )
        return moment


def _moment(text: str) -> float | None:
    """Return a date and time, since 1970, or a time of day [s]; None: the text is neither."""
    if parts := _MINUTES.fullmatch(text):
        return 60.0 * float(parts[1]) + float(parts[2])
    for read in (datetime.fromisoformat, _german, _time_of_day):
        try:
            moment = read(text)
        except ValueError:
            continue
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return None


def _time_of_day(text: str) -> datetime:
    return datetime.combine(datetime(1970, 1, 1), time.fromisoformat(text), UTC)


def _german(text: str) -> datetime:
    day, month, rest = text.split('.', 2)
    year, _, of_day = rest.partition(' ')
    return datetime.fromisoformat(f'{year}-{month:0>2}-{day:0>2} {of_day}')


def _check_length(row: list[str], length: int) -> None:
    if len(row) < length or any(x.strip() for x in row[length:]):
        raise ArmError(
            f'has {len(row)} fields, the header {length} (decimal commas need semicolons or tabs '
            'between columns; a column of row numbers needs a name)'
        )


def text_table(file: Path) -> TextTable:
    """Return the table of a text file, also a compressed one.

    Raises:
        ArmError: the file has neither a header nor numbers.
    """
    every = unfolded(_text(file).replace(_MINUS, '-')).splitlines()
    lines = [(k, line) for k, line in enumerate(every, 1) if line.strip()]
    for index, (_, line) in enumerate(lines):
        again = lines[index - 1][1] if index else ''  # the header, maybe above each few rows
        if _begins([x for x in lines[index : index + _NEXT] if x[1] != again]):
            return _wide(_of_names(_below(lines[:index], lines[index:], separator(line))))
    full = [(k, _fields(x)) for k, x in lines if not x.startswith(_COMMENTS)]
    if len(full) > _ALIKE and len(full[-1][1]) == len(full[-2][1]):
        number, fields = full[-1]
        raise ArmError(
            f'has no rows of numbers: line {number} is {", ".join(fields)[:60]!r}; each number '
            'needs a column of its own, without a unit'
        )
    if lines and not lines[-1][1].startswith(_COMMENTS):
        head, between = lines[-1][1], separator(lines[-1][1])
        names, units = zip(*map(name_and_unit, split(head, between)), strict=True)
        return TextTable(list(names), list(units), [], between)
    raise ArmError('has no header with names of columns, and no rows')


def _below(
    above: list[tuple[int, str]], lines: list[tuple[int, str]], between: str | None
) -> TextTable:
    """Return the table with its header among the lines above."""
    count = len(split(lines[0][1], between))
    if not above:
        if names := echoed([(k, split(x, between)) for k, x in lines]):
            return TextTable(names, [''] * count, lines, between)
        rows = _without_numbers(lines, between)
        return TextTable(unnamed(count), [''] * count, rows, between, header=False)
    heads = []  # lines with as many fields as the rows, in a comment or not
    for _, line in above:
        fields = split(line.lstrip('#% '), between or separator(line))
        heads.append((line.startswith(_COMMENTS), [name_and_unit(x) for x in fields]))
    heads = [head for head in heads if len(head[1]) == count] or heads
    last = heads[-1][1]
    if len(heads) > 1 and len(heads[-2][1]) == len(last) and _are_units([x for x, _ in last]):
        names = [x for x, _ in heads[-2][1]]
        return _with_units(names, [x.strip('[]() ') for x, _ in last], lines, between)
    last = next((head for of_comment, head in heads[::-1] if not of_comment), last)
    return TextTable([x for x, _ in last], [x for _, x in last], lines, between)


def _without_numbers(lines: list[tuple[int, str]], between: str | None) -> list[tuple[int, str]]:
    """Return the lines without a first one that counts the columns, as pandas writes it.

    A state that counts as well is as near to the next one as this is to the one after.
    """
    counted = [x.strip() for x in split(lines[0][1], between) if x.strip()]
    start = int(counted[0]) if counted[0] in ('0', '1') else -1
    if len(counted) < 3 or counted != [str(start + k) for k in range(len(counted))]:
        return lines
    try:
        few = np.array([split(x, between) for _, x in lines[:_ALIKE]], dtype=float)
    except ValueError:
        return lines[1:]
    first, *steps = np.abs(np.diff(few, axis=0))
    near = [first <= _NEAR * step + _STEP for step in steps]
    return lines if near and np.mean(near) > _MOSTLY else lines[1:]


def _with_units(
    names: list[str], units: list[str], lines: list[tuple[int, str]], between: str | None
) -> TextTable:
    """Return the table with the units of a line; unknown ones stay in the names of the columns."""
    known = [x if x.casefold() in UNITS else '' for x in units]
    pairs = zip(names, units, known, strict=True)
    names = [f'{name} [{unit}]' if unit and not x else name for name, unit, x in pairs]
    return TextTable(names, known, lines, between)


def _of_names(table: TextTable) -> TextTable:
    """Return the table with the names of joints that its rows have, as those of ROS's echo.

    `name0` or `name_0` is the name of the joint whose position is `position0` or `position_0`;
    `name` is a list of all, or of one joint, of which each row is one.
    """
    if not table.lines or not any(_PLACED.fullmatch(x) for x in table.names):
        return table
    first = split(table.lines[0][1], table.between)
    theirs = {
        f'{place[1]}{place[3]}': text.strip()
        for name, text in zip(table.names, first, strict=False)
        if (place := _PLACED.fullmatch(name)) and place[2] == 'name'
    }
    listed = next((text for name, text in zip(table.names, first, strict=False)
                   if name.casefold() == 'name' and _LISTED.findall(text)), '')  # fmt: skip
    theirs |= {str(k): name for k, name in enumerate(_LISTED.findall(listed))}
    places = [_PLACED.fullmatch(name) for name in table.names]
    names = [
        f'{theirs[key]}.{place[2]}'
        if place and place[2] != 'name' and (key := f'{place[1]}{place[3]}') in theirs
        else name
        for name, place in zip(table.names, places, strict=True)
    ]
    return replace(table, names=names)


def _wide(table: TextTable) -> TextTable:
    """Return a table with a row for each joint as one with a row for each time.

    Raises:
        ArmError: its rows are sorted by joint.
    """
    names = [x.casefold() for x in table.names]
    key = next((names.index(x) for x in _OF_ROW if x in names), -1)
    values = [k for k, x in enumerate(names) if x in _EACH]
    rows = [(n, row) for n, row in table.rows() if len(row) >= len(names)] if key >= 0 else []
    if not values or not rows or _LISTED.findall(rows[0][1][key]):
        return table
    groups: list[tuple[int, dict[str, list[str]]]] = []
    for number, row in rows:
        if not groups or row[key] in groups[-1][1]:
            groups.append((number, {}))
        groups[-1][1][row[key]] = row
    joints = list(dict.fromkeys(row[key] for _, row in rows))
    if len(joints) > 1 and len(groups) > _SORTED * len(rows):
        raise ArmError('has a row for each joint, sorted by joint: sort the rows by their time')
    others = [k for k in range(len(names)) if k not in values and k != key]
    of_joints = [(joint, k) for joint in joints for k in values]
    lines = []
    for number, group in groups:
        first = next(iter(group.values()))
        fields = [group[joint][k] if joint in group else '' for joint, k in of_joints]
        lines.append((number, joined([*(first[k] for k in others), *fields])))
    return TextTable(
        [*(table.names[k] for k in others), *(f'{joint}.{names[k]}' for joint, k in of_joints)],
        [*(table.units[k] for k in others), *(table.units[k] for _, k in of_joints)], lines, '\t',
    )  # fmt: skip


def _are_units(texts: list[str]) -> bool:
    """Return whether a line is one of units, of which most are known, and others twice."""
    others = [x for x in texts if x and x.strip('[]() ').casefold() not in UNITS]
    return all(others.count(x) > 1 for x in others) and len(others) < len(texts)


def _begins(lines: list[tuple[int, str]]) -> bool:
    """Return whether the first of these lines is one of numbers, and the next ones too.

    A setting above the header, as `rate;100;;`, has no such lines below.
    """
    rows = [line for _, line in lines[:_ALIKE] if not line.startswith(_COMMENTS)]
    if not rows or rows[0] != lines[0][1] or not _numeric(first := _fields(rows[0])):
        return False
    return all(_numeric(each) or len(each) < len(first) for each in map(_fields, rows[1:]))


def _fields(line: str) -> list[str]:
    return split(line, separator(line))


def _numeric(fields: list[str]) -> bool:
    """Return whether more fields are numbers than texts."""
    numbers = sum(bool(_NUMBER.fullmatch(x)) for x in fields)
    missing = sum(bool(_MISSING.fullmatch(x.strip())) for x in fields)
    return numbers > len(fields) - numbers - missing


def _text(file: Path) -> str:
    with _OPEN.get(file.suffix.lower(), open)(file, 'rb') as opened:
        data: bytes = opened.read(_MOST + 1)
    if len(data) > _MOST:
        raise ArmError(f'has more than {_MOST >> 20} MiB of text: split it, or write .parquet')
    if data[:2] in (b'\xff\xfe', b'\xfe\xff') and data[2:4] != b'\0\0':
        return data.decode('utf-16')
    if b'\0' in data[:_BEGIN]:
        if data[:_BEGIN:2].count(0) or data[1:_BEGIN:2].strip(b'\0'):
            raise ArmError('is no text, or in another encoding: save it as CSV in UTF-8')
        return data.decode('utf-16-le')
    try:
        return data.decode('utf-8-sig')
    except UnicodeDecodeError:
        return data.decode('latin-1')
