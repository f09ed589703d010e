"""Joins an arm and a gripper, two URDFs, to the URDF of one robot."""

import re
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from arm_dynamics.checks import ArmError, unknown
from arm_dynamics.descriptions.conversion import make_meshes_absolute
from arm_dynamics.model import RobotModel
from arm_dynamics.temporary_folder import cached_by_files, temporary_folder
from arm_dynamics.tool_link import srdf_of
from arm_dynamics.urdf_elements import link_of, moves, read_tree

_PREFIX = 'gripper_'  # of names of a gripper that the arm has as well
_GRASP = re.compile(r'(.*_)?(grasp|tcp)(_link|_frame|_point)?', re.IGNORECASE)
_FLANGE = re.compile(r'(.*_)?flange(_link|_frame)?', re.IGNORECASE)


@cached_by_files
def with_gripper(arm: Path, gripper: Path, frame: str = '') -> Path:
    """Return the URDF of an arm that carries a gripper in place of its own tool.

    The joined robot is a temporary file `arm_gripper.urdf`. Its SRDF disables what the arm's does,
    and names the tool link: that of the gripper whose name is or ends in grasp or tcp, otherwise
    the gripper's root. Names of links and joints that both have get the prefix `gripper_`.

    Args:
        arm, gripper: URDF files.
        frame: link of the arm on which the root of the gripper is; what the arm has beyond is left
            out. '': the flange, if a link of that name is fixed to the tool link; else the tool.

    Raises:
        ArmError: a file that is no URDF, or no such link.
    """
    tree, own = _read(arm), _read(gripper)
    taken = {each.get('name', '') for each in tree if each.tag in ('link', 'joint')}
    _rename(own, taken | {'world'})  # MuJoCo takes a link of this name for the ground
    frame = frame or _mount(tree, RobotModel(arm).tip_frame)
    _remove_beyond(tree, frame)
    children = {link_of(joint, 'child') for joint in own.iterfind('joint')}
    links = [link.get('name', '') for link in own.iterfind('link')]
    roots = [link for link in links if link not in children]
    if len(roots) != 1:
        raise ArmError(f'a gripper has one root link, {str(gripper)!r} has {len(roots)}')
    materials = {each.get('name') for each in tree.iterfind('material')}
    tree.extend(x for x in own if x.tag != 'material' or x.get('name') not in materials)
    joint = SubElement(tree, 'joint', name=f'{frame}-{roots[0]}', type='fixed')
    SubElement(joint, 'parent', link=frame)
    SubElement(joint, 'child', link=roots[0])
    tree.set('name', f'{arm.stem}_{gripper.stem}')
    path = temporary_folder() / f'{arm.stem}_{gripper.stem}.urdf'
    path.write_text(ElementTree.tostring(tree, encoding='unicode'))
    tool = next(filter(_GRASP.fullmatch, links), roots[0])
    srdf = Element('robot', name=path.stem)
    SubElement(srdf, 'end_effector', name='gripper', parent_link=tool)
    if (of_arm := srdf_of(arm)) is not None:
        there = {link.get('name') for link in tree.iterfind('link')}
        pairs = read_tree(of_arm, f'SRDF {of_arm}').iterfind('disable_collisions')
        srdf.extend(x for x in pairs if {x.get('link1'), x.get('link2')} <= there)
    path.with_suffix('.srdf').write_text(ElementTree.tostring(srdf, encoding='unicode'))
    return path


def _read(file: Path) -> Element:
    """Return the tree of a URDF with absolute meshes."""
    tree = read_tree(file, f'URDF {file}')
    make_meshes_absolute(tree, file)
    return tree


def _mount(tree: Element, tool: str) -> str:
    """Return the flange, if it is fixed to the tool link; else the tool link."""
    above = {link_of(joint, 'child'): joint for joint in tree.iterfind('joint')}
    link = tool
    while not _FLANGE.fullmatch(link):
        if link not in above or moves(above[link]):
            return tool
        link = link_of(above[link], 'parent')
    return link


def _remove_beyond(tree: Element, frame: str) -> None:
    """Remove the links and joints that a link carries."""
    links = {link.get('name', ''): link for link in tree.iterfind('link')}
    if frame not in links:
        raise unknown('link in gripper_frame:=', frame, links)
    carriers = [frame]
    for carrier in carriers:
        for joint in tree.findall('joint'):
            if link_of(joint, 'parent') == carrier:
                carriers.append(link_of(joint, 'child'))
                tree.remove(joint)
    for link in carriers[1:]:
        tree.remove(links[link])


def _rename(tree: Element, taken: set[str]) -> None:
    """Give names of links and joints that are taken the prefix of grippers."""
    names = {each.get('name', '') for each in tree if each.tag in ('link', 'joint')}
    new: Mapping[str, str] = {name: f'{_PREFIX}{name}' for name in names & taken}
    for each in tree:
        if each.tag in ('link', 'joint'):
            each.set('name', new.get(each.get('name', ''), each.get('name', '')))
            for other in (*each.findall('parent'), *each.findall('child')):
                other.set('link', new.get(other.get('link', ''), other.get('link', '')))
            for mimic in each.findall('mimic'):
                mimic.set('joint', new.get(mimic.get('joint', ''), mimic.get('joint', '')))
