"""Distances of an arm from the floor, a table, objects and itself, by Pinocchio and coal."""

from collections.abc import Callable, Iterator, Sequence, Set
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

import coal
import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, Array, one_line, some_of
from arm_dynamics.model import RobotModel
from arm_dynamics.object_shapes import ObjectShape
from arm_dynamics.shapes import mesh_finder, read_mesh, with_shapes
from arm_dynamics.surroundings import Surroundings

_TOUCHING = 1e-4  # distance of pairs that touch [m]
_NEVER = -100.0  # margin of a pair that is left out [m]
_LARGE = 10.0  # radius of no link [m]
_SRDF = ', or <disable_collisions> of an SRDF next to the URDF, {}, as that of a *_moveit_config'
FLOOR, TABLE = 'the floor', 'the table'


class Nearest(NamedTuple):
    """The nearest pair of a configuration.

    Attributes:
        link: name of the link.
        other: the link, object, floor or table that it is nearest to, in words.
        distance: between them [m]; negative: penetration.
        point: (3,) of the link, nearest to the other, in the base frame [m].
    """

    link: str
    other: str
    distance: float
    point: Array

    def __str__(self) -> str:
        x, y, z = self.point
        relation = f'{abs(self.distance) * 1e3:.1f} mm {"from" if self.distance > 0 else "inside"}'
        relation = 'touching' if abs(self.distance) < 5e-5 else relation
        return f'link {self.link!r} is {relation} {self.other} at ({x:.3f}, {y:.3f}, {z:.3f}) m'


