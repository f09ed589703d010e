"""An MJCF as MuJoCo steps it: the file itself, except for the joints that controllers command.

Tendons, equalities, springs, sensors, contacts and the other joints with their actuators are the
file's. An actuator that acts on a commanded joint is replaced by a drive of the simulator.
"""

from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pinocchio as pin

from arm_dynamics.checks import Array, text_of
from arm_dynamics.descriptions.mjcf import moved_by_actuators
from arm_dynamics.descriptions.mjcf_files import FROM_GEOMS, read_mjcf
from arm_dynamics.descriptions.mjcf_model import home_state
from arm_dynamics.descriptions.mjcf_shapes import rotation_of
from arm_dynamics.model import RobotModel
from arm_dynamics.urdf_elements import link_of, origin_of

# Attributes of an element that <default> does not have.
_NO_DEFAULTS = (
    'id', 'info', 'name', 'signature', 'classname', 'parent', 'plugin', 'frame', 'compiler',
    'target', 'alt',
)  # fmt: skip
# Relative difference of an inertia from the MJCF's that is a model error and no rounding.
_ROUNDING = 1e-12


@cache
def _read(file: str, mtime_ns: int) -> tuple[mujoco.MjSpec, mujoco.MjModel]:
    return read_mjcf(Path(file))[:2]


def _of(model: RobotModel) -> tuple[mujoco.MjSpec, mujoco.MjModel]:
    whose = f'MJCF {model.mjcf!r} of {model.name!r}'
    remedy = 'mjcf:=converted needs it at the start only'
    text_of(Path(model.mjcf), f'{whose} cannot be read ({remedy})')  # no pipe or device
    return _read(model.mjcf, Path(model.mjcf).stat().st_mtime_ns)


def mjcf_spec(model: RobotModel) -> mujoco.MjSpec:
    """Return the MJCF of a model without key frames, gravcomp and the drives of its joints.

    Sites and a payload are bodies of their own, as in the model's URDF. Links whose inertia in
    the URDF differs from the file's, by a model error, have that of the URDF.
    """
    spec, m = _of(model)
    spec = spec.copy()
    for body in spec.bodies:
        body.gravcomp = 0.0  # as the actuators, part of the drives, which are the simulator's
        body.name, body.userdata = body.name or f'body_{body.id}', []
    for geom in spec.geoms:
        geom.userdata = []
    for actuator in spec.actuators:
        actuator.name = actuator.name or f'actuator_{actuator.id}'
    for number, pair in enumerate(spec.pairs):
        pair.name = pair.name or f'pair_{number}'  # those of the simulator have no name
    for key in list(spec.keys):
        spec.delete(key)
    _forget_defaults(spec)
    kind = mujoco.mjtObj.mjOBJ_ACTUATOR
    for actuator, joint in [(spec.actuators[k], name) for k, name in _replaced(model, m).items()]:
        for sensor in spec.sensors:
            if sensor.objtype == kind and sensor.objname == actuator.name:
                sensor.objname = joint  # of the drive
        spec.delete(actuator)
    for name in set(model.moving_joints).difference(model.joint_names):
        follower = spec.joint(name)  # its leader has what it has, see `RobotModel`
        follower.armature = follower.frictionloss = follower.damping[0] = 0.0
    tree = ElementTree.fromstring(model.urdf)
    _take_inertias(spec, m, tree)
    _add_frames(spec, m, tree)
    return spec


def _forget_defaults(spec: mujoco.MjSpec) -> None:
    """Give MuJoCo's own default values to what is added to a file from now on."""
    fresh = mujoco.MjSpec()
    for kind in ('geom', 'joint', 'actuator', 'pair', 'equality'):
        own, default = getattr(spec.default, kind), getattr(fresh.default, kind)
        for name in dir(type(default)):
            if not name.startswith('_') and name not in _NO_DEFAULTS:
                value = getattr(default, name)
                if not callable(value):
                    setattr(own, name, value)


def _replaced(model: RobotModel, m: mujoco.MjModel) -> dict[int, str]:
    """Return the actuators that act on commanded joints: their numbers, and the first joint."""
    commanded = {m.joint(name).id: name for name in model.joint_names}
    found = {}
    for k, joints in enumerate(moved_by_actuators(m)):
        own = [commanded[joint] for joint in joints if joint in commanded]
        if own:
            found[k] = own[0]
    return found


def own_actuators(model: RobotModel) -> tuple[str, ...]:
    """Return the names of the actuators that stay, which come before the drives."""
    m = _of(model)[1]
    replaced = _replaced(model, m)
    return tuple(m.actuator(k).name or f'actuator_{k}' for k in range(m.nu) if k not in replaced)


def sensor_names(model: RobotModel) -> tuple[str, ...]:
    """Return a name for each value of the file's sensors: of a vector `force_x`, `force_y`..."""
    m, names = _of(model)[1], []
    for k in range(m.nsensor):
        name, size = m.sensor(k).name or f'sensor_{k}', int(m.sensor_dim[k])
        axes = {1: [''], 3: ['_x', '_y', '_z'], 4: ['_w', '_x', '_y', '_z']}
        names += [name + end for end in axes.get(size, [f'_{i}' for i in range(size)])]
    return tuple(names)


