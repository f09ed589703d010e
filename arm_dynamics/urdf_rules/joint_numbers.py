"""Names limits, friction, rotors and couplings with which no joint of an arm moves as meant."""

from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element

import numpy as np

from arm_dynamics.checks import line_on
from arm_dynamics.model import STANDSTILL, RobotModel
from arm_dynamics.urdf_elements import link_of, moves, vector
from arm_dynamics.urdf_rules import UrdfRule
from arm_dynamics.urdf_tree import NO_EFFORT, length, mass_of, names_of, number, outward

# Beyond these one joint's speed limit may be in degrees/s; from _FAST on another rule names it.
_FASTER, _FAST = 60.0, 100.0  # [rad/s]
_MEDIANS = 20.0  # times the median of the joints
_STRONG = 1000.0  # times the torque of the weight: effort limits are not those of drives in N m
_EARTH = 9.81  # [m/s^2]
# A joint that its damping holds below these speeds hardly moves [rad/s | m/s],
_CREEP = {'revolute': 0.2, 'continuous': 0.2, 'prismatic': 0.01}
_SHARE = 8.0  # nor does one with a speed limit above so many times the speed that damping leaves,
_USUAL_SPEED = 30.0  # unless the limit is beyond this one, which means none [rad/s | m/s].
_SLUGGISH = 0.5  # acceleration of a rotor alone at the effort limit [rad/s^2]
_SLOW = 0.02  # speed limit [rad/s]
# Speed of the tool of a single arm by one joint; that of 326 files of vendors is below 13 [m/s].
_TOOL_SPEED = 15.0
_TURNS = 12.0  # speed of that joint, as textbooks have long links [rad/s]
_SINGLE = 0.7  # share of the joints that are on one way to the tool of a single arm
_SOFT = 19.0  # soft limit; beyond, degrees may be meant [rad]
_PERIOD = 1e-3  # of control [s]
_NONE = 1e-9  # inertia of a joint that moves none [kg m^2 | kg]
_LAG = 1.0  # longest lag of a law's gains by inertia [s]
_LAW_FREQUENCY = 20.0  # for which these gains are designed [rad/s]
_UNIT = 1e-3  # rounding of the length of an axis
_RATIOS = np.pi / 180.0, 180.0 / np.pi


class JointNumbersRule(UrdfRule):
    """Joints move as drives of arms do."""

    order = 21.5

    def notes(self, tree: Element, model: RobotModel, tip_frame: str | None) -> Iterator[str]:
        """Yield a line about each kind of joint that hardly moves as meant."""
        usual = _usual_speed(tree)
        fast = _moving(tree, lambda x: usual < _turning_speed(x) < _FAST)
        text = '{}: faster than {:.3g} rad/s; is it in degrees per second?'
        yield from line_on(fast, text, usual)
        yield from _fast_tool(tree)
        for text, which in _SLIPS.items():
            yield from line_on(_moving(tree, which), f'{{}}: {text}')
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
        yield from line_on(
            _lagging(model),
            '{}: damping so large for the inertia that laws with gains by inertia, as pd, lag for '
            'seconds, as servos of a launch do not; is the rotor missing, <dynamics armature="">?',
        )


def _moving(tree: Element, which: Callable[[Element], bool]) -> list[str]:
    return names_of(tree, 'joint', lambda joint: moves(joint) and which(joint))


def _turning_speed(joint: Element) -> float:
    """Return the speed limit of a revolute joint [rad/s]; 0 for others."""
    return number(joint, 'limit', 'velocity') if joint.get('type') == 'revolute' else 0.0


def _usual_speed(tree: Element) -> float:
    """Return the speed of a revolute joint, beyond which degrees may be meant [rad/s]."""
    speeds = [speed for joint in tree.iterfind('joint') if (speed := _turning_speed(joint))]
    return max(_FASTER, _MEDIANS * float(np.median(speeds or [0.0])))


def _fast_tool(tree: Element) -> Iterator[str]:
    """Yield a line on the joint of a single arm that moves its tool as no arm does."""
    reach: dict[str, tuple[float, int]] = {}  # from a link to its farthest end [m], and joints
    fastest, fastest_joint, driven_joints = 0.0, '', 0
    for joint in reversed(outward(tree)):
        child, parent = link_of(joint, 'child'), link_of(joint, 'parent')
        far, joints = reach.get(child, (0.0, 0))
        is_driven = moves(joint) and joint.find('mimic') is None
        speed = _turning_speed(joint) if is_driven else 0.0
        if _TURNS < speed < _FASTER and speed * far > fastest:
            fastest, fastest_joint = speed * far, joint.get('name', '')
        driven_joints += is_driven
        before, joints_before = reach.get(parent, (0.0, 0))
        reach[parent] = max(far + length(joint), before), max(joints + is_driven, joints_before)
    longest = max((joints for _, joints in reach.values()), default=0)
    if fastest > _TOOL_SPEED and longest >= _SINGLE * driven_joints:
        yield (
            f'{fastest_joint}: moves the end of the arm at up to {fastest:.3g} m/s; are speed '
            'limits in revolutions per minute, or degrees per second?'
        )


