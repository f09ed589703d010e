"""Checks of a URDF: each error is one line that names joint or link, element and remedy."""

from collections import Counter
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from xml.etree.ElementTree import Element

from arm_dynamics.checks import ArmError, typed
from arm_dynamics.mimic import Mimic
from arm_dynamics.urdf_elements import MOMENTS, MOVING_JOINTS, link_of, moves
from arm_dynamics.urdf_numbers import INERTIAL, JOINT, MIMIC, Elements, check_numbers
from arm_dynamics.urdf_rules import UrdfRule
from arm_dynamics.urdf_rules.srdf import ELEMENTS_OF_SRDF

_REQUIRED = {
    'mass': ('value',),
    'inertia': MOMENTS,
    'limit': ('effort', 'velocity'),
    'mimic': ('joint',),
}
_NOT_NEGATIVE = {
    'limit': ('effort', 'velocity'),
    'dynamics': ('damping', 'friction', 'armature'),
}

# Other formats, by their root element.
_OTHER_FORMATS = {
    'mujoco': 'MJCF, not a URDF: its root element is <mujoco>; give the URDF',
    'mujocoinclude': 'a part of an MJCF: give the file that includes it',
    'html': 'a web page, not a URDF: download the file itself',
    'launch': 'a launch file, not a URDF: give the file of the robot that it loads',
    'package': 'a package.xml, not a URDF: give the file of the robot, often in urdf/',
    'COLLADA': 'a mesh, not a URDF: give the URDF that names it',
    'X3D': 'a mesh, not a URDF: give the URDF that names it',
    'svg': 'a picture, not a URDF',
    'world': 'a world of SDF, not a URDF: its root element is <world>; give the URDF',
    'KinBody': 'a model of OpenRAVE, not a URDF: give the URDF that it was made from',
    'Robot': 'a model of OpenRAVE, or has tags in capital letters: URDF has small ones',
    'link': 'a part of a URDF, not a URDF: give the file that includes it',
    'joint': 'a part of a URDF, not a URDF: give the file that includes it',
    'model': 'a model of SDF, not a URDF: give the URDF or xacro that it was made from',
    'sdf': 'SDF, not a URDF: give the URDF or xacro that it was made from, or convert it by '
    f'`{typed("pip install rod")}` and'
    f' `{typed("rod -f arm.sdf -o arm.urdf")}`, and compare masses and limits',
}

# A URDF with more joints takes minutes to load.
_MOST_JOINTS = 200


class StructureRule(UrdfRule):
    """The links and joints of a URDF make an arm."""

    order = 0.0

    def read(self, tree: Element) -> bool:
        """Raise ArmError unless they do."""
        _check_urdf(tree)
        return False


def _check_urdf(tree: Element) -> None:
    if any('wiki/xacro}' in each.tag for each in tree.iter()):
        raise ArmError('this is xacro, not a URDF: run `xacro FILE > arm.urdf` and give that file')
    root = tree.tag.rpartition('}')[2]
    if root in _OTHER_FORMATS:
        raise ArmError(f'this is {_OTHER_FORMATS[root]}')
    if tree.find('link') is None and any(x.tag in ELEMENTS_OF_SRDF for x in tree):
        raise ArmError('this is an SRDF, not a URDF: give the URDF')
    if tree.tag != 'robot' == root:
        raise ArmError(f'not a URDF: remove xmlns="{tree.tag[1:].partition("}")[0]}" of <robot>')
    if tree.tag != 'robot':
        raise ArmError(f'not a URDF: its root element is <{root}>, not <robot>')
    for kind in ('link', 'joint'):
        for name, count in Counter(each.get('name') for each in tree.iterfind(kind)).items():
            if not name or count > 1:
                raise ArmError(f'{count} x {kind} {name!r}: each needs a name of its own')
    _check_tree(tree)
    for joint in tree.iterfind('joint'):
        _check_joint(joint, f'joint {joint.get("name")!r}')
    for link in tree.iterfind('link'):
        where = f'link {link.get("name")!r}'
        _check_elements(where, link, {'inertial': ()})
        for inertial in link.iterfind('inertial'):
            _check_inertial(inertial, where)
    Mimic.of(tree, [each.get('name', '') for each in tree.iterfind('joint') if moves(each)])
    name = tree.get('name', 'robot')
    moving = sum(joint.get('type') != 'fixed' for joint in tree.iterfind('joint'))
    if not moving:
        raise ArmError(f'URDF {name!r} has no revolute, continuous or prismatic joint')
    if moving > _MOST_JOINTS:
        raise ArmError(f'URDF {name!r} has {moving} moving joints; at most {_MOST_JOINTS}')


