"""Names what a URDF says to other programs, Gazebo, ros2_control or Drake, about its physics."""

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from xml.etree.ElementTree import Element

from arm_dynamics.checks import line_on
from arm_dynamics.urdf_elements import moves
from arm_dynamics.urdf_rules import UrdfRule
from arm_dynamics.urdf_tree import names_of

_XINCLUDE = '{http://www.w3.org/2001/XInclude}include'
_KINDS = 'system', 'actuator', 'sensor'  # of <ros2_control>
_INTERFACES = 'position', 'velocity', 'effort', 'acceleration'
_LOOP = re.compile(r'\w+_constraint|linear_bushing_rpy')  # of Drake
# What follows for the user from an element or attribute of Drake; others are looks and meshing.
_OF_DRAKE = {
    'joint': 'nothing moves by it: write revolute, continuous or prismatic joints',
    'screw_thread_pitch': 'no joint is a screw',
    'mimic': 'write <mimic> in the joint itself',
    'capsule': 'no clearance check and no contact has this shape: write <capsule>',
    'ellipsoid': 'no clearance check and no contact has this shape',
    'acceleration': 'write acceleration in <limit>',
    'jerk': 'write jerk in <limit>',
    'proximity_properties': 'friction of contacts is a parameter of the simulator',
    'collision_filter_group': 'write <disable_collisions> in an SRDF',
    'controller_gains': 'gains are parameters of the controller',
}
_ROUNDING = 1e-6  # of a bound [rad | m | rad/s | m/s]


class OtherProgramsRule(UrdfRule):
    """Elements for other programs have no effect; what would change the arm is named."""

    order = 22.0

    def notes(self, tree: Element, model: object, tip_frame: str | None) -> Iterator[str]:
        """Yield, one line each, what another program would do to the arm."""
        yield from _gazebo(tree)
        yield from _drake(tree)
        yield from _ros2_control(tree)
        yield from _misspelt(tree)
        yield from line_on(
            (each.get('href', '') for each in tree.iter(_XINCLUDE)),
            '<xi:include> of {} is not used: a URDF includes no other file: write it as xacro',
        )
        rotors = [
            joint.get('name', '')
            for transmission in tree.iterfind('transmission')
            if any(each.tag.endswith('}rotor_inertia') for each in transmission.iter())
            for joint in transmission.iterfind('joint')
        ]
        yield from line_on(
            rotors,
            'rotor_inertia in <transmission> of {} is not used: write <dynamics armature="">, '
            'rotor_inertia times the square of gear_ratio',
        )


def _gazebo(tree: Element) -> Iterator[str]:
    blocks = [(x.get('reference', ''), x) for x in tree.iterfind('gazebo')]
    springs = [name for name, block in blocks if _number(block.findtext('springStiffness'))]
    text = '<springStiffness> in <gazebo> of {} is not used: the joint has no spring'
    yield from line_on(springs, text)
    weightless = []
    for name, block in blocks:
        off = (block.findtext('turnGravityOff') or '').strip().lower() in ('true', '1')
        if off or (block.findtext('gravity') or '').strip().lower() in ('false', '0'):
            weightless.append(name)
    text = '<gazebo> of {} switches gravity off, which is not used: the link has its weight'
    yield from line_on(weightless, text)
    loops = [joint.get('name', '') for _, block in blocks for joint in block.iterfind('joint')]
    yield from line_on(loops, 'joint {} in <gazebo> is not used: the loop stays open')
    led = names_of(tree, 'joint', lambda joint: joint.find('mimic') is not None)
    followers = [(x.text or '').strip() for _, block in blocks for x in block.iter('mimicJoint')]
    text = 'mimicJoint {} in <gazebo> is not used: write <mimic> in the joint itself'
    yield from line_on((name for name in followers if name not in led), text)


def _drake(tree: Element) -> Iterator[str]:
    """Yield lines on what Drake reads beyond a URDF, in elements and attributes."""
    found: dict[str, list[str]] = {}
    for owner in tree:
        for each in owner.iter():
            where = owner.get('name') or each.get('name') or ''
            for name, form in ((each.tag, '<drake:{}>'), *((x, 'drake:{}') for x in each.attrib)):
                space, _, what = name.rpartition('}')
                follows = 'the loop stays open' if _LOOP.fullmatch(what) else _OF_DRAKE.get(what)
                if 'drake' in space and follows:
                    of = '' if follows == 'the loop stays open' else ' of {}'
                    line = f'{form.format(what)}{of} is not used: {follows}'
                    found.setdefault(line, []).append(where)
    for line, names in found.items():
        yield from line_on(names, line)


