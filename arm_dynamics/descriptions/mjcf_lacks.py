"""What an MJCF has and its URDF, the model of the controllers and of `mjcf:=converted`, lacks.

It is found in the model that MuJoCo compiles, so that defaults, includes and frames count as well.
docs/mjcf_elements.md has all elements and attributes (tools/mjcf_elements.py).
"""

from collections.abc import Callable, Iterable

import mujoco
import numpy as np
from numpy.typing import NDArray

from arm_dynamics.checks import some_of
from arm_dynamics.descriptions.mjcf import actuators_on
from arm_dynamics.descriptions.mjcf_constraints import equality_names
from arm_dynamics.descriptions.mjcf_couplings import couplings, followers
from arm_dynamics.descriptions.mjcf_model import has_spring, home, home_state, servo_of
from arm_dynamics.descriptions.mjcf_shapes import SOLIDS
from arm_dynamics.model import RobotModel

FLAGS = ('clampctrl', 'constraint', 'damper', 'equality', 'frictionloss', 'limit')
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
BY_DIRECTION = 'efforts that differ by direction (the larger counts)'


def _names(what: str, numbers: Iterable[int], m: mujoco.MjModel) -> list[str]:
    """Return the names of parts of a kind, such as 'tendon'."""
    kind = getattr(mujoco.mjtObj, f'mjOBJ_{what.upper()}')
    return [mujoco.mj_id2name(m, kind, int(k)) or f'number {k}' for k in numbers]


def _drives(m: mujoco.MjModel, model: RobotModel) -> list[list[int]]:
    """Return the actuators of each commanded joint."""
    return [actuators_on(m, m.joint(name).id) for name in model.joint_names]


def _bent_damping(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    return [m.joint(m.dof_jntid[k]).name for k in np.flatnonzero(m.dof_dampingpoly.any(axis=1))]


def _equalities(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    found = followers(m, model.joint_names) if model.mjcf else couplings(m)
    moving = {m.joint(name).id for name in model.moving_joints}
    used = {each.equality for each in found.values() if each.joint in moving}  # by <mimic>
    active = np.flatnonzero(m.eq_active0).tolist()  # nothing here switches others on
    return equality_names(m, (k for k in active if k not in used))


def _actuators(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    on_joints = {k for each in _drives(m, model) for k in each}
    return _names('actuator', (k for k in range(m.nactuator) if k not in on_joints), m)


def _other_drives(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    """Return actuators of commanded joints that are neither motors nor servos."""
    fixed = m.actuator_gaintype == mujoco.mjtGain.mjGAIN_FIXED
    motors = fixed & (m.actuator_biastype == mujoco.mjtBias.mjBIAS_NONE)
    found = []
    for servo, each in zip(_servos(m, model), _drives(m, model), strict=True):
        if len(each) > 1 or not (servo or motors[each].all()):
            found += each
    return _names('actuator', found, m)


def _servos(m: mujoco.MjModel, model: RobotModel) -> list[bool]:
    """Return which commanded joints have a position servo."""
    return [servo_of(m, m.joint(name).id) is not None for name in model.joint_names]


def _some_servos(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    """Return position servos of an arm whose other joints have none."""
    servos, drives = _servos(m, model), _drives(m, model)
    alone = (
        [] if all(servos) else [each for each, servo in zip(drives, servos, strict=True) if servo]
    )
    return _names('actuator', (k for each in alone if len(each) == 1 for k in each), m)


def _without_bias(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    """Return actuators whose biasprm MuJoCo ignores."""
    unbiased = m.actuator_biastype == mujoco.mjtBias.mjBIAS_NONE
    return _names('actuator', np.flatnonzero(unbiased & m.actuator_biasprm.any(axis=1)), m)


def _drives_with(has: np.ndarray, m: mujoco.MjModel, model: RobotModel) -> list[str]:
    """Return drives of which an array of all actuators is not zero."""
    return _names('actuator', (k for each in _drives(m, model) for k in each if has[k]), m)


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
    bits = {name: int(getattr(mujoco.mjtDisableBit, f'mjDSBL_{name.upper()}')) for name in FLAGS}
    return [name for name, bit in bits.items() if m.opt.disableflags & bit]


def _at_start(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    moving = np.flatnonzero(home_state(m).qvel)
    return list(dict.fromkeys(m.joint(m.dof_jntid[k]).name for k in moving))


def _beyond(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    places = home(m)
    bounds = zip(model.joint_names, model.position_lower, model.position_upper, strict=True)
    return [name for name, low, high in bounds if m.nkey and not low <= places[name] <= high]


def _groups(m: mujoco.MjModel, model: RobotModel) -> list[str]:
    return [str(k) for k in range(31) if m.opt.disableactuator >> k & 1]


# What is named: the phrase, and what returns the names of the parts in a file.
LACKS: dict[str, Callable[[mujoco.MjModel, RobotModel], list[str]]] = {
    'springs of joints': lambda m, _: [m.joint(k).name for k in range(m.njnt) if has_spring(m, k)],
    'nonlinear damping of joints': _bent_damping,
    'tendons': lambda m, _: _names('tendon', range(m.ntendon), m),
    'equalities': _equalities,
    'actuators': _actuators,
    'other drives': _other_drives,
    'servo gains, where other joints have none': _some_servos,
    'biasprm without biastype="affine" (MuJoCo ignores it)': _without_bias,
    'activation of drives': lambda m, model: _drives_with(m.actuator_dyntype, m, model),
    'delays of drives': lambda m, model: _drives_with(m.actuator_delay, m, model),
    'control ranges narrower than those of the joints': _narrow,
    BY_DIRECTION: _one_sided,
    'disabled groups of actuators': _groups,
    'disabled by flags': _flags,
    'fluid': lambda m, _: [x for x in ('density', 'viscosity') if getattr(m.opt, x)],
    'mocap bodies': lambda m, _: _names('body', np.flatnonzero(m.body_mocapid >= 0), m),
    'shapes without a URDF element': lambda m, _: _geoms(m, ~np.isin(m.geom_type, SOLIDS)),
    'contact pairs and exclusions': _pairs,
    'flexes': lambda m, _: _names('flex', range(m.nflex), m),
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
