"""Results that are kept: a page has their command, and its digits are theirs."""

import re
import sys

import pytest
from repository import ROOT

sys.path.insert(0, str(ROOT / 'tools'))

from measured import FOLDER, kept, page
from printed_digits import unprinted
from samples import pages

TEXTS = {path: path.read_text() for path in pages()}
COMMAND = re.compile(r'\./ws (?:ros2|python) ')


def said_of(command, text):
    """Return what a page says of a command: its sentence, and what it announces.

    That is what follows its paragraph until the next heading or command, if it is a paragraph of
    its own, or if the paragraph ends with a colon.
    """
    parts = re.split(r'\n\s*\n', text)
    for k, part in enumerate(parts):
        line = ' '.join(part.split())
        if command not in line:
            continue
        inline = f'`{command}' in line
        yield from (x for x in re.split(r'(?<=[.:]) ', line) if command in x or not inline)
        for after in parts[k + 1 :]:
            if after.startswith('#') or COMMAND.search(after) or (inline and line[-1] != ':'):
                break
            yield after


@pytest.mark.parametrize('result', kept(), ids=lambda result: result.name)
def test_the_digits_of_a_page_are_those_that_its_command_printed(result):
    said = {path: '\n\n'.join(said_of(result.command, text)) for path, text in TEXTS.items()}
    assert any(said.values())  # a page has the command
    for text in filter(None, said.values()):
        assert unprinted(text, result.printed, fewest=2) == []


def test_a_digit_that_is_not_printed_is_found():
    text = 'RMS by\n`./ws python benchmarks/a.py`:\n\n| a | 0.123 | 0.456 |\n\n# Next\n\n0.789'
    assert unprinted('\n\n'.join(said_of('./ws python benchmarks/a.py', text)), 'a 0.12299') == [
        '0.456'
    ]


def test_the_site_shows_each_result_with_its_command():
    text = page()
    assert sorted(each.name for each in kept()) == re.findall(r'^## (\w+)$', text, re.MULTILINE)
    assert len(kept()) == len(list(FOLDER.iterdir()))
    assert all(f'    {each.command}\n' in text and each.printed in text for each in kept())
