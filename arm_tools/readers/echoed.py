"""Names of the columns that `ros2 topic echo --csv` writes of a JointState, without a header."""

import re
from collections.abc import Sequence
from itertools import takewhile

from arm_dynamics.checks import ArmError

_STAMP = re.compile(r'\d{1,10}'), re.compile(r'\d{1,9}')  # s, ns
_TEXT = re.compile(r'[^\W\d].*')
_NUMBERS = {
    1: ('position',),
    2: ('position', 'effort_or_v'),
    3: ('position', 'velocity', 'effort'),
}


def echoed(rows: Sequence[tuple[int, list[str]]]) -> list[str]:
    """Return the names of the columns of rows, each with its line; none: they are of another kind.

    A row is `sec, nanosec, frame_id`, the names of the joints, and one to three numbers of each.

    Raises:
        ArmError: a row names other joints than the first one.
    """
    joints = _joints(rows[0][1])
    count, rest = divmod(len(rows[0][1]) - 3 - len(joints), max(len(joints), 1))
    if not joints or rest or count not in _NUMBERS:
        return []
    for line, fields in rows:
        if (own := _joints(fields)) and own != joints:
            raise ArmError(
                f'line {line} names {", ".join(own)}, and line {rows[0][0]} {", ".join(joints)}: '
                'write the lines of each publisher into a file of its own'
            )
    return [
        *('sec', 'nanosec', 'frame_id'),
        *(f'name_{k}' for k in range(len(joints))),
        *(f'{joint}.{kind}' for kind in _NUMBERS[count] for joint in joints),
    ]


def _joints(fields: list[str]) -> list[str]:
    """Return the names in a row, none where it does not begin as a JointState."""
    is_state = len(fields) > 4 and all(
        x.fullmatch(y.strip()) for x, y in zip(_STAMP, fields, strict=False)
    )
    return [x.strip() for x in takewhile(_TEXT.match, fields[3:])] if is_state else []
