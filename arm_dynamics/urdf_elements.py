"""Elements of a URDF: read as numbers, poses and names, and written."""

from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, Array, one_line, text_of

MOVING_JOINTS = ('revolute', 'continuous', 'prismatic')
MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')


def read_tree(file: Path, what: str) -> Element:
    """Return the tree of an XML file; raises ArmError, which begins with `what`, if it is none."""
    try:
        return ElementTree.fromstring(text_of(file))
    except (ValueError, ElementTree.ParseError) as error:
        raise ArmError(f'{what}: {one_line(error)}') from None


def moves(joint: Element) -> bool:
    """Return whether a joint is of a type that moves."""
    return joint.get('type') in MOVING_JOINTS


def link_of(joint: Element, which: str) -> str:
    """Return the name of a joint's link, `which`: 'parent' or 'child'; '' where there is none."""
    element = joint.find(which)
    return '' if element is None else element.get('link', '')


def vector(element: Element | None, name: str, default: str = '0 0 0') -> Array:
    """Return an attribute of three numbers (3,), the default where it is missing."""
    text = default if element is None else element.get(name, default)
    return np.array([float(word) for word in text.split()])


def origin_of(owner: Element) -> pin.SE3:
    """Return the pose of an element's <origin>, the identity where there is none."""
    origin = owner.find('origin')
    if origin is not None and 'quat_xyzw' in origin.attrib:  # of URDF 1.1
        turn = pin.Quaternion(vector(origin, 'quat_xyzw')).normalized()
        return pin.SE3(turn, vector(origin, 'xyz'))
    return pin.SE3(pin.rpy.rpyToMatrix(*vector(origin, 'rpy')), vector(origin, 'xyz'))


def set_origin(owner: Element, pose: pin.SE3) -> None:
    """Write a pose as the <origin> of an element."""
    origin = owner.find('origin')
    origin = SubElement(owner, 'origin') if origin is None else origin
    origin.attrib.pop('quat_xyzw', None)
    origin.set('xyz', number_text(pose.translation))
    origin.set('rpy', number_text(pin.rpy.matrixToRpy(pose.rotation)))


def set_inertial(link: Element, mass: float, center: Array, inertia: Array) -> None:
    """Write the <inertial> of a link, in place of those it has.

    Args:
        link: element of the link.
        mass: [kg].
        center: (3,) centre of mass in the link's frame [m].
        inertia: (3, 3) about the centre of mass, in the link's axes [kg m^2].
    """
    for inertial in link.findall('inertial'):
        link.remove(inertial)
    inertial = Element('inertial')
    link.insert(0, inertial)
    SubElement(inertial, 'origin', xyz=number_text(center), rpy='0 0 0')
    SubElement(inertial, 'mass', value=number_text([mass]))
    entries = inertia[np.triu_indices(3)]
    moments = {name: number_text([x]) for name, x in zip(MOMENTS, entries, strict=True)}
    SubElement(inertial, 'inertia', moments)


def number_text(values: Iterable[float]) -> str:
    """Return numbers as the text of an attribute, to the last bit."""
    return ' '.join(repr(float(value)) for value in values)


def rate_limits(tree: Element, names: Iterable[str]) -> Array:
    """Return the limits (2, m) of acceleration and jerk of the joints of these names.

    Those are URDF 1.2's [rad/s^2 | m/s^2], [rad/s^3 | m/s^3]; infinite where there is none, or 0
    or -1, as for velocities. Of acceleration and deceleration the smaller one counts.

    Raises:
        ArmError: a limit that is not a number, or negative.
    """
    limits = {joint.get('name'): joint.find('limit') for joint in tree.iterfind('joint')}

    def limit(name: str, key: str) -> float:
        element = limits[name]
        text = '0' if element is None else element.get(key, '0')
        try:
            value = float(text)
        except ValueError:
            value = np.nan
        if not (value >= 0.0 or value == -1.0):
            raise ArmError(f'joint {name!r}: <limit {key}="{text}"> must be a number above 0')
        return value if value > 0.0 else np.inf

    rows = [
        (min(limit(name, 'acceleration'), limit(name, 'deceleration')), limit(name, 'jerk'))
        for name in names
    ]
    return np.array(rows).reshape(-1, 2).T
