"""Arrays by name of .npz, .npy, .mat, .json, .jsonl and HDF5 files.

What is inside a struct, an object or a group has the names of both: `log/q`. A list of objects, as
one per time, is an array per name.
"""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from arm_dynamics.checks import ArmError, typed
from arm_dynamics.optional import optional_module
from arm_lab.experiments.parquet import pyarrow
from arm_tools.readers.arrays import Arrays
from arm_tools.readers.column_names import STAMPS
from arm_tools.readers.text_table import kind_of

_NUMPY = "np.savez('x.npz', t=t, q=q, effort=effort)"
_MOST_AXES = 2  # of numbers of joints; pictures have more
_OF_A_JOINT = re.compile(r'position|actual_q|state\.q')  # in names of columns of one joint
_OF_MATLAB = '#'  # how names begin that MATLAB writes for itself


def arrays_of(file: Path) -> Arrays:
    """Return the arrays of a file of `ARRAYS`; None for those with objects, which are code.

    Raises:
        ArmError: the file is damaged, or of a kind that needs a package which is not installed.
    """
    return _with_stamps(_READERS[kind_of(file)](file))


def has_arrays(file: Path) -> bool:
    """Return whether a file is read by `arrays_of`: of `ARRAYS`, or parquet with lists in it."""
    if kind_of(file) != '.parquet':
        return kind_of(file) in ARRAYS
    _, parquet = pyarrow('a parquet file')
    fields = list(parquet.read_schema(file))
    flat = [x.name for x in fields if not x.type.num_fields]
    return len(flat) < len(fields) and not any(map(_OF_A_JOINT.search, flat))


def _with_stamps(arrays: Arrays) -> Arrays:
    """Return arrays with the times of stamps of ROS in place of their two parts."""
    for name in list(arrays):
        for of_seconds, of_nanoseconds in STAMPS:
            stem = name.removesuffix(of_seconds)
            rest = f'{stem}{of_nanoseconds}'
            if stem != name and arrays.get(name) is not None and arrays.get(rest) is not None:
                times = arrays.pop(name) + 1e-9 * arrays.pop(rest)
                arrays[stem.rstrip('/._') or 'time'] = times
    return arrays


def _of_npz(file: Path) -> Arrays:
    with np.load(file) as archive:
        return {name: _numbers_in(archive, name) for name in archive.files}


def _numbers_in(archive: np.lib.npyio.NpzFile, name: str) -> object:
    try:
        return archive[name]
    except ValueError:
        return None


def _of_npy(file: Path) -> Arrays:
    try:
        array = np.load(file)
    except ValueError:
        raise ArmError(f'has objects, which are code: save arrays with {_NUMPY}') from None
    if array.dtype.names is None:
        raise ArmError(f'is one array {array.shape} without names: save its parts with {_NUMPY}')
    return {name: array[name] for name in array.dtype.names}


def _of_mat(file: Path) -> Arrays:
    from scipy.io import loadmat

    try:
        loaded = loadmat(file, simplify_cells=True)
    except NotImplementedError:  # version 7.3
        return _of_hdf5(file, ', or save it with -v7')
    arrays = {name: x for name, x in loaded.items() if not name.startswith('__')}
    only = next(iter(arrays.values())) if len(arrays) == 1 else None
    return _flat(only if isinstance(only, dict) else arrays)


def _of_hdf5(file: Path, otherwise: str = '') -> Arrays:
    install = typed("pip install 'h5py>=3.11'")
    lacking = f'is an HDF5 file: {install} reads it{otherwise}'
    h5py = optional_module('h5py', lacking)
    found: Arrays = {}

    def take(name: str, item: Any) -> None:
        is_array = isinstance(item, h5py.Dataset) and not name.startswith(_OF_MATLAB)
        if is_array and item.ndim <= _MOST_AXES:
            found[name] = item.asstr()[()] if h5py.check_string_dtype(item.dtype) else item[()]

    with h5py.File(file) as opened:
        opened.visititems(take)
    groups = {name.partition('/')[0] for name in found}
    if len(groups) == 1 and groups.isdisjoint(found):
        return {name.partition('/')[2]: array for name, array in found.items()}
    return found


def _of_parquet(file: Path) -> Arrays:
    _, parquet = pyarrow('a parquet file')
    kept = [x.name for x in parquet.read_schema(file) if 'binary' not in str(x.type)]  # pictures
    table = parquet.read_table(file, columns=kept)
    while any(str(x.type).startswith('struct') for x in table.schema):
        table = table.flatten()
    columns = zip(table.column_names, table.columns, strict=True)
    return {
        name: _array(x.to_pylist()) if x.type.num_fields else x.to_numpy() for name, x in columns
    }


def _of_json(file: Path) -> Arrays:
    try:
        return _of_value(json.loads(file.read_text()))
    except RecursionError:
        raise ArmError('is nested too deeply') from None


def _of_jsonl(file: Path) -> Arrays:
    rows = []
    for number, line in enumerate(file.read_text().splitlines(), 1):
        try:
            rows += [json.loads(line)] if line.strip() else []
        except ValueError as error:
            raise ArmError(f'line {number} is no JSON ({error}): delete the line') from None
    return _of_value(rows)


def _of_value(value: Any) -> Arrays:
    """Return the arrays of an object, or of a list of objects."""
    if isinstance(value, dict) and len(value) == 1:
        (only,) = value.values()
        value = only if _rows(only) or isinstance(only, dict) else value
    if _rows(value):
        rows = [_flat(row) for row in value]
        return {name: _array([row.get(name) for row in rows]) for name in rows[0]}
    if not isinstance(value, dict):
        raise ArmError('has no names: it must be {"t": [...], "q": [[...]], "effort": [[...]]}')
    return {name: _array(x) for name, x in _flat(value).items()}


def _rows(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(x, dict) for x in value)


def _array(values: object) -> object:
    """Return an array of numbers, with NaN for null, or of texts; None if they are neither."""
    for kind in (float, str):
        try:
            return np.array(values, dtype=kind)
        except (OverflowError, TypeError, ValueError):
            continue
    return None


def _flat(values: Mapping[str, object], before: str = '') -> Arrays:
    found: Arrays = {}
    for name, value in values.items():
        found |= (
            _flat(value, f'{before}{name}/')
            if isinstance(value, dict)
            else {f'{before}{name}': value}
        )
    return found


_READERS: dict[str, Callable[[Path], Arrays]] = {
    '.npz': _of_npz,
    '.npy': _of_npy,
    '.mat': _of_mat,
    '.json': _of_json,
    '.jsonl': _of_jsonl,
    '.h5': _of_hdf5,
    '.hdf5': _of_hdf5,
}
ARRAYS = tuple(_READERS)
_READERS['.parquet'] = _of_parquet
