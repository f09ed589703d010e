"""Writes docs/mjcf_elements.md, what becomes of each element and attribute of an MJCF.

`./ws python tools/mjcf_elements.py`; a test compares the page with what this writes.
"""

from pathlib import Path

from arm_dynamics.descriptions.mjcf_grammar import HARMLESS, NAMED, REFUSED, ROWS, USED, Row

PAGE = Path(__file__).resolve().parent.parent / 'docs' / 'mjcf_elements.md'
_HEAD = """# Elements and attributes of an MJCF

What becomes of each element and attribute, also in `<default>`, in the URDF with which controllers
compute and that `mjcf:=converted` simulates ([MJCF robots](robots.md#mjcf-robots)). An element
without attributes stands for all of them, and for what is inside. Written by
`./ws python tools/mjcf_elements.py`.
"""
_TITLES = {
    USED: 'Used',
    NAMED: "Named in the line at the start: not in the controllers' model",
    REFUSED: 'Refused',
    HARMLESS: 'Harmless: nothing is said',
}


def parts_of(row: Row) -> str:
    """Return elements and attributes of a row."""
    names = [x for x in row.elements.split() if not x.startswith('default/')]
    elements = ', '.join(f'`{name}`' for name in names)
    words = ', '.join(f'`{name}`' for name in row.attributes.split() if name != '*')
    return f'{elements} ({words})' if words else elements


def page() -> str:
    """Return the page."""
    parts = [_HEAD]
    for fate, title in _TITLES.items():
        found: dict[str, list[str]] = {}
        for row in ROWS:
            if row.fate == fate:
                found.setdefault(row.what, []).append(parts_of(row))
        parts.append(f'## {title}\n')
        parts += [f'- **{what}**: {"; ".join(rows)}' for what, rows in found.items()]
        parts.append('')
    return '\n'.join(parts)


if __name__ == '__main__':
    PAGE.write_text(page())
