"""Names what the SRDF of a URDF has that is not used, not right, or not there."""

from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element

from arm_dynamics.checks import ArmError, line_on
from arm_dynamics.mesh_files import no_mesh
from arm_dynamics.model import RobotModel
from arm_dynamics.tool_link import expansion, srdf_of
from arm_dynamics.urdf_elements import moves, read_tree
from arm_dynamics.urdf_rules import UrdfRule
from arm_dynamics.urdf_rules.names import repeated
from arm_dynamics.urdf_tree import number

# What an SRDF may contain; some elements have parts.
ELEMENTS_OF_SRDF = {
    *('group', 'group_state', 'end_effector', 'virtual_joint', 'passive_joint'),
    *('disable_collisions', 'link_sphere_approximation', 'joint_property'),
}
_KNOWN_IN = {
    'group': {'link', 'joint', 'chain', 'group'},
    'group_state': {'joint'},
    'end_effector': set[str](),
    'virtual_joint': set[str](),
}
# Attributes with the names of links, without which an element is not used.
_NEEDED = {
    'disable_collisions': ('link1', 'link2'),
    'end_effector': ('parent_link',),
    'group/chain': ('base_link', 'tip_link'),
}
# Attributes with other names of links or joints.
_REFERENCES = {
    'group/link': 'name',
    'group/joint': 'name',
    'group_state/joint': 'name',
    'passive_joint': 'name',
    'virtual_joint': 'child_link',
}
_TIPS = 'parent_link', 'tip_link'  # of those needed, the ends of arms
_ROUNDING = 1e-3  # beyond a limit [rad | m]
_DEGREES = 6.3  # from here an angle may be in degrees [rad]


class SrdfRule(UrdfRule):
    """An SRDF beside a URDF is of the same arm, and says nothing in vain."""

    order = 20.1

    def notes(self, tree: Element, model: RobotModel, tip_frame: str | None) -> Iterator[str]:
        """Yield, one line each, what is not used, not right, or not there."""
        if not model.file:
            return
        file = srdf_of(Path(model.file)) or srdf_of(Path(model.file), '.srdf.xacro')
        if file is None:
            return
        if file.suffix == '.xacro':
            yield f'SRDF {file.name!r} is ignored: {expansion(file)}'
            return
        try:
            srdf = read_tree(file, f'SRDF {str(file)!r} is ignored')
        except ArmError as error:
            yield '; '.join(filter(None, (str(error), no_mesh(file))))
            return
        if srdf.tag != 'robot':
            yield f'SRDF {str(file)!r} is ignored: its root element is <{srdf.tag}>, not <robot>'
            return
        if srdf.get('name', tree.get('name')) != tree.get('name'):
            names = f'{srdf.get("name")!r}, not of {tree.get("name")!r}'
            yield f'the SRDF is of {names}: is it of another arm?'
        yield from _strange_elements(srdf)
        yield from _without_effect(srdf, tree)
        yield from _references(srdf, tree, '' if tip_frame else model.tip_frame)
        yield from _groups(srdf)
        yield from _group_states(srdf, tree)


def _strange_elements(srdf: Element) -> Iterator[str]:
    """Yield a line on elements that no SRDF has."""
    strange = [f'<{x.tag}>' for x in srdf if x.tag not in ELEMENTS_OF_SRDF]
    for owner in srdf:
        known = _KNOWN_IN.get(owner.tag)
        if known is not None:
            strange += [f'<{x.tag}> in <{owner.tag}>' for x in owner if x.tag not in known]
    yield from line_on(strange, 'not used in the SRDF: {}')


def _without_effect(srdf: Element, tree: Element) -> Iterator[str]:
    """Yield lines on joints that are passive or move the base, which they do not here."""
    driven = {
        joint.get('name')
        for joint in tree.iterfind('joint')
        if moves(joint) and joint.find('mimic') is None
    }
    passive = [x.get('name', '') for x in srdf.iterfind('passive_joint')]
    yield from line_on(
        (name for name in passive if name in driven),
        '<passive_joint> {} of the SRDF is driven like the others: joints:= leaves joints out',
    )
    yield from line_on(
        (x.get('name', '') for x in srdf.iterfind('virtual_joint') if x.get('type') != 'fixed'),
        '<virtual_joint> {} of the SRDF is fixed: the base does not move',
    )


def _references(srdf: Element, tree: Element, tool: str) -> Iterator[str]:
    """Yield lines on names of links and joints; `tool`: the tool link, where none is requested."""
    named, missing, tips = [], [], []
    for path, keys in _NEEDED.items():
        for owner in srdf.iterfind(path):
            for key in keys:
                name = owner.get(key, '')
                named.append(name)
                if not name:
                    missing.append(f'<{owner.tag}> without {key}')
                elif key in _TIPS:
                    tips.append(name)
    yield from line_on(missing, 'not used in the SRDF: {}')
    named += [x.get(key, '') for path, key in _REFERENCES.items() for x in srdf.iterfind(path)]
    known = {x.get('name') for kind in ('link', 'joint') for x in tree.iterfind(kind)}
    known |= {x.get('name') for x in srdf.iterfind('virtual_joint')} | {''}
    yield from line_on(
        (name for name in named if name not in known),
        'the SRDF names {}: no links or joints of the URDF; is it of another arm?',
    )
    tips = [name for name in tips if name in known]
    if tool and tool not in tips:
        yield from line_on(
            tips,
            '{} of the SRDF is not at the end of the longest chain: the tool frame is {!r}; '
            'tip_frame:=LINK chooses another',
            tool,
        )


def _groups(srdf: Element) -> Iterator[str]:
    """Yield lines on groups that are there more than once, or not at all."""
    groups = [x.get('name', '') for x in srdf.iterfind('group')]
    twice = repeated(groups)
    yield from line_on(twice, 'the SRDF has more than one <group> {}: write one')
    paths = {
        'group/group': ('name',),
        'end_effector': ('group', 'parent_group'),
        'group_state': ('group',),
    }
    named = [
        x.get(key, '') for path, keys in paths.items() for key in keys for x in srdf.iterfind(path)
    ]
    lost = [name for name in named if name and name not in groups]
    yield from line_on(lost, 'the SRDF names groups that it does not have: {}')


def _group_states(srdf: Element, tree: Element) -> Iterator[str]:
    """Yield lines on positions that are none, or beyond the limits of a joint."""
    joints = {x.get('name', ''): x for x in tree.iterfind('joint') if moves(x)}
    wrong, beyond, in_degrees = [], [], False
    for state in srdf.iterfind('group_state'):
        for each in state.iterfind('joint'):
            name = each.get('name', '')
            if name not in joints:
                continue
            joint, where = joints[name], f'{name} in {state.get("name", "")}'
            try:
                value, *_ = [float(word) for word in each.get('value', '').split()]
            except ValueError:
                wrong.append(where)
                continue
            if joint.find('limit') is None or joint.get('type') == 'continuous':
                continue
            low, high = (number(joint, 'limit', key) for key in ('lower', 'upper'))
            if not low - _ROUNDING <= value <= high + _ROUNDING:
                beyond.append(where)
                in_degrees |= abs(value) > _DEGREES and joint.get('type') == 'revolute'
    yield from line_on(wrong, '<group_state> of the SRDF: {} has a value that is no number')
    remedy = '; is it in degrees?' if in_degrees else ': correct value or <limit>'
    yield from line_on(beyond, f'<group_state> of the SRDF: {{}} is beyond <limit>{remedy}')
