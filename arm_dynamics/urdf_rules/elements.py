"""Fates of a URDF's elements and attributes: used, harmless, named, refused; docs/robots.md."""

from collections.abc import Iterator
from copy import deepcopy
from xml.etree.ElementTree import Element, SubElement

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, line_on, some_of
from arm_dynamics.model import RobotModel
from arm_dynamics.urdf_elements import (
    MOMENTS,
    moves,
    number_text,
    origin_of,
    set_origin,
)
from arm_dynamics.urdf_numbers import numbers_of, soft_range
from arm_dynamics.urdf_rules import UrdfRule
from arm_dynamics.urdf_tree import number

_SHAPE = ('origin', 'geometry', 'material', 'name', 'verbose')
_POSE = ('xyz', 'rpy', 'quat_xyzw')

# What a URDF may contain, by element: children and attributes that are used or harmless.
# Harmless are looks, names, versions, and what is for other programs.
KNOWN = {
    'robot': (
        *('link', 'joint', 'material', 'gazebo', 'transmission', 'ros2_control', 'mjcf'),
        *('name', 'version', 'from'),
    ),
    'link': ('inertial', 'visual', 'collision', 'gazebo', 'name', 'type'),
    'inertial': ('origin', 'mass', 'inertia', 'estimated', 'name'),
    'visual': _SHAPE,
    'collision': _SHAPE,
    'geometry': ('box', 'cylinder', 'sphere', 'capsule', 'mesh', 'name'),
    'joint': (
        *('origin', 'parent', 'child', 'axis', 'limit', 'dynamics', 'mimic', 'calibration'),
        *('safety_controller', 'gazebo', 'name', 'type'),
    ),
    'origin': _POSE,
    'mass': ('value',),
    'inertia': MOMENTS,
    'box': ('size',),
    'cylinder': ('radius', 'length'),
    'sphere': ('radius',),
    'capsule': ('radius', 'length'),
    'mesh': ('filename', 'scale'),
    'parent': ('link',),
    'child': ('link',),
    'axis': ('xyz',),
    'limit': (*('lower', 'upper', 'effort', 'velocity', 'acceleration', 'deceleration', 'jerk'),),
    'dynamics': ('damping', 'friction', 'armature'),
    'mimic': ('joint', 'multiplier', 'offset'),
    'safety_controller': ('soft_lower_limit', 'soft_upper_limit'),
}

# What follows for the user from an element or attribute that is not used.
NAMED = {
    'safety_controller/k_position': 'no speed is lowered ahead of the soft limits',
    'safety_controller/k_velocity': 'no effort is lowered ahead of the soft limits',
    'dynamics/spring_stiffness': 'the joint has no spring',
    'dynamics/spring_reference': 'the joint has no spring',
    'dynamics/rotor_inertia': 'write it as armature="" [kg m^2 at the joint]',
    'joint/joint_properties': 'write its numbers in <dynamics>',
    'link/contact': 'friction of contacts is a parameter of the simulator',
    'robot/mujoco': 'options of MuJoCo are parameters of the simulator',
    'robot/sensor': 'sensors are parameters of the simulator',
    'robot/loop_joint': 'the loop stays open',
    'robot/include': 'a URDF includes no other file: is it xacro without the prefix xacro:?',
    'robot/macro': 'is it xacro without the prefix xacro:?',
    'robot/property': 'is it xacro without the prefix xacro:?',
}
_SHAPES = 'no clearance check and no contact has this shape'
# Those of KNOWN that are elements; others are attributes.
_ELEMENTS = {*KNOWN, 'material', 'gazebo', 'transmission', 'ros2_control', 'mjcf', 'calibration'}
# Elements that may be in another one more than once.
REPEATED = {
    *('link', 'joint', 'material', 'gazebo', 'transmission', 'ros2_control', 'visual'),
    *('collision', 'sensor', 'loop_joint'),
}


