"""The visible shapes of the objects in a MuJoCo model."""

from collections.abc import Iterator, Mapping
from typing import Any

import mujoco
import numpy as np

from arm_dynamics.checks import ArmError, Array
from arm_dynamics.object_shapes import ObjectShape

_HIDDEN = 3  # first group of shapes that MuJoCo's viewer hides


def object_shapes(
    mj_model: mujoco.MjModel, links: Mapping[str, Array] | None = None
) -> tuple[ObjectShape, ...]:
    """Return the visible shapes of a scene, or of links.

    A shape is in the frame of its body; where the body cannot move, in the base frame. A capsule
    is a cylinder and two spheres, a mesh without a file the box around it. `links`: where the
    frame of a link is in its body (3,) [m]; None: the objects of the scene.
    """
    m, data = mj_model, mujoco.MjData(mj_model)
    mujoco.mj_kinematics(m, data)
    found = []
    for k in range(m.ngeom):
        body = m.body(m.geom_bodyid[k])
        own = m.geom_user[k].any() if links is None else body.name in links  # contact properties
        if own and m.geom_group[k] < _HIDDEN:
            place, turn, about_body = np.zeros(3), np.zeros(4), m.geom_quat[k].copy()
            fixed = m.body_weldid[body.id] == 0
            here = data.geom_xpos[k] if fixed else m.geom_pos[k] - (links or {}).get(body.name, 0)
            if fixed:
                mujoco.mju_mat2Quat(about_body, data.geom_xmat[k])
            for kind, size, file, (at, about) in _parts(m, k):
                mujoco.mju_rotVecQuat(place, at, about_body)
                mujoco.mju_mulQuat(turn, about_body, about)
                pose = (*(here + place).tolist(), *turn[[1, 2, 3, 0]].tolist())
                paint = m.geom_matid[k]
                colour = tuple((m.geom_rgba[k] if paint < 0 else m.mat_rgba[paint]).tolist())
                name = body.name if body.id else m.geom(k).name
                found.append(ObjectShape(name, kind, size, colour, file, pose))
    return tuple(found)


def _parts(m: mujoco.MjModel, k: int) -> Iterator[tuple[str, tuple[float, ...], str, Any]]:
    """Yield kind, size, file, and place and quaternion in the shape's frame of each part."""
    of, (a, b, c) = mujoco.mjtGeom, (2.0 * m.geom_size[k]).tolist()
    kind, here, as_is = of(m.geom_type[k]), np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
    if kind == of.mjGEOM_MESH:
        mesh = m.geom_dataid[k]
        if m.mesh_pathadr[mesh] >= 0:  # MuJoCo has moved and turned what the file contains
            file = m.paths[m.mesh_pathadr[mesh] :].split(b'\0')[0].decode()
            back = np.zeros(4)
            mujoco.mju_negQuat(back, m.mesh_quat[mesh])
            mujoco.mju_rotVecQuat(here, -m.mesh_pos[mesh], back)
            yield 'mesh', tuple(m.mesh_scale[mesh].tolist()), file, (here, back)
            return
        middle, half = np.split(m.geom_aabb[k], 2)
        yield 'box', tuple((2.0 * half).tolist()), '', (middle, as_is)
    elif kind == of.mjGEOM_CAPSULE:
        yield 'cylinder', (a, a, b), '', (here, as_is)
        for end in (-0.5 * b, 0.5 * b):
            yield 'sphere', (a, a, a), '', (np.array([0.0, 0.0, end]), as_is)
    elif kind == of.mjGEOM_CYLINDER:
        yield 'cylinder', (a, a, b), '', (here, as_is)
    elif kind == of.mjGEOM_SPHERE:
        yield 'sphere', (a, a, a), '', (here, as_is)
    elif kind in (of.mjGEOM_BOX, of.mjGEOM_ELLIPSOID):
        yield 'box' if kind == of.mjGEOM_BOX else 'sphere', (a, b, c), '', (here, as_is)


def object_motion(mj_model: mujoco.MjModel, data: mujoco.MjData, name: str) -> tuple[Array, Array]:
    """Return pose (7,) and velocity (6,) of a body, or of a shape that is fixed to the world."""
    mujoco.mj_kinematics(mj_model, data)
    mujoco.mj_comPos(mj_model, data)
    mujoco.mj_comVel(mj_model, data)
    found = np.zeros(6)
    body = mujoco.mj_name2id(mj_model, mujoco.mjtObj.mjOBJ_BODY, name)
    if body < 0:
        here, turn = data.geom(name).xpos, np.zeros(4)
        mujoco.mju_mat2Quat(turn, data.geom(name).xmat)
    else:
        here, turn = data.xpos[body], data.xquat[body]
        mujoco.mj_objectVelocity(mj_model, data, mujoco.mjtObj.mjOBJ_XBODY, body, found, 0)
    return np.array([*here, *turn[[1, 2, 3, 0]]]), found[[3, 4, 5, 0, 1, 2]]


def object_bounds(mj_model: mujoco.MjModel, name: str) -> Array:
    """Return lower and upper corner (2, 3) [m] of a body, or of a fixed shape, in its frame."""
    m = mj_model
    body = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_BODY, name)
    geoms = [m.geom(name).id] if body < 0 else np.flatnonzero(m.geom_bodyid == body)
    signs = np.array(np.meshgrid(*[(-1.0, 1.0)] * 3)).reshape(3, -1).T
    corners, turned = [], np.zeros(3)
    for geom in geoms:
        middle, half = np.split(m.geom_aabb[geom], 2)
        for corner in middle + signs * half:
            if body >= 0:
                mujoco.mju_rotVecQuat(turned, corner, m.geom_quat[geom])
                corner = turned + m.geom_pos[geom]
            corners.append(corner)
    if not corners:
        raise ArmError(f'the object {name!r} has no shape')
    return np.array([np.min(corners, axis=0), np.max(corners, axis=0)])
