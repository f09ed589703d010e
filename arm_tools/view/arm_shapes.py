"""The shapes of an arm and of its surroundings as triangles."""

from typing import Any, NamedTuple

import mujoco
import numpy as np
import pinocchio as pin
import trimesh
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_tools.view.scene import Scene

_AROUND = 40  # corners of a circle
_KIND = mujoco.mjtGeom


class Shape(NamedTuple):
    """Triangles of one colour that move with one link.

    Attributes:
        body: MuJoCo's number of the link; 0 does not move.
        points: (m, 3) corners in the link's frame [m].
        faces: (k, 3) indices of corners, counterclockwise as seen from outside.
        colour: (4,) red, green, blue and opacity, 0 to 1.
        flat: whether each triangle has its own shade; else the shade changes smoothly.
    """

    body: int
    points: Array
    faces: NDArray[np.int64]
    colour: tuple[float, ...]
    flat: bool


def arm_shapes(scene: Scene) -> list[Shape]:
    """Return the visible shapes without the floor, one for each link and colour."""
    m = scene.mj_model
    parts: dict[tuple[int, tuple[float, ...], bool], list[trimesh.Trimesh]] = {}
    for k in scene.visible_geoms():
        w, x, y, z = m.geom_quat[k]
        pose = pin.XYZQUATToSE3(np.array([*m.geom_pos[k], x, y, z, w])).homogeneous
        key = int(m.geom_bodyid[k]), tuple(m.geom_rgba[k].tolist()), _is_mesh(m, k)
        parts.setdefault(key, []).append(triangles(m, k).apply_transform(pose))
    shapes = []
    for (body, colour, flat), solids in parts.items():
        whole: Any = trimesh.util.concatenate(solids)
        shapes.append(Shape(body, np.array(whole.vertices), np.array(whole.faces), colour, flat))
    return shapes


def triangles(m: mujoco.MjModel, geom: int) -> trimesh.Trimesh:
    """Return a shape of MuJoCo in its own frame [m]."""
    kind, (a, b, c) = m.geom_type[geom], m.geom_size[geom]
    if _is_mesh(m, geom):
        mesh = m.geom_dataid[geom]
        corners = slice(m.mesh_vertadr[mesh], m.mesh_vertadr[mesh] + m.mesh_vertnum[mesh])
        faces = slice(m.mesh_faceadr[mesh], m.mesh_faceadr[mesh] + m.mesh_facenum[mesh])
        return trimesh.Trimesh(m.mesh_vert[corners], m.mesh_face[faces], process=False)
    if kind == _KIND.mjGEOM_BOX:
        solid = trimesh.creation.box(extents=(2 * a, 2 * b, 2 * c))
    elif kind == _KIND.mjGEOM_CYLINDER:
        solid = trimesh.creation.cylinder(radius=a, height=2 * b, sections=_AROUND)
    elif kind == _KIND.mjGEOM_CAPSULE:
        solid = trimesh.creation.capsule(radius=a, height=2 * b, count=(_AROUND, _AROUND // 2))
    else:
        radii = (a, b, c) if kind == _KIND.mjGEOM_ELLIPSOID else (a, a, a)
        solid = trimesh.creation.icosphere(subdivisions=3).apply_scale(radii)
    return solid.smooth_shaded  # corners are shared, but not at sharp edges


def _is_mesh(m: mujoco.MjModel, geom: int) -> bool:
    return bool(m.geom_type[geom] == _KIND.mjGEOM_MESH)
