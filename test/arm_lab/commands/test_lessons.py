"""The lessons as notebooks: made from the pages, and every cell runs."""

import ast
import json
import shlex

import numpy as np
import pytest
from repository import ROOT

import arm_sim
from arm_lab.commands import lessons

PAGES = sorted((ROOT / 'docs' / 'tutorial').glob('[0-9]*.md'))


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp('lessons')
    assert lessons.write_lessons(made) == [f'{page.stem}.ipynb' for page in PAGES]
    return made


def cells(folder, page, kind):
    found = json.loads((folder / f'{page.stem}.ipynb').read_text())
    assert len({each['id'] for each in found['cells']}) == len(found['cells'])
    return [each['source'] for each in found['cells'] if each['cell_type'] == kind]


@pytest.mark.parametrize('page', PAGES, ids=lambda page: page.stem)
def test_a_lesson_asks_before_it_runs_and_folds_its_answers(folder, page):
    text = '\n\n'.join(cells(folder, page, 'markdown'))
    code = cells(folder, page, 'code')
    answers = page.read_text().count('*Answer.*')
    assert code[0].startswith('import arm_sim\n\nprediction = ')
    assert sum('prediction = ' in each for each in code) == 1 + answers > 1
    assert text.count('<details>') == text.count('</details>') == answers
    for left in ('*Answer.*', './ws', '](', '```'):
        assert left not in text
    for each in code:
        ast.parse(each)


# The others take more time.
@pytest.mark.slow
@pytest.mark.parametrize('number', [1, 2, pytest.param(7, marks=pytest.mark.slow)])
def test_the_cells_of_a_lesson_run_as_one_script(folder, number, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    scope = {}
    for code in cells(folder, PAGES[number - 1], 'code'):
        exec(code, scope)
    said = capsys.readouterr().out
    assert (folder / 'step_joints.png' if number < 3 else folder / 'payload.png').is_file()
    if number == 1:  # four stiffnesses: the droop falls with their squares
        assert [f'natural_frequency = {each}' in said for each in (10, 20, 40)] == [True] * 3
    if number == 7:
        record, drop = scope['record'], scope['task'].drop_at
        seen = np.array(scope['seen'])
        settled = (record.t > 0.1) & (record.t < drop)
        np.testing.assert_allclose(seen[settled], 2.0, atol=0.05)
        np.testing.assert_allclose(seen[record.t > drop + 0.1], 0.0, atol=0.05)


def test_a_call_has_the_bits_of_the_command_that_it_replaces(folder, monkeypatch):
    monkeypatch.chdir(folder)
    page = (ROOT / 'docs' / 'tutorial' / '2_gravity.md').read_text()
    line = next(each for each in page.splitlines() if 'model_error' in each)
    run = eval(lessons.call(line), {'arm_sim': arm_sim})
    same = arm_sim.run(
        'pendulum.urdf', 'step', 'pd_gravity', config='pendulum.yaml',
        model_error='{mass_scale: [1.05]}',
    )  # fmt: skip
    assert shlex.split(run.command()) == shlex.split(same.command())
    assert run.record.checksum() == same.record.checksum()


def test_a_folder_with_files_is_left_as_it_is(tmp_path, capsys):
    (tmp_path / '1_pendulum.ipynb').write_text('my work')
    assert lessons.main(['--output-dir', str(tmp_path)]) == 1
    assert 'is not empty' in capsys.readouterr().err
    assert [each.read_text() for each in tmp_path.iterdir()] == ['my work']
