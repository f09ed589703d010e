"""Objects that clients spawn: a row of a scene, a URDF with one link, or an object of a scene."""

import re
from collections.abc import Collection
from dataclasses import replace
from textwrap import indent
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, Array, unknown
from arm_sim.simulation.scene import SceneObject, read_objects, read_scene, scene_names

_NAME = r'[A-Za-z]\w{0,99}'
_LONGEST = 100_000  # characters of a URDF


def spawnables() -> dict[str, SceneObject]:
    """Return the objects of the shipped scenes by `scene/object`."""
    return {
        f'{scene}/{each.name}': each
        for scene in scene_names()
        for each in read_scene(scene)
        if not (each.parent or each.joint)
    }


def described_object(uri: str, text: str) -> SceneObject:
    """Return the object that a request describes; its name may be empty.

    Args:
        uri: of `spawnables`; '': the text counts.
        text: a row of a scene in YAML, or a URDF with one link and one shape.

    Raises:
        ArmError: it describes none.
    """
    if uri:
        known = spawnables()
        if uri not in known:
            raise unknown('uri', uri[:200], list(known))
        return known[uri]
    if text.lstrip().startswith('<'):
        if len(text) > _LONGEST:
            raise ArmError(f'resource_string has {len(text)} characters; allowed: {_LONGEST}')
        return _of_urdf(text)
    if not text.lstrip().startswith(('-', '[')):  # a row is no list
        text = '-\n' + indent(text, '  ')
    found = read_objects(text, 'resource_string')
    if len(found) != 1:
        raise ArmError(f'resource_string has {len(found)} objects; one is expected')
    return found[0]


def _of_urdf(text: str) -> SceneObject:
    try:
        tree = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError) as error:
        raise ArmError(f'not a URDF: {error}') from None
    links = tree.findall('link')
    if len(links) != 1:
        raise ArmError(f'the URDF has {len(links)} links; an object has one')
    (link,) = links
    owner = next((link.find(x) for x in ('collision', 'visual') if link.find(x) is not None), None)
    shape = None if owner is None else owner.find('geometry/*')
    if owner is None or shape is None:
        raise ArmError('the URDF has no shape: give its link a <collision> with a <geometry>')
    origin = owner.find('origin')
    if origin is not None and any(_numbers(origin, x).any() for x in ('xyz', 'rpy')):
        raise ArmError('the <origin> of the shape is not zero; spawn the object at its shape')
    row: dict[str, object] = {'name': tree.get('name') or link.get('name', ''), 'shape': shape.tag}
    if shape.tag == 'mesh':
        row['file'] = shape.get('filename', '').removeprefix('file://')
    elif shape.tag == 'box':
        row['size'] = tuple(_numbers(shape, 'size').tolist())
    else:
        diameter = 2.0 * _numbers(shape, 'radius')[:1]
        row['size'] = (*diameter.tolist(), *_numbers(shape, 'length').tolist())
    mass, colour = link.find('inertial/mass'), link.find('visual/material/color')
    if mass is not None:
        row['mass'] = float(_numbers(mass, 'value').sum())
    if colour is not None:
        row['colour'] = tuple(_numbers(colour, 'rgba')[:3].tolist())
    return SceneObject(**row)  # type: ignore[arg-type]


def _numbers(element: Element, name: str) -> Array:
    try:
        return np.array(element.get(name, '').split(), dtype=float)
    except ValueError as error:
        raise ArmError(f'{name} of <{element.tag}>: {error}') from None


def free_name(name: str, taken: Collection[str], renaming: bool) -> str:
    """Return a name that no entity has; with `renaming` a number may be added.

    Raises:
        ArmError: the name cannot be used.
    """
    if not re.fullmatch(_NAME, name):
        raise ArmError(
            f'name is {name[:100]!r}; allowed: a letter, then letters, digits and _, 100 at most'
        )
    wanted, number = name, 1
    while renaming and name in taken:
        number += 1
        name = f'{wanted}_{number}'
    if name in taken:
        raise ArmError(f'the name {name!r} is taken')
    return name


def placed(each: SceneObject, name: str, pose: pin.SE3) -> SceneObject:
    """Return an object with another name, moved by a pose."""
    own = pin.SE3(pin.rpy.rpyToMatrix(*each.rotation), np.array(each.position))
    moved = pose * own
    rotation = tuple(pin.rpy.matrixToRpy(moved.rotation).tolist())
    return replace(each, name=name, position=tuple(moved.translation.tolist()), rotation=rotation)
