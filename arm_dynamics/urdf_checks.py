"""What is refused in a URDF: each in one line that names joint or link, element and remedy."""

from collections import Counter
from collections.abc import Sequence
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, Array

MOVING_JOINTS = ('revolute', 'continuous', 'prismatic')

# The elements of a joint and of an <inertial> that matter, with the numbers that each may have.
MOMENTS = ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
INERTIAL = {'origin': ('xyz', 'rpy'), 'mass': ('value',), 'inertia': MOMENTS}
JOINT = {
    'parent': (),
    'child': (),
    'origin': ('xyz', 'rpy'),
    'axis': ('xyz',),
    'limit': ('lower', 'upper', 'effort', 'velocity'),
    'dynamics': ('damping', 'friction', 'armature'),
}
_NEEDED = {'mass': ('value',), 'inertia': MOMENTS, 'limit': ('effort', 'velocity')}

# Larger lengths, masses and moments are mistakes; a larger limit is none.
_LARGEST = 1e9

# More take minutes to load, and are no arm.
_MOST_JOINTS = 200


def end(joint: Element, which: str) -> str:
    """Return the name of a joint's link, `which`: 'parent' or 'child'."""
    element = joint.find(which)
    return '' if element is None else element.get('link', '')


def odd_inertias(tree: Element) -> dict[str, tuple[Array, Array]]:
    """Return the inertias, by link, that no body has: of principal moments A + B < C or A < 0.

    They come as `principal_moments` gives them. That of the root link does not matter: it stands.
    """
    moved = {end(joint, 'child') for joint in tree.iterfind('joint')}
    odd = {}
    for link, (moments, axes) in principal_moments(tree).items():
        least = min(moments[0], moments[0] + moments[1] - moments[2])
        if link in moved and least < -1e-15 - 1e-9 * abs(moments).max():
            odd[link] = moments, axes
    return odd


def principal_moments(tree: Element) -> dict[str, tuple[Array, Array]]:
    """Return of each link with inertia the moments A <= B <= C [kg m^2] and axes (3, 3).

    The axes are columns in the link's frame.
    """
    found = {}
    for link in tree.iterfind('link'):
        for inertial in link.iterfind('inertial'):
            (inertia,), origin = inertial.findall('inertia'), inertial.find('origin')
            xx, xy, xz, yy, yz, zz = (float(inertia.get(name, '')) for name in MOMENTS)
            matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            moments, axes = np.linalg.eigh(matrix)
            turn = '0 0 0' if origin is None else origin.get('rpy', '0 0 0')
            axes *= np.linalg.det(axes)
            rotation = pin.rpy.rpyToMatrix(*map(float, turn.split()))
            found[link.get('name', '')] = moments, rotation @ axes
    return found


def rotors(tree: Element, joint_names: Sequence[str]) -> Array:
    """Return the rotor inertias (n,) [kg m^2 | kg] that joints have in <dynamics armature="">."""
    found = dict.fromkeys(joint_names, 0.0)
    for joint in tree.iterfind('joint'):
        dynamics = joint.find('dynamics')
        if dynamics is not None and joint.get('name') in found:
            found[joint.get('name', '')] = float(dynamics.get('armature', '0'))
    return np.array(list(found.values()))


def notes(
    odd: dict[str, tuple[Array, Array]], ends: list[str], tip: str, asked: str | None
) -> tuple[str, ...]:
    """Return what is odd about an arm and yet no reason to refuse it, a line each.

    Args:
        odd: see `odd_inertias`.
        ends: the ends of its branches.
        tip: its tool frame.
        asked: the one that was asked for.
    """
    told = [
        f'link {link!r}: no body has the principal moments {a:.4g}, {b:.4g}, {c:.4g} kg m^2 '
        '(A + B >= C); they are used as they are: mend them in the URDF'
        for link, ((a, b, c), _) in odd.items()
    ]
    if asked is None and len(ends) > 1:
        told.append(
            f'branches end in {", ".join(map(repr, ends))}: the tool frame is {tip!r}; another is '
            'chosen by the parameter tool_frame'
        )
    return tuple(told)


def check_urdf(tree: Element) -> None:
    """Raise ArmError unless a URDF's links and joints make an arm."""
    if any('wiki/xacro}' in each.tag for each in tree.iter()):
        raise ArmError('this is xacro, not a URDF: run `xacro FILE > arm.urdf` and give that file')
    if tree.tag == 'mujoco':
        raise ArmError('this is MJCF, not a URDF: its root element is <mujoco>; give the URDF')
    if tree.tag != 'robot':
        raise ArmError(f'not a URDF: its root element is <{tree.tag}>, not <robot>')
    for kind in ('link', 'joint'):
        for name, count in Counter(each.get('name') for each in tree.iterfind(kind)).items():
            if not name or count > 1:
                raise ArmError(f'{count} x {kind} {name!r}: each needs a name of its own')
    _check_tree(tree)
    for joint in tree.iterfind('joint'):
        _check_joint(joint, f'joint {joint.get("name")!r}')
    for link in tree.iterfind('link'):
        where = f'link {link.get("name")!r}'
        _check_elements(where, link, {'inertial': ()})
        for inertial in link.iterfind('inertial'):
            _check_inertial(inertial, where)
    name = tree.get('name', 'robot')
    moving = sum(joint.get('type') != 'fixed' for joint in tree.iterfind('joint'))
    if not moving:
        raise ArmError(f'URDF {name!r} has no revolute, continuous or prismatic joint')
    if moving > _MOST_JOINTS:
        raise ArmError(f'URDF {name!r} has {moving} moving joints; at most {_MOST_JOINTS}')


