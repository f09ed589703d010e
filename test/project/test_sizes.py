"""No file, class or function is too long to be read at once.

Code lines are those without docstrings, comments and blank lines; a file counts as a whole.
"""

import ast
import tokenize
from collections.abc import Iterator
from functools import cache
from inspect import isfunction
from io import StringIO
from itertools import chain
from pathlib import Path

import pytest
from repository import ROOT

from arm_sim.simulation.plant import Plant

FILE, CLASS, FUNCTION = 400, 200, 70  # most lines of a file; code lines of a class, a function
PACKAGES = sorted(path for path in ROOT.glob('arm_*') if (path / '__init__.py').exists())
IGNORED = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENDMARKER,
}  # fmt: skip


@cache
def code_lines(text: str) -> set[int]:
    """Return the numbers of the lines that have code."""
    tokens = tokenize.generate_tokens(StringIO(text).readline)
    spans = [range(x.start[0], x.end[0] + 1) for x in tokens if x.type not in IGNORED]
    strings = [
        range(node.lineno, node.end_lineno + 1)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    ]
    return set(chain.from_iterable(spans)) - set(chain.from_iterable(strings))


def too_long(path: Path) -> Iterator[str]:
    """Yield the file, and those of its classes and functions, that are longer than allowed."""
    text, name = path.read_text(), path.relative_to(ROOT).as_posix()
    if len(text.splitlines()) > FILE:
        yield name
    code = code_lines(text)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            most = CLASS if isinstance(node, ast.ClassDef) else FUNCTION
            if len(code.intersection(range(node.lineno, node.end_lineno + 1))) > most:
                yield f'{name} {node.name}'


def test_no_file_class_or_function_is_longer_than_a_reader_can_take_in():
    files = chain.from_iterable(package.rglob('*.py') for package in [*PACKAGES, ROOT / 'launch'])
    assert list(chain.from_iterable(map(too_long, files))) == []


def test_a_plant_is_physics_with_at_most_twelve_public_methods():
    public = [name for name, value in vars(Plant).items() if isfunction(value)]
    assert len([name for name in public if not name.startswith('_')]) <= 12


@pytest.mark.parametrize(
    ('text', 'count'),
    [
        ('x = 1\n\n# a comment\ny = (\n    2,\n)\n', 4),
        ('"""Docstring\n\nof a module."""\nx = """text\nof two lines"""\n', 2),
        ('def f():\n    """Docstring."""\n    return 1  # a comment\n', 2),
    ],
)
def test_docstrings_comments_and_blank_lines_are_no_code(text, count):
    assert len(code_lines(text)) == count
