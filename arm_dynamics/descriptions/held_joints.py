"""Joints of a URDF that do not move: they become fixed joints, in the place where they stand."""

from collections.abc import Collection, Sequence
from xml.etree.ElementTree import Element, SubElement

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, unknown

_MOVING = ('revolute', 'continuous', 'prismatic')
# What joints between the base and the tool are called, as the choice of what moves.
CHAIN = 'chain'


def hold_others(
    tree: Element, moving: Sequence[str], tip_frame: str = '', coupled: Collection[str] = ()
) -> dict[str, float]:
    """Make all joints of a URDF fixed but those that are to move; return where the others stand.

    A held joint stands at zero or, where that is beyond its limits, at the nearest limit; one that
    mimics a held joint stands where that puts it.

    Args:
        tree: the URDF, which is changed.
        moving: names of joints, or 'chain': those between the base and the tip frame; none: all
            but those that mimic, and those that are mimicked.
        tip_frame: a link; '' is refused with 'chain'.
        coupled: names of joints that cannot move alone beside those with <mimic>.

    Returns:
        Where each held joint stands [rad | m].

    Raises:
        ArmError: no such joint or link, a joint that cannot move, or a held joint that mimics one
            that moves.
    """
    joints = {joint.get('name', ''): joint for joint in tree.iterfind('joint')}
    kept = _chosen(tree, joints, moving, tip_frame) if moving else None
    leaders = {name: found for name in joints if (found := _leader(joints[name])) is not None}
    if kept is None:
        bound = {*leaders, *leaders.values(), *coupled}
        kept = [name for name, joint in joints.items() if _moves(joint) and name not in bound]
    for name in kept:
        if name in coupled:
            raise ArmError(f'joint {name!r} is part of a loop, which is not simulated: hold it')
        if name in leaders:
            told = f'joint {name!r} follows {leaders[name]!r} by <mimic>'
            raise ArmError(f'{told}: leave it out of joints:=')
    for name, leader in leaders.items():
        if leader in kept and leader != name:
            raise ArmError(
                f'joint {name!r} follows {leader!r} by <mimic>, which is not simulated: leave '
                f'{leader!r} out of joints:=, so that both are held, or remove <mimic>'
            )
    held = [name for name, joint in joints.items() if _moves(joint) and name not in kept]
    places = {name: _place(joints, name, ()) for name in held}
    for name, place in places.items():
        _fix(joints[name], place)
    return places


def _chosen(
    tree: Element, joints: dict[str, Element], moving: Sequence[str], tip_frame: str
) -> Collection[str]:
    if list(moving) == [CHAIN]:
        return _between_base_and(tip_frame, tree, joints)
    for name in moving:
        if name not in joints:
            raise unknown('joint in joints:=', name, joints)
        if not _moves(joints[name]):
            raise ArmError(f'joint {name!r} in joints:= is of type {joints[name].get("type")!r}')
    return moving


def _between_base_and(tip: str, tree: Element, joints: dict[str, Element]) -> list[str]:
    links = {link.get('name', '') for link in tree.iterfind('link')}
    if not tip:
        raise ArmError("joints:=chain needs the chain's end: give tip_frame:= as well")
    if tip not in links:
        raise unknown('link in tip_frame:=', tip, links)
    above = {_end(joint, 'child'): name for name, joint in joints.items()}
    found: list[str] = []
    while tip in above and above[tip] not in found:
        found.append(above[tip])
        tip = _end(joints[above[tip]], 'parent')
    return [name for name in found if _moves(joints[name])]


def _moves(joint: Element) -> bool:
    return joint.get('type') in _MOVING


def _leader(joint: Element) -> str | None:
    mimic = joint.find('mimic')
    return None if mimic is None or not _moves(joint) else mimic.get('joint', '')


def _end(joint: Element, which: str) -> str:
    element = joint.find(which)
    return '' if element is None else element.get('link', '')


def _place(joints: dict[str, Element], name: str, followers: tuple[str, ...]) -> float:
    """Return where a joint is held [rad | m]."""
    joint, leader = joints[name], _leader(joints[name])
    if leader is not None:
        if leader not in joints or name in followers:
            raise ArmError(f'joint {name!r}: its <mimic joint="{leader}"> leads to no joint')
        mimic = joint.find('mimic')
        assert mimic is not None
        place = 0.0 if not _moves(joints[leader]) else _place(joints, leader, (*followers, name))
        return _number(mimic, 'multiplier', 1.0, name) * place + _number(
            mimic, 'offset', 0.0, name
        )
    limit = joint.find('limit')
    if limit is None or joint.get('type') == 'continuous':
        return 0.0
    lower, upper = _number(limit, 'lower', 0.0, name), _number(limit, 'upper', 0.0, name)
    return float(np.clip(0.0, min(lower, upper), max(lower, upper)))


def _fix(joint: Element, place: float) -> None:
    name, prismatic = joint.get('name', ''), joint.get('type') == 'prismatic'
    joint.set('type', 'fixed')
    axis = joint.find('axis')
    direction = np.array([1.0, 0, 0] if axis is None else _vector(axis, 'xyz', name))
    for tag in ('axis', 'limit', 'dynamics', 'mimic', 'safety_controller', 'calibration'):
        for element in joint.findall(tag):
            joint.remove(element)
    if place == 0.0 or not direction.any():
        return
    origin = joint.find('origin')
    if origin is None:
        origin = SubElement(joint, 'origin')
    xyz, rpy = _vector(origin, 'xyz', name), _vector(origin, 'rpy', name)
    turn = pin.rpy.rpyToMatrix(*rpy)
    direction /= np.linalg.norm(direction)
    if prismatic:
        xyz = xyz + turn @ direction * place
    else:
        turn = turn @ pin.exp3(direction * place)
    origin.set('xyz', text_of_numbers(xyz))
    origin.set('rpy', text_of_numbers(pin.rpy.matrixToRpy(turn)))


def text_of_numbers(values: Collection[float]) -> str:
    """Return numbers as a URDF has them, to the last bit."""
    return ' '.join(repr(float(value)) for value in values)


def _number(element: Element, name: str, usual: float, joint: str) -> float:
    text = element.get(name)
    try:
        return usual if text is None else float(text)
    except ValueError:
        told = f'<{element.tag} {name}="{text}">'
        raise ArmError(f'joint {joint!r}: {told} must be a number') from None


def _vector(element: Element, name: str, joint: str) -> np.ndarray:
    text = element.get(name, '0 0 0')
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        values = np.empty(0)
    if values.shape != (3,) or not np.isfinite(values).all():
        raise ArmError(f'joint {joint!r}: <{element.tag} {name}="{text}"> must be three numbers')
    return values
