"""The visible meshes of a URDF in MuJoCo's scene: STL, OBJ, DAE, as coal's Assimp reads them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import coal
import mujoco
import numpy as np

from arm_dynamics.checks import Array
from arm_dynamics.shapes import unit_of
from arm_dynamics.urdf_elements import origin_of

_GREY: tuple[float, ...] = (0.72, 0.74, 0.76, 1.0)
_LARGEST = 1_000_000  # triangles of a mesh that is shown


def add_meshes(spec: mujoco.MjSpec, urdf: str, find: Callable[[str], Path | str]) -> None:
    """Add the visible meshes of a URDF to its bodies.

    Args:
        spec: has a body for each link.
        urdf: the text.
        find: returns the file of a mesh; a text, why there is none: the mesh is left out.
    """
    tree = ElementTree.fromstring(urdf)
    colours = {each.get('name'): _colour(each) for each in tree.iterfind('material')}
    known: dict[tuple[str, str], str] = {}
    for link, visual, mesh in _visible(tree):
        filename, scale = mesh.get('filename', ''), mesh.get('scale', '1 1 1')
        file = find(filename)
        body = spec.body(link) or spec.worldbody
        if isinstance(file, str):
            continue
        name = known.setdefault((str(file), scale), f'mesh {len(known)}')
        added = name in [each.name for each in spec.meshes]
        if not added and not add_mesh(spec, name, file, np.array(scale.split(), dtype=float)):
            continue
        pose, quaternion = origin_of(visual), np.empty(4)
        mujoco.mju_mat2Quat(quaternion, pose.rotation.ravel())
        material = visual.find('material')
        colour = _GREY
        if material is not None:
            colour = _colour(material) or colours.get(material.get('name')) or _GREY
        body.add_geom(
            type=mujoco.mjtGeom.mjGEOM_MESH, meshname=name, pos=pose.translation, quat=quaternion,
            rgba=colour, contype=0, conaffinity=0, group=2, mass=0.0,
        )  # fmt: skip


def add_mesh(spec: mujoco.MjSpec, name: str, file: Path, scale: Array) -> bool:
    """Add the mesh of a file, scaled (3,); return whether it can be shown."""
    points, faces = _triangles(file)
    if not 0 < len(faces) < _LARGEST:
        return False
    added = spec.add_mesh(name=name)
    added.uservert = (points * scale).ravel().tolist()
    added.userface = faces.ravel().tolist()
    added.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL  # for open surfaces
    return True


def _visible(tree: Element) -> Iterator[tuple[str, Element, Element]]:
    for link in tree.iterfind('link'):
        for visual in link.iterfind('visual'):
            mesh = visual.find('geometry/mesh')
            if mesh is not None:
                yield link.get('name', ''), visual, mesh


def _triangles(file: Path) -> tuple[Array, Array]:
    """Return corners (m, 3) and triangles (k, 3) as indices of these."""
    loaded = coal.MeshLoader().load(str(file))
    faces = [loaded.tri_indices(k) for k in range(loaded.num_tris)]
    points = np.array(loaded.vertices(), dtype=float) * unit_of(file)
    return points, np.array([[face[0], face[1], face[2]] for face in faces])


def _colour(material: Element) -> tuple[float, ...] | None:
    colour = material.find('color')
    if colour is None:
        return None
    values = tuple(map(float, colour.get('rgba', '').split()))
    return values if len(values) == 4 else None
