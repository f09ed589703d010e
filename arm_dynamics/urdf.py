"""Reading URDFs: what a model of an arm needs, and a refusal of what it cannot represent."""

from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from arm_dynamics.checks import ArmError

_MOVING_JOINTS = ('revolute', 'continuous', 'prismatic')
_NUMBERS = {'xyz', 'rpy', 'value', 'lower', 'upper', 'effort', 'velocity', 'damping', 'friction'}
_NUMBERS |= {'ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz'}


def read_urdf(path_or_xml: str | Path) -> tuple[str, ElementTree.Element]:
    """Return the text of a URDF file, or the text given, and its tree.

    A joint, a link or a number that no arm has is refused.
    """
    text = str(path_or_xml)
    if text.lstrip().startswith('<'):
        return text, _parse(text)
    path = Path(text).expanduser()
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ArmError(f'cannot read URDF {str(path)!r}: {error}') from None
    try:
        return text, _parse(text)
    except ArmError as error:
        raise ArmError(f'{error} (in {str(path)!r})') from None


def last_link(tree: ElementTree.Element) -> str:
    """Return the last link of the chain with the most joints (the last one listed, if equal)."""
    parent = {_end(joint, 'child'): _end(joint, 'parent') for joint in tree.findall('joint')}

    def depth(link: str | None) -> int:
        count = 0
        while link in parent:
            link, count = parent[link], count + 1
        return count

    names = [link.get('name', '') for link in tree.findall('link')]
    return max(reversed(names), key=depth)


def _end(joint: ElementTree.Element, which: str) -> str | None:
    element = joint.find(which)
    return None if element is None else element.get('link')


def _parse(text: str) -> ElementTree.Element:
    try:
        tree = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ArmError(f'not a URDF: {error}') from None
    if tree.tag != 'robot':
        raise ArmError(f'not a URDF: its root element is <{tree.tag}>, not <robot>')
    links = {link.get('name') for link in tree.findall('link')}
    joints = tree.findall('joint')
    for joint in joints:
        _check_joint(joint, links)
    roots = links - {_end(joint, 'child') for joint in joints}
    if len(roots) != 1:
        raise ArmError(f'a URDF has one root link, this one has {len(roots)}')
    if all(joint.get('type') == 'fixed' for joint in joints):
        name = tree.get('name', 'robot')
        raise ArmError(f'URDF {name!r} has no revolute, continuous or prismatic joint')
    for owner in (*joints, *tree.findall('link')):
        for element in owner if owner.tag == 'joint' else owner.findall('inertial/*'):
            _check_numbers(owner, element)
    return tree


def _check_joint(joint: ElementTree.Element, links: set[str | None]) -> None:
    name, kind = joint.get('name'), joint.get('type')
    if kind not in (*_MOVING_JOINTS, 'fixed'):
        raise ArmError(
            f'joint {name!r} has type {kind!r}; supported: {", ".join(_MOVING_JOINTS)}, fixed'
        )
    for end in ('parent', 'child'):
        if _end(joint, end) not in links:
            raise ArmError(f'joint {name!r}: its {end} link {_end(joint, end)!r} does not exist')
    if kind in ('revolute', 'prismatic') and joint.find('limit') is None:
        raise ArmError(f'joint {name!r} is {kind} and has no <limit>')


def _check_numbers(owner: ElementTree.Element, element: ElementTree.Element) -> None:
    """Raise ArmError unless the numbers of a joint's or a link's element are usable."""
    for name in _NUMBERS.intersection(element.keys()):
        text = element.get(name, '')
        where = f'{owner.tag} {owner.get("name")!r}: <{element.tag} {name}="{text}">'
        try:
            values = [float(word) for word in text.split()]
        except ValueError:
            values = []
        if not values or not np.isfinite(values).all():
            raise ArmError(f'{where} must be finite numbers')
        if name in ('xyz', 'rpy') and len(values) != 3:
            raise ArmError(f'{where} must be three numbers')
        if element.tag == 'mass' and values[0] < 0.0:
            raise ArmError(f'{where} must not be negative')
        moves = owner.get('type') != 'fixed'  # the axis of a fixed joint means nothing
        if element.tag == 'axis' and moves and not any(values):
            raise ArmError(f'{where} must not be zero')
