"""A scene from an MJCF file: what is taken, what is left out, what is refused."""

import re
import warnings
from pathlib import Path

import mujoco
import numpy as np

from arm_dynamics.checks import ArmError, say_once
from arm_dynamics.descriptions.mjcf_files import cause, checked_text
from arm_dynamics.descriptions.mjcf_slips import slips
from arm_sim.simulation.material import Material

MOST = 20_000  # pairs of shapes that can touch
_MOST_BODIES = 2_000
_ATTACH = re.compile(r'<(?:attach|model)\b')
_LARGEST = 1e6  # number of a mass, size or position
_RESTITUTION = 0.2  # of a shape without user data, close to MuJoCo's critical damping


def read_mjcf(file: Path) -> tuple[mujoco.MjSpec, dict[str, Material]]:
    """Return the parts of a scene, and the material of each shape by its name.

    Actuators, sensors, keyframes and options are left out. Contacts are springs: `user="K C"` of a
    geom are stiffness [N/m] and damping [N.s/m], the first number of `friction` is the friction
    coefficient; solref and solimp do not count.

    Raises:
        ArmError: with the file: not MJCF, numbers that are not finite or too large, elements that
            have no contacts with units.
    """
    where = f'scene {file}'
    try:
        text = checked_text(file, where)
        if _ATTACH.search(text):  # of itself it would never end
            raise ArmError(f'{where}: <attach> is not supported; use <include>')
        with warnings.catch_warnings(action='ignore'):
            spec = mujoco.MjSpec.from_file(str(file))
            for each in (*spec.actuators, *spec.sensors, *spec.keys):
                spec.delete(each)
            materials = _name_shapes(spec, where, file.stem)
            compiled = spec.copy().compile()
    except ArmError:
        raise
    except (OSError, ValueError, mujoco.FatalError) as error:
        raise ArmError(f'{where}: {cause(error, file)}') from None
    for name in ('body_pos', 'body_mass', 'body_inertia', 'geom_size', 'geom_pos', 'jnt_pos',
                 'jnt_range', 'dof_damping', 'dof_frictionloss', 'qpos0', 'jnt_stiffness',
                 'eq_data', 'tendon_stiffness', 'tendon_damping'):  # fmt: skip
        values = getattr(compiled, name)
        if not (np.abs(values) <= _LARGEST).all():
            raise ArmError(f'{where}: {name} has a number beyond {_LARGEST:g}')
    for line in slips(text):
        say_once(f'{where}: {line}')
    return spec, materials


def _name_shapes(spec: mujoco.MjSpec, where: str, stem: str) -> dict[str, Material]:
    """Name bodies and shapes that have no name; return the shapes' materials by name."""
    for kind in ('flexes', 'hfields', 'plugins', 'skins'):
        if getattr(spec, kind):
            raise ArmError(f'{where}: {kind} are not supported')
    if len(spec.bodies) > _MOST_BODIES:
        raise ArmError(f'{where}: has more than {_MOST_BODIES} bodies')
    for number, body in enumerate(spec.bodies):
        body.name, body.userdata = body.name or f'{stem} body {number}', []
    materials = {}
    for number, geom in enumerate(spec.geoms):
        geom.name = geom.name or f'{geom.parent.name} shape {number}'
        materials[geom.name] = _material(geom, f'{where}, geom {geom.name!r}')
    return materials


def _material(geom: mujoco.MjsGeom, where: str) -> Material:
    given, friction = [*geom.userdata], float(geom.friction[0])
    try:
        if not any(given):
            return Material(restitution=_RESTITUTION, friction=friction)
        stiffness, damping = (*given, 0.0)[:2]
        return Material(stiffness=stiffness, damping=damping, friction=friction)
    except ArmError as error:
        raise ArmError(f'{where}: {error}') from None
