"""The URDF of an MJCF for the controllers: what moves, what is held, what the model lacks."""

from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import mujoco

from arm_dynamics.checks import ArmError, some_of
from arm_dynamics.descriptions import mjcf, mjcf_model
from arm_dynamics.descriptions.held_joints import hold_others
from arm_dynamics.descriptions.mjcf_grammar import lacking
from arm_dynamics.model import RobotModel
from arm_dynamics.parameters import ParameterValues


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
    tree, m = mjcf_file.urdf(folder, native), mjcf_file.mj_model
    if native:
        if m.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_ACTUATION:
            raise ArmError(
                '<flag actuation="disable"> keeps all drives from acting: remove it, or add '
                'mjcf:=converted'
            )
        moving = moving or mjcf_file.commanded
        held = hold_others(tree, moving, tip_frame, places=mjcf_model.home(m))
        of_mjcf = SubElement(tree, 'mjcf', file=str(file))
    else:
        if len(mjcf_file.coupled) == m.njnt > 0:
            raise ArmError(
                'all joints are in loops or in equalities with powers, which no URDF has: such a '
                'gripper needs an arm that is an MJCF as well, such as that of MuJoCo Menagerie'
            )
        held = hold_others(tree, moving, tip_frame, mjcf_file.coupled)
    model = RobotModel(ElementTree.tostring(tree, encoding='unicode'))
    lacks = lacking(m, model, native)
    if native:
        of_mjcf.set('springs', mjcf_model.springs_at(m, model.joint_names, mjcf_file.coupled))
    else:
        mjcf_model.check_damping(m, model)
    parameters = mjcf_model.parameters_of(m, model)
    gravity = parameters['/**'].get('gravity', model.gravity)
    same = RobotModel(model.urdf, gravity=gravity)
    mjcf_model.check_same(m, same, held)
    lines = []
    if mjcf_file.missing:
        lines.append(f'not found, and so not shown: {some_of(mjcf_file.missing)}')
    if lacks:
        where = "not in the controllers' model" if native else 'not simulated'
        lines.append(f'{where}: {"; ".join(lacks)}')
    return tree, parameters, list(held), lines
