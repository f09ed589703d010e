"""Names what the objects of a scene hardly are or do: one line each, with the probable slip."""

from collections.abc import Iterable, Iterator

import mujoco
import numpy as np

from arm_dynamics.checks import Array, line_on
from arm_dynamics.model import RobotModel
from arm_sim.simulation.contact import material_of
from arm_sim.simulation.mujoco_objects import moving_bodies
from arm_sim.simulation.scene import SceneObject

_INSIDE = 3e-3  # of another shape at the start [m]; 30 N at the usual 10 000 N/m
_LONGEST, _WALL, _FAR = 5.0, 50.0, 20.0  # of what moves, of what is fixed, from the base [m]
_DENSEST, _LIGHTEST = 25_000.0, 0.5  # beyond every metal, and below air [kg/m^3]
_TURNS, _ONE_TURN = 20.0, 6.35  # of a hinge, of a rotation [rad]; beyond, degrees may be meant
_SLIDE = 20.0  # range of a slide [m]
_SINKS, _POINTS, _EARTH = 0.01, 4.0, 9.81  # [m], points of a flat face, [m/s^2]


def scene_slips(
    mj_model: mujoco.MjModel, model: RobotModel, start: Array, written: Iterable[SceneObject]
) -> Iterator[str]:
    """Yield a line on each kind of object that is far from what the arm can handle.

    Args:
        mj_model: arm and scene.
        model, start: the arm, and its positions (n,) [rad | m].
        written: the objects of a YAML scene.
    """
    if not mj_model.geom_user.any():
        yield 'scene: it has no object with a shape'
    turned = [x.name for x in written if max(map(abs, x.rotation)) > _ONE_TURN]
    yield from line_on(turned, 'scene: {}: rotation of more than a turn; is it in degrees?')
    far = [x.name for x in written if x.joint and np.linalg.norm(x.axis_position) > _LONGEST]
    text = 'scene: {}: axis more than {:g} m away; is it in millimetres?'
    yield from line_on(far, text, _LONGEST)
    bodies = moving_bodies(mj_model)
    data = mujoco.MjData(mj_model)
    for name, position in zip(model.moving_joints, model.all_positions(start), strict=True):
        joint = mujoco.mj_name2id(mj_model, mujoco.mjtObj.mjOBJ_JOINT, name)
        if joint >= 0:
            data.qpos[mj_model.jnt_qposadr[joint]] = position
    mujoco.mj_forward(mj_model, data)
    yield from _of_size(mj_model, data)
    yield from _of_mass(mj_model, bodies)
    yield from _of_range(mj_model, bodies)
    yield from _inside(mj_model, data)


def _of_size(m: mujoco.MjModel, data: mujoco.MjData) -> Iterator[str]:
    long, far = [], []
    for geom in np.flatnonzero(m.geom_user.any(axis=1)).tolist():
        size = 2.0 * m.geom_aabb[geom, 3:]
        fixed, plane = m.body_weldid[m.geom_bodyid[geom]] == 0, m.geom_rbound[geom] == 0.0
        if not plane and size.max() > (_WALL if fixed else _LONGEST):
            long.append(_name(m, geom))
        if not fixed and np.linalg.norm(data.geom_xpos[geom]) > _FAR:
            far.append(_name(m, geom))
    text = 'scene: {}: longer than {:g} m, or fixed and longer than {:g} m; is its size in '
    yield from line_on(long, f'{text}millimetres?', _LONGEST, _WALL)
    text = 'scene: {}: more than {:g} m from the base; is its position in millimetres?'
    yield from line_on(far, text, _FAR)


def _of_mass(m: mujoco.MjModel, bodies: list[int]) -> Iterator[str]:
    dense, light, sinking = [], [], []
    for body in bodies:
        geoms = np.flatnonzero(m.geom_bodyid == body).tolist()
        volume = float(np.prod(2.0 * m.geom_aabb[geoms, 3:], axis=1).sum())  # at least its own
        mass, name = float(m.body_mass[body]), m.body(body).name
        solid = len(geoms) == 1 and m.geom_type[geoms[0]] != mujoco.mjtGeom.mjGEOM_MESH
        if mass > _DENSEST * volume > 0.0:
            dense.append(name)
        elif solid and 0.0 < mass < _LIGHTEST * volume:
            light.append(name)
        soft = [x.stiffness for k in geoms if (x := material_of(m, k))]
        if soft and m.body_dofnum[body] == 6 and mass * _EARTH > _POINTS * _SINKS * max(soft):
            sinking.append(name)
    for names, what in (
        (sinking, 'sinks in by more than 10 mm under its weight; is its stiffness in N/mm?'),
        (dense, 'denser than any metal; is the mass in grams, or the size in another unit?'),
        (light, 'lighter than air; is the mass in tonnes, or the size in another unit?'),
    ):
        yield from line_on(names, f'scene: {{}}: {what}')


def _of_range(m: mujoco.MjModel, bodies: list[int]) -> Iterator[str]:
    joints = [k for k in range(m.njnt) if m.jnt_bodyid[k] in bodies and m.jnt_limited[k]]
    for kind, most, unit in (
        (mujoco.mjtJoint.mjJNT_HINGE, _TURNS, 'rad; is its range in degrees?'),
        (mujoco.mjtJoint.mjJNT_SLIDE, _SLIDE, 'm; is its range in millimetres?'),
    ):
        wide = [
            m.joint(k).name or m.body(m.jnt_bodyid[k]).name
            for k in joints
            if m.jnt_type[k] == kind and abs(m.jnt_range[k]).max() > most
        ]
        yield from line_on(wide, f'scene: {{}}: moves by more than {most:g} {unit}')


def _inside(m: mujoco.MjModel, data: mujoco.MjData) -> Iterator[str]:
    """Yield a line on the pairs that begin far inside each other, the deepest first."""
    depths: dict[tuple[str, str], float] = {}
    for contact in data.contact:
        geoms = contact.geom1, contact.geom2
        if m.geom_user[list(geoms)].any() and contact.dist < -_INSIDE:
            # The object first: floor, table and links are what it is in.
            one, other = sorted(geoms, key=lambda geom: not m.geom_user[geom].any())
            pair = _name(m, one), _name(m, other)
            depths[pair] = max(depths.get(pair, 0.0), -contact.dist)
    pairs = sorted(depths, key=depths.__getitem__, reverse=True)
    yield from line_on(
        (f'{one} {1e3 * depths[one, other]:.3g} mm in {other}' for one, other in pairs),
        'scene: at the start {}, so that contacts push them apart: correct position or size, or '
        'initial_positions',
    )


def _name(m: mujoco.MjModel, geom: int) -> str:
    """Return the name of a shape's body, or that of a shape of the world."""
    body = m.geom_bodyid[geom]
    return str(m.body(body).name if body else m.geom(geom).name)
