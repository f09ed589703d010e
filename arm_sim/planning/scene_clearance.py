"""Distances of an arm from the objects of a scene."""

import mujoco
import numpy as np

from arm_dynamics.clearance import Clearance, Surroundings
from arm_dynamics.model import RobotModel
from arm_sim.simulation.mujoco_objects import add_scene, moving_bodies
from arm_sim.simulation.mujoco_shapes import object_shapes
from arm_sim.simulation.object_shapes import ObjectShape, ShapePoses
from arm_sim.simulation.self_contact import touching_links

OWN = 0.005  # distance that links keep from each other [m]


def scene_shapes(name: str) -> tuple[ObjectShape, ...]:
    """Return the shapes of a scene where its objects are at the start of a simulation.

    `name`: a shipped scene, a YAML file or an MJCF file (`.xml`); '' has none.

    Raises:
        ArmError: no such scene, or a file that is none.
    """
    spec = mujoco.MjSpec()
    add_scene(spec, name, (), (), ())
    mj_model = spec.compile()
    data = mujoco.MjData(mj_model)
    mujoco.mj_kinematics(mj_model, data)
    moving, shapes = moving_bodies(mj_model), object_shapes(mj_model)
    poses = np.hstack([data.xpos[moving], data.xquat[moving][:, [1, 2, 3, 0]]])
    placed = ShapePoses(shapes, [mj_model.body(each).name for each in moving]).at(poses)
    return tuple(
        shape._replace(pose=tuple(pose.tolist()))
        for shape, pose in zip(shapes, placed, strict=True)
    )


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