def _ros2_control(tree: Element) -> Iterator[str]:
    """Yield lines on joints of <ros2_control>: strange ones, limits, start, and what is driven."""
    joints = {joint.get('name', ''): joint for joint in tree.iterfind('joint')}
    named = [(x.get('name', ''), x) for x in tree.iterfind('ros2_control/joint')]
    strange = [name for name, _ in named if name not in joints]
    yield from line_on(strange, '<ros2_control> names {}, which is no joint of the URDF')
    controlled = [(name, x) for name, x in named if name in joints]
    unlimited = [
        name
        for name, x in controlled
        if any(limits.get('enable', '').lower() == 'false' for limits in x.iter('limits'))
    ]
    text = (
        '<limits enable="false"> in <ros2_control> of {} is not used: limits are those of <limit>'
    )
    yield from line_on(unlimited, text)
    narrower = [name for name, x in controlled if _is_narrower(x, joints[name].find('limit'))]
    text = 'min and max in <ros2_control> of {} are not used: limits are those of <limit>'
    yield from line_on(narrower, text)
    position = 'state_interface[@name="position"]'
    moved = [
        name
        for name, x in controlled
        if any(_number(_param(state, 'initial_value')) for state in x.iterfind(position))
    ]
    yield from line_on(
        moved,
        'initial_value in <ros2_control> of {} is not used: the start is initial_positions of the '
        'simulator',
    )
    driven = {name for name, x in controlled if x.find('command_interface') is not None}
    others = [
        name
        for name, joint in joints.items()
        if driven and moves(joint) and joint.find('mimic') is None and name not in driven
    ]
    yield from line_on(
        others,
        '{}: without a command_interface in <ros2_control>, and driven like the others: joints:= '
        'leaves joints out',
    )
    yield from _mimic_of_ros2_control(
        (name, x, joints[name].find('mimic')) for name, x in controlled
    )


def _mimic_of_ros2_control(
    controlled: Iterable[tuple[str, Element, Element | None]],
) -> Iterator[str]:
    """Yield lines on <ros2_control>'s joints that follow otherwise than by <mimic>.

    `controlled`: names of joints, their elements in <ros2_control>, and their <mimic>.
    """
    lacking, freed, otherwise = [], [], []
    for name, joint, mimic in controlled:
        if mimic is None:
            lacking += [name] * bool(_param(joint, 'mimic'))
            continue
        freed += [name] * (joint.get('mimic') == 'false')
        for key, default in (('multiplier', '1'), ('offset', '0')):
            text = _param(joint, key)
            if text is not None and _number(text) != _number(mimic.get(key, default)):
                otherwise.append(name)
    text = 'mimic in <ros2_control> of {} is not used: write <mimic> in the joint itself'
    yield from line_on(lacking, text)
    text = (
        'mimic="false" in <ros2_control> of {} is not used: remove <mimic> from the joint itself'
    )
    yield from line_on(freed, text)
    text = 'multiplier and offset in <ros2_control> of {} are not used: those of <mimic> are'
    yield from line_on(otherwise, text)


def _misspelt(tree: Element) -> Iterator[str]:
    kinds = [x.get('type', '') for x in tree.iterfind('ros2_control')]
    strange = [repr(kind) for kind in kinds if kind not in ('', *_KINDS)]
    yield from line_on(strange, f'type of <ros2_control> is {{}}; allowed: {", ".join(_KINDS)}')
    near = []
    for kind in ('command_interface', 'state_interface'):
        for interface in tree.iterfind(f'ros2_control/joint/{kind}'):
            name = interface.get('name', '')
            if name not in _INTERFACES:
                meant = get_close_matches(name.lower(), _INTERFACES, 1, 0.85)
                near += [f'{name!r} (did you mean {x}?)' for x in meant]
    yield from line_on(near, 'in <ros2_control> the interface {}')


def _param(owner: Element, name: str) -> str | None:
    return owner.findtext(f'param[@name="{name}"]')


def _number(text: str | None) -> float:
    """Return a number, 0 where there is none."""
    try:
        return float(text or '0')
    except ValueError:
        return 0.0


def _is_narrower(joint: Element, limit: Element | None) -> bool:
    """Return whether commands of a joint of <ros2_control> have tighter bounds than <limit>."""
    of_limit = {} if limit is None else {key: _number(x) for key, x in limit.attrib.items()}
    bounds = {'position': (of_limit.get('lower', 0.0), of_limit.get('upper', 0.0))}
    bounds |= {
        key: (-most, most) for key in ('velocity', 'effort') if (most := of_limit.get(key, 0.0))
    }
    for interface in joint.iterfind('command_interface') if of_limit else ():
        lower, upper = bounds.get(interface.get('name', ''), (0.0, 0.0))
        low, high = (_param(interface, name) for name in ('min', 'max'))
        low_is = low is not None and _number(low) > lower + _ROUNDING
        high_is = high is not None and _number(high) < upper - _ROUNDING
        if lower < upper and (low_is or high_is):
            return True
    return False