def loose_links(model: RobotModel) -> dict[str, Array]:
    """Return the links that joints without a controller move, and their origin in the body [m]."""
    m, loose, found = _of(model)[1], {0: False}, {}
    for body in range(1, m.nbody):
        first = m.body_jntadr[body]
        joints = [m.joint(k).name for k in range(first, first + m.body_jntnum[body])]
        others = set(joints).difference(model.moving_joints)
        loose[body] = loose[int(m.body_parentid[body])] or bool(others)
        if loose[body]:
            found[m.body(body).name or f'body_{body}'] = _origin(m, body)
    return found


def home_of(model: RobotModel, mj_model: mujoco.MjModel) -> mujoco.MjData:
    """Return the state of the file's key frame `home` for a model built from `mjcf_spec`."""
    m = _of(model)[1]
    of_file, data = home_state(m), mujoco.MjData(mj_model)
    replaced = _replaced(model, m)
    kept = [k for k in range(m.nu) if k not in replaced]
    data.qpos[: m.nq], data.ctrl[: len(kept)] = of_file.qpos, of_file.ctrl[kept]
    for own, k in enumerate(kept):
        to, at, count = mj_model.actuator_actadr[own], m.actuator_actadr[k], m.actuator_actnum[k]
        data.act[to : to + count] = of_file.act[at : at + count]
    return data


def _origin(m: mujoco.MjModel, body: int) -> Array:
    """Return where a link's frame of the URDF is in its body (3,) [m]."""
    count = m.body_jntnum[body]
    return m.jnt_pos[m.body_jntadr[body] + count - 1] if count else np.zeros(3)


def _take_inertias(spec: mujoco.MjSpec, m: mujoco.MjModel, tree: ElementTree.Element) -> None:
    links = {link.get('name'): link.find('inertial') for link in tree.iterfind('link')}
    options = spec.compiler  # which would change the bodies that are added
    change = options.boundmass or options.boundinertia or options.settotalmass > 0.0
    all_of_them = bool(change) or int(options.inertiafromgeom) == FROM_GEOMS
    options.boundmass = options.boundinertia = 0.0
    options.inertiafromgeom, options.settotalmass = mujoco.MjSpec().compiler.inertiafromgeom, -1.0
    for body in range(1, m.nbody):
        element = links.get(m.body(body).name or f'body_{body}')
        if element is None:
            continue
        turn = rotation_of(m.body_iquat[body])
        place, moments = m.body_ipos[body], turn @ np.diag(m.body_inertia[body]) @ turn.T
        theirs = np.array([m.body_mass[body], *place, *moments.ravel()])
        mass, com, inertia = _inertial(element)
        com = com + _origin(m, body)
        ours = np.array([mass, *com, *inertia.ravel()])
        scale = np.repeat([theirs[0], 1.0, np.abs(moments).max()], (1, 3, 9))
        if all_of_them or (np.abs(ours - theirs) > _ROUNDING * scale).any():
            _set_inertial(spec.body(m.body(body).name or f'body_{body}'), mass, com, inertia)


def _inertial(element: ElementTree.Element) -> tuple[float, Array, Array]:
    """Return mass [kg], centre (3,) [m] and inertia about it (3, 3) [kg m^2] in the link."""
    pose, inertia, mass = origin_of(element), element.find('inertia'), element.find('mass')
    number = {} if inertia is None else {key: float(x) for key, x in inertia.attrib.items()}
    rows = [[number.get('i' + ''.join(sorted(a + b)), 0.0) for b in 'xyz'] for a in 'xyz']
    about = pose.rotation @ np.array(rows) @ pose.rotation.T
    value = 0.0 if mass is None else float(mass.get('value', '0'))
    return value, pose.translation, about


def _set_inertial(body: mujoco.MjsBody, mass: float, com: Array, inertia: Array) -> None:
    body.explicitinertial, body.mass, body.ipos = True, mass, com
    body.inertia, body.iquat = np.zeros(3), (1.0, 0.0, 0.0, 0.0)  # else MuJoCo refuses two of them
    body.fullinertia = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


def _add_frames(spec: mujoco.MjSpec, m: mujoco.MjModel, tree: ElementTree.Element) -> None:
    """Add links of the URDF that are fixed to another one and no bodies of the file."""
    inertials = {link.get('name'): link.find('inertial') for link in tree.iterfind('link')}
    numbers = {m.body(body).name or f'body_{body}': body for body in range(m.nbody)}
    known = {m.joint(k).name for k in range(m.njnt)}
    for joint in tree.iterfind('joint'):
        child, parent = link_of(joint, 'child'), spec.body(link_of(joint, 'parent'))
        if child in numbers or parent is None or joint.get('name') in known:
            continue
        number = numbers.get(parent.name)
        offset = np.zeros(3) if number is None else _origin(m, number)
        pose = pin.SE3(np.eye(3), offset) * origin_of(joint)
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, pose.rotation.ravel())
        added = parent.add_body(name=child, pos=pose.translation, quat=quaternion)
        inertial = inertials.get(child)
        if inertial is not None:
            _set_inertial(added, *_inertial(inertial))
