"""The entities of a simulation: the arm, its links, its tip and its payload."""

from collections.abc import Callable, Collection, Iterator
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

import coal
import numpy as np
import pinocchio as pin

from arm_dynamics.checks import ArmError, Array, unknown
from arm_dynamics.clearance import Clearance
from arm_dynamics.surroundings import Surroundings
from arm_sim.simulation.simulation import Simulation
from arm_tools.standards.name_filter import name_filter

# The numbers of simulation_interfaces/Bounds.
BOX, SPHERE = 1, 3
POINT = coal.Sphere(0.0)  # an entity without a shape


class Category(IntEnum):
    """Category of an entity, with the numbers of simulation_interfaces/EntityCategory."""

    OBJECT = 0
    ROBOT = 1
    DYNAMIC_OBJECT = 4
    STATIC_OBJECT = 5


class Entity(NamedTuple):
    """An object with a pose.

    Attributes:
        frame: frame of the model at which it is; '' for an object.
        category: its category.
        description: its category as text.
    """

    frame: str
    category: Category
    description: str


_MOVING = Category.DYNAMIC_OBJECT, 'object that moves'
_FIXED = Category.STATIC_OBJECT, 'object that is fixed'


class Volume:
    """A box along the axes of the base frame, or a sphere."""

    def __init__(self, kind: int, points: Array):
        """Take BOX with its upper and its lower corner, or SPHERE with middle and (radius, _, _).

        `points` are (2, 3) [m].

        Raises:
            ArmError: they bound no volume.
        """
        if points.shape != (2, 3) or not np.isfinite(points).all():
            raise ArmError(f'bounds have {points.tolist()}; allowed: 2 points of 3 finite numbers')
        self._place = points[0]
        if kind == SPHERE:
            sizes = points[1][:1]
            self._solid: coal.CollisionGeometry = coal.Sphere(*sizes)
        else:
            sizes = points[0] - points[1]
            self._place, self._solid = points.mean(axis=0), coal.Box(*sizes)
        if sizes.min() <= 0.0:
            what = 'a radius' if kind == SPHERE else 'an upper corner minus the lower corner'
            raise ArmError(f'bounds have {what} of {sizes.tolist()} m; allowed: above 0')

    def meets(self, solid: coal.CollisionGeometry, pose: pin.SE3) -> bool:
        """Whether a solid at a pose in the base frame overlaps with the volume."""
        own = coal.Transform3s(np.eye(3), self._place)
        other = coal.Transform3s(pose.rotation, pose.translation)
        request, result = coal.CollisionRequest(), coal.CollisionResult()
        return bool(coal.collide(self._solid, own, solid, other, request, result))


class Entities:
    """The entities of a simulated arm: `arm`, `tip`, links, objects, `payload` with a mass.

    A link or an object with one of these names replaces that entity.
    """

    def __init__(self, simulation: Simulation, payload: Callable[[], float], prefix: str = ''):
        """`payload` returns its mass [kg]; `prefix` goes before each name, such as 'left/'."""
        self._simulation, self._payload, self._prefix = simulation, payload, prefix
        model = simulation.model
        tip, base = model.tip_frame, model.base_frame
        self._fixed = {
            'arm': Entity(base, Category.ROBOT, f'{model.name}, at its root link'),
            'tip': Entity(tip, Category.OBJECT, f'the tool frame, {tip}'),
            **{n: Entity(n, Category.OBJECT, f'link of {model.name}') for n in model.frame_names},
        }

    def all(self) -> dict[str, Entity]:
        """Return the present entities by name."""
        objects = {
            name: Entity('', *(_MOVING if moves else _FIXED))
            for name, moves in self.objects().items()
        }
        found, mass = self._fixed | objects, self._payload()
        if mass:
            tip, words = self._simulation.model.tip_frame, f'{mass:g} kg at the tool frame'
            found = {'payload': Entity(tip, Category.DYNAMIC_OBJECT, words)} | found
        return {self._prefix + name: each for name, each in found.items()}

    def get(self, name: str) -> Entity:
        """Return a present entity. Raises ArmError where there is none of this name."""
        known = self.all()
        if name not in known:
            raise unknown('entity', name[:100], known)
        return known[name]

    def objects(self) -> dict[str, bool]:
        """Return whether an object moves, by the name of the object without prefix."""
        plant = self._simulation.plant
        names = dict.fromkeys((*plant.scene.objects, *(each.name for each in plant.scene.shapes)))
        return {name: name in plant.scene.objects for name in names}

    def names(
        self, pattern: str = '', categories: Collection[int] = (), inside: Volume | None = None
    ) -> list[str]:
        """Return the names that match a regular expression, of these categories (none: of all).

        `inside`: only of entities that overlap with this volume. The arm is its links, a link its
        collision shapes, an object the box around it, everything else the origin of its frame.

        Raises:
            ArmError: `name_filter` refuses the expression.
        """
        wanted = name_filter(pattern)
        return [
            name
            for name, each in self.all().items()
            if wanted.search(name)
            and (not categories or each.category in categories)
            and (inside is None or any(inside.meets(*part) for part in self._parts(name, each)))
        ]

    def _parts(self, name: str, entity: Entity) -> Iterator[tuple[coal.ShapeBase, pin.SE3]]:
        """Yield the solids of an entity with their poses in the base frame."""
        model, plant = self._simulation.model, self._simulation.plant
        pose, own = self.motion(name)[0], name.removeprefix(self._prefix)
        if not entity.frame:
            lower, upper = plant.scene.bounds(own)
            yield coal.Box(*(upper - lower)), pose * pin.SE3(np.eye(3), (lower + upper) / 2.0)
            return
        shapes, data = self._links.geometry, self._links.geometry.createData()
        q = model.to_pin(plant.q)
        pin.updateGeometryPlacements(model.pin_model, model.pin_data, shapes, data, q)
        links, found = self._links.names, own not in ('tip', 'payload')
        chosen = [k for k, link in enumerate(links) if own in ('arm', link) and found]
        for k in chosen:
            yield shapes.geometryObjects[k].geometry, data.oMg[k]
        if not chosen:
            yield POINT, pose

    @cached_property
    def _links(self) -> Clearance:
        return Clearance(self._simulation.model, Surroundings(floor=False))

    def motion(self, name: str) -> tuple[pin.SE3, Array]:
        """Return the pose and the velocity (6,) of an entity in the base frame.

        The velocity is linear [m/s] at the origin, then angular [rad/s], in the base frame's axes.

        Raises:
            ArmError: there is no such entity.
        """
        model, plant = self._simulation.model, self._simulation.plant
        frame = self.get(name).frame
        if not frame:
            own, moved = plant.scene.motion(name.removeprefix(self._prefix))
            return pin.XYZQUATToSE3(own), moved
        velocity = model.jacobian(plant.q, frame) @ plant.v
        return model.forward_kinematics(plant.q, frame), velocity
