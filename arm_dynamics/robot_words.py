"""What was meant by a robot's name that names none."""

import os
import re
from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path

from arm_dynamics.checks import typed
from arm_dynamics.mesh_files import near_file
from arm_dynamics.packages import leads_out, packages_around

# What a robot's name may be followed by, NAME:=VALUE; other names are for its xacro.
OPTIONS = (
    'joints', 'tip_frame', 'xacro_args', 'inertia', 'density', 'total_mass', 'gripper',
    'gripper_frame', 'mjcf',
)  # fmt: skip


def near_option(word: str) -> str:
    """Return '; did you mean inertia:=?' of an option that is spelt or written otherwise."""
    name = re.split('[:=]', word)[0]
    known = {each.replace('_', ''): each for each in OPTIONS}
    near = get_close_matches(re.sub('[_-]', '', name).lower(), known, 1, 0.8)
    return f'; did you mean {known[near[0]]}:=?' if near else ''


def meant(robot: str, kind: str, names: Collection[str]) -> str:
    """Return why a name is no robot: the option it may have meant, or the nearest name."""
    path = Path(robot).expanduser()
    for word in robot.split()[1:]:
        if re.search('[:=]', word) and (near := near_option(word)):
            return f'{kind} {robot!r}: {word!r} is not name:=value{near}'
    if '://' in robot:
        return _at_address(robot)
    near = ''.join(f', nearest {name!r},' for name in get_close_matches(robot.lower(), names, n=1))
    what = 'is a folder' if os.path.isdir(path) else 'does not exist'
    here = f' ({str(path.absolute())!r} {what})' if path.suffix or '/' in robot else ''
    return (
        f'{kind} {robot!r} is neither a shipped {kind} ({", ".join(names)}){near} '
        f'nor the path of a URDF file, a xacro or an MJCF{here}, nor a model of '
        f'example-robot-data or robot_descriptions ({typed("pip install robot_descriptions")})'
    )


def _at_address(robot: str) -> str:
    """Return which part of package://NAME/PATH does not exist, and the nearest that does."""
    scheme, _, rest = robot.partition('://')
    name, _, inside = rest.partition('/')
    if scheme == 'package' and leads_out(rest):
        return f'robot {robot!r} leads out of its package; give a path'
    if scheme != 'package':
        return f'robot {robot!r} does not exist; give a path, or package://NAME/PATH'
    prefixes = filter(None, os.environ.get('AMENT_PREFIX_PATH', '').split(':'))
    known = {each.name: each for prefix in prefixes for each in Path(prefix, 'share').glob('*')}
    known |= packages_around(Path.cwd() / 'here')
    if name not in known:
        near = ''.join(f'; did you mean {x!r}?' for x in get_close_matches(name, known, 1))
        return f'robot {robot!r}: package {name!r} is not sourced: source its workspace{near}'
    file = known[name] / inside
    if os.path.isdir(file):
        return f'robot {robot!r} is the folder {str(file)!r}: name a file in it'
    near = near_file(file)
    return f'robot {robot!r}: {str(file)!r} does not exist' + f'; there is {near}' * bool(near)
