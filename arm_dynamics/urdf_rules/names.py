"""Names what other parts of a URDF and its SRDF call by names that the URDF does not have."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from arm_dynamics.checks import ArmError, line_on, some_of
from arm_dynamics.tool_link import srdf_of
from arm_dynamics.urdf_elements import moves, read_tree
from arm_dynamics.urdf_rules import UrdfRule

_VERSIONS = '1.0', '1.1', '1.2'
_ROUNDING, _DEGREES = 1e-3, 6.3  # beyond a limit; of an angle that may be in degrees [rad]


class NamesRule(UrdfRule):
    """What a URDF and its SRDF refer to is there."""

    order = 23.0

    def notes(self, tree: Element, model: Any, tip_frame: str | None) -> Iterator[str]:
        """Yield, one line each, names of nothing, double names, and an unknown version."""
        version = tree.get('version', _VERSIONS[0])
        if version not in _VERSIONS:
            yield (
                f'version="{version}" of <robot>, which other programs refuse: known are '
                f'{", ".join(_VERSIONS)}'
            )
        if not tree.get('name'):
            yield '<robot> has no name="", without which other programs refuse it'
        joints = [x.get('name', '') for x in tree.iterfind('joint')]
        links = [x.get('name', '') for x in tree.iterfind('link')]
        for owner, known, what in (
            ('transmission', joints, 'joint'),
            ('ros2_control/transmission', joints, 'joint'),
        ):
            named = [x.get('name', '') for x in tree.iterfind(f'{owner}/joint')]
            yield from _strange(f'<{owner.rpartition("/")[2]}>', named, known, what)
        named = [x.get('reference', '') for x in tree.iterfind('gazebo')]
        yield from _strange('<gazebo reference="">', named, joints + links, 'link or joint')
        for block in tree.iterfind('ros2_control'):
            twice = _twice(x.get('name', '') for x in block.iterfind('joint'))
            yield from line_on(twice, '<ros2_control> has {} more than once: remove one')
        twice = _twice(x.get('name', '') for x in tree.iterfind('ros2_control'))
        if twice:
            yield f'{len(tree.findall("ros2_control"))} <ros2_control> have the name {twice[0]!r}'
        file = srdf_of(Path(model.file)) if model.file else None
        if file is not None:
            with suppress(ArmError):  # which another rule names
                yield from _of_srdf(read_tree(file, ''), tree)


def _strange(where: str, names: list[str], known: list[str], what: str) -> Iterator[str]:
    strange = [name for name in dict.fromkeys(names) if name and name not in known]
    if strange:
        plain = {each.lower(): each for each in known}
        near = get_close_matches(strange[0].lower(), plain, 1)
        remedy = f'; did you mean {plain[near[0]]}?' if near else ''
        yield f'{where} names {some_of(strange)}, which is no {what} of the URDF{remedy}'


def _twice(names: Iterator[str]) -> list[str]:
    return [name for name, count in Counter(names).items() if name and count > 1]


def _of_srdf(srdf: Element, tree: Element) -> Iterator[str]:
    twice = _twice(x.get('name', '') for x in srdf.iterfind('group'))
    yield from line_on(twice, 'the SRDF has more than one <group> {}: write one')
    groups = {x.get('name') for x in srdf.iterfind('group')}
    lost = [x.get('parent_group', '') for x in srdf.iterfind('end_effector')]
    lost = [name for name in lost if name and name not in groups]
    yield from line_on(lost, 'the SRDF names a parent_group that it does not have: {}')
    joints = {x.get('name', ''): x for x in tree.iterfind('joint') if moves(x)}
    wrong, beyond, angle = [], [], False
    for state in srdf.iterfind('group_state'):
        for each in state.iterfind('joint'):
            name, text = each.get('name', ''), each.get('value', '')
            where = f'{name} in {state.get("name", "")}'
            limit = joints[name].find('limit') if name in joints else None
            try:
                values = [float(word) for word in text.split()]
            except ValueError:
                values = []
            if not values and name in joints:
                wrong.append(where)
            elif values and limit is not None and joints[name].get('type') != 'continuous':
                low, high = (float(limit.get(key, '0')) for key in ('lower', 'upper'))
                if not low - _ROUNDING <= values[0] <= high + _ROUNDING:
                    beyond.append(where)
                    angle |= abs(values[0]) > _DEGREES and joints[name].get('type') == 'revolute'
    yield from line_on(wrong, '<group_state> of the SRDF: {} has a value that is no number')
    remedy = '; is it in degrees?' if angle else ': correct value or <limit>'
    yield from line_on(beyond, f'<group_state> of the SRDF: {{}} is beyond <limit>{remedy}')
