"""Joints of a URDF that are held: they become fixed joints at a constant position."""

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, unknown
from arm_dynamics.mimic import leaders_of
from arm_dynamics.urdf_elements import link_of, moves, origin_of, set_origin, vector
from arm_dynamics.urdf_numbers import JOINT, MIMIC, check_numbers

# The value of `joints:=` that chooses the joints between the base and the tool.
CHAIN = 'chain'

_NUMBERS = {**JOINT, 'mimic': MIMIC}


def hold_others(
    tree: Element,
    moving: Sequence[str],
    tip_frame: str = '',
    coupled: Collection[str] = (),
    places: Mapping[str, float] = MappingProxyType({}),
) -> dict[str, float]:
    """Make every joint of a URDF fixed except the moving ones; return the held positions.

    A joint that mimics a moving one moves with it. A held joint is at zero or, where zero is
    beyond its limits, at the nearest limit; one that mimics a held joint is where the <mimic>
    element puts it.

    Args:
        tree: the URDF, which is changed.
        moving: names of the moving joints; or 'chain': those between the base and the tip frame;
            empty: all.
        tip_frame: name of a link; needed with 'chain'.
        coupled: names of joints that cannot move.
        places: other positions of held joints [rad | m].

    Returns:
        Position of each held joint [rad | m].

    Raises:
        ArmError: no such joint or link, a joint that cannot move or mimics another one, or a
            number that is none.
    """
    joints = {joint.get('name', ''): joint for joint in tree.iterfind('joint')}
    for name, joint in joints.items():
        check_numbers(f'joint {name!r}', joint, _NUMBERS)
    leaders = leaders_of(tree)
    movable = [name for name, joint in joints.items() if moves(joint) and name not in coupled]
    free = _chosen(tree, joints, moving, tip_frame) if moving else movable
    for name in moving:
        if name in leaders:
            follows = f'joint {name!r} follows {leaders[name]!r} by <mimic>'
            raise ArmError(f'{follows}: leave it out of joints:=')
    free = {_first(leaders, name) for name in free}
    for name in free.intersection(coupled) if moving else ():
        raise ArmError(f'joint {name!r} is part of a loop, which is not simulated: hold it')
    follow = {name for name in leaders if name in movable and _first(leaders, name) in free}
    held = [name for name, each in joints.items() if moves(each) and name not in free | follow]
    positions = {name: _position(joints, leaders, name, places) for name in held}
    for name, position in positions.items():
        _fix(joints[name], position)
    return positions


def _first(leaders: Mapping[str, str], name: str) -> str:
    """Return the joint that leads a joint, at the end of a row of followers."""
    while name in leaders:
        name = leaders[name]
    return name


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
        raise ArmError("joints:=chain needs the chain's end: give tip_frame:=LINK as well")
    if tip not in links:
        raise unknown('link in tip_frame:=', tip, links)
    above = {link_of(joint, 'child'): name for name, joint in joints.items()}
    chain: list[str] = []
    while tip in above and above[tip] not in chain:
        chain.append(above[tip])
        tip = link_of(joints[above[tip]], 'parent')
    return [name for name in chain if moves(joints[name])]


def _position(
    joints: Mapping[str, Element],
    leaders: Mapping[str, str],
    name: str,
    places: Mapping[str, float],
) -> float:
    """Return where a joint is held [rad | m]."""
    if name in places:
        return places[name]
    joint = joints[name]
    mimic, limit = joint.find('mimic'), joint.find('limit')
    if mimic is not None and name in leaders:
        still = not moves(joints[leaders[name]])
        position = 0.0 if still else _position(joints, leaders, leaders[name], places)
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
