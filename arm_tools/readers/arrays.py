"""The arrays of an arm's joints among those of a file."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from arm_dynamics.checks import ArmError, Array, some_of
from arm_tools.readers.column_names import filled_in, names_of_joints, rate_in

# Of a file, by name; None for one of objects, which are code.
Arrays = dict[str, Any]


def samples_in(
    arrays: Arrays, joints: Sequence[str], kind: str, other: str, named: dict[str, str]
) -> list[Array]:
    """Return times (m,), positions and numbers of a kind (m, n) of these joints.

    Args:
        arrays: of a file; those of joints may be (n, m), or one (m,) per joint.
        joints: in the order that is wanted; `joint_names` is that of the file.
        kind, other: names of the numbers, the second where there is none of the first.
        named: names in the file by quantity, of `--columns`.

    Raises:
        ArmError: what is missing, or has another shape.
    """
    time, place = named.get('time', 't'), named.get('position', 'q')
    name = named.get(kind) or (kind if kind in arrays else other or kind)
    if rate := rate_in(time):
        first = names_of_joints(place, joints)[0]
        times = np.arange(max(np.shape(arrays.get(first, ())), default=0)) / rate
    else:
        _check(arrays, [time], joints, kind)
        times = array_of(arrays, time, (np.size(arrays[time]),))
    return [times, *(numbers_in(arrays, x, len(times), joints, kind) for x in (place, name))]


def numbers_in(arrays: Arrays, name: str, count: int, joints: Sequence[str], kind: str) -> Array:
    """Return the numbers (m, n) of these joints that have a name, for `count` times.

    Raises:
        ArmError: as `samples_in`; `kind` is what the numbers are.
    """
    names = names_of_joints(name, joints)
    _check(arrays, names, joints, kind)
    if names != [name]:
        return np.column_stack([array_of(arrays, x, (count,)) for x in names])
    columns = _columns(arrays, joints)
    for joint in joints:
        if columns.count(joint) != 1:
            raise ArmError(f'joint_names has {", ".join(columns)}; {joint!r} must be there once')
    order = [columns.index(joint) for joint in joints]
    shape = np.shape(arrays[name])
    if len(shape) == 2 and count in shape and len(joints) not in shape and columns == [*joints]:
        raise ArmError(
            f'{name} has shape {shape}, and the arm {len(joints)} joints: give the file '
            "joint_names, the joints' names in the order of the columns"
        )
    return array_of(arrays, name, (count, len(columns)))[:, order]


def array_of(arrays: Arrays, name: str, shape: tuple[int, ...]) -> Array:
    """Return an array of a file, of a shape, or its transpose.

    Raises:
        ArmError: there is none, or it has another shape.
    """
    if arrays[name] is None:
        raise ArmError(f'{name} has objects: save it as an array of numbers, dtype=float')
    kind = np.asarray(arrays[name]).dtype
    if kind == np.float16 or kind.kind not in 'fiuMmbUS':
        raise ArmError(f'{name} is an array of {kind}: save it as one of numbers, dtype=float')
    array = as_numbers(np.asarray(arrays[name]))
    if array.size == max(array.shape, default=0) and 1 in (*shape[1:], len(shape)):
        array = np.reshape(array, (-1, *shape[1:]))  # of MATLAB a row or a column
    if array.shape != shape and array.shape == shape[::-1]:
        array = array.T
    if array.shape != shape:
        raise ArmError(f'{name} has shape {array.shape}; it must be {shape}')
    return array


def as_numbers(values: np.ndarray) -> Array:
    """Return an array of numbers, with moments and durations in seconds [s]."""
    if values.dtype.kind in 'mM':
        return values.astype(f'{values.dtype.kind}8[ns]').astype(float) * 1e-9
    return np.asarray(values, dtype=float)


def _columns(arrays: Arrays, joints: Sequence[str]) -> list[str]:
    """Return the joints of the columns of a file's arrays: `joints` where the file has no names.

    A message has them as `name`; elsewhere a text of this name is none of joints.
    """
    for key, listed in arrays.items():
        last = key.rsplit('/')[-1]
        if last == 'joint_names' and listed is None:
            raise ArmError(f'{key} has objects: save it as an array of texts, dtype=str')
        if last == 'joint_names' or (
            last == 'name' and not {*joints}.isdisjoint(np.ravel(listed))
        ):
            return _names_in(listed)
    return list(joints)


def _names_in(names: object) -> list[str]:
    """Return the joints' names, which may be repeated in each row."""
    rows = np.asarray(names)
    if rows.ndim > 1 and (rows != rows[0]).any():
        raise ArmError('joint names differ from row to row: write the joints in one order')
    found = rows[0] if rows.ndim > 1 and 1 not in rows.shape else np.ravel(rows)
    return [(x.decode() if isinstance(x, bytes) else str(x)).strip() for x in found]


def _check(arrays: Arrays, names: Sequence[str], joints: Sequence[str], kind: str) -> None:
    """Raise ArmError, with what to write, where a file lacks an array."""
    missing = next((x for x in names if x not in arrays), None)
    if missing is None:
        return
    shapes = {x: np.shape(array) for x, array in arrays.items() if array is not None}
    has = some_of([f'{x} {shapes.get(x, "of objects")}' for x in arrays]) or 'nothing'
    whole = [x for x, shape in shapes.items() if len(shape) == 2 and len(joints) in shape]
    rest = [x for x, shape in shapes.items() if np.prod(shape) == max(shape, default=0)]
    remedy = filled_in(rest, {}, joints, kind, whole)
    raise ArmError(f'has no {missing!r}; it has {has}; {remedy}')
