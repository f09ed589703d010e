"""Lists of dataclasses in YAML texts: objects of a scene, faults, cameras."""

from dataclasses import fields

from arm_controllers.parameter_file import MOST_CHARACTERS, read_yaml
from arm_controllers.parameter_values import read_fields
from arm_dynamics.checks import ArmError, T, unknown
from arm_dynamics.parameters import facts


def read_rows(
    kind: type[T], text: str, where: str, what: str, most: int = MOST_CHARACTERS
) -> list[T]:
    """Return the dataclasses of a YAML text, a list of {name: value}; '' has none.

    `where` and `what` name the list and an entry of it in messages; `most`: see `read_yaml`.

    Raises:
        ArmError: with the entry and the value: not such a list, or a value that is not allowed.
    """
    rows = read_yaml(text, where, most) if text.strip() else []
    if not isinstance(rows, list):
        raise ArmError(f'{where}: a list of {what}s is expected')
    found, known = [], [facts(each).name or each.name for each in fields(kind)]  # type: ignore[arg-type]
    for k, row in enumerate(rows, 1):
        place = f'{where}, {what} {k}'
        if not isinstance(row, dict):
            raise ArmError(f'{place}: {row!r} is not a list of names and values')
        place += f' ({row["name"]})' if isinstance(row.get('name'), str) else ''
        try:
            for name in row:
                if name not in known:
                    raise unknown('key', str(name), known)
            found.append(read_fields(kind, row))
        except ArmError as error:
            raise ArmError(f'{place}: {error}') from None
    return found
