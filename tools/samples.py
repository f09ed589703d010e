"""The samples in the pages: shell commands and blocks of code, and where each stands."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
_OURS = r'(?:\$ )?(?:\./ws|ros2) '
OPTION = r'\[(--[a-z][^\]]*)\]'  # one that may be left out
_BETWEEN = r'(?:cp|sed) '  # what a block of sh may have between them
# A block of code in a page: fenced, or shell commands that are indented.
_FENCED = re.compile(r'^( *)```(\w*)\n(.*?)^ *```$', re.MULTILINE | re.DOTALL)
INDENTED = re.compile(rf'^ {{4}}{_OURS}.*(?:\n {{4}}.*)*', re.MULTILINE)
_NAMED = re.compile(r'[`= ]([\w.]+\.(?:yaml|py))(?:`\)?:)?$')  # at the end of a line
_INLINE = re.compile(rf'`({_OURS}[^`]*)`')


class Sample(NamedTuple):
    """A piece of code in a page.

    Attributes:
        page: its path below the project's folder.
        line: of the page, where it begins.
        kind: sh, python, yaml, ...; '' where the page does not say.
        text: as it stands, without indentation of the page's own.
    """

    page: str
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        first, _, rest = self.text.partition('\n')
        return f'{self.page}:{self.line}: {first}{" ..." if rest else ""}'


def pages() -> list[Path]:
    """Return the pages that are written by hand, CHANGELOG.md excepted."""
    own = [ROOT / 'README.md', ROOT / 'CONTRIBUTING.md']
    return [*own, *sorted((ROOT / 'docs').rglob('*.md'))]


def blocks(page: Path) -> list[Sample]:
    """Return the fenced blocks of a page."""
    text, name = page.read_text(), str(page.relative_to(ROOT))
    return [
        Sample(name, text.count('\n', 0, found.start()) + 2, found[2], dedent(found[3]))
        for found in _FENCED.finditer(text)
    ]


def files(page: Path) -> dict[str, str]:
    """Return the files that a page shows: blocks behind a line that ends with their name."""
    lines = [line.strip() for line in page.read_text().splitlines()]
    found = {}
    for block in blocks(page):
        before = next(filter(None, reversed(lines[: block.line - 2])), '')
        if name := _NAMED.search(before):
            found[name[1]] = block.text
    return found


def commands(page: Path) -> list[Sample]:
    """Return the commands of a page that begin with `./ws` or `ros2`, one each, in its order.

    They stand in blocks of sh, in indented blocks, and, as whole commands, in lines of text.
    """
    text, name = page.read_text(), str(page.relative_to(ROOT))
    found = [each for block in blocks(page) if block.kind == 'sh' for each in _each(block)]
    rest = _FENCED.sub(lambda block: '\n' * block[0].count('\n'), text)
    for block in INDENTED.finditer(rest):
        line = rest.count('\n', 0, block.start()) + 1
        shown = Sample(name, line, 'sh', re.sub(r'^ {4}', '', block[0], flags=re.MULTILINE))
        found += _each(shown)
    for span in _INLINE.finditer(rest):
        line = rest.count('\n', 0, span.start()) + 1
        found.append(Sample(name, line, 'inline', ' '.join(span[1].split())))
    return sorted(found, key=lambda sample: sample.line)


def words(command: Sample) -> list[str]:
    """Return the words of a command, without `$`, `./ws`, comments and the brackets of options.

    Raises:
        ValueError: a quote is not closed.
    """
    text = re.sub(OPTION, r'\1', command.text)
    found = shlex.split(text.removeprefix('$ '), comments=True)
    return found[found[0] == './ws' :]


def _each(block: Sample) -> Iterator[Sample]:
    """Yield the commands of a block: each line, with those that continue it."""
    lines = block.text.splitlines()
    k = 0
    while k < len(lines):
        begin, text = k, lines[k]
        while (text.endswith('\\') or _is_open(text)) and k + 1 < len(lines):
            k += 1
            goes_on = text.endswith('\\')
            text = f'{text[:-1]}{lines[k].lstrip()}' if goes_on else f'{text}\n{lines[k]}'
        k += 1
        if re.match(f'{_OURS}|{_BETWEEN}', text):
            yield block._replace(line=block.line + begin, text=text)


def _is_open(text: str) -> bool:
    try:
        shlex.split(text, comments=True)
    except ValueError:
        return True
    return False
