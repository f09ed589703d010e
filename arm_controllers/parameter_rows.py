"""Lists of dataclasses in YAML texts: objects of a scene, faults, cameras."""

from dataclasses import fields
from typing import Any

import yaml

from arm_controllers.parameter_file import MOST_CHARACTERS, MOST_LEVELS, Loader, read_yaml
from arm_controllers.parameter_values import read_fields
from arm_dynamics.checks import ArmError, T, unknown
from arm_dynamics.parameters import facts

_QUICK: Any = getattr(yaml, 'CSafeLoader', None)  # None: PyYAML is built without libyaml
_LONG = 70  # characters of a scalar that may be an endless number


class _QuickLoader(_QUICK or Loader):  # type: ignore[misc]
    """Reads as `Loader` does, by libyaml, which is several times as fast."""

    yaml_implicit_resolvers = Loader.yaml_implicit_resolvers


def _loader_of(text: str) -> Loader:
    """Return libyaml's loader of a text, but not for one that it refuses or that needs care.

    libyaml's ends the process where levels are too many, and it expands aliases.
    """
    level = 0
    try:
        for event in yaml.parse(text, Loader=_QUICK) if _QUICK else ():
            if isinstance(event, yaml.ScalarEvent):
                needs_care = len(event.value) > _LONG
            else:
                level += isinstance(event, yaml.CollectionStartEvent)
                level -= isinstance(event, yaml.CollectionEndEvent)
                needs_care = level > MOST_LEVELS or isinstance(event, yaml.AliasEvent)
            if needs_care:
                return Loader(text)
    except yaml.YAMLError:
        return Loader(text)
    return _QuickLoader(text)


def _load(text: str) -> tuple[yaml.Node | None, Any]:
    """Return the tree of a YAML text and its content."""
    loader = _loader_of(text)
    tree = loader.get_single_node()
    return tree, None if tree is None else loader.construct_document(tree)


def read_rows(
    kind: type[T], text: str, where: str, what: str, most: int = MOST_CHARACTERS
) -> list[T]:
    """Return the dataclasses of a YAML text, a list of {name: value}; '' has none.

    `where` and `what` name the list and an entry of it in messages; `most`: see `read_yaml`.

    Raises:
        ArmError: with the entry and the value: not such a list, or a value that is not allowed.
    """
    tree, rows = read_yaml(text, where, most, _load) if text.strip() else (None, [])
    if not isinstance(rows, list):
        raise ArmError(f'{where}: a list of {what}s is expected')
    found, known = [], [facts(each).name or each.name for each in fields(kind)]  # type: ignore[arg-type]
    nodes = tree.value if tree else ()
    for k, (row, node) in enumerate(zip(rows, nodes, strict=True), 1):
        place = f'{where}, {what} {k}'
        if not isinstance(row, dict):
            raise ArmError(f'{place}: {row!r} is not a list of names and values')
        place += f' ({row["name"]})' if isinstance(row.get('name'), str) else ''
        try:
            for name in row:
                if name not in known:
                    raise unknown('key', str(name), known)
            names = [key.value for key, _ in node.value]
            if len(names) > len(row):  # YAML keeps the last value
                twice = next(name for name in names if names.count(name) > 1)
                raise ArmError(f'two values of {twice!r}: write one')
            found.append(read_fields(kind, row))
        except ArmError as error:
            raise ArmError(f'{place}: {error}') from None
    return found
