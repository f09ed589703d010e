"""Masses and inertias of links whose URDF has none, estimated from their shapes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

import coal
import pinocchio as pin

from arm_dynamics.checks import ArmError
from arm_dynamics.shapes import mesh_finder, read_mesh
from arm_dynamics.urdf_checks import INERTIAL, check_numbers
from arm_dynamics.urdf_elements import origin_of, set_inertial, vector

DENSITY = 1000.0


class Estimate(NamedTuple):
    """How masses are estimated.

    Attributes:
        density: of the shapes [kg/m^3].
        total_mass: mass of all links together [kg], to which estimated masses are scaled; 0: not.
    """

    density: float = DENSITY
    total_mass: float = 0.0


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
    find, bodies, known = mesh_finder(str(file)), {}, 0.0
    for link in tree.iterfind('link'):
        for inertial in link.iterfind('inertial'):
            check_numbers(f'link {link.get("name")!r}', inertial, INERTIAL)
        mass = link.find('inertial/mass')
        if mass is not None and float(mass.get('value', '0')) > 0.0:
            known += float(mass.get('value', '0'))
            continue
        for kind in ('collision', 'visual'):
            shapes = [body for each in link.iterfind(kind) if (body := _body(each, find))]
            if shapes:
                bodies[link.get('name', '')] = link, sum(shapes, pin.Inertia.Zero())
                break
    if not bodies:
        raise ArmError(
            'inertia:=estimate: no link without mass has a shape that is found and has a volume'
        )
    volume = sum(body.mass for _, body in bodies.values())
    density = (by.total_mass - known) / volume if by.total_mass else by.density
    if density <= 0.0:
        raise ArmError(
            f'total_mass is {by.total_mass:g} kg; the links with mass have {known:g} kg already'
        )
    for link, body in bodies.values():
        set_inertial(link, density * body.mass, body.lever, density * body.inertia)
        link[0].set('estimated', 'true')
    return (
        f'inertia estimated from shapes at {density:.4g} kg/m^3: {len(bodies)} links, '
        f'{density * volume:.4g} kg; with the other links {density * volume + known:.4g} kg'
    )


def _body(shape: Element, find: Callable[[str], Path | None]) -> pin.Inertia | None:
    """Return the inertia of a <collision> or <visual> at density 1; None without a volume."""
    for each in shape.iterfind('geometry/*'):
        try:
            solid, pose = _solid(each, find), origin_of(shape)
        except (TypeError, ValueError):  # a number that is none, or too few numbers
            raise ArmError(f'inertia:=estimate: <{each.tag} {each.attrib}> is no shape') from None
        if solid is not None and solid.computeVolume() > 0.0:
            moments = solid.computeMomentofInertiaRelatedToCOM()
            return pose.act(pin.Inertia(solid.computeVolume(), solid.computeCOM(), moments))
    return None


def _solid(each: Element, find: Callable[[str], Path | None]) -> Any:
    """Return the shape of a box, cylinder, sphere, capsule or mesh; None where there is none."""
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
        case 'mesh' if file := find(each.get('filename', '')):
            mesh = read_mesh(file, vector(each, 'scale', '1 1 1'))
            mesh.buildConvexHull(True, 'Qt')
            return mesh.convex
    return None
