"""Slips in an MJCF that MuJoCo takes as they are: units of angles, order of quaternions."""

import re
from collections.abc import Iterator
from contextlib import suppress

import numpy as np

from arm_dynamics.checks import Array

_COMMENT = re.compile('<!--.*?-->', re.DOTALL)
_VALUES = r'\b{}\s*=\s*["\']([^"\']*)'
_QUAT, _RANGE = (re.compile(_VALUES.format(x)) for x in ('quat', 'range'))
# Angles: of all numbers, or of the last one alone.
_ANGLES = {
    name: (re.compile(_VALUES.format(name)), first)
    for name, first in (('euler', 0), ('axisangle', 3), ('ref', 0), ('springref', 0))
}
_JOINT = re.compile(r'<joint\b([^<>]*)>')
_ONE_TURN = 6.35  # [rad]; beyond, degrees may be meant
_RADIANS = np.array([0.5, 1.0, 2.0]) * np.pi  # angles [rad] that nobody writes in degrees
_ROUNDING = 2e-3
_REMEDY = 'Then write <compiler angle="radian"/>'
_UNIT = 0.02  # difference of a quaternion's length from 1
_LONGEST = 2.5  # length of "1 1 1 1", and of no rotation
_FEW = 3  # quaternions, from which their order is seen


def slips(text: str) -> Iterator[str]:
    """Yield a line on each kind of slip in the texts of an MJCF and of what it includes."""
    text = _COMMENT.sub('', text)
    radians = re.search(r'\bangle\s*=\s*["\']radian', text)
    degrees = re.search('["\']degree["\']', text)
    hinges = ' '.join(x for x in _JOINT.findall(text) if not re.search('["\']slide["\']', x))
    for name, (pattern, first) in _ANGLES.items():
        turns = _texts(pattern, hinges if name.endswith('ref') else text)
        turns = [(x, numbers[first:]) for x, numbers in turns if numbers[first:].size]
        if radians and not degrees:
            if found := [x for x, numbers in turns if abs(numbers).max() > _ONE_TURN]:
                yield f'{name}="{found[0]}" is in radians; is it written in degrees?'
        elif not radians and (found := [x for x, numbers in turns if _is_radian(numbers)]):
            yield f'{name}="{found[0]}" is in degrees; is it written in radians? {_REMEDY}'
    ranges = _texts(_RANGE, hinges)
    if not radians and (found := [x for x, numbers in ranges if _is_radian(numbers)]):
        yield f'range="{found[0]}" is in degrees; is it written in radians? {_REMEDY}'
    if empty := [x for x, numbers in ranges if numbers.shape == (2,) and not numbers.any()]:
        yield (
            f'range="{empty[0]}" of {len(empty)} joints means no limit to MuJoCo: a body without '
            'a joint does not move'
        )
    yield from _quaternions(_texts(_QUAT, text))


def _texts(pattern: re.Pattern[str], text: str) -> list[tuple[str, Array]]:
    """Return what a pattern finds, with its numbers; without those that are none."""
    found = []
    for each in pattern.findall(text):
        with suppress(ValueError):
            numbers = np.array([float(word) for word in each.split()])
            if numbers.size and np.isfinite(numbers).all():
                found.append((each, numbers))
    return found


def _is_radian(numbers: Array) -> bool:
    return bool((abs(abs(numbers)[:, np.newaxis] - _RADIANS) < _ROUNDING).any())


def _quaternions(found: list[tuple[str, Array]]) -> Iterator[str]:
    """Yield lines on quaternions that are no rotation, or in the order of ROS."""
    found = [(text, numbers) for text, numbers in found if numbers.shape == (4,)]
    for text, numbers in found:
        length, sizes = float(np.linalg.norm(numbers)), abs(numbers[numbers != 0.0])
        alike = sizes.size and np.ptp(sizes) < 0.01 * sizes.max()  # "1 0 0 1", which is usual
        if abs(length - 1.0) > _UNIT and not (alike and length < _LONGEST):
            yield (
                f'quat="{text}" has the length {length:.4g}, and is scaled to 1: is it four '
                'numbers of a quaternion?'
            )
            break
    sizes = np.array([abs(numbers) for _, numbers in found]).reshape(-1, 4)
    last = sizes[:, 3] > sizes[:, :3].max(axis=1) + 1e-6
    if (
        len(sizes) >= _FEW
        and (sizes[:, 3] >= sizes.max(axis=1) - 1e-3).all()
        and 2 * last.sum() > len(last)
    ):
        yield (
            f'the last number of all {len(sizes)} quat="" is the largest, as in "{found[0][0]}": '
            'MuJoCo has w x y z; are they written as x y z w, as in ROS?'
        )
