"""Names numbers of a URDF that an arm hardly has; each line has the unit that may be meant."""

from collections.abc import Iterator
from contextlib import suppress
from xml.etree.ElementTree import Element

import numpy as np

from arm_dynamics.checks import Array, line_on
from arm_dynamics.urdf_elements import MOMENTS, moves, vector
from arm_dynamics.urdf_rules import UrdfRule
from arm_dynamics.urdf_tree import densest_moment, length, mass_of, names_of, number

_BOUNDS = 'lower', 'upper'
_ONE_TURN = 2.0 * np.pi  # [rad]
_MULTI_TURN = 19.0  # beyond, a bound may be in degrees [rad]
_WHOLE = 10.0  # beyond, whole numbers may be degrees [rad]
_NEAR = 1.0  # distance that a centre of mass may have in an arm of any size [m]
_FAR = 5.0  # of a joint or a shape [m]
_FAST = 100.0  # speed limit [rad/s | m/s]
_WIDE = 20.0  # of a slide [m]
_NO_BOUND = 1e8  # of a slide; beyond, it has none [m]
_RAIL, _TIMES = 5.0, 10.0  # a usual slide is shorter than this [m], or these lengths of the arm
HEAVY = 30.0  # from where moments are compared with those of a dense ball of its mass [kg]
_PART = 0.01  # of the moment of a ball of tungsten
_LIGHT = 0.01  # a lighter link may stand for a rotor [kg]


class MagnitudesRule(UrdfRule):
    """Lengths, angles, speeds and moments of inertia are as large as those of arms."""

    order = 21.0

    def notes(self, tree: Element, model: object, tip_frame: str | None) -> Iterator[str]:
        """Yield a line about each kind of number of which another one may be meant."""
        yield from _angles(tree)
        yield from _narrow(tree)
        far = names_of(tree, 'joint', lambda x: length(x) > _FAR)
        text = '{}: more than {:g} m from the joint before; are lengths in centimetres or '
        yield from line_on(far, f'{text}millimetres?', _FAR)
        usual = _usual(tree)
        far = names_of(tree, 'link', lambda x: length(x, 'inertial/origin') > usual)
        text = '{}: centre of mass beyond {:.3g} m; is it in centimetres or millimetres, or in '
        yield from line_on(far, f"{text}the base's frame?", usual)
        longest = min(_WIDE, max(_RAIL, _TIMES * sum(map(length, tree.iterfind('joint')))))
        far = names_of(tree, 'joint', lambda x: longest < _range(x) < _NO_BOUND)
        text = '{}: slides by more than {:.3g} m; is it in millimetres?'
        yield from line_on(far, text, longest)
        fast = names_of(
            tree, 'joint', lambda x: moves(x) and number(x, 'limit', 'velocity') > _FAST
        )
        text = '{}: faster than {:g} rad/s or m/s; is it in degrees or millimetres per second?'
        yield from line_on(fast, text, _FAST)
        yield from _of_shapes(tree)
        yield from line_on(
            names_of(tree, 'link', _is_small),
            '{}: moments of inertia below a hundredth of those of a ball of tungsten; is the mass '
            'in grams, or are they not in kg m^2?',
        )
        yield from line_on(
            names_of(tree, 'link', _is_large),
            '{}: moments of inertia of its mass at more than 1 m; are they written in kg m^2?',
        )


def _usual(tree: Element) -> float:
    """Return how far a centre of mass may be from its link's frame [m], in an arm of such size."""
    longest = max((length(joint) for joint in tree.iterfind('joint')), default=0.0)
    return max(2.0 * longest, _NEAR)


def _range(joint: Element) -> float:
    """Return how far a joint slides [m]; 0 for others."""
    slides = joint.get('type') == 'prismatic'
    return number(joint, 'limit', 'upper') - number(joint, 'limit', 'lower') if slides else 0.0


def _mass_and_most(link: Element) -> tuple[float, float]:
    """Return the mass [kg] and the largest moment [kg m^2] of a link; 0 where one is missing."""
    return mass_of(link), max(number(link, 'inertial/inertia', x) for x in MOMENTS)


def _is_large(link: Element) -> bool:
    """Return whether moments of a link are those of its mass at more than 1 m from its centre."""
    mass, most = _mass_and_most(link)
    return mass > _LIGHT and most > mass


def _is_small(link: Element) -> bool:
    """Return whether a link of its mass would be far denser than any metal."""
    mass, most = _mass_and_most(link)
    return mass > HEAVY and 0.0 < most < _PART * densest_moment(mass)


def _numbers(owner: Element, name: str) -> Array:
    """Return the numbers (3,) of an <origin>, 0 where they are none."""
    with suppress(ValueError):
        found = vector(owner.find('origin'), name)
        if found.shape == (3,):
            return found
    return np.zeros(3)


def _of_shapes(tree: Element) -> Iterator[str]:
    """Yield lines on shapes that are far away, and on what is turned by more than a turn."""
    for tag in ('inertial', 'visual', 'collision'):
        owners = [
            (link.get('name', ''), each)
            for link in tree.iterfind('link')
            for each in link.iterfind(tag)
        ]
        turned = [name for name, x in owners if abs(_numbers(x, 'rpy')).max() > 1.01 * _ONE_TURN]
        text = '{}: rpy of <{}> is more than a turn; is it written in degrees?'
        yield from line_on(turned, text, tag)
        far = [name for name, x in owners if np.linalg.norm(_numbers(x, 'xyz')) > _FAR]
        if tag != 'inertial':
            text = '{}: a <{}> more than {:g} m from its link; is it in millimetres?'
            yield from line_on(far, text, tag, _FAR)


def _angles(tree: Element) -> Iterator[str]:
    """Yield, one line each, bounds without effect, and angles of which others are meant."""
    bounded, led, turned, wide = [], [], [], []
    for joint in tree.iterfind('joint'):
        name, kind = joint.get('name', ''), joint.get('type')
        bounds = [number(joint, 'limit', key) for key in _BOUNDS]
        if kind == 'continuous' and bounds[0] < bounds[1] < bounds[0] + _ONE_TURN:
            bounded.append(name)
        if kind == 'fixed' and joint.find('mimic') is not None:
            led.append(name)
        widest = max(map(abs, bounds))
        beyond = _WHOLE if widest.is_integer() else _MULTI_TURN
        if kind == 'revolute' and beyond < widest <= 720.0:
            wide.append(name)
        if abs(vector(joint.find('origin'), 'rpy')).max() > 1.01 * _ONE_TURN:
            turned.append(name)
    yield from line_on(
        bounded,
        '{}: of type continuous, turns beyond lower and upper: is it of type revolute?',
    )
    yield from line_on(led, '{}: of type fixed: <mimic> is not used')
    text = '{}: <limit> is beyond {:g} rad; is it written in degrees?'
    yield from line_on(wide, text, _WHOLE)
    yield from line_on(turned, '{}: rpy is more than a turn; is it written in degrees?')


def _narrow(tree: Element) -> Iterator[str]:
    """Yield a line where all ranges are so narrow that radians are taken for degrees."""
    limits = [x.find('limit') for x in tree.iterfind('joint') if x.get('type') == 'revolute']
    bounds = [abs(float(x.get(k, '0'))) for x in limits if x is not None for k in _BOUNDS]
    if len(bounds) > 2 and max(bounds) <= np.radians(_ONE_TURN):
        remedy = 'in an MJCF, <compiler angle="radian"/>' * (tree.get('from') == 'MJCF')
        yield (
            f'no joint turns by more than {max(bounds):.2g} rad; are radians taken for degrees'
            f'{remedy and ": " + remedy}?'
        )
