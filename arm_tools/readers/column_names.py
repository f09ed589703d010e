"""The names that a table has for the numbers of an arm: of the option `--columns`, or guessed."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from arm_dynamics.checks import ArmError

QUANTITIES = 'position', 'effort', 'command', 'voltage'
STAMPS = ('sec', 'nanosec'), ('secs', 'nsecs'), ('sec', 'nsec')  # of a stamp of ROS 2, ROS 1
_PLACE = re.compile(r'\{(\d+|joint)\}')  # where a name has the joint: counted, or its name
_HOW = '{1} counts joints from 1, {0} from 0, {joint} is the name'
# What names of columns are called in logs; of several the first that is not of another quantity.
_WORDS = {
    'time': re.compile(r'time|zeit|stamp|clock|date|^t\b|^sec'),
    'position': re.compile(r'^q|pos|angle|axis|achse|theta|joint|_q|\bq'),
    'effort': re.compile(r'tau|tor?q|effort|force|curr|moment|load|^i\b|^i[_{\[]|_i\b'),
    'command': re.compile(r'cmd|command|target|desired|setpoint|ref|_d\b|q_?d\{'),
    'voltage': re.compile(r'volt|^u\b|^u[_{]'),
}
_OTHER = re.compile(r'vel|speed|dq|qd|acc|temp|ext|tcp|quality')
_KINDS = {'angle': 'position', 'length': 'position', 'torque': 'effort', 'force': 'effort'}


_RATE = re.compile(r'([1-9]\d*(?:\.\d+)?) ?hz', re.IGNORECASE)  # in place of a name of times
_PARTS = re.compile(r',\s*(?=[\w.]+\s*=)')  # between NAME=COLUMN and the next one


def named_columns(option: str, joints: Sequence[str]) -> dict[str, str]:
    """Return a table's names by those of this package: `time`, `<joint>.position` and so on.

    Raises:
        ArmError: the option is not `NAME=COLUMN,NAME=COLUMN`, or gives two things one place.
    """
    of_one_joint = [f'{j}.{x}' for j in joints for x in QUANTITIES]
    columns: dict[str, str] = {}
    for name, column in _pairs(option):
        if not column or name not in ('time', *QUANTITIES, *of_one_joint):
            part = f'{name}={column}' if column else name
            raise ArmError(
                f'--columns {part!r}: it must be NAME=COLUMN with NAME one of time, '
                f'{", ".join(QUANTITIES)}, or of one joint, as {of_one_joint[0]}'
            )
        columns |= _of_joints(name, column, joints) if name in QUANTITIES else {name: column}
    names = [name for name, _ in _pairs(option)]
    for name in names:
        if names.count(name) > 1:
            raise ArmError(f'--columns gives {name} twice: write one')
    of = {x: {columns.get(f'{joint}.{x}') for joint in joints} for x in ('position', 'effort')}
    for both in sorted(filter(None, of['position'] & of['effort'])):
        raise ArmError(f'--columns: {both!r} is position and effort: give one of them another')
    return columns


def _pairs(option: str) -> list[tuple[str, str]]:
    """Return the names of this package in `--columns`, and the file's; '' where one is missing."""
    parts = filter(None, _PARTS.split(option.strip(' ,')))
    pairs = (part.partition('=') for part in parts)
    return [(name.strip(), column.strip()) for name, _, column in pairs]


def _of_joints(name: str, column: str, joints: Sequence[str]) -> dict[str, str]:
    """Return the names of all joints' columns of a quantity."""
    if len(joints) > 1 and not _PLACE.search(column):
        raise ArmError(f'--columns {name}={column}: which joint? {_HOW}')
    return {f'{joint}.{name}': _with_joint(column, joint, k) for k, joint in enumerate(joints)}


def _with_joint(name: str, joint: str, k: int) -> str:
    """Return a name with the k-th joint in its places."""
    return _PLACE.sub(lambda x: joint if x[1] == 'joint' else str(int(x[1]) + k), name)


