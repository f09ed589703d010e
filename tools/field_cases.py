"""Writes docs/field_cases.md, a list of the tests in test/field by symptom.

`./ws python tools/field_cases.py`; a test compares the page with what this writes.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / 'docs' / 'field_cases.md'
_REPORT = re.compile(r'([\w.-]+/[\w.-]+)#(\d+)\. ')
_HEAD = """# Symptoms in the field

What people report of other software, and what to do here, or what this package does. Each line is
a test in `test/field`:

    ./ws python -m pytest test/field -k "{example}"
"""


def cases(file: Path) -> Iterator[tuple[str, str, str]]:
    """Yield name, report and what to do of the tests of a file."""
    for node in ast.parse(file.read_text()).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith('test_'):
            first = ' '.join((ast.get_docstring(node) or '').partition('\n\n')[0].split())
            report = _REPORT.match(first)
            if report is None:
                raise ValueError(f'{file.name}: {node.name} does not begin with owner/repo#number')
            link = report.expand(r'https://github.com/\1/issues/\2')
            yield node.name, link, first[report.end() :]


def page() -> str:
    """Return the page."""
    parts, files = [], sorted((ROOT / 'test' / 'field').glob('test_*.py'))
    found = {file: list(cases(file)) for file in files}
    example = next(iter(found[files[0]]))[0].removeprefix('test_')
    parts.append(_HEAD.format(example=example))
    for file, rows in found.items():
        title = ast.get_docstring(ast.parse(file.read_text())) or ''
        parts.append(f'## {title.splitlines()[0].partition(":")[0].rstrip(".")}\n')
        for name, report, remedy in rows:
            symptom = name.removeprefix('test_').replace('_', ' ').capitalize()
            parts.append(f'- [{symptom}]({report}): {remedy}')
        parts.append('')
    return '\n'.join(parts)


if __name__ == '__main__':
    PAGE.write_text(page())
