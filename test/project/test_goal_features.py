"""The comparison with joint_trajectory_controller in docs/ names tests that exist."""

import re

from repository import ROOT, TESTS

TEXT = (ROOT / 'docs' / 'trajectory_goals.md').read_text()
TABLE = TEXT[TEXT.index('## Feature by feature') : TEXT.index('## From one controller')]
FILES = dict(re.findall(r'\b([A-Z]) (\w+\.py)', TABLE))
ROWS = [
    tuple(cell.strip() for cell in line.strip('|').split('|'))
    for line in TABLE.splitlines()
    if line.startswith('|')
][2:]


def functions(file):
    return re.findall(r'^def (test_\w+)', next(TESTS.rglob(file)).read_text(), re.MULTILINE)


def test_every_feature_is_the_same_or_better_and_names_its_tests_or_is_not_offered():
    assert len(ROWS) > 30
    for feature, _, here, tests in ROWS:
        if here.startswith('not offered'):
            assert not tests, feature
        else:
            assert here.startswith(('same', 'better')), feature
            assert re.search(r'`test_\w+(\.py)?`', tests), feature


def test_every_named_test_exists_in_its_file():
    named = 0
    for feature, _, _, tests in ROWS:
        for name in re.findall(r'`(test_\w+\.py)`', tests):
            assert any(TESTS.rglob(name)), feature
        for letters, name in re.findall(r'([A-Z](?: and [A-Z])*) `(test_\w+)`', tests):
            for letter in letters.split(' and '):
                assert name in functions(FILES[letter]), f'{feature}: {letter} {name}'
                named += 1
        bare = re.sub(r'[A-Z](?: and [A-Z])* `test_\w+`|`test_\w+\.py`|[, ]', '', tests)
        assert not bare, f'{feature}: {bare}'
    assert named > 30
