"""Objects of several shapes that fall and turn next to an arm."""

from pathlib import Path

import trimesh

from arm_dynamics.model import RobotModel
from arm_dynamics.robots import find_urdf
from arm_sim.engines.mujoco import MujocoPlant

SCENE = """
- {name: rod, shape: capsule, size: [0.05, 0.1], position: [1.5, 0.1, 0.3], mass: 0.2}
- {name: wall, size: [0.05, 0.1, 0.2], position: [1.5, 0.4, 0.3], rotation: [0.1, 0.2, 0.3]}
- {name: cone, shape: mesh, file: cone.stl, position: [1.5, -0.4, 0.3], rotation: [0.4, 0.2, 0.3],
   mass: 0.1}
"""


def turned_plant(folder: Path) -> MujocoPlant:
    """Return an arm among a capsule, a wall and a mesh, which fall and turn."""
    cone = trimesh.creation.cone(0.03, 0.1)
    cone.apply_transform(trimesh.transformations.rotation_matrix(0.4, (1, 1, 0)))
    cone.apply_translation((0.2, 0.0, 0.1)).export(folder / 'cone.stl')
    (folder / 'scene.yaml').write_text(SCENE)
    model = RobotModel(find_urdf('planar_3r'))
    parameters = MujocoPlant.Parameters(scene=str(folder / 'scene.yaml'))
    plant = MujocoPlant(model, parameters)
    plant.mj_data.qvel[3:] = 1.0
    for _ in range(20):
        plant.act(plant.q)
    return plant
