"""The tuning command: what it prints, searches, and refuses."""

import json
import re

import numpy as np
import pytest

from arm_dynamics.pose_hold import PUBLISHED_I, PUBLISHED_P, PoseHold, PoseHoldObjective
from arm_dynamics.pose_tuning import Search, differential_search, nelder_mead, published_search
from arm_sim.tune_pose_hold import main

P = ','.join(map(str, PUBLISHED_P))
PI = ','.join(map(str, PUBLISHED_P + PUBLISHED_I))


@pytest.mark.parametrize(('gains', 'says'), [(P, 'J = 16.3888758427'), (PI, 'J = 0.3057101990')])
def test_evaluate_prints_the_published_objective_to_ten_digits(gains, says, capsys):
    assert main(['--evaluate', gains]) == 0
    assert capsys.readouterr().out.splitlines()[0] == says


def test_a_short_search_prints_the_table_and_writes_json(tmp_path, capsys):
    file = tmp_path / 'gains.json'
    assert main(['--terms', 'pi', '--seconds', '3', '--json', str(file)]) == 0
    rows = json.loads(file.read_text())['gains']
    assert set(rows) == {'published', 'nelder-mead', 'robust', 'best'}
    assert rows['published']['cost'] == pytest.approx(0.3057101990, abs=1e-10)
    assert rows['published']['cost_all_10_percent_up'] == 9999999.0
    assert all(len(row['gains']) == 6 for row in rows.values())
    assert 'all +10 %' in capsys.readouterr().out


def test_published_search_improves_on_its_guess():
    objective = PoseHoldObjective(PoseHold(duration=0.3))
    search = Search(np.ones(3))
    published_search(objective, 'p', search)
    assert search.cost < 0.2 * objective.cost([6.0, 5.0, 1.0])
    assert search.cost == objective.cost(search.best)


def test_differential_search_with_robustness_finds_gains_that_stand_10_percent():
    objective = PoseHoldObjective(PoseHold(duration=0.3))
    search = Search(np.ones(3))
    search.stop = lambda: search.evaluations > 3000
    differential_search(objective, 'p', True, search)
    costs = objective.costs(np.outer([0.9, 1.0, 1.1], search.best))
    assert costs.max() <= search.cost < objective.costs(np.outer([1.1], PUBLISHED_P))[0]


def test_a_stopped_search_keeps_its_best():
    search = Search(np.ones(2))
    search.stop = lambda: search.evaluations >= 25
    nelder_mead(search, lambda x: float(x @ x), [3.0, 4.0], 0.5, 1e-9, 1000)
    assert search.evaluations == 25
    assert search.cost < 25.0
    assert search.cost == float(search.best @ search.best)


@pytest.mark.parametrize(
    ('arguments', 'says'),
    [
        (['--evaluate', '1,2'], '2 gains given; allowed: 3'),
        (['--evaluate', '1,two,3'], '--evaluate is .* it must be numbers with commas'),
        (['--evaluate', '1,nan,3'], 'gain 2 is nan; it must be finite'),
        (['--target', '1,2', '--evaluate', '1,2,3'], 'target is .* 5 finite angles'),
        (['--seconds', '0'], '--seconds is 0; it must be > 0'),
        (['--json', '/nowhere/x.json', '--evaluate', '1,2,3'], '--json /nowhere/x.json: No such'),
    ],
)
def test_bad_input_ends_with_one_line_and_code_1(arguments, says, capsys):
    assert main(arguments) == 1
    error = capsys.readouterr().err
    assert error.count('\n') == 1

    assert re.search(says, error)
