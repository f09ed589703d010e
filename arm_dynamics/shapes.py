"""The shapes of an arm's links, read from its URDF: what can touch something."""

from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from arm_dynamics.urdf import bare


def with_shapes(urdf: str) -> tuple[Element, str]:
    """Return a URDF's tree of links, joints and collision shapes, and what to know of the shapes.

    Where no link has a collision shape, the visible ones stand for them. Shapes that need mesh
    files are left out.
    """
    whole = ElementTree.fromstring(urdf)
    tree = bare(whole)
    kind = 'collision' if whole.find('link/collision') is not None else 'visual'
    left_out, count = [], 0
    for link, full in zip(tree.iterfind('link'), whole.iterfind('link'), strict=True):
        for shape in full.iterfind(kind):
            geometry, origin = shape.find('geometry'), shape.find('origin')
            if geometry is None or not len(geometry):
                continue
            if geometry.find('mesh') is not None:
                left_out.append(link.get('name', ''))
                continue
            solid = ElementTree.SubElement(link, 'collision')
            solid.extend([geometry] if origin is None else [origin, geometry])
            count += 1
    notes = []
    if left_out:
        names = ', '.join(repr(name) for name in dict.fromkeys(left_out))
        notes.append(f'shapes of mesh files are not read, and {names} have some')
    if not count:
        notes.append('no link has a box, a cylinder or a sphere: nothing is known to touch')
    elif kind == 'visual':
        notes.append('the URDF has no collision shapes: the visible ones stand for them')
    return tree, '; '.join(notes)