def names_of_joints(name: str, joints: Sequence[str]) -> list[str]:
    """Return what a name with a place for the joint stands for, or the name itself."""
    if not _PLACE.search(name):
        return [name]
    return list(_of_joints('', name, joints).values())


def rate_in(time: str) -> float:
    """Return the rows per second [Hz] that stand in place of a name of times; 0: it is a name."""
    found = _RATE.fullmatch(time)
    return float(found[1]) if found else 0.0


def array_names(option: str) -> dict[str, str]:
    """Return the names of a file's arrays by quantity."""
    names = dict(_pairs(option))
    if not names.keys() <= {'time', *QUANTITIES} or not all(names.values()):
        raise ArmError(f'--columns {option!r}: of arrays it is time=T,position=Q,effort=E')
    return names


def joint_names_in(option: str, joints: Sequence[str]) -> list[str]:
    """Return what messages or datasets call the joints, which have names instead of columns.

    Raises:
        ArmError: the option names more than positions.
    """
    names = named_columns(option, joints)
    if not all(x.endswith('.position') for x in names):
        raise ArmError(
            f'--columns {option!r}: messages have no columns but names of joints: '
            'position=left_{joint}'
        )
    return [names.get(f'{x}.position', x) for x in joints]


def renaming(option: str) -> Callable[[str], str]:
    """Return what gives a joint's name in messages as the arm has it, of an arm of any joints.

    Raises:
        ArmError: the option is neither `position=left_{joint}` nor `elbow.position=q3`.
    """
    alone, around = dict[str, str](), list[re.Pattern[str]]()
    for name, theirs in _pairs(option):
        before, place, after = theirs.partition('{joint}')
        if name == 'position' and place:
            around.append(re.compile(f'{re.escape(before)}(.+){re.escape(after)}'))
        elif name.endswith('.position') and theirs:
            alone[theirs] = name.removesuffix('.position')
        else:
            raise ArmError(
                f'--columns {option!r}: of messages it must be position=left_{{joint}}, or of one '
                'joint, as elbow.position=q3'
            )

    def name_of(theirs: str) -> str:
        found = (x.fullmatch(theirs) for x in around)
        return alone.get(theirs) or next((x[1] for x in found if x), theirs)

    return name_of


def of_fewer(joints: Sequence[str], recorded: Iterable[str]) -> str:
    """Return what to write where some of the joints are recorded, as without fingers; else ''."""
    known = set(recorded)
    own = [x for x in joints if x in known]
    if not 0 < len(own) < len(joints):
        return ''
    return f"--robot 'NAME joints:={','.join(own)}', NAME as before, holds the other joints still"


def renamed(joints: Sequence[str], names: Iterable[str]) -> str:
    """Return what to write where joints have names with one beginning or end, or number; else ''.

    Joints that no name counts, as fingers, stand still.
    """
    known, found = set(names), []
    for name in sorted(known):
        before, own, after = name.partition(joints[0])
        if own and known.issuperset(f'{before}{x}{after}' for x in joints):
            found.append(f"--columns 'position={before}{{joint}}{after}'")
    counted = [x for x in joints if _uncounted(x) == _uncounted(joints[0])]
    counted = counted if len(counted) > 1 else list(joints)  # no number in their names
    fewer = ''
    if not found and len(counted) > 1 and known.isdisjoint(joints):
        fewer = of_fewer(joints, counted)
        for name, all_of in _series(sorted(known), counted):
            if not any(_uncounted(x) == _uncounted(all_of[0]) for x in known.difference(all_of)):
                found.append(f"--columns 'position={name}'")
    read = f'; {", or ".join(found)} reads these'
    return f'{read}; {fewer}'.rstrip('; ') if found else ''


def _uncounted(name: str) -> str:
    return re.sub(r'\d+', '', name)


def unnamed(count: int) -> list[str]:
    """Return what the columns of a table without a header are called."""
    return [f'c{k + 1}' for k in range(count)]


