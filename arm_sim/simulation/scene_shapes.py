"""The shapes of a scene's objects, where a simulation starts."""

import mujoco
import numpy as np

from arm_dynamics.object_shapes import ObjectShape, ShapePoses
from arm_sim.simulation.mujoco_objects import add_scene, moving_bodies
from arm_sim.simulation.mujoco_shapes import object_shapes


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
