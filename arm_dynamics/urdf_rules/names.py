"""Names what parts of a URDF call by names that the URDF does not have."""

from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from xml.etree.ElementTree import Element

from arm_dynamics.checks import line_on, some_of
from arm_dynamics.urdf_rules import UrdfRule

_VERSIONS = '1.0', '1.1', '1.2'


class NamesRule(UrdfRule):
    """What a URDF refers to is there."""

    order = 23.0

    def notes(self, tree: Element, model: object, tip_frame: str | None) -> Iterator[str]:
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
        for owner in ('transmission', 'ros2_control/transmission'):
            named = [x.get('name', '') for x in tree.iterfind(f'{owner}/joint')]
            yield from _strange('<transmission>', named, joints, 'joint')
        named = [x.get('reference', '') for x in tree.iterfind('gazebo')]
        yield from _strange('<gazebo reference="">', named, joints + links, 'link or joint')
        for block in tree.iterfind('ros2_control'):
            twice = repeated(x.get('name', '') for x in block.iterfind('joint'))
            yield from line_on(twice, '<ros2_control> has {} more than once: remove one')
        twice = repeated(x.get('name', '') for x in tree.iterfind('ros2_control'))
        if twice:
            yield f'{len(tree.findall("ros2_control"))} <ros2_control> have the name {twice[0]!r}'


def _strange(where: str, names: list[str], known: list[str], what: str) -> Iterator[str]:
    strange = [name for name in dict.fromkeys(names) if name and name not in known]
    if strange:
        plain = {each.lower(): each for each in known}
        near = get_close_matches(strange[0].lower(), plain, 1)
        remedy = f'; did you mean {plain[near[0]]}?' if near else ''
        yield f'{where} names {some_of(strange)}, which is no {what} of the URDF{remedy}'


def repeated(names: Iterable[str]) -> list[str]:
    """Return the names that are there more than once."""
    return [name for name, count in Counter(names).items() if name and count > 1]
