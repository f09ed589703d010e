"""Distances of an arm from objects around it and from itself."""

from arm_dynamics.clearance import Clearance
from arm_dynamics.model import RobotModel
from arm_dynamics.object_shapes import ObjectShape
from arm_dynamics.self_contact import touching_links
from arm_dynamics.surroundings import Surroundings

OWN = 0.005  # distance that links keep from each other [m]


def scene_clearance(
    model: RobotModel,
    objects: tuple[ObjectShape, ...] = (),
    surroundings: Surroundings = Surroundings(),  # noqa: B008  # frozen
    srdf: str = '',
    own: float = OWN,
) -> Clearance:
    """Return the distances of an arm from objects, floor, table and itself.

    Pairs of links are those of `touching_links` at the posture nearest to zero, and the note names
    others; links keep at most `own` [m] from each other.

    Raises:
        ArmError: a shape or an SRDF that cannot be read.
    """
    links, why = touching_links(model, srdf)
    found = Clearance(model, surroundings, objects, links)
    found.own = own
    left_out = f'pairs of links left out: {why}' if why else ''
    found.note = '; '.join(filter(None, (found.note, left_out)))
    return found
