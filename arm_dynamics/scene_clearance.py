"""Distances of an arm from objects around it and from itself."""

from arm_dynamics.clearance import Clearance, Surroundings
from arm_dynamics.model import RobotModel
from arm_dynamics.object_shapes import ObjectShape
from arm_dynamics.self_contact import touching_links

OWN = 0.005  # distance that links keep from each other [m]


def scene_clearance(
    model: RobotModel,
    objects: tuple[ObjectShape, ...] = (),
    surroundings: Surroundings = Surroundings(),  # noqa: B008  # frozen
    srdf: str = '',
) -> Clearance:
    """Return the distances of an arm from objects, floor, table and itself.

    Pairs of links are those of `touching_links` at the posture nearest to zero; links keep at most
    OWN from each other.

    Raises:
        ArmError: a shape or an SRDF that cannot be read.
    """
    found = Clearance(model, surroundings, objects, touching_links(model, srdf)[0])
    found.own = OWN
    return found
