"""The objects of a scene in MuJoCo: bodies, shapes and the pairs that touch."""

from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from arm_dynamics.checks import ArmError
from arm_sim.simulation.scene import SceneObject

_KINDS = {
    'box': mujoco.mjtGeom.mjGEOM_BOX,
    'sphere': mujoco.mjtGeom.mjGEOM_SPHERE,
    'cylinder': mujoco.mjtGeom.mjGEOM_CYLINDER,
    'capsule': mujoco.mjtGeom.mjGEOM_CAPSULE,
    'mesh': mujoco.mjtGeom.mjGEOM_MESH,
}


def add_objects(
    spec: mujoco.MjSpec,
    objects: Sequence[SceneObject],
    links: Sequence[str],
    surroundings: Sequence[str],
) -> None:
    """Add objects behind the arm, so that the arm keeps the first places of a state.

    Args:
        spec: the arm; changed.
        objects: fixed ones first.
        links: names of the shapes of the arm's links, which touch every object.
        surroundings: names of the shapes that free objects touch.

    Raises:
        ArmError: an object has the name of something else.
    """
    taken = {*surroundings, *(body.name for body in spec.bodies)}
    touched: list[str] = []  # shapes that a free object touches
    for each in objects:
        if each.name in taken:
            raise ArmError(f'scene: the name {each.name!r} is taken by another body')
        _add(spec, each)
        partners = [*links, *touched, *(surroundings if each.mass else ())]
        for name in partners:
            spec.add_pair(geomname1=name, geomname2=each.name, condim=3)
        touched.append(each.name)


def _add(spec: mujoco.MjSpec, each: SceneObject) -> None:
    x, y, z, w = Rotation.from_euler('xyz', each.rotation).as_quat()
    body = spec.worldbody.add_body(name=each.name, pos=each.position, quat=(w, x, y, z))
    geom = body.add_geom(
        name=each.name, type=_KINDS[each.shape], rgba=(*each.colour, 1.0), contype=0, conaffinity=0
    )
    if each.mass:
        body.add_freejoint()
        geom.mass = each.mass
    if each.shape == 'mesh':
        spec.add_mesh(name=each.name, file=str(Path(each.file)))
        geom.meshname = each.name
    else:
        geom.size[: len(each.size)] = np.array(each.size) / 2.0
