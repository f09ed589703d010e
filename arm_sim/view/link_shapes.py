"""The shapes of an arm's links, and of what stands around it, as triangles."""

from collections.abc import Iterator
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import Array
from arm_dynamics.clearance import Surroundings
from arm_dynamics.model import RobotModel
from arm_sim.view.solids import Triangles, box, cylinder, rounded
from arm_sim.viewer.scene import Scene

_HIDDEN = 3  # groups of geoms from here on are not for the eye
_KIND = mujoco.mjtGeom


class Shape(NamedTuple):
    """Triangles of one colour that move with a link.

    Attributes:
        link: its name.
        points: (m, 3) corners in the link's frame [m].
        faces: (k, 3) triangles as indices of these, counterclockwise as seen from outside.
        colour: (4,) red, green, blue and opacity, 0 to 1.
        flat: whether each triangle is to look flat; else its neighbours blend.
    """

    link: str
    points: Array
    faces: NDArray[np.int64]
    colour: tuple[float, ...]
    flat: bool


def link_shapes(model: RobotModel, surroundings: Surroundings) -> list[Shape]:
    """Return what is seen of an arm: its meshes where they are there, its other shapes, else rods.

    As few as there are colours on links; the floor is not among them.
    """
    m = Scene(model, surroundings).mj_model
    found: dict[tuple[str, tuple[float, ...], bool], list[Triangles]] = {}
    for k, solid in _solids(m):
        turn = np.empty(9)
        mujoco.mju_quat2Mat(turn, m.geom_quat[k])
        placed = Triangles(solid.points @ turn.reshape(3, 3).T + m.geom_pos[k], solid.faces)
        link = m.body(m.geom_bodyid[k]).name if m.geom_bodyid[k] else model.base_frame
        flat = bool(m.geom_type[k] == _KIND.mjGEOM_MESH)
        found.setdefault((link, tuple(m.geom_rgba[k].tolist()), flat), []).append(placed)
    return [
        Shape(link, *Triangles.together(parts), colour, flat)
        for (link, colour, flat), parts in found.items()
    ]


def _solids(m: mujoco.MjModel) -> Iterator[tuple[int, Triangles]]:
    """Yield the number of each geom that is for the eye, and its triangles in its own frame."""
    for k in range(m.ngeom):
        if m.geom_group[k] >= _HIDDEN:
            continue
        kind, (a, b, c) = m.geom_type[k], m.geom_size[k]
        if kind == _KIND.mjGEOM_MESH:
            yield k, _mesh(m, m.geom_dataid[k])
        elif kind == _KIND.mjGEOM_BOX:
            yield k, box(a, b, c)
        elif kind == _KIND.mjGEOM_CYLINDER:
            yield k, cylinder(a, b)
        elif kind == _KIND.mjGEOM_CAPSULE:
            yield k, rounded((a, a, a), b)
        elif kind == _KIND.mjGEOM_SPHERE:
            yield k, rounded((a, a, a))
        elif kind == _KIND.mjGEOM_ELLIPSOID:
            yield k, rounded((a, b, c))


def _mesh(m: mujoco.MjModel, mesh: int) -> Triangles:
    points, faces = m.mesh_vertadr[mesh], m.mesh_faceadr[mesh]
    return Triangles(
        m.mesh_vert[points : points + m.mesh_vertnum[mesh]].astype(float),
        m.mesh_face[faces : faces + m.mesh_facenum[mesh]].astype(np.int64),
    )
