"""Descriptions of parameters and options: each one is read alone."""

import ast
import re

import pytest
from repository import ROOT

# First words of what only completes a name: the reader sees no name before a description.
FRAGMENTS = re.compile(
    '(of|at|by|in|on|up|to|from|for|with|that|which|whether|so|see|it|its|their|them|these|those|'
    'the same|and|or|but|as|when|where|while|also|alike|beyond|below|above) ',
    re.IGNORECASE,
)
NUMBERS = re.compile(r'float|PerJoint')


def described():
    """Yield place, annotation and description of each parameter and option in the sources."""
    for path in sorted(ROOT.glob('arm_*/**/*.py')):
        source = path.read_text()
        if 'parameter(' not in source:
            continue
        for node in ast.walk(ast.parse(source)):
            if not isinstance(node, ast.AnnAssign) or not isinstance(node.value, ast.Call):
                continue
            call = node.value
            if isinstance(call.func, ast.Name) and call.func.id == 'parameter':
                place = f'{path.relative_to(ROOT)}: {ast.unparse(node.target)}'
                words = list(call.args[1:2])
                words += [each.value for each in call.keywords if each.arg == 'description']
                yield place, ast.unparse(node.annotation), text(words[0])


def text(node):
    """Return a string of the source, with a word in place of what is filled in."""
    if isinstance(node, ast.JoinedStr):
        return ''.join(text(each) for each in node.values)
    return node.value if isinstance(node, ast.Constant) else 'word'


def fault(kind, description):
    """Return what is wrong with a description, or nothing."""
    words = re.sub(r'\[.*?\]', '[unit]', description).split()
    if len(words) < 3:
        return 'fewer than three words'
    if FRAGMENTS.match(description):
        return f'begins with {words[0]!r}'
    if NUMBERS.search(kind) and not re.search(r'\[[^\]]+\]', description):
        return 'no unit; [1] is a number without one'
    return ''


def test_every_description_of_a_parameter_is_a_phrase_with_a_unit_that_reads_alone():
    every = list(described())
    assert len(every) > 150
    faults = {place: fault(kind, text) for place, kind, text in every}
    assert {place: why for place, why in faults.items() if why} == {}


@pytest.mark.parametrize(
    ('kind', 'description', 'why'),
    [
        ('int', 'of what is drawn', "begins with 'of'"),
        ('bool', 'whether links touch the floor', "begins with 'whether'"),
        ('float', 'time of the jump', 'no unit'),
        ('PerJoint', 'gain [1/s^2]', 'fewer than three words'),
        ('float', 'time of the jump [s]', ''),
    ],
)
def test_a_fragment_is_found(kind, description, why):
    assert fault(kind, description).startswith(why)
    assert bool(fault(kind, description)) == bool(why)
