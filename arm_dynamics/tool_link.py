"""The default tool link of an arm."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from xml.etree.ElementTree import Element

from arm_dynamics.checks import ArmError
from arm_dynamics.urdf_elements import link_of, moves, read_tree

# Names of tool links, the most specific ones first.
_NAMES = ('tcp', 'tool0?', r'ee\w?|end_?effector', 'flange')

_FINGER = re.compile('finger|gripper|jaw|knuckle|thumb', re.IGNORECASE)  # names of their joints
_FINGER_LINK = re.compile('finger|jaw|knuckle|thumb', re.IGNORECASE)


def tool_link(tree: Element, of_srdf: Sequence[str] = ()) -> str:
    """Return the tool link of a URDF, by an SRDF, by its name or by its place.

    The main chain has the most joints that move. The chain ends where fingers begin: two or more
    chains on one body, each shorter than the chain that carries them, or a joint with a name such
    as gripper_joint. A link of the last body is
    the tool if the SRDF names it, or its name ends in tcp, tool0, tool, ee, eef, end_effector or
    flange; else the tool is the link before this body branches.

    Args:
        tree: a URDF with one root link.
        of_srdf: links that the robot's SRDF names as tips.
    """
    beyond = dict.fromkeys((link.get('name', '') for link in tree.iterfind('link')), 0)
    children: dict[str, list[Element]] = {link: [] for link in beyond}
    joint_above = {link_of(joint, 'child'): joint for joint in tree.iterfind('joint')}
    for joint in tree.iterfind('joint'):
        children[link_of(joint, 'parent')].append(joint)
    for link in beyond:  # the most joints that move on a way from each link to an end
        count = 0
        while link in joint_above:
            joint = joint_above[link]
            count += moves(joint)
            link = link_of(joint, 'parent')
            beyond[link] = max(beyond[link], count)

    def body(link: str) -> list[str]:
        links = [link]
        for each in links:
            links += [link_of(x, 'child') for x in children[each] if not moves(x)]
        return links

    above = 0
    (link,) = beyond.keys() - joint_above.keys()
    while beyond[link]:
        joints = [x for each in body(link) for x in children[each] if moves(x)]
        joints = [x for x in joints if not (above and _is_finger(x))]
        if not joints or (len(joints) > 1 and beyond[link] < above):
            break
        link = max((link_of(x, 'child') for x in reversed(joints)), key=beyond.__getitem__)
        above += 1
    links = body(link)
    named = [each for each in links if each in of_srdf]
    for name in _NAMES:
        pattern = re.compile(rf'(.*_)?({name})(_link|_frame)?', re.IGNORECASE)
        named += [each for each in reversed(links) if pattern.fullmatch(each)]
    if named:
        return named[0]
    while len(following := children[link]) == 1 and not moves(following[0]):
        link = link_of(following[0], 'child')
    return link


def _is_finger(joint: Element) -> bool:
    name, link = joint.get('name', ''), link_of(joint, 'child')
    return bool(_FINGER.search(name) or _FINGER_LINK.search(link))


def srdf_of(urdf: Path) -> Path | None:
    """Return the SRDF of a URDF file: of the same name, next to it or in a folder srdf/ there."""
    places = (urdf.parent, urdf.parent.parent / 'srdf')
    files = (place / f'{urdf.stem.partition(".")[0]}.srdf' for place in places)
    return next((file for file in files if file.is_file()), None)


def srdf_tips(urdf: Path) -> list[str]:
    """Return the links that the SRDF of a URDF file names as ends of its arms; [] without one."""
    file = srdf_of(urdf)
    with suppress(ArmError):
        if file is not None:
            tree = read_tree(file, '')
            tips = [each.get('parent_link', '') for each in tree.iterfind('end_effector')]
            return tips + [each.get('tip_link', '') for each in tree.iterfind('group/chain')]
    return []
