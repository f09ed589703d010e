"""Names limits, friction, rotors and couplings with which no joint of an arm moves as meant."""

from collections.abc import Callable, Iterator
from typing import Any
from xml.etree.ElementTree import Element

import numpy as np

from arm_dynamics.checks import line_on
from arm_dynamics.model import STANDSTILL
from arm_dynamics.urdf_elements import link_of, moves, vector
from arm_dynamics.urdf_rules import UrdfRule
from arm_dynamics.urdf_rules.sizes import outward

# From this speed [rad/s] on, and this many times the median, one joint's may be in degrees/s.
_FASTER, _MEDIANS, _FAST = 60.0, 20.0, 100.0
# Times the torque of the weight, from where effort limits are not those of drives in N m; and a
# limit that means none [N m].
_STRONG, _NO_EFFORT, _EARTH = 1000.0, 1e7, 9.81
# A joint that its damping holds below these speeds [rad/s, m/s] hardly moves, nor does one with a
# speed limit (not beyond the first number, which means none) above the second number times that.
_CREEP = {'revolute': 0.2, 'continuous': 0.2, 'prismatic': 0.01}
_USUAL_SPEED, _SHARE = 30.0, 8.0
_SLUGGISH = 0.5  # acceleration of a rotor alone at the effort limit [rad/s^2]
_SLOW = 0.02  # speed limit [rad/s]
# Speed of the tool of a single arm by one joint [m/s]; that of 326 files of vendors is below 13;
# and speed of that joint [rad/s], as textbooks have long links.
_TOOL_SPEED, _TURNS, _ALL = 15.0, 12.0, 0.7
_SOFT = 19.0  # soft limit [rad]; beyond, degrees may be meant
_PERIOD, _NONE = 1e-3, 1e-9  # of control [s]; of a joint that moves no inertia [kg m^2 | kg]
_RATIOS = np.pi / 180.0, 180.0 / np.pi


class JointNumbersRule(UrdfRule):
    """Joints move as drives of arms do."""

    order = 21.5

    def notes(self, tree: Element, model: Any, tip_frame: str | None) -> Iterator[str]:
        """Yield a line about each kind of joint that hardly moves as meant."""
        usual = _usual_speed(tree)
        fast = _names(tree, lambda x: usual < _turning_speed(x) < _FAST)
        text = '{}: faster than {:.3g} rad/s; is it in degrees per second?'
        yield from line_on(fast, text, usual)
        yield from _fast_tool(tree)
        for text, which in SLIPS.items():
            yield from line_on(_names(tree, which), f'{{}}: {text}')
        yield from line_on(
            _without_mass(tree),
            '{}: moves shapes without mass; is an <inertial> missing? inertia:=estimate '
            + ('adds it' if tree.find('.//*[@estimated]') is None else 'finds no volume of them'),
        )
        yield from _efforts(model)
        yield from line_on(
            _chattering(model),
            '{}: friction so large for the inertia that a law which cancels it chatters at 1 kHz; '
            'is the rotor missing, <dynamics armature="">? Law servo bears it',
        )


def _names(tree: Element, which: Callable[[Element], bool]) -> list[str]:
    return [x.get('name', '') for x in tree.iterfind('joint') if moves(x) and which(x)]


def _number(joint: Element, tag: str, key: str, usual: float = 0.0) -> float:
    element = joint.find(tag)
    return usual if element is None else float(element.get(key, usual))


def _turning_speed(joint: Element) -> float:
    """Return the speed limit of a revolute joint [rad/s]; 0 for others."""
    return _number(joint, 'limit', 'velocity') if joint.get('type') == 'revolute' else 0.0


def _usual_speed(tree: Element) -> float:
    """Return the speed of a revolute joint, beyond which degrees may be meant [rad/s]."""
    speeds = [speed for joint in tree.iterfind('joint') if (speed := _turning_speed(joint))]
    return max(_FASTER, _MEDIANS * float(np.median(speeds or [0.0])))


def _fast_tool(tree: Element) -> Iterator[str]:
    """Yield a line on the joint of a single arm that moves its tool as no arm does."""
    reach: dict[str, tuple[float, int]] = {}  # of each link to its farthest end [m], and joints
    fastest, joint_of, count = 0.0, '', 0
    for joint in reversed(outward(tree)):
        length, joints = reach.get(link_of(joint, 'child'), (0.0, 0))
        own = moves(joint) and joint.find('mimic') is None
        speed = _turning_speed(joint) if own else 0.0
        if _TURNS < speed < _FASTER and speed * length > fastest:
            fastest, joint_of = speed * length, joint.get('name', '')
        count += own
        here = length + float(np.linalg.norm(vector(joint.find('origin'), 'xyz'))), joints + own
        before = reach.get(link_of(joint, 'parent'), (0.0, 0))
        reach[link_of(joint, 'parent')] = max(here[0], before[0]), max(here[1], before[1])
    if fastest > _TOOL_SPEED and max(joints for _, joints in reach.values()) >= _ALL * count:
        yield (
            f'{joint_of}: moves the end of the arm at up to {fastest:.3g} m/s; are speed limits '
            'in revolutions per minute, or degrees per second?'
        )


