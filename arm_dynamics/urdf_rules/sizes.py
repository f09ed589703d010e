"""Names masses, moments of inertia and places that do not fit the size of an arm."""

from collections.abc import Iterator, Mapping
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from arm_dynamics.checks import Array, line_on, some_of
from arm_dynamics.urdf_elements import link_of, moves, origin_of, vector
from arm_dynamics.urdf_numbers import principal_moments
from arm_dynamics.urdf_rules import UrdfRule

_BEYOND = 1.5  # times the size of a link, which no gyration radius reaches
_LIGHT, _POINT = 0.01, 0.1  # lighter links may stand for a rotor or a frame [kg]
# Of moments of a ball of tungsten [kg/m^3]; for heavier links another rule has it [kg].
_PART, _TUNGSTEN, _HEAVY = 0.0036, 19300.0, 30.0
# Moving mass by the cube of the longest chain [kg/m^3]; of 500 arms it is 0.05 to 600.
_LEAST, _MOST = 0.02, 3000.0
_SHORT = 0.005  # distance of joints [m]
_FEW = 3  # joints in a row, from which they are those of an arm
# Gyration radius by the distance of a link's joints: of half the links of an arm; of 351 files of
# vendors it is 0.14 or more. Links of shorter distances [m] do not count.
_NARROW, _APART = 0.06, 0.05
_LONG = 10.0  # of a shape [m]


class SizesRule(UrdfRule):
    """Masses and moments of inertia are those of bodies as large as the arm's."""

    order = 21.7

    def notes(self, tree: Element, model: Any, tip_frame: str | None) -> Iterator[str]:
        """Yield a line about each kind of number that does not fit the arm's size."""
        moments = {name: found[0] for name, found in principal_moments(tree).items()}
        masses = {name: mass for name, mass in _masses(tree).items() if mass > 0.0}
        moved = moved_links(tree)
        points = [
            name
            for name, mass in masses.items()
            if _POINT < mass <= _HEAVY and name in moved
            if moments[name][-1] < _PART * 0.4 * mass * _radius(mass) ** 2
        ]
        if points and moved.intersection(masses).difference(points):  # no arm of a textbook
            yield from line_on(
                points, '{}: hardly any moment of inertia for its mass, which counts as a point'
            )
        yield from _narrow(tree, masses, moments)
        longest = max((_distance(joint) for joint in tree.iterfind('joint')), default=0.0)
        large = {
            name: radius
            for name, mass in masses.items()
            if mass > _LIGHT and name in moved and name not in model.impossible_inertias
            for radius in [float(np.sqrt(max(moments[name][-1], 0.0) / mass))]
            if _SHORT < _BEYOND * longest < radius <= 1.0 and _BEYOND * _size(tree, name) < radius
        }
        if large:
            yield (
                f'{some_of([*large])}: moments of inertia of its mass at '
                f'{max(large.values()):.2g} m, beyond the link and every distance of joints; '
                'are they in kg m^2?'
            )
        yield from _of_arm(tree, model)
        shapes = [
            link.get('name', '')
            for link in tree.iterfind('link')
            for each in link.iterfind('visual/geometry/*')
            if max(_sizes(each)) > _LONG
        ]
        text = '{}: a <visual> longer than {:g} m; is it in millimetres?'
        yield from line_on(shapes, text, _LONG)


def _of_arm(tree: Element, model: Any) -> Iterator[str]:
    """Yield a line where joints are at one place, or the mass is not that of such an arm."""
    chain, joints = _longest_chain(tree)
    moving = sum(float(each.mass) for each in model.pin_model.inertias)
    if chain < _SHORT and model.nv >= _FEW:
        yield (
            f'all joints are within {1e3 * chain:.2g} mm; are <origin> missing, or lengths in '
            'another unit?'
        )
    elif joints >= _FEW and moving and not _LEAST < moving / chain**3 < _MOST:
        unit = 'grams' if moving > chain**3 else 'tonnes'
        yield (
            f'{moving:.3g} kg move in an arm of {chain:.3g} m; are masses in {unit}, or lengths '
            'in another unit?'
        )


