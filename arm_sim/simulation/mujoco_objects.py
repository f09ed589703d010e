"""The objects of a scene in MuJoCo: bodies, shapes and the pairs that touch."""

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import mujoco
import numpy as np

from arm_dynamics.checks import ArmError
from arm_sim.simulation.material import numbers_of
from arm_sim.simulation.mujoco_file import MOST, read_mjcf
from arm_sim.simulation.scene import SceneObject, read_scene, scene_file

_KINDS = {
    'box': mujoco.mjtGeom.mjGEOM_BOX,
    'sphere': mujoco.mjtGeom.mjGEOM_SPHERE,
    'cylinder': mujoco.mjtGeom.mjGEOM_CYLINDER,
    'capsule': mujoco.mjtGeom.mjGEOM_CAPSULE,
    'mesh': mujoco.mjtGeom.mjGEOM_MESH,
}
# That options of a scene's file do not count, as documented; MuJoCo warns as it compiles.
warnings.filterwarnings('ignore', 'Attach', UserWarning)
_JOINTS = {'hinge': mujoco.mjtJoint.mjJNT_HINGE, 'slide': mujoco.mjtJoint.mjJNT_SLIDE}


def add_scene(
    spec: mujoco.MjSpec,
    name: str,
    further: Sequence[SceneObject],
    links: Sequence[str],
    surroundings: Sequence[str],
) -> None:
    """Add objects behind the arm, so that the arm keeps the first places of a state.

    Args:
        spec: the arm; changed.
        name: of the scene, or its file; '': none.
        further: objects in addition to those of the scene; a parent before its children.
        links: names of the shapes of the arm's links, which touch every object.
        surroundings: names of the shapes that moving objects touch.

    Raises:
        ArmError: an object has the name of something else.
    """
    made: list[mujoco.MjsGeom] = []
    apart: set[frozenset[str]] = set()
    of_scene: Sequence[SceneObject] = ()
    if name and scene_file(name).suffix == '.xml':
        made, apart = _attach(spec, scene_file(name), surroundings)
    else:
        of_scene = read_scene(name)
    free = sum(each.is_free for each in (*of_scene, *further))
    _check_pairs(free * (free - 1) // 2)
    for objects in (of_scene, further):
        _check_names('scene', (each.name for each in objects), spec, surroundings)
        made += [_add(spec, each) for each in objects]
    _add_pairs(spec, made, links, surroundings, apart)


def moving_bodies(mj_model: mujoco.MjModel) -> list[int]:
    """Return the numbers of the bodies of a scene that move."""
    return np.flatnonzero(mj_model.body_user.any(axis=1)).tolist()


def _add(spec: mujoco.MjSpec, each: SceneObject) -> mujoco.MjsGeom:
    from scipy.spatial.transform import Rotation  # takes 0.3 s, and only a scene needs it

    x, y, z, w = Rotation.from_euler('xyz', each.rotation).as_quat()
    parent = spec.body(each.parent) if each.parent else spec.worldbody
    body = parent.add_body(name=each.name, pos=each.position, quat=(w, x, y, z))
    geom = body.add_geom(
        name=each.name, type=_KINDS[each.shape], rgba=(*each.colour, 1.0), contype=1, conaffinity=1
    )
    geom.userdata = numbers_of(each)
    geom.mass = each.mass
    if each.is_free:
        body.add_freejoint()
    elif each.joint:
        joint = body.add_joint(
            name=each.name, type=_JOINTS[each.joint], axis=each.axis, pos=each.axis_position,
            frictionloss=each.joint_friction, limited=bool(each.range),
        )  # fmt: skip
        joint.damping[0] = each.joint_damping
        joint.range = each.range or (0.0, 0.0)
    if each.shape == 'mesh':
        _check_mesh(each)
        spec.add_mesh(name=each.name, file=str(Path(each.file)))
        geom.meshname = each.name
    else:
        geom.size[: len(each.size)] = np.array(each.size) / 2.0
    return geom


def _check_mesh(each: SceneObject) -> None:
    """Raise ArmError, with object and cause, for a file that is missing or no solid."""
    from arm_dynamics.mesh_files import near_file, no_mesh
    from arm_dynamics.shapes import read_mesh

    file, where = Path(each.file), f'scene: mesh of {each.name!r}'
    if not file.is_file():
        near = f'; there is {found}' if (found := near_file(file)) else ''
        raise ArmError(f'{where}: {each.file!r} does not exist{near}')
    try:
        read_mesh(file)
    except ArmError as error:
        raise ArmError(f'{where}: {no_mesh(file) or error}') from None


def _attach(
    spec: mujoco.MjSpec, file: Path, surroundings: Sequence[str]
) -> tuple[list[mujoco.MjsGeom], set[frozenset[str]]]:
    """Attach the bodies, joints, shapes, equalities and tendons of a file behind the arm.

    Returns:
        The shapes, and the pairs of bodies that do not touch.
    """
    child, materials = read_mjcf(file)
    where = f'scene {file}'
    _check_names(where, (body.name for body in child.bodies[1:]), spec, surroundings)
    for kind in ('geoms', 'joints', 'sites', 'materials', 'textures', 'meshes', 'tendons'):
        taken = {each.name for each in getattr(spec, kind)}
        _refuse_names(where, (each.name for each in getattr(child, kind)), taken)
    apart = {frozenset((each.bodyname1, each.bodyname2)) for each in child.excludes}
    spec.attach(child, frame=spec.worldbody.add_frame(), prefix='')
    made = [geom for geom in spec.geoms if geom.name in materials]
    for geom in made:
        geom.userdata = numbers_of(materials[geom.name])
    return made, apart


def _check_names(
    where: str, names: Iterable[str], spec: mujoco.MjSpec, surroundings: Sequence[str]
) -> None:
    _refuse_names(where, names, {*surroundings, *(body.name for body in spec.bodies)})


def _refuse_names(where: str, names: Iterable[str], taken: set[str]) -> None:
    for name in names:
        if name and name in taken:
            raise ArmError(f'{where}: the name {name!r} is taken by another body')


def _check_pairs(count: int) -> None:
    if count > MOST:
        raise ArmError(f'scene: more than {MOST} pairs of shapes can touch')


def _add_pairs(
    spec: mujoco.MjSpec,
    made: Sequence[mujoco.MjsGeom],
    links: Sequence[str],
    surroundings: Sequence[str],
    apart: set[frozenset[str]],
) -> None:
    """Say what touches the shapes of a scene, by MuJoCo's rules for shapes of one file.

    Bodies on one rigid body, a moving body and its moving parent, and bodies that are `apart`
    do not touch, nor shapes whose contype and conaffinity do not match.
    """
    moving = [name for name in links if _root(spec, spec.geom(name).parent)[0]]
    known = {frozenset((pair.geomname1, pair.geomname2)) for pair in spec.pairs}
    earlier: list[tuple[mujoco.MjsGeom, str, str]] = []
    count = len(spec.pairs)
    for geom in made:
        root, above = _root(spec, geom.parent)
        if root:
            geom.parent.userdata = [1.0]
        partners = []
        if geom.contype or geom.conaffinity:
            partners += [*links, *surroundings] if root else moving
        for other, its_root, its_above in earlier if root else [x for x in earlier if x[1]]:
            rigid = root == its_root
            family = root and its_root and (root == its_above or above == its_root)
            match = geom.contype & other.conaffinity or other.contype & geom.conaffinity
            excluded = frozenset((geom.parent.name, other.parent.name)) in apart
            if match and not (rigid or family or excluded):
                partners.append(other.name)
        partners = [name for name in partners if frozenset((name, geom.name)) not in known]
        for name in partners:
            spec.add_pair(geomname1=name, geomname2=geom.name, condim=3)
        count += len(partners)
        _check_pairs(count)
        earlier.append((geom, root, above))
    for geom in made:
        geom.contype = geom.conaffinity = 0


def _root(spec: mujoco.MjSpec, body: mujoco.MjsBody) -> tuple[str, str]:
    """Return the body with joints that a body is rigid with, and the one that carries that."""
    while body.name != 'world' and not body.joints:
        body = body.parent
    if body.name == 'world':
        return '', ''
    return body.name, _root(spec, body.parent)[0]
