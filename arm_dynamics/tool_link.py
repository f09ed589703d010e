"""The default tool link of an arm."""

import os
import re
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from xml.etree.ElementTree import Element

from arm_dynamics.checks import ArmError, typed
from arm_dynamics.urdf_elements import link_of, moves, read_tree

# Names of tool links, the most specific ones first.
_NAMES = ('tcp', 'tool0?', r'ee\w?|end_?effector|ee_gripper|gripper_frame', 'flange')

_FINGER = re.compile('finger|gripper|jaw|knuckle|thumb', re.IGNORECASE)  # names of their joints
_PART = re.compile('finger|jaw|knuckle|thumb', re.IGNORECASE)  # and of their links


def tool_link(tree: Element, of_srdf: Sequence[str] = ()) -> str:
    """Return the tool link of a URDF, by an SRDF, by its name or by its place.

    The main chain has the most joints that move; of equal ones the last that follows no other. It
    ends where fingers begin: two or more chains on one body, each shorter than the chain that
    carries them, or, behind one without, a joint with a name such as gripper_joint, or that
    follows one. A link of the last body is the tool if the SRDF names it, or its name ends in one
    of _NAMES; else the tool is the link before this body branches, other than to an end that has
    shapes of collision and nothing else.

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
        while (own := joint_above.get(link)) is not None:
            count += moves(own)
            link = link_of(own, 'parent')
            beyond[link] = max(beyond[link], count)

    def body(link: str) -> list[str]:
        links = [link]
        for each in links:
            links += [link_of(x, 'child') for x in children[each] if not moves(x)]
        return links

    fingers = {x.get('name') for x in tree.iterfind('joint') if _is_finger(x)}
    leaders = {x.get('name'): x.find('mimic') for x in tree.iterfind('joint')}
    fingers |= {x for x, of in leaders.items() if of is not None and of.get('joint') in fingers}
    above = arm = 0  # joints, and those of them that are no fingers
    (link,) = beyond.keys() - joint_above.keys()
    while beyond[link]:
        joints = [x for each in body(link) for x in children[each] if moves(x)]
        joints = [x for x in joints if not (arm and x.get('name') in fingers)]
        if not joints or (len(joints) > 1 and beyond[link] < above):
            break
        ends = [link_of(x, 'child') for x in reversed(joints)]
        leading = [x for x in ends if joint_above[x].find('mimic') is None]
        link = max(leading + ends, key=beyond.__getitem__)
        above += 1
        arm += joint_above[link].get('name') not in fingers
    links = body(link)
    named = [each for each in links if each in of_srdf]
    for name in _NAMES:
        pattern = re.compile(rf'(.*[_/])?({name})(_link|_frame)?', re.IGNORECASE)
        named += [each for each in reversed(links) if pattern.fullmatch(each)]

    shells = {x.get('name') for x in tree if {y.tag for y in x} - {'inertial'} == {'collision'}}

    def leads(x: Element) -> bool:
        return moves(x) or bool(children[link_of(x, 'child')]) or link_of(x, 'child') not in shells

    while len(on := [*filter(leads, children[link])] or children[link]) == 1 and not moves(on[0]):
        link = link_of(on[0], 'child')
    return [*named, link][0]


def _is_finger(joint: Element) -> bool:
    return bool(_FINGER.search(joint.get('name', '')) or _PART.search(link_of(joint, 'child')))


def srdf_of(urdf: Path, end: str = '.srdf') -> Path | None:
    """Return the SRDF of a URDF file: of the same name, next to it or in a folder srdf/ there.

    It may be no file, which is refused or named where it is read. `end`: of its name.
    """
    places = (urdf.parent, urdf.parent.parent / 'srdf')
    files = (place / f'{urdf.stem.partition(".")[0]}{end}' for place in places)
    return max(filter(os.path.lexists, files), key=os.path.isfile, default=None)


def expansion(file: Path) -> str:
    """Return why an SRDF that is xacro is not read, and the remedy; xacro is code of others."""
    words = (shlex.quote(str(x)) for x in (file.resolve(), file.resolve().with_suffix('')))
    return f'it is xacro; expand it: {typed("xacro " + " -o ".join(words))}'


def srdf_tips(urdf: Path) -> list[str]:
    """Return the links that the SRDF of a URDF file names as ends of its arms; [] without one."""
    file = srdf_of(urdf)
    with suppress(ArmError):
        if file is not None:
            tree = read_tree(file, '')
            tips = [each.get('parent_link', '') for each in tree.iterfind('end_effector')]
            return tips + [each.get('tip_link', '') for each in tree.iterfind('group/chain')]
    return []
