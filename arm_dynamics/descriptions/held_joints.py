"""Joints of a URDF that are held: they become fixed joints at a constant position."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, unknown
from arm_dynamics.urdf_checks import JOINT, check_numbers
from arm_dynamics.urdf_elements import link_of, moves, origin_of, set_origin, vector

# The value of `joints:=` that chooses the joints between the base and the tool.
CHAIN = 'chain'

_NUMBERS = {**JOINT, 'mimic': ('multiplier', 'offset')}


def hold_others(
    tree: Element,
    moving: Sequence[str],
    tip_frame: str = '',
    coupled: Collection[str] = (),
    places: Mapping[str, float] = MappingProxyType({}),
) -> dict[str, float]:
    """Make every joint of a URDF fixed except the moving ones; return the held positions.

    A held joint is at zero or, where zero is beyond its limits, at the nearest limit. A held joint
    that mimics another one is where the <mimic> element puts it.

    Args:
        tree: the URDF, which is changed.
        moving: names of the moving joints; or 'chain': those between the base and the tip frame;
            empty: all except those that mimic another joint or are mimicked.
        tip_frame: name of a link; needed with 'chain'.
        coupled: names of further joints that cannot move alone.
        places: other positions of held joints [rad | m].

    Returns:
        Position of each held joint [rad | m].

    Raises:
        ArmError: no such joint or link, a joint that cannot move, a held joint that mimics a
            moving one, or a number that is none.
    """
    joints = {joint.get('name', ''): joint for joint in tree.iterfind('joint')}
    for name, joint in joints.items():
        check_numbers(f'joint {name!r}', joint, _NUMBERS)
    leaders = {name: leader for name in joints if (leader := _leader(joints[name])) is not None}
    if moving:
        free = _chosen(tree, joints, moving, tip_frame)
    else:
        bound = {*leaders, *leaders.values(), *coupled}
        free = [name for name, joint in joints.items() if moves(joint) and name not in bound]
    for name in free:
        if name in coupled:
            raise ArmError(f'joint {name!r} is part of a loop, which is not simulated: hold it')
        if name in leaders:
            follows = f'joint {name!r} follows {leaders[name]!r} by <mimic>'
            raise ArmError(f'{follows}: leave it out of joints:=')
    for name, leader in leaders.items():
        if leader in free and leader != name:
            raise ArmError(
                f'joint {name!r} follows {leader!r} by <mimic>, which is not simulated: leave '
                f'{leader!r} out of joints:=, so that both are held, or remove <mimic>'
            )
    held = [name for name, joint in joints.items() if moves(joint) and name not in free]
    positions = {name: places.get(name, _position(joints, name, ())) for name in held}
    for name, position in positions.items():
        _fix(joints[name], position)
    return positions


def _chosen(
    tree: Element, joints: dict[str, Element], moving: Sequence[str], tip_frame: str
) -> Collection[str]:
    if list(moving) == [CHAIN]:
        return _chain_to(tip_frame, tree, joints)
    for name in moving:
        if name not in joints:
            raise unknown('joint in joints:=', name, joints)
        if not moves(joints[name]):
            raise ArmError(f'joint {name!r} in joints:= is of type {joints[name].get("type")!r}')
    return moving


def _chain_to(tip: str, tree: Element, joints: dict[str, Element]) -> list[str]:
    links = {link.get('name', '') for link in tree.iterfind('link')}
    if not tip:
        raise ArmError("joints:=chain needs the chain's end: give tip_frame:= as well")
    if tip not in links:
        raise unknown('link in tip_frame:=', tip, links)
    above = {link_of(joint, 'child'): name for name, joint in joints.items()}
    chain: list[str] = []
    while tip in above and above[tip] not in chain:
        chain.append(above[tip])
        tip = link_of(joints[above[tip]], 'parent')
    return [name for name in chain if moves(joints[name])]


def _leader(joint: Element) -> str | None:
    """Return the name of the joint that a joint mimics."""
    mimic = joint.find('mimic')
    return None if mimic is None or not moves(joint) else mimic.get('joint', '')


def _position(joints: dict[str, Element], name: str, followers: tuple[str, ...]) -> float:
    """Return where a joint is held [rad | m]."""
    joint, leader = joints[name], _leader(joints[name])
    mimic, limit = joint.find('mimic'), joint.find('limit')
    if mimic is not None and leader is not None:
        if leader not in joints or name in followers:
            raise ArmError(f'joint {name!r}: its <mimic joint="{leader}"> leads to no joint')
        still = not moves(joints[leader])
        position = 0.0 if still else _position(joints, leader, (*followers, name))
        multiplier, offset = mimic.get('multiplier', '1'), mimic.get('offset', '0')
        return float(multiplier) * position + float(offset)
    if limit is None or joint.get('type') == 'continuous':
        return 0.0
    bounds = [float(limit.get(which, '0')) for which in ('lower', 'upper')]
    return float(np.clip(0.0, min(bounds), max(bounds)))


def _fix(joint: Element, position: float) -> None:
    axis, prismatic = vector(joint.find('axis'), 'xyz', '1 0 0'), joint.get('type') == 'prismatic'
    joint.set('type', 'fixed')
    for tag in ('axis', 'limit', 'dynamics', 'mimic', 'safety_controller', 'calibration'):
        for element in joint.findall(tag):
            joint.remove(element)
    if position == 0.0 or not axis.any():
        return
    motion = axis / np.linalg.norm(axis) * position
    moved = pin.SE3(np.eye(3), motion) if prismatic else pin.SE3(pin.exp3(motion), np.zeros(3))
    set_origin(joint, origin_of(joint) * moved)
