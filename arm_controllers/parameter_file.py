"""One ROS parameter file: what it says to each node."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from arm_dynamics.errors import ArmError

# Node (or SHARED) -> parameter (nested keys joined by dots) -> value.
Sections = dict[str, dict[str, Any]]

SHARED = '/**'


def read_parameter_file(file: Path) -> Sections:
    """Return what one parameter file says.

    Raises:
        ArmError: in one line, with the file's: not YAML, another shape than a parameter file's, a
            value that no parameter can have, a parameter that is given twice.
    """
    try:
        loader = _Loader(file.read_text())
        tree = loader.get_single_node()
    except (OSError, UnicodeDecodeError) as error:
        raise ArmError(f'{file}: cannot be read: {error}') from None
    except yaml.YAMLError as error:
        mark, problem = getattr(error, 'problem_mark', None), getattr(error, 'problem', error)
        where = f', line {mark.line + 1}' if mark else ''
        raise ArmError(f'{file}{where}: not YAML: {problem}') from None
    sections: Sections = {}

    def line(node: yaml.Node) -> str:
        return f'{file}, line {node.start_mark.line + 1}'

    def pairs(node: yaml.Node) -> Iterator[tuple[str, yaml.Node]]:
        if _is_empty(node):
            return
        if not isinstance(node, yaml.MappingNode):
            raise ArmError(f'{line(node)}: expected <node>: {{ros__parameters: {{name: value}}}}')
        for key, value in node.value:
            yield str(key.value), value

    def read_sections(node: yaml.Node, name: str) -> None:
        for key, value in pairs(node):
            if key == 'ros__parameters':
                last = name.rsplit('/', 1)[-1]
                read_values(value, sections.setdefault(SHARED if '*' in last else last, {}), '')
            else:
                read_sections(value, f'{name}/{key}')

    def read_values(node: yaml.Node, values: dict[str, Any], prefix: str) -> None:
        for key, value in pairs(node):
            name = prefix + key
            if isinstance(value, yaml.MappingNode):
                read_values(value, values, name + '.')
            elif name in values:
                raise ArmError(f'{line(value)}: parameter {name!r} is given twice')
            else:
                values[name] = _value(loader, value)
                if values[name] is None:
                    raise ArmError(
                        f'{line(value)}: parameter {name!r} must be a number, a text, true or '
                        'false, or a list of one of these'
                    )

    if tree is not None:
        read_sections(tree, '')
    return sections


class _Loader(yaml.SafeLoader):
    """Reads 1e-9 as a number, as ROS does and YAML 1.2 asks; PyYAML wants 1.0e-9."""


_Loader.add_implicit_resolver(
    'tag:yaml.org,2002:float', re.compile(r'[-+]?(\d+\.?\d*|\.\d+)[eE][-+]?\d+$'), '-+.0123456789'
)


def _is_empty(node: yaml.Node) -> bool:
    return node.tag == 'tag:yaml.org,2002:null'


def _value(loader: _Loader, node: yaml.Node) -> Any:
    """Return a value as a ROS parameter has it, [1, 2.0] as [1.0, 2.0]; None: it cannot be one."""
    if isinstance(node, yaml.SequenceNode):  # also one that launch_ros tags as a tuple
        items = [_value(loader, item) for item in node.value]
        kinds = {type(item) for item in items}
        if kinds == {int, float}:
            return [float(item) for item in items]
        return items if len(kinds) <= 1 and kinds <= {bool, int, float, str} else None
    try:
        value = loader.construct_object(node)
    except (yaml.YAMLError, ValueError):  # an unknown tag, the 45th of a month
        return None
    return value if isinstance(value, bool | int | float | str) else None
