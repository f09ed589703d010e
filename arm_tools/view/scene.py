"""An arm as MuJoCo draws it, at any joint positions."""

from collections.abc import Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_dynamics.model import RobotModel
from arm_dynamics.object_shapes import ObjectShape
from arm_dynamics.shapes import mesh_finder
from arm_dynamics.surroundings import Surroundings
from arm_sim.simulation.mujoco_scene import scene_of
from arm_sim.simulation.plant import PlantParameters
from arm_tools.view.meshes import add_meshes
from arm_tools.view.shown_objects import add_shown_objects, poses

_ROD, _JOINT = (0.76, 0.78, 0.8, 1.0), (0.18, 0.45, 0.75, 1.0)
_HIDDEN = 3  # first group of geoms that MuJoCo's viewer hides


class Scene:
    """An arm to look at, which is never simulated: any engine may move the real one.

    Attributes:
        model: the arm.
        mj_model, mj_data: MuJoCo's.
        first_object: number of the body of the first object, behind those of the arm.
    """

    def __init__(
        self,
        model: RobotModel,
        surroundings: Surroundings,
        objects: Sequence[ObjectShape] = (),
    ):
        """Build the scene; masses do not matter.

        Shapes that MuJoCo cannot read are left out; an arm without any is shown as rods. Objects
        with the name of a link are shown in place of this link.
        """
        parameters = PlantParameters(floor=surroundings.floor, table=surroundings.table)
        try:
            spec = scene_of(model, parameters)
            add_meshes(spec, model.urdf, mesh_finder(model.file))
            self.mj_model = _compiled(spec, objects)
        except ValueError:
            self.mj_model = _compiled(scene_of(model, parameters, shapes=False), objects)
        self.mj_data = mujoco.MjData(self.mj_model)
        self.model = model
        self.first_object = self.mj_model.nbody - self.mj_model.nmocap
        names = {each.name for each in objects}
        bodies = self.mj_model.geom_bodyid
        replaced = [k for k, body in enumerate(bodies) if self.mj_model.body(body).name in names]
        self.mj_model.geom_group[replaced] = _HIDDEN
        self._colours = self.mj_model.geom_rgba.copy()
        self.place(poses(objects))

    def place(self, objects: Array) -> None:
        """Put the objects at poses (k, 7) from the next `show` on; nan hides a shape."""
        there = ~np.isnan(objects[:, 0])
        self.mj_data.mocap_pos[there] = objects[there, :3]
        self.mj_data.mocap_quat[there] = objects[there][:, [6, 3, 4, 5]]
        m = self.mj_model
        shown = np.append(np.ones(self.first_object, dtype=bool), there)[m.geom_bodyid]
        m.geom_rgba[:, 3] = np.where(shown, self._colours[:, 3], 0.0)

    def show(self, q: Array) -> Array:
        """Put the arm at q (n,); return where its tip is then (3,) [m]."""
        self.mj_data.qpos[:] = self.model.all_positions(q)
        mujoco.mj_forward(self.mj_model, self.mj_data)
        return self.model.forward_kinematics(q).translation.copy()

    def visible_geoms(self) -> NDArray[np.intp]:
        """Return the numbers of the shapes that are seen, without the floor."""
        m = self.mj_model
        plane = m.geom_type == mujoco.mjtGeom.mjGEOM_PLANE
        return np.flatnonzero((m.geom_group < _HIDDEN) & ~plane)

    def corners(self, geoms: NDArray[np.intp]) -> Array:
        """Return the corners (k, 3) [m] of boxes around some of the shapes, at the present q."""
        m, data = self.mj_model, self.mj_data
        signs = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1).T
        middle, half = np.split(m.geom_aabb[geoms], 2, axis=1)
        boxes = middle[:, np.newaxis] + signs * half[:, np.newaxis]
        turns = data.geom_xmat[geoms].reshape(-1, 3, 3)
        places = data.geom_xpos[geoms][:, np.newaxis] + boxes @ turns.transpose(0, 2, 1)
        return places.reshape(-1, 3)


def add_segment(
    scene: mujoco.MjvScene, radius: float, start: Array, end: Array, colour: Array
) -> mujoco.MjvGeom:
    """Draw a segment from start to end (3,) [m] in a colour (4,); return its shape."""
    geom, shape = scene.geoms[scene.ngeom], mujoco.mjtGeom.mjGEOM_CAPSULE
    place, turn = np.zeros(3), np.eye(3).ravel()
    mujoco.mjv_initGeom(geom, shape, place, place, turn, colour.astype(np.float32))
    mujoco.mjv_connector(geom, shape, radius, start, end)
    # mjv_initGeom leaves these as they were in memory; mjr_render draws by the category.
    geom.category, geom.objtype = mujoco.mjtCatBit.mjCAT_DYNAMIC, mujoco.mjtObj.mjOBJ_UNKNOWN
    geom.objid = geom.segid = -1
    scene.ngeom += 1
    return geom


def _compiled(spec: mujoco.MjSpec, objects: Sequence[ObjectShape]) -> mujoco.MjModel:
    _add_rods(spec)
    if not objects:
        return _made(spec)
    with_objects = spec.copy()
    try:
        add_shown_objects(with_objects, objects)
        return _made(with_objects)
    except (ValueError, RuntimeError):  # a mesh is none
        add_shown_objects(spec, [each._replace(file='') for each in objects])
        return _made(spec)


def _made(spec: mujoco.MjSpec) -> mujoco.MjModel:
    spec.compiler.boundmass, spec.compiler.boundinertia = 1e-3, 1e-6
    spec.compiler.balanceinertia = True
    return spec.compile()


def _add_rods(spec: mujoco.MjSpec) -> None:
    """Add rods from link to link where no link has a shape."""
    links = [body for body in spec.bodies if body.name != 'world']
    if any(body.geoms for body in links):
        return
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
