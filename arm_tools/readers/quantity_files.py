"""A folder with a table for each quantity, as of positions and of torques, as one table."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_tools.readers.column_names import unnamed
from arm_tools.readers.text_table import TEXTS, kind_of, text_table

# What names of files and of columns call a quantity.
_WORDS = {
    'time': 't time times timestamp timestamps',
    'position': 'q pos position positions ang angle angles',
    'velocity': 'v dq qd vel velocity velocities speed speeds',
    'acceleration': 'ddq qdd acc acceleration accelerations',
    'effort': 'tau torque torques effort efforts current currents curr',
}
_QUANTITY_OF = {word: quantity for quantity, words in _WORDS.items() for word in words.split()}
_LATE = 0.5  # of a step: times of two files so far apart are not the same


def quantity_files(folder: Path) -> dict[str, Path]:
    """Return the files of a folder by quantity; none unless one has positions and one efforts."""
    found: dict[str, Path] = {}
    files = sorted(folder.iterdir()) if folder.is_dir() else []
    for file in (x for x in files if x.is_file() and _is_read(x)):
        words = re.split(r'[\W_]+', file.name.split('.')[0].casefold())
        quantities = {_QUANTITY_OF[word] for word in words if word in _QUANTITY_OF}
        if len(quantities) != 1:
            continue
        (quantity,) = quantities
        if quantity in found:
            return {}
        found[quantity] = file
    return found if found.keys() >= {'position', 'effort'} else {}


def _is_read(file: Path) -> bool:
    try:
        return kind_of(file) in (*TEXTS, '.npy')
    except ArmError:  # compressed in another way
        return False


def columns_of(files: dict[str, Path]) -> tuple[list[str], list[str], Array, list[str]]:
    """Return names, units and numbers (m, k) of the columns of all files, and lines on the rows.

    A column is called `<name>.<quantity>`, that of the times `time`, as in the first file that
    has one.

    Raises:
        ArmError: the files have not the same rows, or damaged ones without times.
    """
    names, units, parts, lines = list[str](), list[str](), list[Array](), list[str]()
    for quantity, file in sorted(files.items(), key=lambda x: x[0] != 'time'):
        own, of_each, values, said = _read(file)
        lines += [f'{file.name}: {line}' for line in said]
        each = len(values) // len(parts[0]) if parts and values.shape[1] == 1 else 1
        if each > 1 and len(values) == each * len(parts[0]):
            values, own, of_each = values.reshape(-1, each), unnamed(each), [''] * each
            lines.append(f'{file.name}: read as {each} numbers for each time, one below another')
        named = [_named(name, quantity, len(own)) for name in own]
        if said and 'time' not in named:
            raise ArmError(
                f'{file.name}: {said[0]}; without times nothing shows which rows of the other '
                'files belong to its rows: delete the row in every file'
            )
        if parts and len(values) != len(parts[0]):
            raise ArmError(
                f'{file.name} has {len(values)} rows, and {files[next(iter(files))].name} '
                f'{len(parts[0])}: the files must have the same rows'
            )
        if 'time' in named and 'time' in names:
            k = named.index('time')
            _check_times(file, values[:, k], parts[0][:, names.index('time')])
            named.pop(k), of_each.pop(k)
            values = np.delete(values, k, axis=1)
        names += named
        units += of_each
        parts.append(values)
        parts = [np.hstack(parts)]
    return names, units, parts[0], lines


def _read(file: Path) -> tuple[list[str], list[str], Array, list[str]]:
    """Return names, units and numbers (m, k) of a file's columns, and lines on its rows."""
    if kind_of(file) == '.npy':
        values = np.load(file, allow_pickle=False).astype(float)
        values = values.reshape(len(values), -1)
        return unnamed(values.shape[1]), [''] * values.shape[1], values, []
    try:
        table = text_table(file)
        values, lines = table.numbers(range(len(table.names)))
    except ArmError as error:
        raise ArmError(f'{file.name}: {error}') from None
    return list(table.names), list(table.units), values, lines


def _named(name: str, quantity: str, count: int) -> str:
    """Return what a column of a file of a quantity is called."""
    words = re.split(r'[\W_]+', name.casefold())
    if words[-1] in _WORDS['time'].split() or (quantity == 'time' and count == 1):
        return 'time'
    same = [x for x in _WORDS[quantity].split() if re.search(rf'[\W_]{x}$', name.casefold())]
    own = name[: -len(max(same, key=len)) - 1] if same else name
    return f'{own.lstrip("- /")}.{quantity}'


def _check_times(file: Path, times: Array, others: Array) -> None:
    steps = np.abs(np.diff(others))
    apart = float(np.nanmax(np.abs(times - others)))
    if not apart <= _LATE * float(np.nanmedian(steps)):
        raise ArmError(
            f'{file.name}: its times are up to {apart:.3g} s from those of the other files: '
            'join the files by their times'
        )


def described(files: dict[str, Path]) -> str:
    """Return a line on the files."""
    parts: Sequence[str] = [f'{quantity} of {file.name}' for quantity, file in files.items()]
    return f'files: {", ".join(parts)}'
