"""Names limits, angles and names of joints that are probably slips of the pen."""

import re
from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element

import numpy as np

from arm_dynamics.checks import Array, line_on
from arm_dynamics.model import RobotModel
from arm_dynamics.urdf_elements import link_of, moves, origin_of, vector
from arm_dynamics.urdf_rules import UrdfRule
from arm_dynamics.urdf_tree import NO_EFFORT, moved_links, names_of, number, outward, turns

_OUTLIER = 500.0  # times the median of the efforts, from where one is a slip
_STRONG = 1000.0  # and such an effort is above this one [N m]
_NARROW = {'revolute': 0.005, 'prismatic': 1e-4}  # range of a joint [rad | m]
_ASIDE = 0.8  # of its bounds' ratio, from where a range beside zero is a slip
_SLOW, _FAST = 60.0, 1e-3  # time to the speed limit [s]
_WHOLE, _ONE_TURN = 2.0, 6.35  # whole numbers between may be degrees [rad]
_AT = 1e-3  # distance of joints at one place [m]
_PARALLEL = 0.9999  # cosine of axes that are the same
_LEFT = 0.2  # share of its range that followers should leave a leader
_ODD = re.compile(r'^\s|\s$|[\n\t\r,]|:=')
_BASE = re.compile('(base|world)(_link)?', re.IGNORECASE)


class JointSlipsRule(UrdfRule):
    """Limits, angles and names of joints are as an author means them."""

    order = 21.6

    def notes(self, tree: Element, model: RobotModel, tip_frame: str | None) -> Iterator[str]:
        """Yield a line about each kind of slip."""
        for text, which in _SLIPS.items():
            yield from line_on(names_of(tree, 'joint', which), f'{{}}: {text}')
        yield from _outlier(tree)
        yield from _twice(tree)
        yield from _squeezed(tree, model)
        for name in model.unmet_limits:
            yield (
                f'joint {name!r}: its limits leave no range to the joint that it follows by '
                '<mimic>; they are ignored: correct <limit> or <mimic>'
            )
        names = [x.get('name', '') for kind in ('joint', 'link') for x in tree.iterfind(kind)]
        yield from line_on(
            (repr(name) for name in names if _ODD.search(name)),
            'the names {} have a comma, a line break or a space at an end, with which joints:= '
            'and tip_frame:= do not find them',
        )
        inner = {link_of(x, 'parent') for x in tree.iterfind('joint')}
        if ends := [x for x in moved_links(tree) - inner if _BASE.fullmatch(x)]:
            yield (
                f'the joints move {ends[0]!r}, which is an end: are parent and child swapped in '
                'them?'
            )


def _bounded(joint: Element) -> bool:
    return joint.get('type') in _NARROW


def _is_narrow(joint: Element) -> bool:
    span = number(joint, 'limit', 'upper') - number(joint, 'limit', 'lower')
    return _bounded(joint) and span < _NARROW[joint.get('type', '')]


def _is_aside(joint: Element) -> bool:
    low, high = sorted(abs(number(joint, 'limit', key)) for key in ('lower', 'upper'))
    beside = number(joint, 'limit', 'lower') * number(joint, 'limit', 'upper') > 0.0
    return joint.get('type') == 'revolute' and beside and low > _ASIDE * high


def _lacks_a_bound(joint: Element) -> bool:
    limit = joint.find('limit')
    keys = set() if limit is None else {'lower', 'upper'} & set(limit.attrib)
    return _bounded(joint) and len(keys) == 1


def _is_whole(joint: Element) -> bool:
    angles = vector(joint.find('origin'), 'rpy')
    return any(_WHOLE <= abs(x) < _ONE_TURN and float(x).is_integer() for x in angles)


def _time_to_speed(joint: Element) -> float:
    """Return the time to the speed limit [s]; NaN where it is not limited."""
    if not moves(joint):  # whose <limit> nobody reads
        return np.nan
    speed = number(joint, 'limit', 'velocity')
    rates = [
        x for key in ('acceleration', 'deceleration') if (x := number(joint, 'limit', key)) > 0.0
    ]
    return speed / min(rates) if rates and speed > 0.0 else np.nan


_SLIPS: dict[str, Callable[[Element], bool]] = {
    'hardly has a range between lower and upper; is it in another unit?': _is_narrow,
    'lower and upper are close together beside 0; is a sign missing?': _is_aside,
    'only one of lower and upper is written, and the other one counts as 0': _lacks_a_bound,
    'rpy has a whole number of radians; is it written in degrees?': _is_whole,
    'acceleration takes minutes to the speed limit; is it in another unit?': (
        lambda joint: _time_to_speed(joint) > _SLOW
    ),
    'acceleration reaches the speed limit within 1 ms; is it in degrees?': (
        lambda joint: _time_to_speed(joint) < _FAST
    ),
}


def _outlier(tree: Element) -> Iterator[str]:
    """Yield a line on the efforts that are far from those of the other joints."""
    efforts = {
        joint.get('name', ''): effort
        for joint in tree.iterfind('joint')
        if moves(joint) and joint.get('type') != 'prismatic'
        if 0.0 < (effort := number(joint, 'limit', 'effort')) < NO_EFFORT
    }
    usual = float(np.median([*efforts.values()])) if len(efforts) > 2 else np.inf
    yield from line_on(
        (name for name, x in efforts.items() if x > max(_STRONG, _OUTLIER * usual)),
        '{}: effort of more than {:g} times that of the other joints; is it in N mm?', _OUTLIER,
    )  # fmt: skip


def _twice(tree: Element) -> Iterator[str]:
    """Yield a line on joints that turn as the joint before them does, about the same line."""
    before: dict[str, tuple[str, Array]] = {}  # the joint that moves a link, and its axis there
    pairs = []
    for joint in outward(tree):
        child, pose = link_of(joint, 'child'), origin_of(joint)
        last, last_axis = before.get(link_of(joint, 'parent'), ('', np.zeros(3)))
        last_axis = pose.rotation.T @ last_axis
        at_it = float(np.linalg.norm(pose.translation)) < _AT
        if not moves(joint):
            if at_it:
                before[child] = last, last_axis
            continue
        axis = vector(joint.find('axis'), 'xyz', '1 0 0')
        is_driven = turns(joint) and joint.find('mimic') is None
        axis = is_driven * axis / np.linalg.norm(axis)
        if at_it and abs(axis @ last_axis) > _PARALLEL:
            pairs.append(f'{last} and {joint.get("name", "")}')
        before[child] = joint.get('name', ''), axis
    yield from line_on(
        pairs,
        '{} turn about the same line at the same place; is an <origin> missing, or an <axis> '
        'wrong?',
    )


def _squeezed(tree: Element, model: RobotModel) -> Iterator[str]:
    """Yield a line on leaders whose followers leave them a small part of their range."""
    own = {
        x.get('name', ''): number(x, 'limit', 'upper') - number(x, 'limit', 'lower')
        for x in tree.iterfind('joint')
    }
    led = {x.get('joint') for x in tree.iterfind('joint/mimic')}
    left = np.subtract(model.position_upper, model.position_lower)
    found = [
        name
        for name, span in zip(model.joint_names, left, strict=True)
        if name in led and np.isfinite(span) and span < _LEFT * own[name]
    ]
    yield from line_on(
        found,
        '{}: <limit> of joints that follow by <mimic> leave it less than a fifth of its own '
        'range; are multiplier and offset right?',
    )
