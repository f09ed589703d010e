"""Reading of ROS parameter files."""

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import ComposerError

from arm_controllers.parameter_values import as_ros_value
from arm_dynamics.checks import ArmError, one_line, text_of, unknown

# Node (or SHARED) -> parameter (nested keys joined by dots) -> value.
Sections = dict[str, dict[str, Any]]

SHARED = '/**'
_PARAMETERS = 'ros__parameters'
_BRACKET = re.compile(r'[][{}]')
_MOST_BYTES = 300_000
# Of a text that is no file, which a running node may get [characters], and of brackets [levels]:
# PyYAML reads 30 000 characters in a second, and brackets in quadratic time.
MOST_CHARACTERS, MOST_LEVELS = 100_000, 50


def read_parameter_file(file: Path) -> Sections:
    """Return the parameters of a file.

    Raises:
        ArmError: with file and line: no YAML, not the structure of a parameter file, a value that
            no parameter can have, a parameter that is given twice.
    """
    try:
        loader = Loader(text_of(file, f'{file}: cannot be read', _MOST_BYTES))
        tree = loader.get_single_node()
    except (yaml.YAMLError, RecursionError) as error:
        mark, problem = getattr(error, 'problem_mark', None), getattr(error, 'problem', error)
        where = f', line {mark.line + 1}' if mark else ''
        raise ArmError(f'{file}{where}: not YAML: {" ".join(str(problem).split())}') from None
    sections: Sections = {}
    for path, leaf in _leaves(tree):
        where = f'{file}, line {leaf.start_mark.line + 1}'
        node, _, name = '/'.join(path).partition(f'/{_PARAMETERS}/')
        if not name:
            if leaf.tag.endswith(':null'):  # a node without parameters
                continue
            raise ArmError(f'{where}: expected <node>: {{{_PARAMETERS}: {{name: value}}}}')
        node, name = node.rpartition('/')[2], name.replace('/', '.')
        values = sections.setdefault(SHARED if '*' in node else node, {})
        if name in values:
            raise ArmError(f'{where}: parameter {name!r} is given twice')
        values[name] = _value(loader, leaf)
        if values[name] is None:
            raise ArmError(
                f'{where}: parameter {name!r} must be a number, a text, true or false, or a list'
                ' of one of these'
            )
    return sections


def sections_text(sections: Mapping[str, Mapping[str, object]]) -> str:
    """Return the text of a parameter file."""
    return yaml.safe_dump(
        {node: {_PARAMETERS: dict(own)} for node, own in sections.items() if own}
    )


def mapping_text(values: Mapping[str, object]) -> str:
    """Return the text of {name: value} in one line."""
    plain = {name: as_ros_value(each) for name, each in values.items()}
    return yaml.safe_dump(plain, default_flow_style=True, width=10_000).strip()


def read_yaml(text: str, where: str, most: int = MOST_CHARACTERS, load: Any = None) -> Any:
    """Return the content of a YAML text of at most `most` characters.

    `load`: returns the content; None: `Loader` does.

    Raises:
        ArmError: begins with `where`. The text is longer or nested too deeply, or is not YAML.
    """
    if len(text) > most:
        raise ArmError(f'{where}: has {len(text)} characters; allowed: {most}')
    level = 0
    for bracket in _BRACKET.findall(text):
        level += 1 if bracket in '[{' else -1
        if level > MOST_LEVELS:
            raise ArmError(f'{where}: more than {MOST_LEVELS} brackets in each other')
    try:
        return load(text) if load else Loader(text).get_single_data()
    except Exception as error:  # the 45th of a month; PyYAML raises what Python does: `!!int ''`
        raise ArmError(f'{where}: not YAML: {one_line(error)}') from None


def yaml_value(name: str, text: str) -> Any:
    """Return the value of an argument's YAML text; raise ArmError if it is not YAML."""
    return read_yaml(text, f'{name} is {text[:200]!r}')


def mapping(name: str, value: object, known: Collection[str] = ()) -> dict[str, Any]:
    """Return a value that is {name: value}; None is one without names.

    Raises:
        ArmError: another value, a name that is no text, or one that is not among `known`.
    """
    found = {} if value is None else value
    if not isinstance(found, dict):
        of = f' of {", ".join(known)}' if known else ''
        raise ArmError(f'{name} is {str(value)[:100]!r}; it must be {{name: value}}{of}')
    for each in found:
        if not isinstance(each, str):
            raise ArmError(f'{name} has the name {each!r}; it must be a text')
        if known and each not in known:
            raise unknown(f'name in {name}:', each, known)
    return found


def _leaves(
    node: yaml.Node | None, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], yaml.Node]]:
    """Yield each value below a YAML node with the path of its keys."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            yield from _leaves(value, (*path, str(key.value)))
    elif node is not None:
        yield path, node


class Loader(yaml.SafeLoader):
    """Reads 1e-9 as a number, as ROS and YAML 1.2 do; PyYAML needs 1.0e-9.

    Aliases are refused, as in ROS: ten lines of them can expand to 10^10 values.
    """

    def compose_node(self, parent: yaml.Node | None, index: object) -> yaml.Node | None:
        """Return the next node; raise YAMLError for an alias or an endless number."""
        if self.check_event(yaml.AliasEvent):
            event = self.peek_event()
            raise ComposerError(
                None, None, f'an alias (*{event.anchor}), which is not allowed', event.start_mark
            )
        node = super().compose_node(parent, index)
        if node and node.tag.endswith((':int', ':float')) and len(node.value) > 70:
            raise ComposerError(None, None, 'a number of more than 70 characters', node.start_mark)
        return node


Loader.add_implicit_resolver(
    'tag:yaml.org,2002:float', re.compile(r'[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$'), '-+.0123456789'
)


def _value(loader: Loader, node: yaml.Node) -> Any:
    """Return the value of a ROS parameter, [1, 2.0] as [1.0, 2.0]; None: no parameter has it."""
    if isinstance(node, yaml.SequenceNode):  # also one that launch_ros tags as a tuple
        items = [_value(loader, item) for item in node.value]
        kinds = {type(item) for item in items}
        if kinds == {int, float}:
            return [float(item) for item in items]
        return items if len(kinds) <= 1 and kinds <= {bool, int, float, str} else None
    try:
        value = loader.construct_object(node)
    except Exception:  # an unknown tag, the 45th of a month, `!!int ''`
        return None
    return value if isinstance(value, bool | int | float | str) else None
