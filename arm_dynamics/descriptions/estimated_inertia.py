"""Masses and inertias of links whose URDF has none, estimated from their shapes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import coal
import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, Array, in_range, say_once, some_of
from arm_dynamics.shapes import mesh_finder, read_mesh
from arm_dynamics.urdf_elements import origin_of, set_inertial, vector
from arm_dynamics.urdf_numbers import INERTIAL, check_numbers

DENSITY = 1000.0


class Estimate(NamedTuple):
    """How masses are estimated.

    Attributes:
        density: of the shapes [kg/m^3].
        total_mass: mass of all links together [kg], to which estimated masses are scaled; 0: not.
    """

    density: float = DENSITY
    total_mass: float = 0.0


def estimate_of(options: Mapping[str, str]) -> Estimate | None:
    """Return the estimate of `inertia:=estimate density:=2700` or `total_mass:=20`."""
    inertia, *_ = given = [options[name] for name in ('inertia', *Estimate._fields)]
    if inertia not in ('', 'estimate'):
        raise ArmError(f"inertia is {inertia!r}; allowed: 'estimate', or nothing: the URDF's")
    if not inertia:
        if any(given):
            raise ArmError('density and total_mass need inertia:=estimate')
        return None
    numbers = {}
    for name in Estimate._fields:
        if options[name]:
            try:
                numbers[name] = float(options[name])
            except ValueError:
                raise ArmError(f'{name} is {options[name]!r}; it must be a number') from None
            in_range(name, numbers[name], 0.0, 1e6, True)
    if len(numbers) > 1:
        raise ArmError('density and total_mass exclude each other')
    return Estimate(**numbers)


def estimate_inertias(tree: Element, file: Path, by: Estimate) -> str:
    """Give each link without mass the inertia of its shapes; return what was done, for the log.

    The shapes are those of <collision>, else of <visual>; meshes count as their convex hulls.

    Args:
        tree: the URDF, which is changed.
        file: path of the URDF, from which meshes are searched.
        by: density or total mass.

    Raises:
        ArmError: no such link has a shape, or the total mass is below that of the other links.
    """
    find, bodies, known, is_asked = mesh_finder(str(file)), {}, 0.0, False
    empty = []  # links whose shapes have no volume
    for link in tree.iterfind('link'):
        for inertial in link.iterfind('inertial'):
            check_numbers(f'link {link.get("name")!r}', inertial, INERTIAL)
        mass = link.find('inertial/mass')
        if mass is not None and float(mass.get('value', '0')) > 0.0:
            known += float(mass.get('value', '0'))
            continue
        for kind in ('collision', 'visual'):
            is_asked |= link.find(kind) is not None
            shapes = [body for each in link.iterfind(kind) if (body := body_of(each, find))]
            if shapes:
                bodies[link.get('name', '')] = link, sum(shapes, pin.Inertia.Zero())
                break
        else:
            empty += [link.get('name', '')] * any(x.tag in ('collision', 'visual') for x in link)
    if not bodies:
        why = 'no link without mass has a shape that is found and has a volume'
        if known and not is_asked:
            why = 'each link with a shape has mass: leave it out'
        raise ArmError(f'inertia:=estimate: {why}')
    volume = sum(body.mass for _, body in bodies.values())
    density = (by.total_mass - known) / volume if by.total_mass else by.density
    if density <= 0.0:
        raise ArmError(
            f'total_mass is {by.total_mass:g} kg; the links with mass have {known:g} kg already'
        )
    for link, body in bodies.values():
        set_inertial(link, density * body.mass, body.lever, density * body.inertia)
        link[0].set('estimated', 'true')
    left = f'; no shape is found and has a volume, so no mass: {some_of(empty)}' if empty else ''
    return (
        f'inertia estimated from shapes at {density:.4g} kg/m^3: {len(bodies)} links, '
        f'{density * volume:.4g} kg; with the other links {density * volume + known:.4g} kg{left}'
    )


def body_of(shape: Element, find: Callable[[str], Path | str]) -> pin.Inertia | None:
    """Return the inertia of a <collision> or <visual> at density 1; None without a volume."""
    for each in shape.iterfind('geometry/*'):
        try:
            pose = origin_of(shape)
            if each.tag == 'mesh':
                file = find(each.get('filename', ''))
                if isinstance(file, str):
                    say_once(f'inertia:=estimate: {file}')
                    return None
                return pose.act(_of_hull(file, vector(each, 'scale', '1 1 1')))
            solid = _solid(each)
        except (TypeError, ValueError):  # a number that is none, or too few numbers
            raise ArmError(f'inertia:=estimate: <{each.tag} {each.attrib}> is no shape') from None
        if solid is not None and solid.computeVolume() > 0.0:
            moments = solid.computeMomentofInertiaRelatedToCOM()
            return pose.act(pin.Inertia(solid.computeVolume(), solid.computeCOM(), moments))
    return None


def _of_hull(file: Path, scale: Array) -> pin.Inertia:
    """Return the inertia of a mesh's convex hull at density 1, as a sum of tetrahedra."""
    from scipy.spatial import ConvexHull  # slow to import

    points = np.asarray(read_mesh(file, scale).vertices())
    middle = points.mean(axis=0)
    corners = (points - middle)[ConvexHull(points).simplices]  # with the fourth one at zero
    volumes = np.abs(np.linalg.det(corners)) / 6.0
    total, sums = float(volumes.sum()), corners.sum(axis=1)
    centre = volumes @ sums / (4.0 * total)
    outer = np.einsum('kci,kcj->kij', corners, corners) + np.einsum('ki,kj->kij', sums, sums)
    second = np.einsum('k,kij->ij', volumes, outer) / 20.0 - total * np.outer(centre, centre)
    return pin.Inertia(total, middle + centre, np.eye(3) * np.trace(second) - second)


def _solid(each: Element) -> Any:
    """Return the shape of a box, cylinder, sphere or capsule; None for others."""
    radius, length = (float(each.get(name, '0')) for name in ('radius', 'length'))
    match each.tag:
        case 'box':
            return coal.Box(*vector(each, 'size'))
        case 'cylinder':
            return coal.Cylinder(radius, length)
        case 'capsule':
            return coal.Capsule(radius, length)
        case 'sphere':
            return coal.Sphere(radius)
    return None
