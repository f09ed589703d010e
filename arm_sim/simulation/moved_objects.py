"""Objects in MuJoCo that get another pose and velocity: free ones, and those with one joint."""

import mujoco
import numpy as np

from arm_dynamics.checks import ArmError, Array, in_range
from arm_sim.simulation.mujoco_model import state_places
from arm_sim.simulation.mujoco_shapes import object_motion

_NEAR = 1e-3  # what a pose or a velocity may be off what the joint allows [m, rad, m/s, rad/s]
_KINDS = {mujoco.mjtJoint.mjJNT_HINGE: 'hinge', mujoco.mjtJoint.mjJNT_SLIDE: 'slide'}


def move_object(
    mj_model: mujoco.MjModel, data: mujoco.MjData, name: str, pose: Array, velocity: Array
) -> None:
    """Give an object a pose (7,) and a velocity (6,), as `object_motion` has them.

    The joint of an object gets the position and the velocity at which the object is there.

    Raises:
        ArmError: the object is fixed or carried, or its joint does not allow pose or velocity;
            nothing has moved then.
    """
    number = mujoco.mj_name2id(mj_model, mujoco.mjtObj.mjOBJ_BODY, name)
    body = mj_model.body(number) if number > 0 else None
    if body is None or body.jntnum[0] != 1:
        why = 'is fixed'
        if body is not None and body.weldid[0]:
            carrier = mj_model.body(body.weldid[0]).name
            why = (
                f'has {body.jntnum[0]} joints' if body.jntnum[0] else f'is carried by {carrier!r}'
            )
        raise ArmError(f'the object {name!r} {why}; free objects and those with one joint move')
    joint, (q, v) = int(body.jntadr[0]), state_places(mj_model)[name]
    kind = mujoco.mjtJoint(mj_model.jnt_type[joint])
    if kind == mujoco.mjtJoint.mjJNT_FREE:
        x, y, z, w = pose[3:]
        turned = np.zeros(3)
        mujoco.mju_rotVecQuat(turned, velocity[3:], np.array([w, -x, -y, -z]))
        data.qpos[q] = (*pose[:3], w, x, y, z)
        data.qvel[v] = (*velocity[:3], *turned)
        return
    if kind not in _KINDS:
        raise ArmError(f'the object {name!r} has a ball joint; a pose does not set that')
    before = data.qpos[q].copy(), data.qvel[v].copy()
    try:
        _move_joint(mj_model, data, joint, name, pose, velocity)
    except ArmError:
        data.qpos[q], data.qvel[v] = before
        raise


def _move_joint(
    m: mujoco.MjModel, data: mujoco.MjData, joint: int, name: str, pose: Array, velocity: Array
) -> None:
    q, v, kind = m.jnt_qposadr[joint], m.jnt_dofadr[joint], mujoco.mjtJoint(m.jnt_type[joint])
    now, _ = object_motion(m, data, name)
    axis, hinge = data.xaxis[joint].copy(), kind == mujoco.mjtJoint.mjJNT_HINGE
    position = data.qpos[q] + axis @ (_turn(now, pose) if hinge else pose[:3] - now[:3])
    limited, (lower, upper) = bool(m.jnt_limited[joint]), m.jnt_range[joint].tolist()
    if hinge and limited:  # of the turns that look the same, the one nearest to the range
        position += 2.0 * np.pi * round(((lower + upper) / 2.0 - position) / (2.0 * np.pi))
    if limited:
        what = f'joint position of the object {name!r}'
        in_range(what, float(position), lower - _NEAR, upper + _NEAR)
        position = np.clip(position, lower, upper)
    data.qpos[q], data.qvel[v] = position, axis @ (velocity[3:] if hinge else velocity[:3])
    there, moves = object_motion(m, data, name)
    words = f'the object {name!r} has a {_KINDS[kind]}, which does not allow this'
    off = [np.linalg.norm(there[:3] - pose[:3]), np.linalg.norm(_turn(there, pose))]
    if max(off) > _NEAR:
        raise ArmError(
            f'{words} pose: it is {1e3 * off[0]:.3g} mm and {off[1]:.3g} rad off the nearest one'
        )
    off = [np.linalg.norm(each) for each in np.split(moves - velocity, 2)]
    if max(off) > _NEAR:
        raise ArmError(
            f'{words} twist: it is {off[0]:.3g} m/s and {off[1]:.3g} rad/s off the nearest one'
        )


def _turn(start: Array, end: Array) -> Array:
    """Return the rotation vector (3,) [rad] from one pose to another, in the base frame."""
    one, other = (each[[6, 3, 4, 5]] for each in (start, end))
    back, between, found = np.zeros(4), np.zeros(4), np.zeros(3)
    mujoco.mju_negQuat(back, one)
    mujoco.mju_mulQuat(between, other, back)
    mujoco.mju_quat2Vel(found, between, 1.0)
    return found
