"""Names numbers of a URDF that an arm hardly has; each line has the unit that may be meant."""

from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from arm_dynamics.checks import Array, line_on
from arm_dynamics.urdf_elements import MOMENTS, moves, vector
from arm_dynamics.urdf_rules import UrdfRule

_BOUNDS = 'lower', 'upper'
_ONE_TURN, _MULTI_TURN = 2.0 * np.pi, 19.0  # [rad]; beyond, degrees may be meant
_WHOLE = 10.0  # [rad]; beyond, whole numbers may be degrees
_NEAR, _FAR, _FAST, _WIDE = 1.0, 5.0, 100.0, 20.0  # [m], [m], [rad/s | m/s], of a slide [m]
_NO_BOUND = 1e8  # of a slide [m]; beyond, it has none
_RAIL, _TIMES = 5.0, 10.0  # a usual slide is shorter than this [m], or these lengths of the arm
# A body of this mass [kg] has over a hundredth of the moments of a ball of tungsten [kg/m^3].
_HEAVY, _TUNGSTEN = 30.0, 19300.0


class MagnitudesRule(UrdfRule):
    """Lengths, angles, speeds and moments of inertia are as large as those of arms."""

    order = 21.0

    def notes(self, tree: Element, model: Any, tip_frame: str | None) -> Iterator[str]:
        """Yield a line about each kind of number of which another one may be meant."""
        yield from _angles(tree)
        yield from _narrow(tree)
        far = _names(tree, 'joint', lambda x: _length(x, 'origin') > _FAR)
        text = '{}: more than {:g} m from the joint before; are lengths in centimetres or '
        yield from line_on(far, f'{text}millimetres?', _FAR)
        usual = _usual(tree)
        far = _names(tree, 'link', lambda x: _length(x, 'inertial/origin') > usual)
        text = '{}: centre of mass beyond {:.3g} m; is it in centimetres or millimetres, or in '
        yield from line_on(far, f"{text}the base's frame?", usual)
        longest = min(_WIDE, max(_RAIL, _TIMES * _length_of(tree)))
        far = _names(tree, 'joint', lambda x: longest < _range(x) < _NO_BOUND)
        text = '{}: slides by more than {:.3g} m; is it in millimetres?'
        yield from line_on(far, text, longest)
        fast = _names(tree, 'joint', lambda x: moves(x) and _limit(x, 'velocity') > _FAST)
        text = '{}: faster than {:g} rad/s or m/s; is it in degrees or millimetres per second?'
        yield from line_on(fast, text, _FAST)
        yield from _of_shapes(tree)
        yield from line_on(
            _names(tree, 'link', _is_small),
            '{}: moments of inertia below a hundredth of those of a ball of tungsten; is the mass '
            'in grams, or are they not in kg m^2?',
        )
        yield from line_on(
            _names(tree, 'link', _is_large),
            '{}: moments of inertia of its mass at more than 1 m; are they written in kg m^2?',
        )


def _names(tree: Element, tag: str, which: Any) -> list[str]:
    return [each.get('name', '') for each in tree.iterfind(tag) if which(each)]


def _length(owner: Element, path: str) -> float:
    return float(np.linalg.norm(vector(owner.find(path), 'xyz')))


def _usual(tree: Element) -> float:
    """Return how far a centre of mass may be from its link's frame [m], in an arm of such size."""
    longest = max((_length(joint, 'origin') for joint in tree.iterfind('joint')), default=0.0)
    return max(2.0 * longest, _NEAR)


def _limit(joint: Element, key: str) -> float:
    limit = joint.find('limit')
    return 0.0 if limit is None else float(limit.get(key, '0'))


def _range(joint: Element) -> float:
    """Return how far a joint slides [m]; 0 for others."""
    slides = joint.get('type') == 'prismatic'
    return _limit(joint, 'upper') - _limit(joint, 'lower') if slides else 0.0


def _heavy_and_most(link: Element) -> tuple[float, float]:
    """Return the mass [kg] and the largest moment [kg m^2] of a link; 0 where one is missing."""
    mass, inertia = link.find('inertial/mass'), link.find('inertial/inertia')
    if mass is None or inertia is None:
        return 0.0, 0.0
    return float(mass.get('value', '0')), max(float(inertia.get(x, '0')) for x in MOMENTS)


def _is_large(link: Element) -> bool:
    """Return whether moments of a link are those of its mass at more than 1 m from its centre."""
    heavy, most = _heavy_and_most(link)
    return heavy > 0.01 and most > heavy


def _is_small(link: Element) -> bool:
    """Return whether a link of its mass would be far denser than any metal."""
    heavy, most = _heavy_and_most(link)
    radius = (0.75 * abs(heavy) / (np.pi * _TUNGSTEN)) ** (1.0 / 3.0)
    return heavy > _HEAVY and 0.0 < most < 0.01 * 0.4 * heavy * radius**2


def _length_of(tree: Element) -> float:
    """Return the sum of the distances of an arm's joints [m]."""
    return sum(_length(joint, 'origin') for joint in tree.iterfind('joint'))


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
        bounds = [_limit(joint, key) for key in _BOUNDS]
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
