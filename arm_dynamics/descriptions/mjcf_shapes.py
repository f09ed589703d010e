"""The shapes of a body of an MJCF, as those of a link of a URDF."""

from pathlib import Path
from xml.etree.ElementTree import Element, SubElement

import mujoco
import numpy as np
import pinocchio as pin

from arm_dynamics.checks import Array
from arm_dynamics.urdf_elements import number_text, set_origin

_SPHERE, _CAPSULE = int(mujoco.mjtGeom.mjGEOM_SPHERE), int(mujoco.mjtGeom.mjGEOM_CAPSULE)
_CYLINDER, _BOX = int(mujoco.mjtGeom.mjGEOM_CYLINDER), int(mujoco.mjtGeom.mjGEOM_BOX)
_MESH = int(mujoco.mjtGeom.mjGEOM_MESH)
SOLIDS = (_SPHERE, _CAPSULE, _CYLINDER, _BOX, _MESH)  # which a URDF has
_SEEN = 3  # groups below this one are drawn by MuJoCo's viewer as it opens


def rotation_of(quaternion: Array) -> Array:
    """Return the rotation matrix (3, 3) of MuJoCo's quaternion w, x, y, z."""
    matrix = np.empty(9)
    mujoco.mju_quat2Mat(matrix, quaternion)
    return matrix.reshape(3, 3)


def add_shapes(link: Element, m: mujoco.MjModel, body: int, origin: Array, folder: Path) -> None:
    """Add the visible and the collision shapes of a body to its link.

    Planes, height fields and ellipsoids are left out; a capsule is a cylinder and two spheres.

    Args:
        link: of the URDF.
        m: MuJoCo's model.
        body: its number there.
        origin: (3,) of the link's frame in the body's [m].
        folder: for the files of meshes.
    """
    first = m.body_geomadr[body]
    for geom in range(first, first + m.body_geomnum[body]):
        pose = pin.SE3(rotation_of(m.geom_quat[geom]), m.geom_pos[geom] - origin)
        kinds = ['visual'] * bool(m.geom_group[geom] < _SEEN)
        kinds += ['collision'] * bool(m.geom_contype[geom] or m.geom_conaffinity[geom])
        for at, tag, size in _solids(m, geom, folder):
            for kind in kinds:
                _add(link, kind, pose * at, tag, size, _colour(m, geom))


def _add(
    link: Element, kind: str, pose: pin.SE3, tag: str, size: dict[str, str], colour: Array
) -> None:
    shape = SubElement(link, kind)
    set_origin(shape, pose)
    SubElement(SubElement(shape, 'geometry'), tag, size)
    if kind == 'visual':
        name = '_'.join(f'{round(255 * float(part)):02x}' for part in colour)
        SubElement(SubElement(shape, 'material', name=name), 'color', rgba=number_text(colour))


def _colour(m: mujoco.MjModel, geom: int) -> Array:
    material = m.geom_matid[geom]
    return m.geom_rgba[geom] if material < 0 else m.mat_rgba[material]


def _solids(
    m: mujoco.MjModel, geom: int, folder: Path
) -> list[tuple[pin.SE3, str, dict[str, str]]]:
    """Return the solids of a geom: where in its frame, the URDF's element, and its sizes."""
    kind, size = int(m.geom_type[geom]), m.geom_size[geom]
    here, radius = pin.SE3.Identity(), repr(float(size[0]))
    if kind == _SPHERE:
        return [(here, 'sphere', {'radius': radius})]
    if kind == _BOX:
        return [(here, 'box', {'size': number_text(2.0 * size)})]
    if kind in (_CYLINDER, _CAPSULE):
        tube = {'radius': radius, 'length': repr(float(2.0 * size[1]))}
        up = np.array([0.0, 0.0, size[1]])
        ends = [(pin.SE3(np.eye(3), side * up), 'sphere', {'radius': radius}) for side in (1, -1)]
        return [(here, 'cylinder', tube), *(ends if kind == _CAPSULE else ())]
    if kind == _MESH:
        return [(here, 'mesh', {'filename': str(_written(m, int(m.geom_dataid[geom]), folder))})]
    return []


def _written(m: mujoco.MjModel, mesh: int, folder: Path) -> Path:
    """Return the file of a mesh of MuJoCo's model, a binary STL."""
    file = folder / f'mesh_{mesh}.stl'
    if not file.exists():
        import trimesh  # slow to load

        points = m.mesh_vert[m.mesh_vertadr[mesh] :][: m.mesh_vertnum[mesh]]
        faces = m.mesh_face[m.mesh_faceadr[mesh] :][: m.mesh_facenum[mesh]]
        trimesh.Trimesh(points, faces, process=False).export(file)
    return file