def _is_stuck(joint: Element) -> bool:
    return 0.0 < _number(joint, 'limit', 'effort') < _number(joint, 'dynamics', 'friction')


def _creeps(joint: Element) -> bool:
    """Return whether a joint's damping lets it move only far below its speed limit."""
    damping, effort = _number(joint, 'dynamics', 'damping'), _number(joint, 'limit', 'effort')
    if not (damping > 0.0 and effort > 0.0):
        return False
    most, speed = effort / damping, _number(joint, 'limit', 'velocity')
    return most < _CREEP[joint.get('type', '')] or _SHARE * most < speed <= _USUAL_SPEED


def _is_sluggish(joint: Element) -> bool:
    effort, rotor = _number(joint, 'limit', 'effort'), _number(joint, 'dynamics', 'armature')
    return joint.get('type') != 'prismatic' and 0.0 < effort < _SLUGGISH * rotor


def _is_soft_in_degrees(joint: Element) -> bool:
    keys = 'soft_lower_limit', 'soft_upper_limit'
    widest = max(abs(_number(joint, 'safety_controller', key)) for key in keys)
    return joint.get('type') == 'revolute' and widest > _SOFT


def _follows_in_degrees(joint: Element) -> bool:
    ratio = abs(_number(joint, 'mimic', 'multiplier', 1.0))
    return any(abs(ratio / each - 1.0) < 0.01 for each in _RATIOS)


# What is named, and of which moving joints.
SLIPS: dict[str, Callable[[Element], bool]] = {
    'friction above the effort limit, so that it never moves': _is_stuck,
    'damping takes the whole effort limit at a small part of the speed; is it in another unit?': (
        _creeps
    ),
    'armature with which the effort limit hardly accelerates it; is it in kg m^2?': _is_sluggish,
    f'slower than {_SLOW:g} rad/s; is its speed limit in another unit?': (
        lambda joint: 0.0 < _turning_speed(joint) < _SLOW
    ),
    'soft limits beyond three turns; are they written in degrees?': _is_soft_in_degrees,
    'multiplier of <mimic> is 180/pi or pi/180: both joints are in radians': _follows_in_degrees,
    'multiplier of <mimic> is 0, so that it never moves': (
        lambda joint: _number(joint, 'mimic', 'multiplier', 1.0) == 0.0
    ),
    'no <axis xyz="">, so that it moves along x or turns about x': (
        lambda joint: 'xyz' not in {key for each in joint.iterfind('axis') for key in each.attrib}
    ),
}


def _without_mass(tree: Element) -> list[str]:
    """Return the joints that move shapes without mass, but by other joints also mass."""
    joints = list(tree.iterfind('joint'))
    links = {link.get('name', ''): link for link in tree.iterfind('link')}
    own = {link_of(x, 'child'): link_of(x, 'parent') for x in joints if not moves(x)}
    parents = own | {link_of(x, 'child'): link_of(x, 'parent') for x in joints}
    heavy, carrying, shaped = set(), set(), set()  # by the link that a joint moves
    for name, link in links.items():
        body = name
        while body in own:
            body = own[body]
        if link.find('*/geometry') is not None:
            shaped.add(body)
        if any(float(x.get('value', '0')) > 0.0 for x in link.iterfind('inertial/mass')):
            heavy.add(body)
            while body in parents:
                body = parents[body]
                carrying.add(body)
    lacking = (shaped & carrying) - heavy
    return [x.get('name', '') for x in joints if moves(x) and link_of(x, 'child') in lacking]


def _chattering(model: Any) -> list[str]:
    """Return the joints whose friction is beyond what STANDSTILL says of laws that cancel it."""
    inertia = np.diagonal(model.mass_matrix(model.neutral()))
    chatters = (model.friction * _PERIOD > STANDSTILL * inertia) & (inertia > _NONE)
    return [model.joint_names[i] for i in np.flatnonzero(chatters)]


def _efforts(model: Any) -> Iterator[str]:
    """Yield a line where each turning joint is far stronger than its weight asks."""
    rng, gravity = np.random.default_rng(0), float(np.linalg.norm(model.gravity))
    poses = (model.random_configuration(rng) for _ in range(20))
    weight = np.max([np.abs(model.gravity_torque(q)) for q in poses], axis=0)
    asked = ~model.prismatic & np.isfinite(model.effort_limit) & (weight > 0.02 * weight.max())
    if gravity and asked.sum() > 1:
        efforts = model.effort_limit[asked]
        least = float((efforts / weight[asked]).min()) * gravity / _EARTH
        round_one = len(set(efforts)) == 1 and float(f'{efforts[0]:.0e}') == efforts[0]
        if least > _STRONG and efforts.max() < _NO_EFFORT and not round_one:
            yield (
                f'effort limits are {least:.3g} or more times the torque of the weight; are they '
                'in N mm, or masses too small?'
            )