class Clearance:
    """Distances of an arm's links from its surroundings and from each other.

    A mesh counts as its convex hull, as in MuJoCo. Pairs whose distance no motion changes, or that
    always touch, are left out: the two links of a joint, links that do not move, and the floor
    with a link whose height no joint changes.

    Attributes:
        note: what a user should know about the shapes; may be empty.
        names: of the shapes: their links, then the obstacles.
        pairs: names of the two shapes of each checked pair; the first one is a link.
        own: largest distance that links keep from each other [m].
        most: (len(pairs),) largest distance that each pair keeps [m].
    """

    own = np.inf

    def __init__(
        self,
        model: RobotModel,
        surroundings: Surroundings,
        objects: Sequence[ObjectShape] = (),
        links: Set[frozenset[str]] | None = None,
    ):
        """Read the shapes of the model's URDF.

        Args:
            model, surroundings: the arm, its floor and table.
            objects: further obstacles.
            links: the pairs of links that can touch each other; None: all that a motion brings
                nearer to each other.

        Raises:
            ArmError: a shape that cannot be read.
        """
        self.model = model
        tree, self.note = with_shapes(model.urdf, mesh_finder(model.file))
        text = ElementTree.tostring(tree, encoding='unicode')
        pin_model, kind = model.pin_model, pin.GeometryType.COLLISION
        try:
            self.geometry = geometry = pin.buildGeomFromUrdfString(pin_model, text, kind)
        except (ValueError, RuntimeError) as error:
            reason = f'shapes of {model.name!r}: {one_line(error)}; correct the URDF'
            raise ArmError(reason) from None
        shapes = list(geometry.geometryObjects)
        for shape in shapes:
            _make_convex(shape)
        self.names = [pin_model.frames[shape.parentFrame].name for shape in shapes]
        large = [name for name, x in zip(self.names, shapes, strict=True) if _radius(x) > _LARGE]
        if large:
            size = f'larger than {2.0 * _LARGE:g} m; is it in millimetres?'
            notes = (self.note, f'a shape of {some_of(list(dict.fromkeys(large)))} is {size}')
            self.note = '; '.join(filter(None, notes))
        joints = [shape.parentJoint for shape in shapes]  # an obstacle more moves shapes in memory
        self.pairs: list[tuple[str, str]] = []
        for i, joint in enumerate(joints):
            for k in range(i):
                near = frozenset((self.names[i], self.names[k]))
                if self._apart(joints[k], joint) and (links is None or near in links):
                    self._add(i, k)
        here = pin.SE3.Identity()
        obstacles: list[tuple[str, coal.CollisionGeometry, pin.SE3]] = []
        if surroundings.floor:
            obstacles.append((FLOOR, coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0), here))
        if surroundings.table:
            middle, sizes = np.split(np.array(surroundings.table), 2)
            obstacles.append((TABLE, coal.Box(*sizes), pin.SE3(np.eye(3), middle)))
        for each in objects:
            obstacles.append((f'object {each.name!r}', _solid(each), _pose(each)))
        level = level_joints(model)
        self._first = len(shapes)
        for number, (name, solid, place) in enumerate(obstacles):
            other = pin.GeometryObject(f'obstacle {number}', 0, 0, place, solid)
            k = geometry.addGeometryObject(other)
            self.names.append(name)
            for i, joint in enumerate(joints):
                if joint and not (name == FLOOR and joint in level):
                    self._add(i, k)
        self._begin()

    def _begin(self) -> None:
        """Prepare the computation for the pairs as they are."""
        self._data = self.geometry.createData()
        pairs = self.geometry.collisionPairs
        self.most = np.full(len(pairs), np.inf)
        self._of_links = np.array([each.second < self._first for each in pairs], dtype=bool)

    def distances(self, q: Array) -> Array:
        """Return the distance of each pair (len(pairs),) [m] at q (n,); negative: penetration."""
        model = self.model
        pin.computeDistances(
            model.pin_model, model.pin_data, self.geometry, self._data, model.to_pin(q)
        )
        return np.array([result.min_distance for result in self._data.distanceResults])

    def margins(self, least: float) -> Array:
        """Return the distance (len(pairs),) that each pair keeps where `least` [m] is allowed."""
        kept = np.where(self._of_links, min(least, self.own), least)
        return np.minimum(kept, self.most)

    def most_at(self, q: Array, least: float) -> Array:
        """Return `most` of a motion that starts at q (n,), where `least` [m] is allowed.

        Pairs that are too near at q may not come nearer. Left out are those that touch, and those
        of an object that is touched: it may be carried along.
        """
        distances, self.most = self.distances(q), np.full(len(self.pairs), np.inf)
        near = distances < self.margins(least) + _TOUCHING
        touching, of_objects = distances < _TOUCHING, ~self._of_links
        others = np.array([other for _, other in self.pairs])
        carried = np.isin(others, others[touching & of_objects]) & of_objects
        kept = np.where(touching | carried, _NEVER, distances - _TOUCHING)
        return np.where(near, kept, np.inf)

    def place(self, objects: Sequence[ObjectShape]) -> None:
        """Move the objects, which are those of the constructor in its order."""
        first = len(self.names) - len(objects)
        for number, each in enumerate(objects, first):
            self.geometry.geometryObjects[number].placement = _pose(each)

    def nearest(self, q: Array, least: float = 0.0) -> Nearest:
        """Return the pair at q (n,) whose distance exceeds what it keeps by the least."""
        distances = self.distances(q)
        if not len(distances):
            return Nearest('', '', np.inf, np.zeros(3))
        pair = int((distances - self.margins(least)).argmin())
        link, other = self.pairs[pair]
        known = self.geometry.collisionPairs[pair].second >= self._first
        other = other if known else f'link {other!r}'
        point = self._data.distanceResults[pair].getNearestPoint1()
        return Nearest(link, other, float(distances[pair]), point)

    def check(self, times: Array, q: Array, least: float) -> None:
        """Raise ArmError if a configuration has a pair that is nearer than `least` [m].

        Args:
            times: (m,) [s], for the error.
            q: (m, n) configurations.
            least: allowed distance [m].

        Raises:
            ArmError: names link, distance, place and time.
        """
        for t, each, clear in zip(times.tolist(), q, self.are_clear(q, least), strict=True):
            if not clear:
                near = self.nearest(each, least)
                off = f'at least {least * 1e3:g} mm off is allowed'
                name = Path(self.model.file).stem.removesuffix('_inertia_estimated')
                srdf = _SRDF.format(f'{name}.srdf') * (near.other[:4] == 'link')
                raise ArmError(f'{near}, t = {t:.2f} s; {off}{srdf}')

    def are_clear(self, q: Array, least: float) -> Iterator[bool]:
        """Yield for each configuration of q (m, n) whether all pairs are `least` [m] apart."""
        return map(self.condition(least), q)

    def condition(self, least: float) -> Callable[[Array], bool]:
        """Return whether all pairs are `least` [m] apart, as a function of q (n,).

        The function of another `least` replaces it.
        """
        model, data, geometry = self.model, self._data, self.geometry
        pin_model, pin_data, to_pin, collide = (
            model.pin_model, model.pin_data, model.to_pin, pin.computeCollisions
        )  # fmt: skip
        margins = self.margins(least).tolist()
        for request, margin in zip(data.collisionRequests, margins, strict=True):
            request.security_margin = margin
        return lambda q: not collide(pin_model, pin_data, geometry, data, to_pin(q), True)

    def reach(self) -> Array:
        """Return r (n,), so that no point of a link moves by more than sum_i r_i |dq_i| [m].

        r is 1 for a prismatic joint; else, the largest distance of a point of the links that a
        joint moves from its axis is at most r [m/rad]: the sum of the distances between joints.
        """
        model, pin_model = self.model, self.model.pin_model
        size = np.zeros(pin_model.njoints)
        for shape in list(self.geometry.geometryObjects)[: self._first]:
            joint, radius = shape.parentJoint, _radius(shape)
            middle = shape.placement.act(shape.geometry.aabb_center)
            size[joint] = max(size[joint], np.linalg.norm(middle) + radius)
        stroke = np.zeros(pin_model.njoints)
        own = [pin_model.getJointId(name) for name in model.joint_names]
        farthest = np.maximum(np.abs(model.position_lower), np.abs(model.position_upper))
        stroke[own] = np.where(model.prismatic, np.minimum(farthest, 1e3), 0.0)
        for joint in range(pin_model.njoints - 1, 0, -1):
            length = np.linalg.norm(pin_model.jointPlacements[joint].translation)
            parent = pin_model.parents[joint]
            size[parent] = max(size[parent], length + stroke[joint] + size[joint])
        return np.where(model.prismatic, 1.0, size[own])

    def leave_out_always_near(self, least: float) -> None:
        """Remove the pairs nearer than `least` [m] at each of 200 random configurations."""
        rng = np.random.default_rng(0)
        q = [self.model.random_configuration(rng) for _ in range(200)]
        farthest = np.max([self.distances(each) for each in q], axis=0, initial=-np.inf)
        for k in np.flatnonzero(farthest < least)[::-1].tolist():
            pair = self.geometry.collisionPairs[k]  # which is another one once it is removed
            self.geometry.removeCollisionPair(pin.CollisionPair(pair.first, pair.second))
            del self.pairs[k]
        self._begin()

    def _add(self, i: int, k: int) -> None:
        self.geometry.addCollisionPair(pin.CollisionPair(i, k))
        self.pairs.append((self.names[i], self.names[k]))

    def _apart(self, one: int, other: int) -> bool:
        parents = self.model.pin_model.parents
        return one != other and parents[one] != other and parents[other] != one


