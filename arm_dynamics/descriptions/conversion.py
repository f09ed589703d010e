"""Converts a robot's file (URDF, xacro, MJCF) to a URDF file and a parameter file.

The parameter file `arm.arm_sim.yaml` of `arm.urdf`, in the same folder, holds what a URDF cannot.
"""

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import yaml

from arm_dynamics.checks import ArmError, some_of, text_of
from arm_dynamics.descriptions.held_joints import hold_others
from arm_dynamics.parameters import ParameterValues
from arm_dynamics.shapes import candidates
from arm_dynamics.temporary_folder import cached_by_files, temporary_folder
from arm_dynamics.tool_link import srdf_of

if TYPE_CHECKING:
    from arm_dynamics.descriptions.estimated_inertia import Estimate

# Ends the name of a robot with estimated inertia, which every log and report shows.
ESTIMATED = '_inertia_estimated'
_SAID: dict[Path, tuple[str, ...]] = {}  # lines on what was converted, by its URDF


@cached_by_files
def urdf_file(
    file: Path,
    xacro_args: str,
    moving: tuple[str, ...],
    tip_frame: str,
    estimate: 'Estimate | None' = None,
    native: bool = False,
) -> Path:
    """Return the URDF of a robot's file: the file itself, or a temporary file.

    Args:
        file: URDF, xacro or MJCF.
        xacro_args: arguments of a xacro, 'name:=value other:=value'.
        moving, tip_frame: as for `hold_others`.
        estimate: how masses are estimated; None: they are not.
        native: whether engine mujoco simulates an MJCF itself, which the URDF then names.

    Raises:
        ArmError: a file that cannot be read or converted, with the remedy.
    """
    tree = _tree_of(file)
    if tree is None:
        return file  # refused where it is read as a URDF
    xacro = _is_xacro(file, tree)
    if xacro_args and not xacro:
        from arm_dynamics.robot_words import near_option

        near = near_option(xacro_args) or ': leave it out'
        raise ArmError(f'xacro_args is {xacro_args!r}; {str(file)!r} is no xacro{near}')
    if xacro:
        from arm_dynamics.descriptions.xacro_files import urdf_of_xacro

        tree = ElementTree.fromstring(urdf_of_xacro(file, xacro_args))
    is_mjcf = tree.tag == 'mujoco'
    coupled = tree.find('joint/mimic') is not None
    if not (xacro or is_mjcf or moving or coupled or estimate):
        return file
    try:
        if is_mjcf:
            if estimate:
                raise ArmError('inertia:=estimate is for URDFs: MuJoCo estimates that of an MJCF')
            from arm_dynamics.descriptions.mjcf_conversion import converted  # loads MuJoCo

            folder = temporary_folder()
            of_joints = moving, tip_frame, native, folder
            tree, parameters, held, lines = converted(file, *of_joints)
            return _written(file, tree, parameters, folder, held, lines)
        return _of_urdf(file, tree, moving, tip_frame, estimate)
    except ArmError as error:
        raise ArmError(f'{error} (in {str(file)!r})') from None


def _of_urdf(
    file: Path, tree: Element, moving: tuple[str, ...], tip_frame: str, estimate: 'Estimate | None'
) -> Path:
    suffix, lines = '', list[str]()
    if estimate:
        from arm_dynamics.descriptions.estimated_inertia import estimate_inertias

        lines.append(estimate_inertias(tree, file, estimate))
        suffix = ESTIMATED
    held = hold_others(tree, moving, tip_frame)
    make_meshes_absolute(tree, file)
    path = _written(file, tree, {}, temporary_folder(), list(held), lines, suffix)
    own = parameter_file(file)
    if own.is_file() and not moving:  # its lists are for all joints
        parameter_file(path).write_bytes(own.read_bytes())
    return path


def make_meshes_absolute(tree: Element, file: Path) -> None:
    """Replace the names of meshes in folders that exist by absolute paths; `file`: of the URDF."""
    from arm_dynamics.packages import packages_around

    around = cache(packages_around)
    for mesh in tree.iter('mesh'):
        name = mesh.get('filename', '')
        paths = candidates(name, file.parent, around)
        there = [x for x in paths if x.is_file()] or [x for x in paths if x.parent.is_dir()]
        mesh.set('filename', str(there[0].resolve()) if there else name)


def _written(
    file: Path,
    tree: Element,
    parameters: ParameterValues,
    folder: Path,
    held: list[str],
    lines: list[str],
    suffix: str = '',
) -> Path:
    """Write a URDF with its parameters and log the lines on it; return its path."""
    path = folder / f'{file.name.partition(".")[0]}{suffix}.urdf'
    for end in ('.srdf', '.srdf.xacro'):
        srdf = srdf_of(file, end)
        if srdf is not None:
            path.with_suffix(end).symlink_to(srdf.absolute())
    ElementTree.indent(tree)
    path.write_text(ElementTree.tostring(tree, encoding='unicode'))
    if parameters:
        sections = {name: {'ros__parameters': values} for name, values in parameters.items()}
        parameter_file(path).write_text(yaml.safe_dump(sections))
    if held:
        still = 'held still' if tree.find('mjcf') is None else 'not commanded'
        lines = [*lines, f'{still}: {some_of(held)}; joints:= chooses what moves']
    for line in lines:
        print(f'arm_sim: {file.name}: {line}', file=sys.stderr, flush=True)
    _SAID[path] = tuple(lines)
    return path


def said_of(urdf: Path) -> tuple[str, ...]:
    """Return the lines that this process has logged on a URDF when it converted a robot's file."""
    return _SAID.get(urdf, ())


def is_mjcf(file: Path) -> bool:
    """Whether a file is an MJCF."""
    tree = _tree_of(file)
    return tree is not None and tree.tag == 'mujoco'


def runs_code(file: Path) -> bool:
    """Whether converting a file runs code that the file contains: xacro."""
    tree = _tree_of(file)
    return file.suffix == '.xacro' if tree is None else _is_xacro(file, tree)


def _is_xacro(file: Path, tree: Element) -> bool:
    """Whether a file is xacro, which can run any program of this machine."""
    return file.suffix == '.xacro' or any('wiki/xacro}' in each.tag for each in tree.iter())


def _tree_of(file: Path) -> Element | None:
    """Return the tree of an XML file; None: it is none, or cannot be read."""
    try:
        return ElementTree.fromstring(text_of(file))
    except (ValueError, ElementTree.ParseError):
        return None


def parameter_file(urdf: Path) -> Path:
    """Return the path of a URDF's own parameter file, which need not exist."""
    return urdf.with_name(f'{urdf.stem}.arm_sim.yaml')