def _check_tree(tree: Element) -> None:
    links = [link.get('name', '') for link in tree.iterfind('link')]
    parents: dict[str, str] = {}
    owners: dict[str, str] = {}
    for joint in tree.iterfind('joint'):
        name = joint.get('name', '')
        for which in ('parent', 'child'):
            count, link = len(joint.findall(which)), link_of(joint, which)
            if count != 1:
                raise ArmError(f'joint {name!r} has {count} <{which}>, not one')
            if not link:
                raise ArmError(f'joint {name!r}: its <{which}> has no link="", its name')
            if link not in links:
                plain = {each.strip().lower(): each for each in links}
                close = get_close_matches(link.strip().lower(), plain, 1)
                near = ''.join(f'; nearest known: {plain[each]!r}' for each in close)
                raise ArmError(f'joint {name!r}: its {which} link {link!r} does not exist{near}')
        child = link_of(joint, 'child')
        if child == 'world':
            raise ArmError(
                f'joint {name!r} carries link {child!r}, as which MuJoCo knows the ground: rename '
                'the link'
            )
        if child in owners:
            raise ArmError(
                f'link {child!r} is the <child> of joints {owners[child]!r} and {name!r}, a loop; '
                'a URDF is a tree: remove one of these joints'
            )
        owners[child], parents[child] = name, link_of(joint, 'parent')
    try:
        TopologicalSorter({link: [parents[link]] for link in links if link in parents}).prepare()
    except CycleError as error:
        names = [repr(link) for link in error.args[1]]
        loop = ' -> '.join(names if len(names) < 12 else [*names[:9], '...', *names[-2:]])
        raise ArmError(
            f'links {loop} are a loop; a URDF is a tree: remove a joint of it'
        ) from None
    roots = [repr(link) for link in links if link not in parents]
    if len(roots) != 1:
        if astray := _astray(tree):
            raise ArmError(
                f'{astray}: URDF has each <link> and <joint> in <robot>, in small letters'
            )
        if not links:
            raise ArmError(
                'it has no <link>; is it a part, such as macros of xacro alone? Give the file '
                'that uses it'
            )
        drake = [x.get('name', '') for x in tree if 'drake' in x.tag and x.tag.endswith('}joint')]
        if drake:
            raise ArmError(
                f'<drake:joint> {drake[0]!r} is for Drake alone: write revolute, continuous or '
                'prismatic joints'
            )
        them = f': {", ".join(roots)}; join them by joints of type="fixed"' * bool(roots)
        raise ArmError(f'a URDF has one root link, this one has {len(roots)}{them}')


def _astray(tree: Element) -> str:
    """Return the first link or joint that stands in another one or in a group, or is misspelt."""
    for owner in tree:
        if owner.tag not in ('link', 'joint') and owner.tag.lower() in ('link', 'joint'):
            return f'<{owner.tag} name="{owner.get("name", "")}">'
        for each in owner if owner.tag in ('link', 'joint', 'group') else ():
            if each.tag.lower() in ('link', 'joint'):
                return f'<{each.tag} name="{each.get("name", "")}"> in <{owner.tag}>'
    return ''


def _check_joint(joint: Element, where: str) -> None:
    kind = joint.get('type')
    for each in joint.iterfind('limit'):
        for key, text in each.attrib.items():
            if text.strip().lstrip('+-').lower() in ('inf', 'infinity', '.inf'):
                free = key in ('lower', 'upper')
                remedy = 'make the joint type="continuous"' if free else 'write 0 for no limit'
                raise ArmError(f'{where}: <limit {key}="{text}">: {remedy}')
    if not moves(joint) and kind != 'fixed':
        raise ArmError(f'{where} has type {kind!r}; supported: {", ".join(MOVING_JOINTS)}, fixed')
    _check_elements(where, joint, {**JOINT, 'mimic': MIMIC})
    if kind == 'fixed':
        return
    for axis in joint.iterfind('axis'):
        if not any(map(float, axis.get('xyz', '1').split())):
            raise ArmError(f'{where}: <axis xyz="{axis.get("xyz")}"> must not be zero')
    for element in joint:
        for key in _NOT_NEGATIVE.get(element.tag, ()):
            number = float(element.get(key, '0'))
            if number < 0.0 and not (element.tag == 'limit' and number == -1.0):
                attribute = f'<{element.tag} {key}="{element.get(key)}">'
                raise ArmError(f'{where}: {attribute} must not be negative; 0: none')
    if kind == 'continuous':
        return
    limit = joint.find('limit')
    remedy = ', or make the joint type="continuous"' if kind == 'revolute' else ''
    if limit is None:
        raise ArmError(f'{where} is {kind} and has no <limit>: write one{remedy}')
    if not {'lower', 'upper'}.intersection(limit.attrib):
        raise ArmError(f'{where}: <limit> has no bounds: write its lower and upper{remedy}')
    lower, upper = (limit.get(key, '0') for key in ('lower', 'upper'))
    if not float(lower) < float(upper):
        still = '; a joint that does not move is of type="fixed"'
        raise ArmError(
            f'{where}: <limit lower="{lower}" upper="{upper}">: lower must be below upper'
            f'{still if float(lower) == float(upper) else "; are they swapped?"}'
        )


def _check_inertial(inertial: Element, where: str) -> None:
    _check_elements(where, inertial, INERTIAL)
    for tag in ('mass', 'inertia'):
        if inertial.find(tag) is None:
            raise ArmError(f'{where}: its <inertial> has no <{tag}>')
    for mass in inertial.iterfind('mass'):
        if float(mass.get('value', '')) < 0.0:
            raise ArmError(f'{where}: <mass value="{mass.get("value")}"> must not be negative')


def _check_elements(where: str, owner: Element, known: Elements) -> None:
    """Raise ArmError unless each known element is there once at most, with usable numbers."""
    for tag, count in Counter(element.tag for element in owner).items():
        if tag in known and count > 1:
            raise ArmError(f'{where} has {count} <{tag}>, not one')
    for element in owner:
        for name in _REQUIRED.get(element.tag, ()):
            if name not in element.attrib:
                raise ArmError(f'{where}: <{element.tag}> has no {name}')
    check_numbers(where, owner, known)