class ElementsRule(UrdfRule):
    """Elements of URDF 1.1 and 1.2 are written as 1.0; what is not used is named."""

    order = 20.0

    def read(self, tree: Element) -> bool:
        """Write the URDF as 1.0."""
        return _as_urdf_1_0(tree)

    def notes(self, tree: Element, model: RobotModel, tip_frame: str | None) -> Iterator[str]:
        """Yield what is not used, and what may be meant otherwise."""
        yield from _named(tree)
        for link, ((a, b, c), _) in model.impossible_inertias.items():
            yield (
                f'link {link!r}: no body has the principal moments {a:.4g}, {b:.4g}, {c:.4g} '
                'kg m^2 (A + B >= C); they are used unchanged: correct them in the URDF'
            )
        estimated = sum(x.get('estimated') == 'true' for x in tree.iterfind('link/inertial'))
        if estimated:
            yield f'inertia estimated: that of {estimated} links follows from their shapes'
        ends = model.branch_ends()
        if tip_frame is None and len(ends) > 1:
            yield (
                f'branches end in {", ".join(map(repr, ends))}: the tool frame is '
                f'{model.tip_frame!r}; tip_frame:=LINK, the parameter tool_frame, chooses another'
            )


def _as_urdf_1_0(tree: Element) -> bool:
    """Write a URDF 1.1 or 1.2 as 1.0, in place; return whether anything has changed.

    A quaternion becomes rpy; a capsule a cylinder and two balls, whose union it is; -1 as effort
    or velocity, by which some vendors mean "no limit", becomes 0.

    Raises:
        ArmError: an <origin> with rpy and quat_xyzw, or a quaternion that is no rotation.
    """
    changed = False
    for owner in list(tree.iter()):
        origin = owner.find('origin')
        if origin is not None and 'quat_xyzw' in origin.attrib:
            _check_quaternion(owner, origin)
            numbers_of(origin, 'xyz', 3, f'<{owner.tag} name="{owner.get("name", "")}">: <origin')
            set_origin(owner, origin_of(owner))
            changed = True
    for limit in tree.iterfind('joint/limit'):
        for key in ('effort', 'velocity'):
            if float(limit.get(key, '0')) == -1.0:
                limit.set(key, '0')
                changed = True
    for link in tree.iterfind('link'):
        for shape in [x for kind in ('visual', 'collision') for x in link.iterfind(kind)]:
            if shape.find('geometry/capsule') is not None:
                _split_capsule(link, shape)
                changed = True
    return changed


def _check_quaternion(owner: Element, origin: Element) -> None:
    where = f'<{owner.tag} name="{owner.get("name", "")}">: <origin'
    if 'rpy' in origin.attrib:
        raise ArmError(f'{where}> has rpy and quat_xyzw: write one of them')
    length = np.linalg.norm(numbers_of(origin, 'quat_xyzw', 4, where))
    if not abs(length - 1.0) < 0.01:
        text = origin.attrib['quat_xyzw']
        raise ArmError(f'{where} quat_xyzw="{text}"> has the length {length:.4g}, not 1')


def _split_capsule(link: Element, shape: Element) -> None:
    """Replace a capsule by a cylinder and two balls; raises ArmError for numbers that are none."""
    where, shapes = f'link {link.get("name")!r}:', shape.findall('geometry/*')
    if len(shapes) > 1 or len(shape.findall('geometry')) > 1:
        raise ArmError(
            f'{where} a <{shape.tag}> with <capsule> has more shapes: write one in each'
        )
    (capsule,) = shapes
    sizes = [
        float(numbers_of(capsule, x, 1, f'{where} <capsule')[0]) for x in ('radius', 'length')
    ]
    radius, length = sizes
    if not (radius > 0.0 and length >= 0.0):
        raise ArmError(f'{where} <capsule> needs a radius above 0 and a length')
    for origin in shape.iterfind('origin'):
        for name in ('xyz', 'rpy'):
            numbers_of(origin, name, 3, f'{where} <origin')
    pose, place = origin_of(shape), list(link).index(shape)
    link.remove(shape)
    for height in sorted({-0.5 * length, 0.0, 0.5 * length}):
        part = deepcopy(shape)
        (geometry,) = part.iterfind('geometry')
        geometry.clear()
        if height or not length:
            SubElement(geometry, 'sphere', radius=number_text([radius]))
        else:
            texts = (number_text([size]) for size in sizes)
            SubElement(geometry, 'cylinder', dict(zip(('radius', 'length'), texts, strict=True)))
        at = pin.SE3.Identity()
        at.translation[2] = height
        set_origin(part, pose * at)
        link.insert(place, part)


