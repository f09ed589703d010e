"""Reads a URDF: its text, its tree, and Pinocchio's model of its links and joints."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import pinocchio as pin

from arm_dynamics.checks import ArmError, Array, one_line, text_of
from arm_dynamics.urdf_elements import number_text
from arm_dynamics.urdf_numbers import INERTIAL, JOINT
from arm_dynamics.urdf_rules import rules


def read_urdf(path_or_xml: str | Path) -> tuple[str, Element, pin.Model]:
    """Return the text of a URDF, as URDF 1.0, its tree, and Pinocchio's model.

    Raises:
        ArmError: a file that cannot be read, or a joint, a link or a number that no arm has.
    """
    text = str(path_or_xml)
    if text.lstrip().startswith('<'):
        return _parse(text)
    path = Path(text).expanduser()
    text = text_of(path, f'cannot read URDF {str(path)!r}')
    try:
        return _parse(text)
    except ArmError as error:
        raise ArmError(f'{error} (in {str(path)!r})') from None


def _parse(text: str) -> tuple[str, Element, pin.Model]:
    text = re.sub(r'[^\S\t\r\n]', ' ', text)  # other spaces, which urdfdom takes for numbers
    try:
        tree = ElementTree.fromstring(text.replace('\0', '\1'))  # in XML neither is allowed
    except (ElementTree.ParseError, ValueError) as error:
        from arm_dynamics.file_kinds import hint

        raise ArmError(f'not a URDF: {error}{hint(text)}') from None
    changed = [rule.read(tree) for rule in rules()]
    if any(changed) or '<!DOCTYPE' in text:  # which may define entities
        text = ElementTree.tostring(tree, encoding='unicode')
    try:
        links = ElementTree.tostring(bare(tree), encoding='unicode')
        return text, tree, pin.buildModelFromXML(links)
    except (ValueError, RuntimeError) as error:
        raise ArmError(f'no URDF for Pinocchio: {one_line(error)}') from None


def bare(tree: Element) -> Element:
    """Return the part of a URDF that dynamics needs: links with their inertias, and joints."""
    robot = Element('robot', name=tree.get('name') or 'robot')
    for owner in tree:
        if owner.tag in ('link', 'joint'):
            to = SubElement(robot, owner.tag, _known(owner, 'name', 'type'))
            for inertial in owner.iterfind('inertial'):
                _copy(inertial, SubElement(to, 'inertial'), INERTIAL)
            _copy(owner, to, JOINT)
    return robot


def _copy(owner: Element, to: Element, known: dict[str, tuple[str, ...]]) -> None:
    for element in owner:
        numbers = _known(element, *known.get(element.tag, ()))
        # As urdfdom reads them: a line break in numbers makes it drop the inertia.
        attributes = {key: number_text(map(float, x.split())) for key, x in numbers.items()}
        attributes |= _known(element, 'link')
        if element.tag == 'dynamics':  # which urdfdom refuses without damping and friction
            attributes.setdefault('damping', '0')
        if element.tag in known and attributes:
            SubElement(to, element.tag, attributes)


def _known(element: Element, *names: str) -> dict[str, str]:
    return {name: element.attrib[name] for name in names if name in element.attrib}


def with_dynamics(urdf: str, joint_names: Sequence[str], values: Mapping[str, Array]) -> str:
    """Return a URDF in which the <dynamics> of joints have these attributes.

    Args:
        urdf: the text.
        joint_names: n joints.
        values: (n,) by the attribute's name.
    """
    tree = ElementTree.fromstring(urdf)
    for joint in tree.iterfind('joint'):
        if joint.get('name') in joint_names:
            k = joint_names.index(joint.get('name', ''))
            dynamics = joint.find('dynamics')
            dynamics = SubElement(joint, 'dynamics') if dynamics is None else dynamics
            for name, each in values.items():
                dynamics.set(name, number_text([each[k]]))
    return ElementTree.tostring(tree, encoding='unicode')
