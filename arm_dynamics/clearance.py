"""Distances of an arm from the floor, a table and itself, by Pinocchio and coal."""

from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree

import coal
import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, Array, in_range
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import Parameters, parameter
from arm_dynamics.shapes import mesh_finder, with_shapes

FLOOR, TABLE = 'the floor', 'the table'


@dataclass(frozen=True, kw_only=True)
class Surroundings(Parameters):
    """Obstacles around an arm, in its base frame."""

    floor: bool = parameter(True, 'if true, the plane z = 0 of the base frame is a floor')
    table: tuple[float, ...] = parameter(
        (),
        'box in the base frame: centre x, y, z and sizes along them [m]; empty: none',
        length=6,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for size in self.table[3:]:
            in_range('size of table', size, 0.0, np.inf, True)


class Clearance:
    """Distances of an arm's links from its surroundings and from each other.

    A mesh counts as its convex hull, as in MuJoCo. Pairs whose distance no motion changes, or that
    always touch, are left out: the two links of a joint, links that do not move, and the floor
    with a link whose height no joint changes.

    Attributes:
        note: what a user should know about the shapes; may be empty.
        names: of the shapes: their links, then the obstacles.
        pairs: names of the two shapes of each checked pair; the first one is a link.
    """

    def __init__(self, model: RobotModel, surroundings: Surroundings):
        """Read the shapes of the model's URDF."""
        self.model = model
        tree, self.note = with_shapes(model.urdf, mesh_finder(model.file))
        text = ElementTree.tostring(tree, encoding='unicode')
        pin_model, kind = model.pin_model, pin.GeometryType.COLLISION
        try:
            self.geometry = geometry = pin.buildGeomFromUrdfString(pin_model, text, kind)
        except (ValueError, RuntimeError) as error:
            reason = ' '.join(str(error).split())
            raise ArmError(f'shapes of {model.name!r}: {reason}; correct the URDF') from None
        shapes = list(geometry.geometryObjects)
        for shape in shapes:
            _make_convex(shape)
        self.names = [pin_model.frames[shape.parentFrame].name for shape in shapes]
        self.pairs: list[tuple[str, str]] = []
        for i, shape in enumerate(shapes):
            for k in range(i):
                if self._apart(shapes[k].parentJoint, shape.parentJoint):
                    self._add(i, k)
        obstacles: list[tuple[str, coal.CollisionGeometry, Array]] = []
        if surroundings.floor:
            obstacles.append((FLOOR, coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0), np.zeros(3)))
        if surroundings.table:
            middle, sizes = np.split(np.array(surroundings.table), 2)
            obstacles.append((TABLE, coal.Box(*sizes), middle))
        level = level_joints(model)
        for name, solid, place in obstacles:
            other = pin.GeometryObject(name, 0, 0, pin.SE3(np.eye(3), place), solid)
            k = geometry.addGeometryObject(other)
            self.names.append(name)
            for i, shape in enumerate(shapes):
                if shape.parentJoint and not (name == FLOOR and shape.parentJoint in level):
                    self._add(i, k)
        self._data = geometry.createData()

    def distances(self, q: Array) -> Array:
        """Return the distance of each pair (len(pairs),) [m] at q (n,); negative: penetration."""
        model = self.model
        pin.computeDistances(
            model.pin_model, model.pin_data, self.geometry, self._data, model.to_pin(q)
        )
        return np.array([result.min_distance for result in self._data.distanceResults])

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
                distances = self.distances(each)
                self._refuse(t, int(distances.argmin()), float(distances.min()), least)

    def are_clear(self, q: Array, least: float) -> Iterator[bool]:
        """Yield for each configuration of q (m, n) whether all pairs are `least` [m] apart."""
        model, data = self.model, self._data
        for request in data.collisionRequests:
            request.security_margin = least
        for each in q:
            pin_q = model.to_pin(each)
            yield not pin.computeCollisions(
                model.pin_model, model.pin_data, self.geometry, data, pin_q, True
            )

    def leave_out_always_near(self, least: float, samples: int = 200) -> None:
        """Remove the pairs that are nearer than `least` [m] at every random configuration."""
        rng = np.random.default_rng(0)
        q = [self.model.random_configuration(rng) for _ in range(samples)]
        farthest = np.max([self.distances(each) for each in q], axis=0, initial=-np.inf)
        for k in np.flatnonzero(farthest < least)[::-1].tolist():
            self.geometry.removeCollisionPair(self.geometry.collisionPairs[k])
            del self.pairs[k]
        self._data = self.geometry.createData()

    def _refuse(self, t: float, pair: int, distance: float, least: float) -> None:
        x, y, z = self._data.distanceResults[pair].getNearestPoint1()
        link, other = self.pairs[pair]
        other = other if other in (FLOOR, TABLE) else f'link {other!r}'
        relation = f'{abs(distance) * 1e3:.1f} mm {"from" if distance > 0 else "inside"}'
        relation = 'touching' if abs(distance) < 5e-5 else relation
        raise ArmError(
            f'link {link!r} is {relation} {other} at ({x:.3f}, {y:.3f}, {z:.3f}) m, '
            f't = {t:.2f} s; at least {least * 1e3:g} mm off is allowed'
        )

    def _add(self, i: int, k: int) -> None:
        self.geometry.addCollisionPair(pin.CollisionPair(i, k))
        self.pairs.append((self.names[i], self.names[k]))

    def _apart(self, one: int, other: int) -> bool:
        parents = self.model.pin_model.parents
        return one != other and parents[one] != other and parents[other] != one


def _make_convex(shape: pin.GeometryObject) -> None:
    """Replace a mesh by its convex hull, whose distance is at most that of the mesh."""
    if isinstance(shape.geometry, coal.BVHModelBase):
        shape.geometry.buildConvexHull(True, 'Qt')
        shape.geometry = shape.geometry.convex


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
