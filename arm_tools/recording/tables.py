"""Tables of numbers as recordings: CSV, parquet, .npz, .mat, and the column names of their tools.

CSV and parquet have columns `time` [s], `<joint>.position`, `<joint>.effort`, or those of a tool:

- RTDE of Universal Robots (its Real-Time Data Exchange guide): `timestamp` [s], `actual_q_0`
  [rad], `actual_current_0` [A], in the order of the joints; commas or spaces between;
- libfranka's `logToCSV`: `time` [ms], `state.q[0]` [rad], `state.tau_J[0]` [N.m, with gravity].

An .npz or .mat file has the arrays `t` (m,), `q` (m, n), `effort` (m, n).
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arm_dynamics.checks import ArmError, Array

TABLES = '.csv', '.parquet', '.npz', '.mat'
# Of a tool: what it is, column of times and their unit [s], and columns of each number.
_TOOLS = (
    (
        'RTDE of Universal Robots: efforts are motor currents in A',
        'timestamp', 1.0, {'position': 'actual_q_{}', 'effort': 'actual_current_{}'},
    ),
    (
        'log of libfranka: efforts are tau_J, torques in N.m with gravity',
        'time', 1e-3, {'position': 'state.q[{}]', 'effort': 'state.tau_J[{}]',
                       'command': 'state.q_d[{}]'},
    ),
)  # fmt: skip


def table_of(
    file: Path, joint_names: Sequence[str], kind: str, other: str = ''
) -> tuple[list[Array], list[str]]:
    """Return times (m,), positions and numbers of a kind, each (m, n), and lines on the file.

    In an .npz or .mat file without `kind` its numbers are called `other`.

    Raises:
        ArmError: what is missing in the file.
    """
    if file.suffix in ('.npz', '.mat'):
        return _of_arrays(arrays_of(file), len(joint_names), kind, other), []
    header = _header(file)
    for what, time, unit, names in _TOOLS:
        if time in header and kind in names and names['position'].format(0) in header:
            count = range(len(joint_names))
            wanted = [names[x].format(i) for x in ('position', kind) for i in count]
            values = columns_of(file, [time, *wanted])
            return [unit * values[:, 0], *np.split(values[:, 1:], 2, axis=1)], [f'file: {what}']
    wanted = ['time', *(f'{j}.{x}' for x in ('position', kind) for j in joint_names)]
    values = columns_of(file, wanted)
    return [values[:, 0], *np.split(values[:, 1:], 2, axis=1)], []


def arrays_of(file: Path) -> dict[str, Any]:
    """Return the arrays of an .npz or .mat file."""
    if file.suffix == '.npz':
        with np.load(file) as archive:
            return dict(archive)
    from scipy.io import loadmat

    return {name: x for name, x in loadmat(file).items() if not name.startswith('__')}


def _of_arrays(arrays: dict[str, Any], n: int, kind: str, other: str) -> list[Array]:
    if 't' in arrays:
        arrays['t'] = np.ravel(arrays['t'])  # of MATLAB a column or a row
    rows = len(arrays['t']) if 't' in arrays else 0
    name = kind if kind in arrays else other or kind
    shapes = {'t': (rows,), 'q': (rows, n), name: (rows, n)}
    return [array_of(arrays, key, shape) for key, shape in shapes.items()]


def array_of(arrays: dict[str, Any], name: str, shape: tuple[int, ...]) -> Array:
    """Return an array of a file, of a shape.

    Raises:
        ArmError: there is none, or it has another shape.
    """
    if name not in arrays:
        raise ArmError(f'has no {name!r}, with shape {shape}')
    array = np.array(arrays[name], dtype=float)
    if array.shape != shape:
        raise ArmError(f'{name} has shape {array.shape}; it must be {shape}')
    return array


def _header(file: Path) -> list[str]:
    """Return the names of the columns."""
    if file.suffix == '.parquet':
        from pyarrow import parquet

        return list(parquet.read_schema(file).names)
    with file.open() as stream:
        line = stream.readline()
    return [name.strip() for name in (line.split(',') if ',' in line else line.split())]


def columns_of(file: Path, wanted: Sequence[str]) -> Array:
    """Return columns (m, k) of a CSV or parquet file, by name.

    Raises:
        ArmError: there is no such column, or no row.
    """
    header = _header(file)
    for name in wanted:
        if name not in header:
            raise ArmError(f'has no column {name!r}; it needs {", ".join(wanted)}')
    if file.suffix == '.parquet':
        from pyarrow import parquet

        table = parquet.read_table(file, columns=list(wanted))
        values = np.column_stack([table.column(name).to_numpy() for name in wanted])
        if not len(values):
            raise ArmError('has no rows')
        return np.asarray(values, dtype=float)
    with file.open() as stream:
        between = ',' if ',' in stream.readline() else None
        rows = any(line.strip() for line in stream)
    if not rows:
        raise ArmError('has no rows')
    columns = [header.index(name) for name in wanted]
    return np.loadtxt(file, delimiter=between, skiprows=1, usecols=columns, ndmin=2)