def _named(tree: Element) -> Iterator[str]:
    """Yield, one line each, what a URDF has that is not used, and what follows from it."""
    found: dict[tuple[str, str], list[str]] = {}
    for owner in (tree, *tree.iterfind('link'), *tree.iterfind('joint')):
        for path, what in _unknown(owner, owner is not tree):
            found.setdefault((path, what), []).append(owner.get('name', ''))
    strange = [what for path, what in found if _follows(path) is None]
    yield from line_on(strange, 'not used, as no URDF has it: {}; is it a slip of the pen?')
    for (path, what), names in found.items():
        if follows := _follows(path):
            where = f' of {some_of(list(dict.fromkeys(names)))}' * (not path.startswith('robot'))
            yield f'{what}{where} is not used: {follows}'
    if tree.get('from') != 'MJCF':
        yield from _unlimited(tree)
    left = [
        f'{key}="{value}"'
        for kind in ('link', 'joint')
        for owner in tree.iterfind(kind)
        for each in owner.iter()
        for key, value in each.attrib.items()
        if '${' in value or '$(' in value
    ]
    yield from line_on(
        left,
        '{}: expressions of xacro that no program has evaluated: run `xacro FILE > arm.urdf`',
    )
    without = [
        joint.get('name', '')
        for joint in tree.iterfind('joint')
        for controller in joint.iterfind('safety_controller')
        if any(key.startswith('soft_') for key in controller.attrib) and not soft_range(joint)
    ]
    yield from line_on(
        without,
        'the soft limits of {} bound no goal: they leave no range within <limit>, or the joint is '
        'continuous',
    )


def _follows(path: str) -> str | None:
    """Return what follows from a part that is not used; None: no URDF has it."""
    if path.endswith('/again'):
        return 'the first one is'
    is_shape = path.startswith('geometry/') and '<' not in path
    return _SHAPES if is_shape else NAMED.get(path)


def _unknown(owner: Element, deep: bool) -> Iterator[tuple[str, str]]:
    known = KNOWN.get(owner.tag)
    if known is None:
        return
    for key in owner.attrib:
        is_element = key in _ELEMENTS and owner.tag not in ('mimic', 'parent', 'child')
        if (key not in known or is_element) and '}' not in key:
            what = 'attribute' if owner.tag == 'geometry' else owner.tag  # and no shape
            yield f'{what}/{key}', f'{key}="" of <{owner.tag}>'
    if any((text or '').strip() for text in (owner.text, *(child.tail for child in owner))):
        yield f'{owner.tag}/text', f'text in <{owner.tag}>'
    found: set[str] = set()
    for child in owner:
        if child.tag in found - REPEATED and '}' not in child.tag:
            yield f'{owner.tag}/{child.tag}/again', f'a second <{child.tag}> in <{owner.tag}>'
        found.add(child.tag)
        if child.tag in known and child.tag not in _ELEMENTS | {'verbose'}:
            wrong = f'<{child.tag}> in <{owner.tag}>, which is an attribute: {child.tag}=""'
            yield f'{owner.tag}/<{child.tag}>', wrong
        elif child.tag in _ELEMENTS.difference(known):
            yield f'{owner.tag}/<{child.tag}>', f'<{child.tag}> in <{owner.tag}>'
        elif child.tag not in known and '}' not in child.tag:
            yield f'{owner.tag}/{child.tag}', f'<{child.tag}>'
        elif deep:
            yield from _unknown(child, True)
    if owner.tag == 'geometry' and len(found - _ELEMENTS.difference(known)) > 1:
        yield 'geometry/again', 'a second shape in <geometry>'


def _unlimited(tree: Element) -> Iterator[str]:
    for key, what in (('effort', 'as strong as asked'), ('velocity', 'as fast as asked')):
        moving = [joint for joint in tree.iterfind('joint') if moves(joint)]
        joints = [x.get('name', '') for x in moving if number(x, 'limit', key, 1.0) == 0.0]
        yield from line_on(
            joints,
            '{}: <limit {}="0">, or -1, is no limit, so that they are {}: write the limit of the '
            'drive',
            key,
            what,
        )
