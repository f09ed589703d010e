"""Masses and inertias of links whose URDF has none, estimated from their shapes."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from arm_dynamics.checks import ArmError, Array, in_range, say_once, some_of
from arm_dynamics.shapes import mesh_finder, read_mesh
from arm_dynamics.urdf_elements import link_of, moves, origin_of, set_inertial, vector
from arm_dynamics.urdf_numbers import INERTIAL, check_numbers

DENSITY = 1000.0
_POINTS, _LEAST_OVERLAP = 20_000, 0.01  # of each shape; share of the volume that counts twice
_TESTS = 50_000_000  # most tests whether a point of one shape is inside another one


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

    The shapes are those of <collision>, else of <visual>; meshes count as their convex hulls. What
    is inside several shapes of a link, or of links fixed to each other, counts once.

    Args:
        tree: the URDF, which is changed.
        file: path of the URDF, from which meshes are searched.
        by: density or total mass.

    Raises:
        ArmError: no such link has a shape, or the total mass is below that of the other links.
    """
    find, known, is_asked = mesh_finder(str(file)), 0.0, False
    found: dict[str, tuple[Element, list[Body]]] = {}
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
                found[link.get('name', '')] = link, shapes
                break
        else:
            empty += [link.get('name', '')] * any(x.tag in ('collision', 'visual') for x in link)
    bodies = {name: (link, _of_shapes(name, found, tree)) for name, (link, _) in found.items()}
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
        f'{density * volume:.4g} kg; with the other links {density * volume + known:.4g} kg'
        + '; total_mass:=KG gives them the mass of the arm' * (not by.total_mass)
        + left
    )


class Body(NamedTuple):
    """A shape as a body of density 1.

    Attributes:
        inertia: in the link.
        pose: of the shape in the link.
        half: (3,) half the size of a box about `middle` in the shape's frame that holds it.
        middle: (3,).
        inside: whether points (k, 3) in the shape's frame are inside.
    """

    inertia: pin.Inertia
    pose: pin.SE3
    half: Array
    middle: Array
    inside: Callable[[Array], NDArray[np.bool_]]


