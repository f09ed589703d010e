"""Shapes of a URDF, which are read long after its links and joints: refused, or named."""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np

from arm_dynamics.checks import ArmError, line_on
from arm_dynamics.file_kinds import number_hint
from arm_dynamics.urdf_rules import UrdfRule

# Sizes of each shape, and how many numbers they have.
_SIZES = {
    'box': {'size': 3},
    'cylinder': {'radius': 1, 'length': 1},
    'sphere': {'radius': 1},
}


class ShapesRule(UrdfRule):
    """Shapes have sizes and places in numbers, above 0."""

    order = 15.0

    def read(self, tree: Element) -> bool:
        """Raise ArmError for a shape or its place in numbers that cannot be read."""
        for link, shape in _shapes(tree):
            where = f'link {link!r}: <{shape.tag}>:'
            for origin in shape.iterfind('origin'):
                for name in ('xyz', 'rpy'):
                    _check(where, origin, name, 3)
            for each in shape.iterfind('geometry/*'):
                _check_sizes(where, each)
        return False

    def notes(self, tree: Element, model: object, tip_frame: str | None) -> Iterator[str]:
        """Yield a line about visuals and collisions without a shape, or of size 0."""
        empty = [
            f'<{shape.tag}> of {link}'
            for link, shape in _shapes(tree)
            if shape.find('geometry/*') is None
            or any(map(_is_empty, shape.iterfind('geometry/*')))
        ]
        yield from line_on(empty, '{} has no shape, or one of size 0')


def _shapes(tree: Element) -> Iterator[tuple[str, Element]]:
    """Yield the name of the link and the element of each visual and collision."""
    for link in tree.iterfind('link'):
        for kind in ('visual', 'collision'):
            for shape in link.iterfind(kind):
                yield link.get('name', ''), shape


def _check_sizes(where: str, shape: Element) -> None:
    for name, count in _SIZES.get(shape.tag, {}).items():
        if name not in shape.attrib:
            raise ArmError(f'{where} <{shape.tag}> has no {name}')
        if min(_check(where, shape, name, count)) < 0.0:
            size = f'<{shape.tag} {name}="{shape.get(name)}">'
            raise ArmError(f'{where} {size} must not be negative')
    if shape.tag == 'mesh':
        if not shape.get('filename'):
            raise ArmError(f'{where} <mesh> has no filename')
        if 0.0 in _check(where, shape, 'scale', 3):
            raise ArmError(f'{where} <mesh scale="{shape.get("scale")}"> has a zero')


def _is_empty(shape: Element) -> bool:
    texts = [shape.get(name, '') for name in _SIZES.get(shape.tag, {})]
    return any(float(word) == 0.0 for text in texts for word in text.split())


def _check(where: str, element: Element, name: str, count: int) -> list[float]:
    """Return the numbers of an attribute, [1.0] where it is missing."""
    text = element.get(name)
    if text is None:
        return [1.0]
    try:
        values = [float(word) for word in text.replace('_', '?').split()]
    except ValueError:
        values = []
    if len(values) != count or not np.isfinite(values).all():
        numbers = 'three finite numbers' if count == 3 else 'one finite number'
        wrong = f'{where} <{element.tag} {name}="{text}"> must be {numbers}'
        raise ArmError(wrong + number_hint(text) * (not values))
    return values
