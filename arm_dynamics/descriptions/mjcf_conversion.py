"""The URDF of an MJCF for the controllers: what moves, what is held, what the model lacks."""

from collections.abc import Mapping
from copy import copy
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import mujoco
import numpy as np

from arm_dynamics.checks import ArmError, some_of
from arm_dynamics.descriptions import mjcf, mjcf_model
from arm_dynamics.descriptions.held_joints import hold_others
from arm_dynamics.descriptions.mjcf_constraints import check_freedom, check_movable, swinging
from arm_dynamics.descriptions.mjcf_couplings import add_mimics, couplings, followers, ties
from arm_dynamics.descriptions.mjcf_lacks import lacking
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import ParameterValues

_LEAST, _MOST = 9.7, 9.9  # gravity of the earth [m/s^2]
_TOLERANCE = 1e-9  # of the largest entry, at least 1: two correct models differ by rounding alone


def converted(
    file: Path, moving: tuple[str, ...], tip_frame: str, native: bool, folder: Path
) -> tuple[Element, dict[str, ParameterValues], list[str], list[str]]:
    """Return the URDF of an MJCF, sections of a parameter file, joints that are held, and lines.

    Args:
        file: the MJCF.
        moving, tip_frame: as for `hold_others`.
        native: whether engine mujoco simulates the file itself.
        folder: receives meshes.

    Raises:
        ArmError: no URDF can say what the arm is.
    """
    mjcf_file = mjcf.Mjcf(file)
    tree, m = mjcf_file.urdf(folder), mjcf_file.mj_model
    if native:
        if m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_ACTUATION:
            raise ArmError(
                '<flag actuation="disable"> keeps all drives from acting: remove it, or add '
                'mjcf:=converted'
            )
        moving = moving or mjcf_file.commanded
        add_mimics(tree, m, followers(m, moving))
        held = hold_others(tree, moving, tip_frame, places=mjcf_model.home(m))
        of_mjcf = SubElement(tree, 'mjcf', file=str(file))
    else:
        add_mimics(tree, m, couplings(m))
        if len(mjcf_file.coupled) == m.njnt > 0:
            raise ArmError(
                'all joints are in loops or in equalities with powers, which no URDF has: such a '
                'gripper needs an arm that is an MJCF as well, such as that of MuJoCo Menagerie'
            )
        held = hold_others(tree, moving, tip_frame, mjcf_file.coupled)
    model = RobotModel(ElementTree.tostring(tree, encoding='unicode'))
    check_movable(m, model.joint_names)
    lacks = lacking(m, model, native)
    if native:
        check_freedom(m, model.joint_names)
        springs = mjcf_model.springs_at(m, model.joint_names, mjcf_file.coupled)
        of_mjcf.set('springs', springs or ties(m, model))
    else:
        mjcf_model.check_damping(m, model)
    parameters = mjcf_model.parameters_of(m, model)
    gravity = parameters['/**'].get('gravity', model.gravity)
    same = RobotModel(model.urdf, gravity=gravity)
    if not native:
        m = copy(m)
        m.tendon_armature[:] = 0.0
    check_same(m, same, held)
    lines = []
    if mjcf_file.missing:
        lines.append(f'not found, and so not shown: {some_of(mjcf_file.missing)}')
    strength = float(np.linalg.norm(gravity))
    if strength and not _LEAST < strength < _MOST:
        lines.append(f'<option gravity> is {strength:g} m/s^2; is it in another unit?')
    if gravity[2] > 0.0:
        lines.append('<option gravity> points up; is its sign missing?')
    if lacks:
        where = "not in the controllers' model" if native else 'not simulated'
        lines.append(f'{where}: {"; ".join(lacks)}')
    if native and (loose := swinging(m, model.joint_names)):
        lines.append(
            f'{some_of(loose)}: nothing drives or holds them, and the law does not know that they '
            'swing and push the arm off its goals; mjcf:=converted holds them still'
        )
    return tree, parameters, list(held), lines


def check_same(m: mujoco.MjModel, model: RobotModel, held: Mapping[str, float]) -> None:
    """Raise ArmError if a model differs from MuJoCo's model of the MJCF.

    Mass matrix and bias torque of the moving joints are compared at random states.
    """
    data, rng = mujoco.MjData(m), np.random.default_rng(0)
    for name, place in held.items():
        data.qpos[m.joint(name).qposadr[0]] = place
    rows = np.array([m.joint(name).qposadr[0] for name in model.moving_joints])
    dofs = np.array([m.joint(name).dofadr[0] for name in model.moving_joints])
    full = np.zeros((m.nv, m.nv))
    for _ in range(10):
        q, v = model.random_configuration(rng), rng.uniform(-1.0, 1.0, model.nv)
        data.qpos[rows], data.qvel[dofs] = model.all_positions(q), model.all_rates(v)
        mujoco.mj_forward(m, data)
        mujoco.mj_fullM(m, data, full)
        pairs = (
            (
                'mass matrix [kg m^2]',
                model.reduced(full[np.ix_(dofs, dofs)]),
                model.mass_matrix(q),
            ),
            ('bias torque [N.m]', model.reduced(data.qfrc_bias[dofs]), model.bias_torque(q, v)),
        )
        for quantity, theirs, ours in pairs:
            error = np.abs(theirs - ours) / max(1.0, np.abs(theirs).max())
            if not error.max() < _TOLERANCE:
                if (heavy := np.flatnonzero(m.tendon_armature)).size:
                    name = m.tendon(heavy[0]).name or f'number {heavy[0]}'
                    raise ArmError(
                        f'tendon {name!r}: armature="{m.tendon_armature[heavy[0]]:g}" is not in '
                        'the model of the controllers: remove it, or add mjcf:=converted, without '
                        'tendons'
                    )
                index = np.unravel_index(error.argmax(), error.shape)
                raise ArmError(
                    f'joint {model.joint_names[index[0]]!r}: {quantity} of the MJCF is '
                    f'{theirs[index]:.9g}, of its URDF {ours[index]:.9g}; they must agree to '
                    f'{_TOLERANCE:g}'
                )
