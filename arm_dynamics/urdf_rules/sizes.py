"""Names masses, moments of inertia and places that do not fit the size of an arm."""

from collections.abc import Iterator, Mapping
from xml.etree.ElementTree import Element

import numpy as np

from arm_dynamics.checks import Array, line_on, some_of
from arm_dynamics.model import RobotModel
from arm_dynamics.urdf_elements import link_of, moves, origin_of, vector
from arm_dynamics.urdf_numbers import principal_moments
from arm_dynamics.urdf_rules import UrdfRule
from arm_dynamics.urdf_rules.magnitudes import HEAVY
from arm_dynamics.urdf_tree import densest_moment, length, mass_of, moved_links, outward

_BEYOND = 1.5  # times the size of a link, which no gyration radius reaches
_LIGHT = 0.01  # a lighter link may stand for a rotor or a frame [kg]
_POINT = 0.1  # a lighter link may be a point [kg]
_PART = 0.0036  # of the moment of a ball of tungsten
# Moving mass by the cube of the longest chain [kg/m^3]; of 500 arms it is 0.05 to 600.
_LEAST, _MOST = 0.02, 3000.0
_SHORT = 0.005  # distance of joints [m]
_FEW = 3  # joints in a row, from which they are those of an arm
# Gyration radius by the distance of a link's joints: of half the links of an arm; of 351 files of
# vendors it is 0.14 or more.
_NARROW = 0.06
_APART = 0.05  # links whose joints are nearer do not count [m]
_LONG = 10.0  # of a shape [m]


class SizesRule(UrdfRule):
    """Masses and moments of inertia are those of bodies as large as the arm's."""

    order = 21.7

    def notes(self, tree: Element, model: RobotModel, tip_frame: str | None) -> Iterator[str]:
        """Yield a line about each kind of number that does not fit the arm's size."""
        moments = {name: found[0] for name, found in principal_moments(tree).items()}
        links = {link.get('name', ''): link for link in tree.iterfind('link')}
        masses = {name: mass for name, link in links.items() if (mass := mass_of(link)) > 0.0}
        moved = moved_links(tree)
        points = [
            name
            for name, mass in masses.items()
            if _POINT < mass <= HEAVY and name in moved
            if moments[name][-1] < _PART * densest_moment(mass)
        ]
        if points and moved.intersection(masses).difference(points):  # no arm of a textbook
            yield from line_on(
                points, '{}: hardly any moment of inertia for its mass, which counts as a point'
            )
        yield from _narrow(tree, masses, moments)
        longest = max((length(joint) for joint in tree.iterfind('joint')), default=0.0)
        large = {}  # gyration radius by link [m]
        for name, mass in masses.items():
            if mass > _LIGHT and name in moved and name not in model.impossible_inertias:
                radius = float(np.sqrt(max(moments[name][-1], 0.0) / mass))
                least = _BEYOND * max(longest, _size(tree, links[name]))
                if _BEYOND * longest > _SHORT and least < radius <= 1.0:
                    large[name] = radius
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


def _of_arm(tree: Element, model: RobotModel) -> Iterator[str]:
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
            apart[link] = max(apart[link], length(joint))
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


def _longest_chain(tree: Element) -> tuple[float, int]:
    """Return the largest sum of distances of joints on a way from the root link [m].

    With it comes how many joints move on that way.
    """
    ways: dict[str, tuple[float, int]] = {}
    for joint in outward(tree):
        before, moving = ways.get(link_of(joint, 'parent'), (0.0, 0))
        ways[link_of(joint, 'child')] = before + length(joint), moving + moves(joint)
    return max(ways.values(), default=(0.0, 0))


def _size(tree: Element, link: Element) -> float:
    """Return the distance from a link's centre of mass to its farthest joint or shape [m]."""
    centre = vector(link.find('inertial/origin'), 'xyz')
    places = [np.zeros(3)]
    places += [
        vector(joint.find('origin'), 'xyz')
        for joint in tree.iterfind('joint')
        if link_of(joint, 'parent') == link.get('name')
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
