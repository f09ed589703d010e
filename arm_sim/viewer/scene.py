"""An arm as MuJoCo draws it, at any q, and the path that its tip draws."""

import mujoco
import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.clearance import Surroundings
from arm_dynamics.model import RobotModel
from arm_dynamics.shapes import mesh_finder
from arm_sim.plants.mujoco_scene import scene_of
from arm_sim.plants.plant import PlantParameters
from arm_sim.viewer.meshes import add_meshes

_PIECE = 0.004  # of the drawn path [m]
_ROD, _JOINT = (0.76, 0.78, 0.8, 1.0), (0.18, 0.45, 0.75, 1.0)


class Scene:
    """An arm that is shown, and never stepped: what steps it may be any engine.

    Attributes:
        mj_model, mj_data: MuJoCo's.
    """

    def __init__(self, model: RobotModel, surroundings: Surroundings):
        """Build it; masses do not matter.

        Shapes that MuJoCo cannot read are left out; an arm without any is shown as rods.
        """
        parameters = PlantParameters(floor=surroundings.floor, table=surroundings.table)
        try:
            spec = scene_of(model, parameters)
            add_meshes(spec, model.urdf, mesh_finder(model.file))
            self.mj_model = _compiled(_seen(spec))
        except ValueError:
            self.mj_model = _compiled(_seen(scene_of(model, parameters, shapes=False)))
        self.mj_data = mujoco.MjData(self.mj_model)
        self._model = model
        self._end: Array | None = None

    def show(self, q: Array) -> tuple[Array, Array] | None:
        """Put the arm at q (n,); return the ends (3,) [m] of the next piece of its tip's path.

        None: the tip is still near the piece before, or too far for a motion.
        """
        self.mj_data.qpos[:] = q
        mujoco.mj_forward(self.mj_model, self.mj_data)
        tip = self._model.forward_kinematics(q).translation.copy()
        if self._end is None:
            self._end = tip
        start, length = self._end, float(np.linalg.norm(tip - self._end))
        if length < _PIECE:
            return None
        self._end = tip
        return (start, tip) if length < 20 * _PIECE else None  # else the arm was reset


def _seen(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """Return the scene of an arm; where no link has a shape, with rods from link to link."""
    links = [body for body in spec.bodies if body.name != 'world']
    if any(body.geoms for body in links):
        return spec
    radius = 0.025 * sum(float(np.linalg.norm(body.pos)) for body in links) or 0.05
    none = {'contype': 0, 'conaffinity': 0, 'mass': 0.0}
    kind = mujoco.mjtGeom
    for body in links:
        body.add_geom(type=kind.mjGEOM_SPHERE, size=(1.3 * radius, 0, 0), rgba=_JOINT, **none)
        if np.linalg.norm(body.pos) > radius:
            body.parent.add_geom(
                type=kind.mjGEOM_CAPSULE, fromto=(0, 0, 0, *body.pos), size=(radius, 0, 0),
                rgba=_ROD, **none,
            )  # fmt: skip
    return spec


def _compiled(spec: mujoco.MjSpec) -> mujoco.MjModel:
    spec.compiler.boundmass, spec.compiler.boundinertia = 1e-3, 1e-6
    spec.compiler.balanceinertia = True
    return spec.compile()
