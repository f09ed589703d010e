"""Arrays of .npz and .mat files as recordings."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_tools.recording.text_table import kind_of


def arrays_of(file: Path) -> dict[str, Any]:
    """Return the arrays of an .npz or .mat file."""
    if kind_of(file) == '.npz':
        with np.load(file) as archive:
            return {name: _numbers_in(archive, name) for name in archive.files}
    from scipy.io import loadmat

    try:
        loaded = loadmat(file, simplify_cells=True)
    except NotImplementedError:
        raise ArmError('is a .mat file of version 7.3: save it with -v7') from None
    arrays = {name: x for name, x in loaded.items() if not name.startswith('__')}
    only = next(iter(arrays.values())) if len(arrays) == 1 else None
    return only if isinstance(only, dict) else arrays


def _numbers_in(archive: Any, name: str) -> Any:
    """Return an array of an archive; None where it has objects, which are code of others."""
    try:
        return archive[name]
    except ValueError:
        return None


def samples_in(
    arrays: dict[str, Any], joints: Sequence[str], kind: str, other: str, named: dict[str, str]
) -> list[Array]:
    """Return times (m,), positions and numbers of a kind (m, n) of these joints.

    Args:
        arrays: of a file.
        joints: in the order that is wanted; `joint_names` is that of the file.
        kind, other: names of the numbers, the second where there is none of the first.
        named: names in the file by quantity, of `--columns`.

    Raises:
        ArmError: what is missing, or has another shape.
    """
    time, place = named.get('time', 't'), named.get('position', 'q')
    if arrays.get(time) is not None:
        arrays[time] = np.ravel(arrays[time])  # of MATLAB a column or a row
    rows = np.size(arrays.get(time, ()))
    name = named.get(kind) or (kind if kind in arrays else other or kind)
    columns = [
        (x.decode() if isinstance(x, bytes) else str(x)).strip()
        for x in np.ravel(arrays.get('joint_names', joints))
    ]
    for joint in joints:
        if columns.count(joint) != 1:
            raise ArmError(f'joint_names has {", ".join(columns)}; {joint!r} must be there once')
    shapes = {time: (rows,), place: (rows, len(columns)), name: (rows, len(columns))}
    found = [array_of(arrays, key, shape) for key, shape in shapes.items()]
    order = [columns.index(joint) for joint in joints]
    return [found[0], *(x[:, order] for x in found[1:])]


def array_of(arrays: dict[str, Any], name: str, shape: tuple[int, ...]) -> Array:
    """Return an array of a file, of a shape.

    Raises:
        ArmError: there is none, or it has another shape.
    """
    if name not in arrays:
        has, of = ', '.join(arrays) or 'nothing', f', with shape {shape}' if shape[0] else ''
        raise ArmError(
            f'has no {name!r}{of}; it has {has}; --columns '
            "'time=T,position=Q,effort=E' with its names in place of T, Q and E reads them"
        )
    if arrays[name] is None:
        raise ArmError(f'{name} has objects: save it as an array of numbers, dtype=float')
    kind = np.asarray(arrays[name]).dtype
    if kind == np.float16 or kind.kind not in 'fiuMmbUS':
        raise ArmError(f'{name} is an array of {kind}: save it as one of numbers, dtype=float')
    if kind.kind in 'mM':  # of moments
        return np.asarray(arrays[name]).astype(f'{kind.kind}8[ns]').astype(float) * 1e-9
    array = np.array(arrays[name], dtype=float)
    if array.shape != shape:
        remedy = f': save {name}.T' if array.shape == shape[::-1] else ''
        raise ArmError(f'{name} has shape {array.shape}; it must be {shape}{remedy}')
    return array
