"""Fates of an MJCF's elements and attributes: used, harmless, named, refused.

`ROWS` is the table; docs/mjcf_elements.md shows it. MuJoCo simulates nearly everything. The fate
is that of the model of the controllers, which is a URDF, and of `mjcf:=converted`. What is named
is found in the model that MuJoCo compiles, so that defaults, includes and frames count as well.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import some_of
from arm_dynamics.descriptions.mjcf import actuators_on
from arm_dynamics.descriptions.mjcf_model import has_spring, home, home_state, servo_of
from arm_dynamics.descriptions.mjcf_shapes import SOLIDS
from arm_dynamics.model import RobotModel

USED, HARMLESS, NAMED, REFUSED = 'used', 'harmless', 'named', 'refused'

_FLAGS = ('clampctrl', 'constraint', 'damper', 'equality', 'frictionloss', 'limit')
_ENDLESS, _ROUNDING = (-np.inf, np.inf), 1e-6  # of a range [rad | m]
_CONTACT = {
    'condim': [3.0],
    'friction': [1.0, 0.005, 0.0001],
    'priority': [0.0],
    'solmix': [1.0],
    'solref': [0.02, 1.0],
    'solimp': [0.9, 0.95, 0.001, 0.5, 2.0],
    'margin': [0.0],
    'gap': [0.0],
    'adhesion': [0.0],
    'surfacevel': [0.0],
}


class Row(NamedTuple):
    """A fate, the elements that have it, and their attributes.

    Attributes:
        fate: one of USED, HARMLESS, NAMED, REFUSED.
        elements: paths of two names at most, as in MuJoCo's schema; 'sensor/*': all in it.
        attributes: names; '*': all, and all elements inside.
        what: what becomes of it; of NAMED the phrase of `LACKS` in the line at the start, which
            attributes that are used as well get for some values.
    """

    fate: str
    elements: str
    attributes: str
    what: str


_BY_DIRECTION = 'efforts that differ by direction (the larger counts)'
_POSE = 'pos quat axisangle euler xyaxes zaxis'
_OF_LIMITS = 'margin solreflimit solimplimit solreffriction solimpfriction'
_KINDS = 'velocity intvelocity orientation pid damper cylinder muscle adhesion dcmotor plugin'
_OTHER_DRIVES = ' '.join(f'actuator/{x} default/{x}' for x in _KINDS.split())
_DRIVES = ' '.join(f'actuator/{x} default/{x}' for x in ('general', 'motor', 'position'))

ROWS = (
    Row(USED, 'mujoco', 'model', 'the name'),
    Row(USED, 'default', 'class', 'MuJoCo reads the file with it'),
    Row(USED, 'compiler include frame replicate asset/model body/attach', '*',
        'MuJoCo reads the file with it'),
    Row(USED, 'body', f'name {_POSE} childclass fuse simple', 'links'),
    Row(USED, 'asset/mesh default/mesh', '*', 'meshes'),
    Row(USED, 'body/inertial', '*', 'mass and inertia'),
    Row(USED, 'body/joint default/joint',
        'name class type pos axis ref limited range armature damping frictionloss '
        'actuatorfrclimited actuatorfrcrange',
        'joints'),
    Row(USED, 'body/geom default/geom',
        f'name class type size fromto {_POSE} mesh fitscale mass density shellinertia contype '
        'conaffinity group rgba material',
        'inertia, shapes of the clearance check and looks'),
    Row(USED, 'body/site default/site', '*', 'frames, at which a tool may be mounted'),
    Row(USED, _DRIVES,
        'name class joint jointinparent gear ctrllimited ctrlrange forcelimited forcerange '
        'inheritrange kp kv dampratio gaintype gainprm biastype biasprm armature damping',
        'kp, kd and effort limit of the drive'),
    Row(USED, 'keyframe/key', 'name qpos ctrl act', 'the start: key frame home, else the first'),
    Row(USED, 'option', 'gravity', 'gravity'),
    Row(USED, 'option/flag', 'gravity', 'gravity'),
    Row(NAMED, 'body/joint default/joint', 'stiffness springdamper springref springyield',
        'springs of joints'),
    Row(NAMED, 'body/joint default/joint', 'damping', 'nonlinear damping of joints'),
    Row(NAMED, 'actuator/position default/position', 'ctrlrange',
        'control ranges narrower than those of the joints'),
    Row(NAMED, _DRIVES, 'ctrlrange forcerange', _BY_DIRECTION),
    Row(NAMED, 'body/joint default/joint', 'actuatorfrcrange', _BY_DIRECTION),
    Row(NAMED, 'body', 'gravcomp', 'gravcomp (carried by the law)'),
    Row(NAMED, 'body/joint default/joint', 'actuatorgravcomp', 'gravcomp (carried by the law)'),
    Row(NAMED, 'body', 'mocap', 'mocap bodies'),
    Row(NAMED, 'body/geom default/geom', 'hfield', 'shapes without a URDF element'),
    Row(NAMED, 'asset/hfield', '*', 'shapes without a URDF element'),
    Row(NAMED, 'body/geom default/geom',
        'friction condim priority solref solimp solmix margin gap adhesion surfacevel',
        'contact parameters'),
    Row(NAMED, 'body/geom default/geom', 'fluidshape fluidcoef', 'fluid'),
    Row(NAMED, 'option', 'density viscosity wind', 'fluid'),
    Row(NAMED, 'option', 'actuatorgroupdisable', 'disabled groups of actuators'),
    Row(NAMED, 'option/flag', ' '.join(_FLAGS), 'disabled by flags'),
    Row(NAMED, 'contact/pair contact/exclude default/pair', '*', 'contact pairs and exclusions'),
    Row(NAMED, 'tendon default/tendon', '*', 'tendons'),
    Row(NAMED, 'equality default/equality', '*', 'equalities'),
    Row(NAMED, _DRIVES, 'tendon site refsite body cranksite slidersite cranklength', 'actuators'),
    Row(NAMED, _DRIVES, 'delay nsample interp', 'delays of drives'),
    Row(NAMED, _DRIVES, 'timeconst dyntype dynprm actdim actearly actlimited actrange',
        'activation of drives'),
    Row(NAMED, _DRIVES, 'input ffrange velrange', 'other drives'),
    Row(NAMED, _OTHER_DRIVES, '*', 'other drives'),
    Row(NAMED, 'sensor', '*', 'sensors'),
    Row(NAMED, 'deformable/flex body/flexcomp', '*', 'flexes'),
    Row(NAMED, 'extension/plugin body/plugin geom/plugin mesh/plugin', '*', 'plugins'),
    Row(NAMED, 'keyframe/key', 'qpos', 'start of the key frame beyond the limits'),
    Row(NAMED, 'keyframe/key', 'qvel', 'velocities of the key frame'),
    Row(REFUSED, 'body/freejoint', '*', 'a base that floats; so are joints of type free and ball'),
    Row(REFUSED, 'option/flag', 'actuation', 'no drive would act'),
    Row(REFUSED, 'actuator/pid actuator/orientation default/pid default/orientation', '*',
        'where they have several controls or outputs'),
    Row(HARMLESS, 'option',
        'timestep integrator solver iterations tolerance ls_iterations ls_tolerance '
        'noslip_iterations noslip_tolerance ccd_iterations ccd_tolerance jacobian cone impratio '
        'sdf_iterations sdf_initpoints sleep_tolerance magnetic o_margin o_solref o_solimp '
        'o_friction',
        'step and solver are parameters of the simulator'),
    Row(HARMLESS, 'option/flag',
        'autoreset contact diagexact energy eulerdamp filterparent fwdinv invdiscrete ipc island '
        'midphase multiccd nativeccd override refsafe sensor sleep speculative spring warmstart',
        'numerics; contacts:=true switches contacts on; without springs nothing is lost'),
    Row(HARMLESS, 'body/joint default/joint', _OF_LIMITS, 'how hard MuJoCo stops a joint'),
    Row(HARMLESS, 'body body/joint default/joint body/geom default/geom ' + _DRIVES,
        'group user sleep castshadow lengthrange', 'of viewers and of other programs'),
    Row(HARMLESS, 'body/camera default/camera body/light default/light asset/texture '
        'default/texture asset/material default/material asset/skin deformable/skin visual '
        'statistic', '*', 'looks'),
    Row(HARMLESS, 'size custom', '*', 'memory, and numbers of other programs'),
    Row(HARMLESS, 'keyframe/key', 'time mpos mquat plastic', 'of parts that are named'),
)  # fmt: skip


def fate_of(element: str, attribute: str) -> Row | None:
    """Return the row of an attribute; `element`: its path below <mujoco>, such as 'body/joint'.

    A row of an element holds for what is inside of it as well, unless that has a row of its own.
    """
    names = element.replace('(world)', '').split('/') if element else ['mujoco']
    found = None
    for end in range(1, len(names) + 1):
        path, inside = '/'.join(names[max(0, end - 2) : end]), end < len(names)
        known = {'*'} if inside else {'*', attribute}
        own = (row for row in ROWS if path in row.elements.split())
        found = next((row for row in own if known & {*row.attributes.split()}), found)
    return found


def _names(what: str, numbers: Iterable[int], m: mujoco.MjModel) -> list[str]:
    """Return the names of parts of a kind, such as 'tendon'."""
    kind = getattr(mujoco.mjtObj, f'mjOBJ_{what.upper()}')
    return [mujoco.mj_id2name(m, kind, int(k)) or f'number {k}' for k in numbers]


def _drives(m: mujoco.MjModel, model: RobotModel) -> list[list[int]]:
    """Return the actuators of each commanded joint."""
    return [actuators_on(m, m.joint(name).id) for name in model.joint_names]


def _springs(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    return [m.joint(k).name for k in range(m.njnt) if has_spring(m, k)]


def _bent_damping(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    return [m.joint(m.dof_jntid[k]).name for k in np.flatnonzero(m.dof_dampingpoly.any(axis=1))]


def _equalities(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    followers = set(model.moving_joints) - set(model.joint_names)  # by <mimic>
    joints = m.eq_type == mujoco.mjtEq.mjEQ_JOINT
    led: dict[str, int] = {}  # the first one of each follower counts
    for k in np.flatnonzero(joints & m.eq_active0.astype(bool)):
        led.setdefault(m.joint(m.eq_obj1id[k]).name, int(k))
    used = {k for name, k in led.items() if name in followers}
    return _names('equality', (k for k in range(m.neq) if k not in used), m)


def _actuators(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    on_joints = {k for each in _drives(m, model) for k in each}
    return _names('actuator', (k for k in range(m.nactuator) if k not in on_joints), m)


def _other_drives(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    """Return actuators of commanded joints that are neither motors nor, all of them, servos."""
    servos = [servo_of(m, m.joint(name).id) is not None for name in model.joint_names]
    fixed = m.actuator_gaintype == mujoco.mjtGain.mjGAIN_FIXED
    motors = fixed & (m.actuator_biastype == mujoco.mjtBias.mjBIAS_NONE)
    found = []
    for servo, each in zip(servos, _drives(m, model), strict=True):
        if len(each) > 1 or not ((servo and all(servos)) or motors[each].all()):
            found += each
    return _names('actuator', found, m)


def _active(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    return _names(
        'actuator', (k for each in _drives(m, model) for k in each if m.actuator_dyntype[k]), m
    )


def _delayed(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    return _names(
        'actuator', (k for each in _drives(m, model) for k in each if m.actuator_delay[k]), m
    )


def _narrow(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    """Return position servos whose control range is narrower than the joint's range."""
    found = []
    for name, each in zip(model.joint_names, _drives(m, model), strict=True):
        lower, upper = m.jnt_range[m.joint(name).id] if m.joint(name).limited else _ENDLESS
        servo = servo_of(m, m.joint(name).id) is not None
        for k in each if servo else ():
            low, high = m.actuator_ctrlrange[k]
            if m.actuator_ctrllimited[k] and (low > lower + _ROUNDING or high < upper - _ROUNDING):
                found.append(k)
    return _names('actuator', found, m)


def _one_sided(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    """Return drives and joints whose effort limits are not alike in both directions."""
    motors = m.actuator_biastype == mujoco.mjtBias.mjBIAS_NONE
    ranges = [
        (name, limits)
        for name, each in zip(model.joint_names, _drives(m, model), strict=True)
        for limits in (
            *m.actuator_forcerange[[k for k in each if m.actuator_forcelimited[k]]],
            *m.actuator_ctrlrange[[k for k in each if motors[k] and m.actuator_ctrllimited[k]]],
            *m.jnt_actfrcrange[[k for k in [m.joint(name).id] if m.jnt_actfrclimited[k]]],
        )
    ]
    found = [name for name, (low, high) in ranges if abs(low + high) > _ROUNDING * (high - low)]
    return list(dict.fromkeys(found))


def _shapes(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    return _geoms(m, ~np.isin(m.geom_type, SOLIDS))


def _geoms(m: mujoco.MjModel, which: NDArray[np.bool_]) -> list[str]:
    """Return names of shapes that can touch others or are seen, or those of their bodies."""
    touch = (m.geom_contype | m.geom_conaffinity).astype(bool)
    bodies = m.geom_bodyid
    numbers = np.flatnonzero(which & touch)
    return list(dict.fromkeys(m.geom(k).name or f'of {m.body(bodies[k]).name}' for k in numbers))


def _contact(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    other = np.zeros(m.ngeom, dtype=bool)
    for name, usual in _CONTACT.items():
        values = getattr(m, f'geom_{name}').reshape(m.ngeom, -1)
        other |= (values != np.array(usual)).any(axis=1)
    return _geoms(m, other)


def _pairs(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    return _names('pair', range(m.npair), m) + _names('exclude', range(m.nexclude), m)


def _flags(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    bits = {name: int(getattr(mujoco.mjtDisableBit, f'mjDSBL_{name.upper()}')) for name in _FLAGS}
    return [name for name, bit in bits.items() if m.opt.disableflags & bit]


def _fluid(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    return [name for name in ('density', 'viscosity') if getattr(m.opt, name)]


def _at_start(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    moving = np.flatnonzero(home_state(m).qvel)
    return list(dict.fromkeys(m.joint(m.dof_jntid[k]).name for k in moving))


def _beyond(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    places = home(m)
    bounds = zip(model.joint_names, model.position_lower, model.position_upper, strict=True)
    return [name for name, low, high in bounds if m.nkey and not low <= places[name] <= high]


def _groups(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    return [str(k) for k in range(31) if m.opt.disableactuator >> k & 1]


def _flexes(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    return _names('flex', range(m.nflex), m)


# What is named: the phrase, and what returns the names of the parts in a file.
LACKS: dict[str, Callable[[mujoco.MjModel, RobotModel], list[str]]] = {
    'springs of joints': _springs,
    'nonlinear damping of joints': _bent_damping,
    'tendons': lambda m, _: _names('tendon', range(m.ntendon), m),
    'equalities': _equalities,
    'actuators': _actuators,
    'other drives': _other_drives,
    'activation of drives': _active,
    'delays of drives': _delayed,
    'control ranges narrower than those of the joints': _narrow,
    _BY_DIRECTION: _one_sided,
    'disabled groups of actuators': _groups,
    'disabled by flags': _flags,
    'fluid': _fluid,
    'mocap bodies': lambda m, _: _names('body', np.flatnonzero(m.body_mocapid >= 0), m),
    'shapes without a URDF element': _shapes,
    'contact pairs and exclusions': _pairs,
    'flexes': _flexes,
    'plugins': lambda m, _: _names('plugin', range(m.nplugin), m),
    'start of the key frame beyond the limits': _beyond,
    'velocities of the key frame': _at_start,
    'sensors': lambda m, _: _names('sensor', range(m.nsensor), m),
    'gravcomp (carried by the law)': lambda m, _: _names(
        'body', np.flatnonzero(m.body_gravcomp), m
    ),
}
CONVERTED = {'contact parameters': _contact}  # which engine mujoco has where it has the file


def lacking(m: mujoco.MjModel, model: RobotModel, native: bool) -> list[str]:
    """Return what an MJCF has and the model of its URDF lacks, a phrase each.

    `native`: whether engine mujoco simulates the file itself.
    """
    parts = LACKS if native else LACKS | CONVERTED
    found = {what: find(m, model) for what, find in parts.items()}
    return [f'{what} {some_of(names)}' for what, names in found.items() if names]
