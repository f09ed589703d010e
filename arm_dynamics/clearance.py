"""How far an arm stays from the floor, from a table and from itself, by Pinocchio and coal."""

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
    """What stands around an arm, in its base frame."""

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

    A mesh counts as its convex hull, as for MuJoCo. Left out is what no motion changes or what
    always touches: links on one joint's two sides, the links that stand still, and a link whose
    height no joint changes, from the floor.

    Attributes:
        note: what a user should know of the shapes; may be empty.
        pairs: names of the two of each pair that is looked at; the first one is a link.
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
            told = ' '.join(str(error).split())
            raise ArmError(f'shapes of {model.name!r}: {told}; mend the URDF') from None
        shapes = list(geometry.geometryObjects)
        for shape in shapes:
            _make_convex(shape)
        self._names = [pin_model.frames[shape.parentFrame].name for shape in shapes]
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
            self._names.append(name)
            for i, shape in enumerate(shapes):
                if shape.parentJoint and not (name == FLOOR and shape.parentJoint in level):
                    self._add(i, k)
        self._data = geometry.createData()

    def distances(self, q: Array) -> Array:
        """Return the distance of each pair (len(pairs),) [m] at q (n,); below zero: how deep."""
        model = self.model
        pin.computeDistances(
            model.pin_model, model.pin_data, self.geometry, self._data, model.to_pin(q)
        )
        return np.array([result.min_distance for result in self._data.distanceResults])

    def check(self, times: Array, q: Array, least: float) -> None:
        """Refuse configurations q (m, n) at times (m,) [s], if one is nearer than `least` [m].

        Raises:
            ArmError: with link, distance, place and time.
        """
        for t, each, clear in zip(times.tolist(), q, self.are_clear(q, least), strict=True):
            if not clear:
                distances = self.distances(each)
                self._refuse(t, int(distances.argmin()), float(distances.min()), least)

    def are_clear(self, q: Array, least: float) -> Iterator[bool]:
        """Yield for each of q (m, n) whether no pair is nearer than `least` [m]."""
        model, data = self.model, self._data
        for request in data.collisionRequests:
            request.security_margin = least
        for each in q:
            pin_q = model.to_pin(each)
            yield not pin.computeCollisions(
                model.pin_model, model.pin_data, self.geometry, data, pin_q, True
            )

    def leave_out_always_near(self, least: float, samples: int = 200) -> None:
        """Look no more at pairs that are nearer than `least` [m] at every random configuration."""
        rng = np.random.default_rng(0)
        q = [self.model.random_configuration(rng) for _ in range(samples)]
        farthest = np.max([self.distances(each) for each in q], axis=0, initial=-np.inf)
        for k in np.flatnonzero(farthest < least)[::-1].tolist():
            self.geometry.removeCollisionPair(self.geometry.collisionPairs[k])
            del self.pairs[k]
        self._data = self.geometry.createData()

    def _refuse(self, t: float, pair: int, distance: float, least: float) -> None:
        found = self._data.distanceResults[pair]
        x, y, z = found.getNearestPoint1()
        link, other = self.pairs[pair]
        other = other if other in (FLOOR, TABLE) else f'link {other!r}'
        if abs(distance) < 5e-5:
            told = 'touching'
        else:
            told = f'{abs(distance) * 1e3:.1f} mm {"from" if distance > 0 else "inside"}'
        raise ArmError(
            f'link {link!r} is {told} {other} at ({x:.3f}, {y:.3f}, {z:.3f}) m, t = {t:.2f} s; '
            f'at least {least * 1e3:g} mm off is allowed'
        )

    def _add(self, i: int, k: int) -> None:
        self.geometry.addCollisionPair(pin.CollisionPair(i, k))
        self.pairs.append((self._names[i], self._names[k]))

    def _apart(self, one: int, other: int) -> bool:
        parents = self.model.pin_model.parents
        return one != other and parents[one] != other and parents[other] != one


def _make_convex(shape: pin.GeometryObject) -> None:
    """Put its convex hull in place of a mesh: the distance from that is at most the mesh's."""
    if isinstance(shape.geometry, coal.BVHModelBase):
        shape.geometry.buildConvexHull(True, 'Qt')
        shape.geometry = shape.geometry.convex


def level_joints(model: RobotModel) -> set[int]:
    """Return the joints, by Pinocchio's index, whose links keep height and tilt whatever moves."""
    q = model.to_pin(model.random_configuration(np.random.default_rng(0)))
    level = set()
    for joint in range(1, model.pin_model.njoints):
        jacobian = pin.computeJointJacobian(model.pin_model, model.pin_data, q, joint)
        turned = model.pin_data.oMi[joint].rotation
        linear, angular = turned @ jacobian[:3], turned @ jacobian[3:]
        if max(abs(linear[2]).max(), abs(angular[:2]).max()) < 1e-9:
            level.add(joint)
    return level
