"""What rules for URDFs ask of its joints and links: numbers, names, and which moves which."""

from collections.abc import Callable
from xml.etree.ElementTree import Element

import numpy as np

from arm_dynamics.urdf_elements import link_of, moves, vector

_TUNGSTEN = 19300.0  # [kg/m^3]
NO_EFFORT = 1e7  # an effort limit that means none [N m]


def number(owner: Element, path: str, key: str, default: float = 0.0) -> float:
    """Return the number of an attribute of the first element at a path, the default without it."""
    element = owner.find(path)
    return default if element is None else float(element.get(key, default))


def length(owner: Element, path: str = 'origin') -> float:
    """Return the distance of an <origin> [m], such as that of a joint from the one before."""
    return float(np.linalg.norm(vector(owner.find(path), 'xyz')))


def names_of(tree: Element, tag: str, which: Callable[[Element], bool]) -> list[str]:
    """Return the names of the elements of a tag, 'joint' or 'link', for which a function holds."""
    return [each.get('name', '') for each in tree.iterfind(tag) if which(each)]


def turns(joint: Element) -> bool:
    """Return whether a joint turns."""
    return joint.get('type') in ('revolute', 'continuous')


def outward(tree: Element) -> list[Element]:
    """Return the joints of a tree, each behind the one that carries it."""
    children: dict[str, list[Element]] = {}
    for joint in tree.iterfind('joint'):
        children.setdefault(link_of(joint, 'parent'), []).append(joint)
    inner = {link_of(joint, 'child') for joint in tree.iterfind('joint')}
    joints = [joint for link in children if link not in inner for joint in children[link]]
    for joint in joints:
        joints += children.get(link_of(joint, 'child'), [])
    return joints


def moved_links(tree: Element) -> set[str]:
    """Return the links that a joint moves."""
    moved: set[str] = set()
    for joint in outward(tree):
        if moves(joint) or link_of(joint, 'parent') in moved:
            moved.add(link_of(joint, 'child'))
    return moved


def mass_of(link: Element) -> float:
    """Return the mass of a link, 0 where it has none [kg]."""
    return sum(float(mass.get('value', '0')) for mass in link.iterfind('inertial/mass'))


def densest_moment(mass: float) -> float:
    """Return the moment of inertia of a ball of tungsten; no link has one as small [kg m^2]."""
    radius = (0.75 * abs(mass) / (np.pi * _TUNGSTEN)) ** (1.0 / 3.0)
    return float(0.4 * mass * radius**2)
