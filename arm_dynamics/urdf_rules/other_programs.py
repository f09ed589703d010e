"""Names what a URDF says to other programs, Gazebo, ros2_control or Drake, about its physics."""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any
from xml.etree.ElementTree import Element

from arm_dynamics.checks import line_on
from arm_dynamics.urdf_elements import moves
from arm_dynamics.urdf_rules import UrdfRule

_XINCLUDE = '{http://www.w3.org/2001/XInclude}include'
_KINDS = 'system', 'actuator', 'sensor'  # of <ros2_control>
_INTERFACES = 'position', 'velocity', 'effort', 'acceleration'
_ROUNDING = 1e-6  # of a bound [rad | m | rad/s | m/s]


class OtherProgramsRule(UrdfRule):
    """Elements for other programs have no effect; what would change the arm is named."""

    order = 22.0

    def notes(self, tree: Element, model: Any, tip_frame: str | None) -> Iterator[str]:
        """Yield, one line each, what another program would do to the arm."""
        yield from _gazebo(tree)
        yield from _drake(tree)
        yield from _ros2_control(tree)
        yield from _mimic_of_ros2_control(tree)
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
    blocks = [(each.get('reference', ''), each) for each in tree.iterfind('gazebo')]
    yield from line_on(
        (name for name, each in blocks if _number(each.findtext('springStiffness'))),
        '<springStiffness> in <gazebo> of {} is not used: the joint has no spring',
    )
    off = {'turnGravityOff': ('true', '1'), 'gravity': ('false', '0')}
    yield from line_on(
        (
            name
            for name, each in blocks
            for tag, texts in off.items()
            if (each.findtext(tag) or '').strip().lower() in texts
        ),
        '<gazebo> of {} switches gravity off, which is not used: the link has its weight',
    )
    yield from line_on(
        (joint.get('name', '') for _, each in blocks for joint in each.iterfind('joint')),
        'joint {} in <gazebo> is not used: the loop stays open',
    )
    led = {
        joint.get('name') for joint in tree.iterfind('joint') if joint.find('mimic') is not None
    }
    followers = ((x.text or '').strip() for _, each in blocks for x in each.iter('mimicJoint'))
    yield from line_on(
        (name for name in followers if name not in led),
        'mimicJoint {} in <gazebo> is not used: write <mimic> in the joint itself',
    )


def _drake(tree: Element) -> Iterator[str]:
    coupling = re.compile(r'\{.*\}(\w+_constraint|linear_bushing_rpy)')
    yield from line_on(
        (found[1] for each in tree if (found := coupling.fullmatch(each.tag))),
        '<drake:{}> is not used: the loop stays open',
    )
    yield from line_on(
        (
            joint.get('name', '')
            for joint in tree.iterfind('joint')
            for limit in joint.iterfind('limit')
            if any(key.endswith('}acceleration') for key in limit.attrib)
        ),
        'drake:acceleration of {} is not used: write acceleration in <limit>',
    )


def _ros2_control(tree: Element) -> Iterator[str]:
    joints = {joint.get('name', ''): joint for joint in tree.iterfind('joint')}
    found = [
        (joint.get('name', ''), joint)
        for joint in tree.iterfind('ros2_control/joint')
        if joint.get('name') in joints
    ]
    yield from line_on(
        (
            name
            for joint in tree.iterfind('ros2_control/joint')
            if (name := joint.get('name', '')) not in joints
        ),
        '<ros2_control> names {}, which is no joint of the URDF',
    )
    yield from line_on(
        (
            name
            for name, each in found
            for limits in each.iter('limits')
            if limits.get('enable', '').lower() == 'false'
        ),
        '<limits enable="false"> in <ros2_control> of {} is not used: limits are those of <limit>',
    )
    yield from line_on(
        (name for name, each in found if _is_narrower(each, joints[name].find('limit'))),
        'min and max in <ros2_control> of {} are not used: limits are those of <limit>',
    )
    yield from line_on(
        (
            name
            for name, each in found
            for state in each.iterfind('state_interface[@name="position"]')
            if _number(_param(state, 'initial_value'))
        ),
        'initial_value in <ros2_control> of {} is not used: the start is initial_positions of the '
        'simulator',
    )
    driven = {name for name, each in found if each.find('command_interface') is not None}
    yield from line_on(
        (
            name
            for name, joint in joints.items()
            if driven and moves(joint) and joint.find('mimic') is None and name not in driven
        ),
        '{}: without a command_interface in <ros2_control>, and driven like the others: joints:= '
        'leaves joints out',
    )


def _misspelt(tree: Element) -> Iterator[str]:
    kinds = (each.get('type', '') for each in tree.iterfind('ros2_control'))
    yield from line_on(
        (repr(kind) for kind in kinds if kind not in ('', *_KINDS)),
        f'type of <ros2_control> is {{}}; allowed: {", ".join(_KINDS)}',
    )
    names = [
        each.get('name', '')
        for kind in ('command_interface', 'state_interface')
        for each in tree.iterfind(f'ros2_control/joint/{kind}')
    ]
    yield from line_on(
        (
            f'{name!r} (did you mean {near}?)'
            for name in names
            if name not in _INTERFACES
            for near in get_close_matches(name.lower(), _INTERFACES, 1, 0.85)
        ),
        'in <ros2_control> the interface {}',
    )


def _mimic_of_ros2_control(tree: Element) -> Iterator[str]:
    mimics = {joint.get('name', ''): joint.find('mimic') for joint in tree.iterfind('joint')}
    found = [
        (joint.get('name', ''), joint)
        for joint in tree.iterfind('ros2_control/joint')
        if joint.get('name') in mimics
    ]
    led = [(name, each, mimics[name]) for name, each in found]
    yield from line_on(
        (name for name, each, own in led if own is None and _param(each, 'mimic')),
        'mimic in <ros2_control> of {} is not used: write <mimic> in the joint itself',
    )
    yield from line_on(
        (name for name, each, own in led if own is not None and each.get('mimic') == 'false'),
        'mimic="false" in <ros2_control> of {} is not used: remove <mimic> from the joint itself',
    )
    yield from line_on(
        (
            name
            for name, each, own in led
            for key, usual in (('multiplier', '1'), ('offset', '0'))
            if own is not None and (given := _param(each, key)) is not None
            if _number(given) != _number(own.get(key, usual))
        ),
        'multiplier and offset in <ros2_control> of {} are not used: those of <mimic> are',
    )


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