def _solid(each: ObjectShape) -> coal.CollisionGeometry:
    """Return the shape of an obstacle as coal has it."""
    if each.kind == 'mesh':
        try:
            mesh = read_mesh(each.file, np.array(each.size))
        except ArmError as error:
            raise ArmError(f'object {each.name!r}: {error}') from None
        return _hull(mesh, f'object {each.name!r}: convex hull of {each.file}')
    x, y, z = each.size
    if each.kind == 'box':
        return coal.Box(x, y, z)
    if each.kind == 'cylinder':
        return coal.Cylinder(max(x, y) / 2.0, z)
    return coal.Sphere(x / 2.0) if x == y == z else coal.Ellipsoid(x / 2.0, y / 2.0, z / 2.0)


def _pose(each: ObjectShape) -> pin.SE3:
    quaternion = pin.Quaternion(np.array(each.pose[3:])).normalized()
    return pin.SE3(quaternion, np.array(each.pose[:3]))


def _make_convex(shape: pin.GeometryObject) -> None:
    """Replace a mesh by its convex hull."""
    if isinstance(shape.geometry, coal.BVHModelBase):
        what = f'shape {shape.name!r}: convex hull of {shape.meshPath}'
        shape.geometry = _hull(shape.geometry, what)


def _hull(mesh: coal.BVHModelBase, what: str) -> coal.CollisionGeometry:
    """Return the convex hull of a mesh, whose distance is at most that of the mesh."""
    try:
        mesh.buildConvexHull(True, 'Qt')
    except RuntimeError as error:
        reason = ' '.join(str(error).split('message: ')[-1].split())
        raise ArmError(f'{what}: {reason}; use fewer triangles') from None
    return mesh.convex


def _radius(shape: pin.GeometryObject) -> float:
    """Return the radius of a ball around a shape [m]."""
    shape.geometry.computeLocalAABB()
    return float(shape.geometry.aabb_radius)


def level_joints(model: RobotModel) -> set[int]:
    """Return the joints, by Pinocchio's index, whose links keep height and tilt in all motions."""
    q = model.to_pin(model.random_configuration(np.random.default_rng(0)))
    level = set()
    for joint in range(1, model.pin_model.njoints):
        jacobian = pin.computeJointJacobian(model.pin_model, model.pin_data, q, joint)
        turned = model.pin_data.oMi[joint].rotation
        linear, angular = turned @ jacobian[:3], turned @ jacobian[3:]
        if max(abs(linear[2]).max(), abs(angular[:2]).max()) < 1e-9:
            level.add(joint)
    return level
