"""The numbers of a URDF: of which elements, whether they are numbers, inertias, soft limits."""

from collections.abc import Mapping, Sequence
from xml.etree.ElementTree import Element

import numpy as np

from arm_dynamics.checks import ArmError, Array, finite
from arm_dynamics.urdf_elements import MOMENTS, link_of, origin_of

# The elements of a joint and of an <inertial> that are read, with the numbers that each may have.
INERTIAL = {'origin': ('xyz', 'rpy'), 'mass': ('value',), 'inertia': MOMENTS}
JOINT = {
    'parent': (),
    'child': (),
    'origin': ('xyz', 'rpy'),
    'axis': ('xyz',),
    'limit': ('lower', 'upper', 'effort', 'velocity'),
    'dynamics': ('damping', 'friction', 'armature'),
}
MIMIC = ('multiplier', 'offset')

# Larger lengths, masses and moments of inertia are mistakes; a larger limit means no limit.
_LARGEST = 1e9

Elements = Mapping[str, tuple[str, ...]]


def principal_moments(tree: Element) -> dict[str, tuple[Array, Array]]:
    """Return, by link with inertia, principal moments A <= B <= C [kg m^2] and axes (3, 3).

    The axes are columns in the link's frame.
    """
    principal = {}
    for link in tree.iterfind('link'):
        for inertial in link.iterfind('inertial'):
            (inertia,) = inertial.findall('inertia')
            xx, xy, xz, yy, yz, zz = (float(inertia.get(name, '')) for name in MOMENTS)
            matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            moments, axes = np.linalg.eigh(matrix)
            axes *= np.linalg.det(axes)
            principal[link.get('name', '')] = moments, origin_of(inertial).rotation @ axes
    return principal


def impossible_inertias(tree: Element) -> dict[str, tuple[Array, Array]]:
    """Return, as `principal_moments`, the inertias that no body has: A + B < C or A < 0.

    The root link does not move, so its inertia does not matter.
    """
    moved = {link_of(joint, 'child') for joint in tree.iterfind('joint')}
    impossible = {}
    for link, (moments, axes) in principal_moments(tree).items():
        least = min(moments[0], moments[0] + moments[1] - moments[2])
        if link in moved and least < -1e-15 - 1e-9 * abs(moments).max():
            impossible[link] = moments, axes
    return impossible


def rotor_inertias(tree: Element, joint_names: Sequence[str]) -> Array:
    """Return the rotor inertias (n,) [kg m^2 | kg] in joints' <dynamics armature="">, else 0."""
    armatures = dict.fromkeys(joint_names, 0.0)
    for joint in tree.iterfind('joint'):
        dynamics = joint.find('dynamics')
        if dynamics is not None and joint.get('name') in armatures:
            armatures[joint.get('name', '')] = float(dynamics.get('armature', '0'))
    return np.array(list(armatures.values()))


def soft_limits(
    tree: Element, names: Sequence[str], lower: Array, upper: Array
) -> tuple[Array, Array]:
    """Return the limits (m,) of goals: those of <limit>, within soft limits where there are any.

    Raises:
        ArmError: a soft limit that is not a number.
    """
    low, high = lower.copy(), upper.copy()
    joints = {joint.get('name'): joint for joint in tree.iterfind('joint')}
    for i, name in enumerate(names):
        soft = soft_range(joints[name])
        if soft is not None:
            low[i], high[i] = soft
    return low, high


def soft_range(joint: Element) -> tuple[float, float] | None:
    """Return the range of goals of a joint; None: no soft limits, or none within <limit>.

    As ros2_control's limiter has it: a soft limit that is missing is 0.
    """
    limit, controller = joint.find('limit'), joint.find('safety_controller')
    if controller is None:
        return None
    names = ('soft_lower_limit', 'soft_upper_limit')
    where = f'joint {joint.get("name")!r}: <safety_controller'
    low, high = (float(numbers_of(controller, name, 1, where)[0]) for name in names)
    if limit is None or joint.get('type') not in ('revolute', 'prismatic'):
        return None
    low = max(low, float(limit.get('lower', '0')))
    high = min(high, float(limit.get('upper', '0')))
    return (low, high) if low < high else None


def numbers_of(element: Element, name: str, count: int, where: str) -> Array:
    """Return the numbers (count,) of an attribute, 0 where it is missing."""
    text = element.get(name, '0 ' * count)
    try:
        return finite(name, [float(word) for word in text.split()], (count,))
    except ValueError:
        numbers = f'{count} finite numbers' if count > 1 else 'a finite number'
        raise ArmError(f'{where} {name}="{text}"> must be {numbers}') from None


def check_numbers(where: str, owner: Element, known: Elements) -> None:
    """Raise ArmError unless the numbers of an element's children are finite and complete.

    Args:
        where: the owner, for the error.
        owner: the element.
        known: attributes with numbers, by the tag of the child.
    """
    for element in owner:
        for name in known.get(element.tag, ()):
            text = element.get(name)
            if text is None:
                continue
            attribute = f'{where}: <{element.tag} {name}="{" ".join(text.split())}">'
            count = 3 if name in ('xyz', 'rpy') else 1
            try:
                plain = text.replace('_', '?').encode('ascii', 'replace')
                values = [float(word) for word in plain.split()]
            except ValueError:
                values = []
            if not values or not np.isfinite(values).all():
                from arm_dynamics.file_kinds import number_hint

                raise ArmError(f'{attribute} must be finite numbers{number_hint(text)}')
            if len(values) != count:
                allowed = 'three numbers' if count == 3 else 'one number'
                raise ArmError(f'{attribute} must be {allowed}')
            if element.tag != 'limit' and max(map(abs, values)) > _LARGEST:
                unit = 'is it in another unit, or are lengths in millimetres?'
                raise ArmError(f'{attribute} must not be beyond {_LARGEST:g}; {unit}')