def of_unnamed(count: int, joints: int, kind: str) -> str:
    """Return the option for a table without a header, of which blocks are of all joints."""
    first, blocks = ('c1', (count - 1) // joints) if (count - 1) % joints == 0 else ('125Hz', 0)
    if count % joints == 0 and not blocks:
        blocks = count // joints
    start = 2 if first == 'c1' else 1
    begins = [start + joints * k for k in range(blocks)]
    called = f'its columns are called c1 to c{count}'
    if blocks < 2:
        said = f"--columns 'time=c1,position=c{{2}},{kind}=c{{?}}'"
        return f'{called}: {said} names them, with a number in place of the ? ({_HOW})'
    own = begins[min(2, blocks - 1)]
    said = f'time={first},position=c{{{start}}},{kind}=c{{{own}}}'
    rate = '' if first == 'c1' else '; 125Hz is for the rate of its rows'
    return (
        f"{called}: --columns '{said}' reads them, if these are the right ones of the blocks of "
        f'{joints} that begin at {", ".join(f"c{k}" for k in begins)}{rate}'
    )


def filled_in(
    columns: Sequence[str],
    units: Mapping[str, str],
    joints: Sequence[str],
    kind: str,
    whole: Sequence[str] = (),
) -> str:
    """Return the option with the columns that are probably meant.

    Args:
        columns: names in the table.
        units: quantity by name of a column, where its header has a unit.
        joints: of the arm.
        kind: the quantity that is needed with the positions.
        whole: names of arrays of all joints.
    """
    series = [*((x, list[str]()) for x in whole), *_series(columns, joints)]
    times = ['time'] if 'time' in columns else []
    times += [x for x in columns if units.get(x) == 'time' or _has_word('time', x)]
    parts = {'time': times[0] if times else '?'}
    for quantity in ('position', kind):
        good = [x for x, of in series if _is(quantity, x, [units.get(y, '') for y in of])]
        parts[quantity] = next((x for x in good if x not in parts.values()), '?')
    said = ','.join(f'{name}={x}' for name, x in parts.items())
    rate = '; time=125Hz, of rows at 125 Hz without times' if parts['time'] == '?' else ''
    if '?' in parts.values():
        return f"--columns '{said}' names them, with a name in place of each ? ({_HOW}{rate})"
    return f"--columns '{said}' reads them, if these are the right ones ({_HOW})"


def _series(columns: Sequence[str], joints: Sequence[str]) -> Iterable[tuple[str, list[str]]]:
    """Yield names with a place for the joint of which the table has all columns, and these."""
    seen, known = set[str](), set(columns)
    for column in columns:
        spots = [(x.start(), x.end()) for x in re.finditer(r'\d+', column)]
        tried = [f'{column[:a]}{place}{column[b:]}' for a, b in spots for place in ('{1}', '{0}')]
        tried += [column.replace(j, '{joint}') for j in joints if j in column]
        for name in tried:
            own = list(_of_joints('', name, joints).values())
            if name not in seen and known.issuperset(own):
                seen.add(name)
                yield name, own


def _has_word(quantity: str, name: str) -> bool:
    """Return whether a name, or what it has behind its groups, has a word of a quantity."""
    plain = name.casefold()
    return any(_WORDS[quantity].search(x) for x in (plain, plain.rsplit('/')[-1]))


def _is(quantity: str, name: str, units: Sequence[str]) -> bool:
    """Return whether a name is probably one of a quantity."""
    stated = {_KINDS.get(x, x) for x in units if x}
    plain = name.casefold()
    wanted = {'effort': {'effort', 'current'}, 'position': {'position'}}.get(quantity, stated)
    if stated and not stated <= wanted:
        return False
    others = [_OTHER, *(_WORDS[x] for x in ('effort', 'command') if x != quantity)]
    words = _has_word(quantity, name) or stated == {quantity}
    return words and not any(x.search(plain) for x in others)
