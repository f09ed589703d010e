"""The fields of lines of text, and numbers that stand as a list in one field."""

import csv
import io
import re
from collections.abc import Sequence
from itertools import pairwise

# As pandas writes a list ("[0.1, 0.2]"), NumPy ([0.1 0.2]) and ROS (array('d', [0.1, 0.2])).
_LIST = re.compile(
    r"\s*(?:array\((?:\s*'[df]',)?\s*)?[\[(]([-+.,\s\deE]*\d[-+.,\s\deE]*)[\])]\)?\s*"
)
_QUOTED = re.compile(r'"[^"]*"')
_LOOKED_AT, _BEGIN = 100, 20_000  # lines, and characters, in which the first list is sought


def separator(line: str) -> str | None:
    """Return what separates the fields of a line; None: spaces."""
    return next((x for x in ';\t|' if x in line), ',' if ',' in line else None)


def split(line: str, between: str | None) -> list[str]:
    """Return the fields of a line."""
    if between is None:
        return line.split()
    return next(csv.reader([line], delimiter=between, skipinitialspace=True))


def unfolded(text: str) -> str:
    """Return a text in which each number of a list in a field has a field of its own.

    The field `q` becomes `q_0`, `q_1` and so on, with tabs between. A list may go over lines.
    """
    if not _LIST.search(text[:_BEGIN]):
        return text
    lines = _QUOTED.sub(lambda x: ' '.join(x[0].split()), text).splitlines()
    for k, (head, first) in enumerate(pairwise(lines[:_LOOKED_AT])):
        between = separator(head)
        names, fields = split(head, between), split(first, between) if first else []
        counts = [len(found) if (found := _numbers(x)) else 0 for x in fields]
        if len(names) == len(fields) and any(counts):
            pairs = list(zip(names, counts, strict=True))
            new = [f'{x}_{i}' if count else x for x, count in pairs for i in range(count or 1)]
            rows = [_row(split(line, between), counts) for line in lines[k + 1 :] if line.strip()]
            return '\n'.join([*lines[:k], joined(new), *map(joined, rows)])
    return text


def _numbers(field: str) -> list[str]:
    """Return the numbers of a list; none: the field is no list of numbers."""
    found = _LIST.fullmatch(field)
    return found[1].replace(',', ' ').split() if found else []


def _row(fields: Sequence[str], counts: Sequence[int]) -> list[str]:
    """Return the fields of a row; what does not fit stays as it is, and the row is damaged."""
    found: list[str] = []
    for field, count in zip(fields, counts, strict=False):
        numbers = _numbers(field) if count else []
        found += numbers if len(numbers) == count and count else [field]
    return [*found, *fields[len(counts) :]]


def joined(fields: Sequence[str]) -> str:
    """Return a line of fields, with tabs between them."""
    text = io.StringIO()
    csv.writer(text, delimiter='\t').writerow(fields)
    return text.getvalue().rstrip('\r\n')