def _narrow(
    tree: Element, masses: dict[str, float], moments: Mapping[str, Array]
) -> Iterator[str]:
    """Yield a line where moments of inertia are those of bodies far smaller than the links."""
    apart = dict.fromkeys(moved_links(tree), 0.0)
    for joint in tree.iterfind('joint'):
        if (link := link_of(joint, 'parent')) in apart:
            apart[link] = max(apart[link], _distance(joint))
    found = [
        (float(np.sqrt(moments[name][-1] / masses[name])), far)
        for name, far in apart.items()
        if far > _APART and masses.get(name, 0.0) > _LIGHT and moments[name][-1] > 0.0
    ]
    if len(found) >= _FEW and np.median([radius / far for radius, far in found]) < _NARROW:
        radius, far = np.median(found, axis=0)
        yield (
            f'gyration radii of {1e3 * radius:.2g} mm in links whose joints are {far:.2g} m '
            'apart; are moments of inertia in kg m^2?'
        )


def _masses(tree: Element) -> dict[str, float]:
    return {
        link.get('name', ''): float(mass.get('value', '0'))
        for link in tree.iterfind('link')
        for mass in link.iterfind('inertial/mass')
    }


def _radius(mass: float) -> float:
    return float((0.75 * mass / (np.pi * _TUNGSTEN)) ** (1.0 / 3.0))


def outward(tree: Element) -> list[Element]:
    """Return the joints of a tree, each behind the one that carries it."""
    children: dict[str, list[Element]] = {}
    for joint in tree.iterfind('joint'):
        children.setdefault(link_of(joint, 'parent'), []).append(joint)
    inner = {link_of(joint, 'child') for joint in tree.iterfind('joint')}
    found = [joint for link in children if link not in inner for joint in children[link]]
    for joint in found:
        found += children.get(link_of(joint, 'child'), [])
    return found


def moved_links(tree: Element) -> set[str]:
    """Return the links that a joint moves."""
    found: set[str] = set()
    for joint in outward(tree):
        if moves(joint) or link_of(joint, 'parent') in found:
            found.add(link_of(joint, 'child'))
    return found


def _distance(joint: Element) -> float:
    return float(np.linalg.norm(vector(joint.find('origin'), 'xyz')))


def _longest_chain(tree: Element) -> tuple[float, int]:
    """Return the largest sum of distances of joints on a way from the root link [m].

    With it comes how many joints move on that way.
    """
    ways: dict[str, tuple[float, int]] = {}
    for joint in outward(tree):
        length, moving = ways.get(link_of(joint, 'parent'), (0.0, 0))
        ways[link_of(joint, 'child')] = length + _distance(joint), moving + moves(joint)
    return max(ways.values(), default=(0.0, 0))


def _size(tree: Element, name: str) -> float:
    """Return the distance from a link's centre of mass to its farthest joint or shape [m]."""
    link = next(each for each in tree.iterfind('link') if each.get('name') == name)
    centre = vector(link.find('inertial/origin'), 'xyz')
    places = [np.zeros(3)]
    places += [
        vector(joint.find('origin'), 'xyz')
        for joint in tree.iterfind('joint')
        if link_of(joint, 'parent') == name
    ]
    for kind in ('visual', 'collision'):
        for shape in link.iterfind(kind):
            for each in shape.iterfind('geometry/*'):
                places.append(_corner(shape, each, centre))
    return max(float(np.linalg.norm(place - centre)) for place in places)


def _corner(shape: Element, each: Element, centre: Array) -> Array:
    """Return a point as far from the centre as the farthest one of a shape may be."""
    away = origin_of(shape).translation - centre
    far = float(np.linalg.norm(away)) + 0.5 * float(np.linalg.norm(_sizes(each)))
    return np.asarray(centre + np.array([far, 0.0, 0.0]))


def _sizes(shape: Element) -> list[float]:
    """Return the lengths of a box, ball, cylinder or capsule [m]; of a mesh 0."""
    if shape.tag == 'box':
        return [float(word) for word in shape.get('size', '0').split()]
    if shape.tag in ('sphere', 'cylinder', 'capsule'):
        return [2.0 * float(shape.get('radius', '0')), float(shape.get('length', '0'))]
    return [0.0]
