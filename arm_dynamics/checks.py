"""Array type, errors and input checks that all folders share."""

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from functools import cache
from math import isfinite
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
T = TypeVar('T')


class ArmError(ValueError):
    """Bad input or an impossible request; the message names it, its value and what is allowed."""


def unit(quantity: str, prismatic: bool) -> str:
    """Return the unit of a joint's position, velocity, acceleration, jerk or torque."""
    if quantity.startswith('torque'):
        return 'N' if prismatic else 'N.m'
    per = {'position': '', 'velocity': '/s', 'acceleration': '/s^2', 'jerk': '/s^3'}[quantity]
    return ('m' if prismatic else 'rad') + per


def units(both: str, prismatic: NDArray[np.bool_]) -> str:
    """Return of a text such as 'rad | m' what joints have: if all turn, or all slide, one unit."""
    mixed = prismatic.any() and not prismatic.all()
    return both if mixed else both.split(' | ')[-int(prismatic[0])]


class JointLimitError(ArmError):
    """A joint quantity outside its limits.

    Example: joint 'elbow_joint': position 3.31 rad is above its upper limit 3.14 rad (point 4).

    Attributes:
        joint: name of the joint.
        value: offending value, in the unit of the quantity.
        lower, upper: allowed interval (either may be infinite).
    """

    def __init__(
        self,
        joint: str,
        quantity: str,
        value: float,
        lower: float,
        upper: float,
        prismatic: bool,
        where: str = '',
    ):
        side, bound = ('above its upper', upper) if value > upper else ('below its lower', lower)
        of = unit(quantity, prismatic)
        digits = 6 if abs(value - bound) > 1e-5 * abs(bound) else 10
        place = f' ({where})' if where else ''
        super().__init__(
            f'joint {joint!r}: {quantity} {value:.{digits}g} {of} is {side} limit'
            f' {bound:.{digits}g} {of}{place}'
        )
        self.joint, self.value, self.lower, self.upper = joint, value, lower, upper


def entries(*arrays: ArrayLike) -> Iterator[tuple[tuple[int, ...], tuple[float, ...]]]:
    """Yield each index of arrays that are broadcast together, and their numbers at the index."""
    together = np.broadcast(*(np.asarray(each) for each in arrays))
    yield from zip(np.ndindex(together.shape), together, strict=True)


def per_joint(
    name: str,
    values: ArrayLike,
    joint_names: Sequence[str],
    minimum: float = -np.inf,
    exclusive: bool = False,
) -> Array:
    """Return `values` as a read-only (n,) array, one number per joint.

    Args:
        name: of the quantity, for errors.
        values: one number for all joints, or one per joint.
        joint_names: names of the n joints.
        minimum: the least allowed number.
        exclusive: the minimum itself is not allowed.

    Raises:
        ArmError: wrong count, or a number that is not finite or below the minimum.
    """
    array = np.atleast_1d(np.asarray(values, dtype=float))
    n = len(joint_names)
    if array.shape not in ((1,), (n,)):
        raise ArmError(f'{name} has {array.size} values; allowed: 1 or one per joint ({n})')
    array = np.array(np.broadcast_to(array, (n,)))
    low = array <= minimum if exclusive else array < minimum
    bad = np.flatnonzero(~np.isfinite(array) | low)
    if bad.size:
        joint, allowed = bad[0], bounds(minimum, exclusive=exclusive) or 'finite'
        raise ArmError(
            f'{name} of joint {joint_names[joint]!r} is {array[joint]:g}; it must be {allowed}'
        )
    array.flags.writeable = False
    return array


def one_line(error: BaseException) -> str:
    """Return the message of an error of any library in one line; the error's type without one."""
    return ' '.join(str(error).split()) or type(error).__name__


@cache
def say_once(text: str) -> None:
    """Write a line for the user, once in a process."""
    print(f'arm_sim: {text}', file=sys.stderr, flush=True)


def typed(line: str) -> str:
    """Return a command line as its user types it: by `./ws`, if this process came by it."""
    return './ws ' * ('ARM_SIM_WS' in os.environ) + line