def _is_stuck(joint: Element) -> bool:
    return 0.0 < number(joint, 'limit', 'effort') < number(joint, 'dynamics', 'friction')


def _creeps(joint: Element) -> bool:
    """Return whether a joint's damping lets it move only far below its speed limit."""
    damping, effort = number(joint, 'dynamics', 'damping'), number(joint, 'limit', 'effort')
    if not (damping > 0.0 and effort > 0.0):
        return False
    most, speed = effort / damping, number(joint, 'limit', 'velocity')
    return most < _CREEP[joint.get('type', '')] or _SHARE * most < speed <= _USUAL_SPEED


def _is_sluggish(joint: Element) -> bool:
    effort, rotor = number(joint, 'limit', 'effort'), number(joint, 'dynamics', 'armature')
    return joint.get('type') != 'prismatic' and 0.0 < effort < _SLUGGISH * rotor


def _is_soft_in_degrees(joint: Element) -> bool:
    keys = 'soft_lower_limit', 'soft_upper_limit'
    widest = max(abs(number(joint, 'safety_controller', key)) for key in keys)
    return joint.get('type') == 'revolute' and widest > _SOFT


def _follows_in_degrees(joint: Element) -> bool:
    ratio = abs(number(joint, 'mimic', 'multiplier', 1.0))
    return any(abs(ratio / each - 1.0) < 0.01 for each in _RATIOS)


def _slides_by_another_unit(joint: Element) -> bool:
    length_of_axis = float(np.linalg.norm(vector(joint.find('axis'), 'xyz', '1 0 0')))
    return joint.get('type') == 'prismatic' and abs(length_of_axis - 1.0) > _UNIT


# What is named, and of which moving joints.
_SLIPS: dict[str, Callable[[Element], bool]] = {
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
        lambda joint: number(joint, 'mimic', 'multiplier', 1.0) == 0.0
    ),
    'no <axis xyz="">, so that it moves along x or turns about x': (
        lambda joint: 'xyz' not in {key for each in joint.iterfind('axis') for key in each.attrib}
    ),
    '<axis> of a slide whose length is not 1: other readers may scale the motion; only its '
    'direction counts here': _slides_by_another_unit,
}


def _without_mass(tree: Element) -> list[str]:
    """Return the joints that move shapes without mass, but by other joints also mass."""
    joints = list(tree.iterfind('joint'))
    fixed_to = {link_of(x, 'child'): link_of(x, 'parent') for x in joints if not moves(x)}
    parents = {link_of(x, 'child'): link_of(x, 'parent') for x in joints}
    heavy, carrying, shaped = set(), set(), set()  # by the link that a joint moves
    for link in tree.iterfind('link'):
        body = link.get('name', '')
        while body in fixed_to:
            body = fixed_to[body]
        if link.find('*/geometry') is not None:
            shaped.add(body)
        if mass_of(link) > 0.0:
            heavy.add(body)
            while body in parents:
                body = parents[body]
                carrying.add(body)
    lacking = (shaped & carrying) - heavy
    return _moving(tree, lambda joint: link_of(joint, 'child') in lacking)


def _chattering(model: RobotModel) -> list[str]:
    """Return the joints whose friction is beyond what STANDSTILL says of laws that cancel it."""
    inertia = np.diagonal(model.mass_matrix(model.neutral()))
    chatters = (model.friction * _PERIOD > STANDSTILL * inertia) & (inertia > _NONE)
    return [model.joint_names[i] for i in np.flatnonzero(chatters)]


def _lagging(model: RobotModel) -> list[str]:
    """Return the joints that their damping slows to this time constant under wn^2 M."""
    inertia = np.diagonal(model.mass_matrix(model.neutral()))
    lags = (model.damping > _LAG * _LAW_FREQUENCY**2 * inertia) & (inertia > _NONE)
    found = [model.joint_names[i] for i in np.flatnonzero(lags)]
    return [name for name in found if name not in _chattering(model)]  # one line is enough


def _efforts(model: RobotModel) -> Iterator[str]:
    """Yield a line where each turning joint is far stronger than its weight asks."""
    rng, gravity = np.random.default_rng(0), float(np.linalg.norm(model.gravity))
    poses = (model.random_configuration(rng) for _ in range(20))
    weight = np.max([np.abs(model.gravity_torque(q)) for q in poses], axis=0)
    asked = ~model.prismatic & np.isfinite(model.effort_limit) & (weight > 0.02 * weight.max())
    if gravity and asked.sum() > 1:
        efforts = model.effort_limit[asked]
        least = float((efforts / weight[asked]).min()) * gravity / _EARTH
        round_one = len(set(efforts)) == 1 and float(f'{efforts[0]:.0e}') == efforts[0]
        if least > _STRONG and efforts.max() < NO_EFFORT and not round_one:
            yield (
                f'effort limits are {least:.3g} or more times the torque of the weight; are they '
                'in N mm, or masses too small?'
            )