def _check_tree(tree: Element) -> None:
    links = [link.get('name', '') for link in tree.iterfind('link')]
    above: dict[str, Element] = {}
    for joint in tree.iterfind('joint'):
        name = joint.get('name')
        for which in ('parent', 'child'):
            count = len(joint.findall(which))
            if count != 1:
                raise ArmError(f'joint {name!r} has {count} <{which}>, not one')
            if end(joint, which) not in links:
                link = end(joint, which)
                raise ArmError(f'joint {name!r}: its {which} link {link!r} does not exist')
        other = above.setdefault(end(joint, 'child'), joint)
        if other is not joint:
            raise ArmError(
                f'link {end(joint, "child")!r} is the <child> of joints {other.get("name")!r} and '
                f'{name!r}, a loop; a URDF is a tree: remove one of these joints'
            )
    free = {link for link in links if link not in above}  # of loops, going up
    for link in links:
        path = [link]
        while path[-1] not in free:
            path.append(end(above[path[-1]], 'parent'))
            if path[-1] == link:
                names = [repr(name) for name in reversed(path)]
                loop = ' -> '.join(names if len(names) < 12 else [*names[:9], '...', *names[-2:]])
                raise ArmError(f'links {loop} are a loop; a URDF is a tree: remove a joint of it')
            if len(path) > len(links):
                break  # below a loop, which begins at another link
        else:
            free.update(path)
    roots = [repr(link) for link in links if link not in above]
    if len(roots) != 1:
        others = f': {", ".join(roots)}; join them by joints of type="fixed"' * bool(roots)
        raise ArmError(f'a URDF has one root link, this one has {len(roots)}{others}')


def _check_joint(joint: Element, where: str) -> None:
    kind = joint.get('type')
    if kind not in (*MOVING_JOINTS, 'fixed'):
        raise ArmError(f'{where} has type {kind!r}; supported: {", ".join(MOVING_JOINTS)}, fixed')
    _check_elements(where, joint, JOINT)
    if kind == 'fixed':
        return
    for mimic in joint.iterfind('mimic'):
        raise ArmError(
            f'{where}: <mimic joint="{mimic.get("joint")}"> is not supported: make the joint '
            'type="fixed", as for the fingers of a gripper, or remove <mimic> to drive it alone'
        )
    for axis in joint.iterfind('axis'):
        if not any(map(float, axis.get('xyz', '1').split())):
            raise ArmError(f'{where}: <axis xyz="{axis.get("xyz")}"> must not be zero')
    limit = joint.find('limit')
    for element in (limit, joint.find('dynamics')):
        for key in ('effort', 'velocity', 'damping', 'friction', 'armature'):
            if element is not None and float(element.get(key, '0')) < 0.0:
                told = f'<{element.tag} {key}="{element.get(key)}">'
                raise ArmError(f'{where}: {told} must not be negative; 0: none')
    if kind == 'continuous':
        return
    remedy = ', or make the joint type="continuous"' if kind == 'revolute' else ''
    if limit is None:
        raise ArmError(f'{where} is {kind} and has no <limit>: write one{remedy}')
    if not {'lower', 'upper'}.intersection(limit.attrib):
        raise ArmError(f'{where}: <limit> has no bounds: write its lower and upper{remedy}')
    lower, upper = (limit.get(key, '0') for key in ('lower', 'upper'))
    if not float(lower) < float(upper):
        raise ArmError(
            f'{where}: <limit lower="{lower}" upper="{upper}">: lower must be below upper; '
            'a joint that does not move is of type="fixed"'
        )


def _check_inertial(inertial: Element, where: str) -> None:
    _check_elements(where, inertial, INERTIAL)
    for tag in ('mass', 'inertia'):
        if inertial.find(tag) is None:
            raise ArmError(f'{where}: its <inertial> has no <{tag}>')
    for mass in inertial.iterfind('mass'):
        if float(mass.get('value', '')) < 0.0:
            raise ArmError(f'{where}: <mass value="{mass.get("value")}"> must not be negative')


def _check_elements(where: str, owner: Element, known: dict[str, tuple[str, ...]]) -> None:
    """Raise ArmError unless each known element is there once at most, with usable numbers."""
    for tag, count in Counter(element.tag for element in owner).items():
        if tag in known and count > 1:
            raise ArmError(f'{where} has {count} <{tag}>, not one')
    for element in owner:
        for name in _NEEDED.get(element.tag, ()):
            if name not in element.attrib:
                raise ArmError(f'{where}: <{element.tag}> has no {name}')
        for name in known.get(element.tag, ()):
            text = element.get(name)
            if text is not None:
                told = f'{where}: <{element.tag} {name}="{" ".join(text.split())}">'
                _check_numbers(told, text, 3 if name in ('xyz', 'rpy') else 1, element.tag)


def _check_numbers(told: str, text: str, count: int, tag: str) -> None:
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        values = []
    if not values or not np.isfinite(values).all():
        raise ArmError(f'{told} must be finite numbers' + '; is it xacro?' * ('$' in text))
    if len(values) != count:
        raise ArmError(f'{told} must be {"three numbers" if count == 3 else "one number"}')
    if tag != 'limit' and max(map(abs, values)) > _LARGEST:
        raise ArmError(f'{told} must not be beyond {_LARGEST:g}')