def text_of(file: Path, refusal: str = 'cannot be read', most: int = 10_000_000) -> str:
    """Return the text of a file.

    Raises:
        ArmError: begins with `refusal`. The file cannot be read, is a pipe or a device, which may
            never end, has more than `most` bytes, or is not UTF-8 text.
    """
    try:
        if file.exists() and not (file.is_file() or file.is_dir()):
            raise OSError('not a regular file')
        with file.open('rb') as stream:
            raw = stream.read(most + 1)
        if len(raw) > most:
            raise OSError(f'more than {most} bytes')
        return raw.decode()
    except UnicodeDecodeError as error:
        from arm_dynamics.file_kinds import binary

        raise ArmError(f'{refusal}: {binary(raw) or f"{error}; save it as UTF-8"}') from None
    except (OSError, ValueError) as error:  # a name with a zero byte
        raise ArmError(f'{refusal}: {error}') from None


def one_of(name: str, value: str, allowed: Sequence[str]) -> None:
    """Raise ArmError unless `value` is one of `allowed`; of many the nearest comes first."""
    if value not in allowed:
        close = get_close_matches(str(value).lower(), allowed, 1) if len(allowed) > 6 else []
        near = f'nearest known: {close[0]!r}; ' if close else ''
        names = ', '.join(each or "''" for each in allowed)
        raise ArmError(f'{name} is {value!r}; {near}allowed: {names}')


def some_of(names: Sequence[str]) -> str:
    """Return the first twelve names, and the number of the others."""
    return ', '.join(names[:12]) + f' and {len(names) - 12} more' * (len(names) > 12)


def line_on(names: Iterable[str], text: str, *values: object) -> Iterator[str]:
    """Yield a text with these names, each once, in its first {}, `values` in the others.

    Without names there is nothing to yield.
    """
    if found := list(dict.fromkeys(names)):
        yield text.format(some_of(found), *values)


def unknown(what: str, name: str, known: Iterable[str]) -> ArmError:
    """Return the error for an unknown name, with the nearest known one, or what is known."""
    names = {each.lower(): each for each in sorted(known)}
    near = ', '.join(repr(names[x]) for x in get_close_matches(name.lower(), names, 1, 0.4))
    others = f'nearest known: {near}' if near else f'known: {some_of([*names.values()])}'
    return ArmError(f'unknown {what} {name!r}; {others}')


def in_range(
    name: str, value: float, lower: float, upper: float = np.inf, exclusive: bool = False
) -> None:
    """Raise ArmError unless `value` is finite and in [lower, upper]; `exclusive`: > lower."""
    if np.isfinite(value) and lower <= value <= upper and not (exclusive and value == lower):
        return
    raise ArmError(f'{name} is {value:g}; it must be finite, {bounds(lower, upper, exclusive)}')


def bounds(lower: float, upper: float = np.inf, exclusive: bool = False) -> str:
    """Return bounds as text, '>= 0 and <= 1'; empty where there are none."""
    low = [f'{">" if exclusive else ">="} {lower:g}'] if np.isfinite(lower) else []
    high = [f'<= {upper:g}'] if np.isfinite(upper) else []
    return ' and '.join(low + high)


def finite(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Return a copy of `values`; raises ArmError unless they are finite and of this shape."""
    if type(values) is not np.ndarray or values.dtype != float:
        from arm_dynamics.real_numbers import why_not_real

        if why := why_not_real(values):
            raise ArmError(f'{name} is {why}; it must be {shape} real numbers')
    array = np.array(values, dtype=float)
    if array.shape != shape:
        raise ArmError(f'{name} has shape {array.shape}; it must be {shape}')
    flat = array.ravel()  # its square is quick; it overflows only beyond 1e150
    for index in () if isfinite(flat.dot(flat)) else np.argwhere(~np.isfinite(array)):
        where = f'{name}[{", ".join(map(str, index))}]'
        raise ArmError(f'{where} is {array[tuple(index)]}; it must be finite')
    return array


def read_only(array: Array) -> Array:
    """Return a view of an array that cannot be made writable; it shows later changes."""
    return np.asarray(memoryview(array).toreadonly())


def freeze(holder: object) -> None:
    """Make the arrays that are public attributes of an object read-only."""
    for name, value in vars(holder).items():
        if isinstance(value, np.ndarray) and not name.startswith('_'):
            vars(holder)[name] = read_only(value)


def all_finite(values: Array, zeros: Array) -> bool:
    """Return whether all numbers (n,) are finite, given an array of zeros (n,).

    Infinity and NaN times zero are NaN, whose truth value is true. This takes a quarter of the
    time of `np.isfinite(..).all()`.
    """
    return not values.dot(zeros)