def _of_shapes(
    name: str, found: Mapping[str, tuple[Element, list[Body]]], tree: Element
) -> pin.Inertia:
    """Return the inertia of a link's shapes, with its share of what is inside several shapes.

    These are shapes of links that are fixed to each other. What overlaps is found at random points
    of each shape, always the same ones.
    """
    fixed = {link_of(x, 'child'): x for x in tree.iterfind('joint') if not moves(x)}
    places = {each: _place(each, fixed) for each in found}
    root, here = places[name]
    around = [
        shape._replace(pose=here.actInv(place * shape.pose))
        for each, (other, place) in places.items()
        if other == root
        for shape in found[each][1]
    ]
    whole = sum((shape.inertia for shape in found[name][1]), pin.Inertia.Zero())
    rng, masses, points = np.random.default_rng(0), [], [np.zeros((0, 3))]
    drawn = min(_POINTS, max(_TESTS // len(around) ** 2, 10))
    for own in found[name][1] if len(around) > 1 else ():
        local = own.middle + own.half * rng.uniform(-1.0, 1.0, (drawn, 3))
        local = local[own.inside(local)]
        masses.append(np.full(len(local), own.inertia.mass / max(len(local), 1)))
        points.append(local @ own.pose.rotation.T + own.pose.translation)
    at = np.concatenate(points)
    counts = [
        sum(x.inside((some - x.pose.translation) @ x.pose.rotation) for x in around)
        for some in np.array_split(at, len(at) // _POINTS + 1)
    ]
    mass = np.concatenate([*masses, []]) * (1.0 - 1.0 / np.maximum(np.concatenate(counts), 1))
    if mass.sum() < _LEAST_OVERLAP * whole.mass:
        return whole
    left = whole.mass - mass.sum()
    centre = (whole.mass * whole.lever - mass @ at) / left
    second = _second_moment(whole) - np.einsum('k,ki,kj->ij', mass, at, at)
    second -= left * np.outer(centre, centre)
    return pin.Inertia(left, centre, np.eye(3) * np.trace(second) - second)


def _place(link: str, fixed: Mapping[str, Element]) -> tuple[str, pin.SE3]:
    """Return the first of the links that are fixed to each other, and where the link is in it."""
    if link not in fixed:
        return link, pin.SE3.Identity()
    root, place = _place(link_of(fixed[link], 'parent'), fixed)
    return root, place * origin_of(fixed[link])


def _second_moment(body: pin.Inertia) -> Array:
    """Return the integral of x x^T (3, 3) of a body's density about the link's origin."""
    about = np.eye(3) * np.trace(body.inertia) / 2.0 - body.inertia
    return about + body.mass * np.outer(body.lever, body.lever)


def body_of(shape: Element, find: Callable[[str], Path | str]) -> Body | None:
    """Return the body of a <collision> or <visual>; None without a volume."""
    for each in shape.iterfind('geometry/*'):
        try:
            pose = origin_of(shape)
            if each.tag == 'mesh':
                file = find(each.get('filename', ''))
                if isinstance(file, str):
                    say_once(f'inertia:=estimate: {file}')
                    return None
                return _of_hull(file, vector(each, 'scale', '1 1 1'), pose)
            solid, inside = _solid(each)
            if solid is not None and not np.isfinite(solid.computeVolume()):
                raise ValueError
        except (TypeError, ValueError):  # a number that is none or not finite, or too few numbers
            raise ArmError(f'inertia:=estimate: <{each.tag} {each.attrib}> is no shape') from None
        if solid is not None and solid.computeVolume() > 0.0:
            moments = solid.computeMomentofInertiaRelatedToCOM()
            body = pin.Inertia(solid.computeVolume(), solid.computeCOM(), moments)
            solid.computeLocalAABB()
            box = solid.aabb_local
            sides = (box.max_ - box.min_) / 2.0, (box.max_ + box.min_) / 2.0
            return Body(pose.act(body), pose, *sides, inside)
    return None


def _of_hull(file: Path, scale: Array, pose: pin.SE3) -> Body:
    """Return a mesh's convex hull, with an inertia as a sum of tetrahedra."""
    from scipy.spatial import ConvexHull  # slow to import

    points = np.asarray(read_mesh(file, scale).vertices())
    middle = points.mean(axis=0)
    hull = ConvexHull(points)
    corners = (points - middle)[hull.simplices]  # with the fourth one at zero
    volumes = np.abs(np.linalg.det(corners)) / 6.0
    total, sums = float(volumes.sum()), corners.sum(axis=1)
    centre = volumes @ sums / (4.0 * total)
    outer = np.einsum('kci,kcj->kij', corners, corners) + np.einsum('ki,kj->kij', sums, sums)
    second = np.einsum('k,kij->ij', volumes, outer) / 20.0 - total * np.outer(centre, centre)
    body = pin.Inertia(total, middle + centre, np.eye(3) * np.trace(second) - second)
    low, high = points.min(axis=0), points.max(axis=0)
    planes = np.unique(hull.equations.round(9), axis=0)  # once for all triangles of a plane

    def inside(at: Array) -> NDArray[np.bool_]:
        return np.asarray((at @ planes[:, :3].T + planes[:, 3] <= 0.0).all(axis=1))

    return Body(pose.act(body), pose, (high - low) / 2.0, (high + low) / 2.0, inside)


def _solid(each: Element) -> tuple[coal.ShapeBase, Callable[[Array], NDArray[np.bool_]]]:
    """Return the shape of a box, cylinder, sphere or capsule, and what is inside; None: others."""
    radius, length = (float(each.get(name, '0')) for name in ('radius', 'length'))
    half = length / 2.0
    match each.tag:
        case 'box':
            sides = vector(each, 'size')
            return coal.Box(*sides), lambda at: (np.abs(at) <= sides / 2.0).all(axis=1)
        case 'cylinder':
            return coal.Cylinder(
                radius, length
            ), lambda at: (np.hypot(at[:, 0], at[:, 1]) <= radius) & (np.abs(at[:, 2]) <= half)
        case 'capsule' | 'sphere':
            kind = coal.Capsule(radius, length) if each.tag == 'capsule' else coal.Sphere(radius)
            along = half if each.tag == 'capsule' else 0.0

            def inside(at: Array) -> NDArray[np.bool_]:
                beyond = at[:, 2] - at[:, 2].clip(-along, along)
                return np.linalg.norm(np.c_[at[:, :2], beyond], axis=1) <= radius

            return kind, inside
    return None, lambda at: np.zeros(len(at), dtype=bool)
